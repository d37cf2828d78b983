"""Figures on pages of results."""

from __future__ import annotations

import re

IMAGE = re.compile(r"^<!-- (!\[.*\]\(.*\)) -->$", re.MULTILINE)


def image(text: str, file: str) -> str:
    """Return a figure as a comment: its file exists only after the site is built (see `show_images`)."""
    return f"<!-- ![{text}]({file}) -->"


def show_images(page: str) -> str:
    """Replace the comments of `image` by images."""
    return IMAGE.sub(r"\1", page)
