"""Pictures between two positions: pieces slide from cell to cell, and what else changes in the cells fades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from momagames.contract import Cells, Slide
from momagames.render.canvas import Picture


def draw_between(
    before: Picture, after: Picture, ground: Picture, slides: Sequence[Slide], cells: Cells, count: int
) -> Iterator[Picture]:
    """Yield `count` pictures between two positions of one size.

    after    the second position
    ground   the same without the pieces that slide
    slides   cells (row, column) where these pieces were and are; those that enter were outside of the board
    cells    where they are
    """
    top, left, side, rows, columns = cells
    old, new = ground.astype(np.float32), ground.astype(np.float32)
    inside = slice(top, top + rows * side), slice(left, left + columns * side)
    old[inside] = before[inside]
    pieces = []
    for source, target in slides:
        start, end = ((top + row * side, left + column * side) for row, column in (source, target))
        place = slice(end[0], end[0] + side), slice(end[1], end[1] + side)
        pieces.append((start, end, after[place], (after[place] != ground[place]).any(axis=2)))
        if min(source) >= 0:
            left_behind = slice(start[0], start[0] + side), slice(start[1], start[1] + side)
            old[left_behind] = new[left_behind]
    for share in np.arange(1, count + 1) / (count + 1):
        share = share * share * (3 - 2 * share)  # starts and ends slowly
        picture: Picture = np.rint(old * (1 - share) + new * share).astype(np.uint8)
        for start, end, drawn, mask in pieces:
            y, x = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
            hidden = max(0, top - y), max(0, left - x)  # outside of the board
            under = picture[y + hidden[0] : y + side, x + hidden[1] : x + side]
            visible = tuple(slice(skip, skip + length) for skip, length in zip(hidden, under.shape[:2], strict=True))
            under[mask[visible]] = drawn[visible][mask[visible]]
        yield picture
