"""People at a game: in a terminal or in a window."""
