"""Features of a linear policy: a few numbers from the observation of any game.

Each number of a one-axis field is a feature. A field with two axes or more is read as boards (the last two axes in memory);
each board gives three features: the mean of its cells, and the means of cell times row and of cell times column, with rows and
columns scaled to -1..1.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from momagames.baselines.observation_layout import field_offsets, memory_shape
from momagames.contract import Field, Game
from momagames.errors import InvalidParameter

BOARD_FEATURES = 3
MAX_FEATURES = 512


class FeatureLayout:
    """Positions of the features in the observations of a game. Raises InvalidParameter for more than MAX_FEATURES.

    sources   int64[n, 4], one row for each number or board: index in DTYPES, offset in items of that dtype, rows and columns
              (0 rows: a number)
    count     number of features
    """

    def __init__(self, game: Game) -> None:
        self.sources = np.array([source for placed in field_offsets(game) for source in _list_sources(*placed)], np.int64)
        self.count = int(np.where(self.sources[:, 2] > 0, BOARD_FEATURES, 1).sum())
        if self.count > MAX_FEATURES:
            raise InvalidParameter(f"{game.id} has {self.count} features for a linear policy: expected at most {MAX_FEATURES}")


def _list_sources(dtype: int, offset: int, field: Field) -> Iterator[tuple[int, int, int, int]]:
    shape = memory_shape(field)
    if len(shape) < 2:
        yield from ((dtype, offset + i, 0, 0) for i in range(prod(shape)))
        return
    rows, columns = shape[-2:]
    yield from ((dtype, offset + i * rows * columns, rows, columns) for i in range(prod(shape[:-2])))
