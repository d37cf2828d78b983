"""What a linear policy sees: few numbers from the observation of any game, without knowing the game.

A field of numbers in a row gives each of its numbers. A field with two axes or more is read as boards (the last two axes in
memory), and each board gives three: the mean of its cells, and the means of cell times row and of cell times column, rows
and columns counted from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Field, Game
from momagames.errors import BadParameter, one_of

KINDS = ("uint8", "int8", "int32", "float32", "float64")
MOMENTS = 3
MAX_FEATURES = 512


class Sight:
    """How to read the observations of a game.

    pieces   int64[n, 4], a number or a board each: which of KINDS, where it starts in items of that kind, rows and columns
             (0 rows: a number)
    count    how many numbers come of it
    """

    def __init__(self, game: Game) -> None:
        self.pieces = np.array([piece for start, field in _placed(game) for piece in _pieces(game, start, field)], np.int64)
        self.count = int(np.where(self.pieces[:, 2] > 0, MOMENTS, 1).sum())
        if self.count > MAX_FEATURES:
            raise BadParameter(
                f"a linear policy sees {self.count} numbers in an observation of {game.id}; allowed: at most {MAX_FEATURES}"
            )

    def room(self, game: Game) -> tuple[NDArray[Any], ...]:
        """Arrays to work in: the bytes of an observation uint8[B], and the same memory as each of KINDS."""
        words = np.zeros(-(-game.observation_bytes // 8), np.int64)
        return words.view(np.uint8)[: game.observation_bytes], *(words.view(kind) for kind in KINDS)


def _placed(game: Game) -> Iterator[tuple[int, Field]]:
    """The fields, and at which byte each starts; see `Game.observation_views`."""
    start = 0
    for field in game.fields:
        yield start, field
        start += -(-field.nbytes // 8) * 8


def _pieces(game: Game, start: int, field: Field) -> Iterator[tuple[int, int, int, int]]:
    if field.dtype not in KINDS:
        raise BadParameter(
            f"a linear policy cannot read {field.name!r} of {game.id}, which is {field.dtype}; allowed: {one_of(KINDS)}"
        )
    kind, first = KINDS.index(field.dtype), start // np.dtype(field.dtype).itemsize
    inside = [field.shape[axis] for axis in field.order or range(len(field.shape))]
    if len(inside) < 2:
        yield from ((kind, first + i, 0, 0) for i in range(prod(inside)))
        return
    rows, columns = inside[-2:]
    yield from ((kind, first + i * rows * columns, rows, columns) for i in range(prod(inside[:-2])))
