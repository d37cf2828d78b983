"""Tables and figures on pages of results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

IMAGE = re.compile(r"^<!-- (!\[.*\]\(.*\)) -->$", re.MULTILINE)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for row in rows:
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"


def image(text: str, file: str) -> str:
    """Return a figure as a comment: its file exists only after the site is built (see `show_images`)."""
    return f"<!-- ![{text}]({file}) -->"


def show_images(page: str) -> str:
    """Replace the comments of `image` by images."""
    return IMAGE.sub(r"\1", page)
