"""Play of people, in a terminal or in a window."""
