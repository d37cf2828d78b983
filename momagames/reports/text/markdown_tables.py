"""Tables in Markdown, for pages of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> Iterator[str]:
    """Yield the lines of a table; the first `text_columns` columns are aligned left, the others right."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * text_columns + "|---:" * (len(head) - text_columns) + "|"
    for row in rows:
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"
