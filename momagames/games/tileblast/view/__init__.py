"""MO-TileBlast as a picture and as text."""
