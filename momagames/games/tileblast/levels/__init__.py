"""Levels of MO-TileBlast: files, parser, linter, generator."""
