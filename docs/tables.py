"""Tables of the pages that are made of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for row in rows:
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"
