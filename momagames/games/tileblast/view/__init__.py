"""Views of MO-TileBlast: pictures and text."""
