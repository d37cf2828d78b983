"""Observations of any game as numbers in memory, for policies that do not know the game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Field, Game
from momagames.errors import InvalidParameter, one_of

KINDS = ("uint8", "int8", "int32", "float32", "float64")


def placed(game: Game) -> Iterator[tuple[int, int, Field]]:
    """The fields: for each the index of its type in KINDS, and where it starts, in items of that type.

    See `Game.observation_views`. Raises InvalidParameter for another type
    """
    start = 0
    for field in game.fields:
        if field.dtype not in KINDS:
            raise InvalidParameter(f"{field.name!r} of {game.id} is {field.dtype}; numbers that can be read: {one_of(KINDS)}")
        yield KINDS.index(field.dtype), start // np.dtype(field.dtype).itemsize, field
        start += -(-field.nbytes // 8) * 8


def in_memory(field: Field) -> tuple[int, ...]:
    """The shape of a field as it lies in memory."""
    return tuple(field.shape[axis] for axis in field.order or range(len(field.shape)))


def room(game: Game) -> tuple[NDArray[Any], ...]:
    """Arrays to work in: the bytes of an observation uint8[B], and the same memory as each of KINDS."""
    words = np.zeros(-(-game.observation_bytes // 8), np.int64)
    return words.view(np.uint8)[: game.observation_bytes], *(words.view(kind) for kind in KINDS)
