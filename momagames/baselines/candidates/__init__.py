"""Policies that score the candidate actions of a position by one step of look-ahead, and their trainers."""
