"""Figures and folded parts on pages of results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

IMAGE = re.compile(r"^<!-- (!\[.*\]\(.*\)) -->$", re.MULTILINE)


def image(text: str, file: str) -> str:
    """Return a figure as a comment: its file exists only after the site is built (see `show_images`)."""
    return f"<!-- ![{text}]({file}) -->"


def is_image(line: str) -> bool:
    """Return whether a line is a comment of `image`."""
    return IMAGE.fullmatch(line) is not None


def show_images(page: str) -> str:
    """Replace the comments of `image` by images."""
    return IMAGE.sub(r"\1", page)


def fold(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that are folded under a title."""
    yield from ("<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>", "")
