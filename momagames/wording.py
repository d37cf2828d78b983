"""Words for numbers in messages and pages, and texts from elsewhere in a terminal and in pages."""

from __future__ import annotations

import re
from typing import Any

# Characters that a terminal obeys instead of showing them, or that it cannot print: controls without tab and line feed, line
# separators, those that change the direction of writing, and bytes of a path that are not UTF-8
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def count(number: int, noun: str) -> str:
    """Return "1 point", "2 points", "1,000 points"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def show_controls(text: str) -> str:
    """Return a text with its control characters as escapes, such as \\x1b: a terminal shows them and does not obey."""
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def show_all_controls(data: Any) -> Any:
    """Return plain data with `show_controls` of each text in it, for the scripts of a page."""
    if isinstance(data, str):
        return show_controls(data)
    if isinstance(data, dict):
        return {show_all_controls(name): show_all_controls(value) for name, value in data.items()}
    return [show_all_controls(value) for value in data] if isinstance(data, (list, tuple)) else data
