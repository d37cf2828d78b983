"""Compiled loops over one state or many, made from the kernels of a game."""
