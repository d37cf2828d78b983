"""The report as tables for the terminal."""
