"""MO-RoboticMail as a picture and as text."""
