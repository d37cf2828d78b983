"""Words for numbers in messages and pages."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Return "1 point", "2 points", "1,000 points"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
