"""MO-Pommerman as a picture and as text."""
