"""Layouts of MO-RoboticMail: files, parser, linter, generator."""
