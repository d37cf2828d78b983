"""Scripted agents of MO-Pommerman."""
