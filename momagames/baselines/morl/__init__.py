"""Learners of other libraries as methods of the benchmark (extra `morl`): each trains on the Gymnasium API of a game."""
