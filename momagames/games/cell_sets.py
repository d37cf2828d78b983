"""Sets of cells (x, y), for the generators of boards."""

from __future__ import annotations

Cell = tuple[int, int]


def neighbors(cell: Cell) -> list[Cell]:
    """Return the four neighbors, on the board or not."""
    x, y = cell
    return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


def is_connected(cells: set[Cell]) -> bool:
    """Return whether the cells form one component, connected by their sides."""
    found = {min(cells)} if cells else set()
    fresh = set(found)
    while fresh:
        fresh = {neighbor for cell in fresh for neighbor in neighbors(cell)} & cells - found
        found |= fresh
    return len(found) == len(cells) > 0
