"""Memory layout of the observations of any game, for policies that do not know the game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Field, Game
from momagames.errors import InvalidParameter, one_of

DTYPES = ("uint8", "int8", "int32", "float32", "float64")


def field_offsets(game: Game) -> Iterator[tuple[int, int, Field]]:
    """Yield for each field the index of its dtype in DTYPES, its offset in items of that dtype, and the field.

    See `Game.observation_views`. Raises InvalidParameter for other dtypes
    """
    offset = 0
    for field in game.fields:
        if field.dtype not in DTYPES:
            raise InvalidParameter(f"{game.id}: invalid dtype {field.dtype} of field {field.name!r}: expected {one_of(DTYPES)}")
        yield DTYPES.index(field.dtype), offset // np.dtype(field.dtype).itemsize, field
        offset += -(-field.nbytes // 8) * 8


def memory_shape(field: Field) -> tuple[int, ...]:
    """Return the shape of a field in memory order."""
    return tuple(field.shape[axis] for axis in field.order or range(len(field.shape)))


def make_workspace(game: Game) -> tuple[NDArray[Any], ...]:
    """Return an observation buffer uint8[B], and views of the same memory with each of DTYPES."""
    words = np.zeros(-(-game.observation_bytes // 8), np.int64)
    return words.view(np.uint8)[: game.observation_bytes], *(words.view(dtype) for dtype in DTYPES)
