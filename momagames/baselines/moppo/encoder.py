"""What a network sees: planes and numbers from the observation of any game, without knowing the game.

A field with two axes or more is read as boards, with their planes before or behind rows and columns. Where values are few they
become a plane each, 1 where the board holds the value; where they are many, one plane on a logarithmic scale. A field of
numbers in a row is read likewise, as numbers; fractions are told roughly as well, as one of several steps; what is called
"position" and bounded by the board is a plane as well. Boards of any other size than the first are read as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.observation_layout import in_memory, placed
from momagames.contract import Field, Game

FEW = 16  # values that get a plane each
ONE_OF, SHARE, LOGARITHM, PLACE, NEAR = range(5)  # what a piece makes of a value


class Piece(NamedTuple):
    """Where a plane or a number comes from.

    kind    index in `observed.KINDS`, and `first`: where its board or number starts, in items of that kind
    cells   of the board; 1: a number
    apart   items from one cell to the next
    how     ONE_OF: is it `a`?; SHARE: (value - a) * b; LOGARITHM: log(1 + value - a) * b; PLACE: two numbers name a cell,
            b columns in a row; NEAR: is it within b of a?
    """

    kind: int
    first: int
    cells: int
    apart: int
    how: int
    a: float
    b: float


@dataclass(frozen=True)
class Sight:
    """How the observations of a game are read.

    rows, columns     of the boards, as they lie in memory; 0 if the game shows none
    planes, numbers   float64[P, 7] and float64[V, 7], a `Piece` in each row
    by_cell           whether the actions belong to the cells, in the order of memory: so many to each; 0: they do not
    spot              the plane that shows where the agent is; -1: none does
    """

    rows: int
    columns: int
    planes: NDArray[np.float64]
    numbers: NDArray[np.float64]
    by_cell: int
    spot: int

    @property
    def cells(self) -> int:
        return self.rows * self.columns


def sight(game: Game) -> Sight:
    """How a network reads the observations of a game."""
    rows, columns = _board(game)
    cells = rows * columns
    planes: list[Piece] = []
    numbers: list[Piece] = []
    for kind, first, field in placed(game):
        inside = in_memory(field)
        if len(inside) > 1 and inside[-2:] == (rows, columns):
            for plane in range(math.prod(inside[:-2])):
                planes += _pieces(kind, field, first + plane * cells, cells, 1)
        elif len(inside) == 3 and inside[:2] == (rows, columns):
            for plane in range(inside[2]):
                planes += _pieces(kind, field, first + plane, cells, inside[2])
        else:
            if field.name == "position" and inside == (2,) and rows and field.high == max(rows, columns) - 1:
                planes.append(Piece(kind, first, cells, 1, PLACE, 0, columns))
            for number in range(math.prod(inside)):
                numbers += _pieces(kind, field, first + number, 1, 1)
    size = game.mask_size
    by_cell = size // cells if rows and len(game.actions) == 1 and size % cells == 0 else 0
    spot = next((i for i, piece in enumerate(planes) if piece.how == PLACE), -1)
    return Sight(rows, columns, _table(planes), _table(numbers), by_cell, spot)


def _table(pieces: list[Piece]) -> NDArray[np.float64]:
    return np.array(pieces, np.float64).reshape(len(pieces), len(Piece._fields))


def _board(game: Game) -> tuple[int, int]:
    """Rows and columns of the boards, 0 without any: those of a field that is one board, else of the first with planes."""
    shown = [in_memory(field) for field in game.fields if len(field.shape) > 1]
    plain = [inside for inside in shown if len(inside) == 2]
    rows, columns = (plain or shown or [(0, 0)])[0][-2:]
    return rows, columns


def _pieces(kind: int, field: Field, first: int, cells: int, apart: int) -> Iterator[Piece]:
    low, high = float(field.low), float(field.high)
    if field.dtype.startswith("float") or high - low <= 1:
        yield Piece(kind, first, cells, apart, SHARE, low, 1 / (high - low) if high > low else 1.0)
    elif high - low < FEW:
        yield from (Piece(kind, first, cells, apart, ONE_OF, value, 0) for value in range(int(low), int(high) + 1))
    else:
        yield Piece(kind, first, cells, apart, LOGARITHM, low, 1 / math.log1p(FEW))
    if field.dtype.startswith("float") and cells == 1 and high > low:
        width = (high - low) / (FEW - 1)
        yield from (Piece(kind, first, cells, apart, NEAR, low + i * width, width / 2) for i in range(FEW))
