"""Patterns of cells: windows at every place of a board; patterns that a symmetry exchanges share a table.

Source: Lucas, "Learning to play Othello with n-tuple systems", Australian J. of Intelligent Information Processing 9, 2008, for
tables of patterns that sample symmetric images; Jaśkowski, "Mastering 2048 with delayed temporal coherence learning,
multistage weight promotion, redundant encoding and carousel shaping", IEEE Trans. on Games 10, 2018, for large windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import BoardTables, Game
from momagames.errors import InvalidParameter

MAX_ENTRIES = 1 << 22
Cells = tuple[int, ...]


class Patterns(NamedTuple):
    """The patterns of a board, for kernels.

    offsets   uint32[P], the first table entry of each of the P patterns
    powers    int32[cells, P], the factor of the code of each cell in the entry of each pattern; 0 for cells outside of it
    """

    offsets: NDArray[np.uint32]
    powers: NDArray[np.int32]


def make_patterns(game: Game, windows: Sequence[tuple[int, int]]) -> tuple[Patterns, int]:
    """Return the patterns of windows (rows, columns) at all places of the board, and the number of table entries.

    Windows that exceed the board are cut. Raises InvalidParameter if the game declares no board, and for tables that are too
    large.
    """
    board = check_board(game)
    group = _list_symmetries(board)
    tables = list(_list_tables(board, windows, group))
    sizes = [board.num_codes ** len(orbit[0]) for orbit in tables]
    if sum(sizes) > MAX_ENTRIES:
        raise InvalidParameter(
            f"{game.id}: windows {', '.join(f'{r}x{c}' for r, c in windows)} have {sum(sizes):,} table entries: expected at "
            f"most {MAX_ENTRIES:,}"
        )
    starts = np.cumsum([0, *sizes])
    patterns = [cells for orbit in tables for cells in orbit]
    powers = np.zeros((board.shape[0] * board.shape[1], len(patterns)), np.int32)
    for p, cells in enumerate(patterns):
        powers[list(cells), p] = board.num_codes ** np.arange(len(cells))
    offsets = np.repeat(starts[:-1], [len(orbit) for orbit in tables])
    return Patterns(offsets.astype(np.uint32), powers), int(starts[-1])


def check_board(game: Game) -> BoardTables:
    """Return what the game declares about its board, or raise InvalidParameter."""
    board = game.learning.board
    if board is None or board.num_codes < 2 or min(board.shape) < 1:
        raise InvalidParameter(
            f"{game.id} declares no board for tables of cell patterns: expected BoardTables with two codes or more in its "
            "LearningSupport"
        )
    cells = board.shape[0] * board.shape[1]
    if any(sorted(one.cells) != list(range(cells)) for one in board.symmetries):
        raise InvalidParameter(f"{game.id}: invalid symmetries: expected permutations of {cells} cells")
    return board


def _list_symmetries(board: BoardTables) -> list[Cells]:
    """Return the group of the declared symmetries, the identity first."""
    group = [tuple(range(board.shape[0] * board.shape[1]))]
    for known in group:  # grows
        for one in board.symmetries:
            image = tuple(known[cell] for cell in one.cells)
            if image not in group:
                group.append(image)
    return group


def _list_tables(board: BoardTables, windows: Sequence[tuple[int, int]], group: Sequence[Cells]) -> Iterator[list[Cells]]:
    """Yield the patterns of each table: the distinct images of a window at a place."""
    rows, columns = board.shape
    known: set[frozenset[int]] = set()
    for height, width in windows:
        high, wide = min(height, rows), min(width, columns)
        for row in range(rows - high + 1):
            for column in range(columns - wide + 1):
                cells = [(row + y) * columns + column + x for y in range(high) for x in range(wide)]
                if frozenset(cells) not in known:
                    orbit = list(dict.fromkeys(tuple(image[cell] for cell in cells) for image in group))
                    known.update(map(frozenset, orbit))
                    yield orbit
