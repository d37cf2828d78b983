"""The command `momagames`: one module for each group of commands."""
