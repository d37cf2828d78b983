"""Scripted agents of MO-RoboticMail."""
