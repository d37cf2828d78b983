"""Boards as lines of styled text (`momagames.contract.Line`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from momagames.contract import Line


def grid(rows: Sequence[Sequence[tuple[str, str]]], marked: Collection[tuple[int, int]] = ()) -> list[Line]:
    """Return a board with coordinates, two characters per cell.

    rows     for each cell its symbol (one character) and its style
    marked   cells (row, column) in brackets; no two of them are adjacent in a row
    """
    width = len(rows[0])
    edge = len(str(len(rows) - 1)) + 1
    lines: list[Line] = []
    if width > 10:
        tens = "".join(f" {x // 10}" if x >= 10 else "  " for x in range(width))
        lines.append([(" " * edge + tens, "dim")])
    lines.append([(" " * edge + "".join(f" {x % 10}" for x in range(width)), "dim")])
    for y, row in enumerate(rows):
        line = [(f"{y:>{edge - 1}} ", "dim")]
        for x, (symbol, style) in enumerate(row):
            before = "[" if (y, x) in marked else "]" if (y, x - 1) in marked else " "
            line.append((before + symbol, style))
        lines.append([*line, ("]" if (y, width - 1) in marked else "", "dim")])
    return lines


def plain(lines: Sequence[Line]) -> str:
    """Return the lines without styles."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
