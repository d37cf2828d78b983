"""Tables and figures of the pages that are made of results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

IMAGE = re.compile(r"^<!-- (!\[.*\]\(.*\)) -->$", re.MULTILINE)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for row in rows:
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"


def image(text: str, file: str) -> str:
    """A figure that the site draws. It is a comment in the page: the file is not there until the site is built."""
    return f"<!-- ![{text}]({file}) -->"


def show_images(page: str) -> str:
    """The page with its figures."""
    return IMAGE.sub(r"\1", page)
