"""Batches of states, advanced by compiled loops that are made from a game's kernels."""
