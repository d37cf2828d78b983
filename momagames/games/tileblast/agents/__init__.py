"""Scripted agents of MO-TileBlast."""
