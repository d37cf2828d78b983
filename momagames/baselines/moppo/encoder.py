"""Encoding of the observations of any game as planes and scalars for a network.

A field with two axes or more is read as planes of the board; its plane axis stands before or behind rows and columns. A field
with few values becomes one binary plane for each value, a field with many values one plane on a logarithmic scale. One-axis
fields are encoded in the same way as scalars; fractions are binned in addition. A field "position" bounded by the board
becomes a binary plane. Fields of another size than the first board are read as scalars.

A game may declare an egocentric view instead (`contract.EgocentricView`), which its own kernel writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.observation_layout import field_offsets, memory_shape
from momagames.contract import EgocentricView, Field, Game
from momagames.errors import InvalidParameter

MAX_ONE_HOT = 16  # largest number of values that are encoded one-hot; number of bins of a fraction
ONE_HOT, LINEAR, LOGARITHMIC, POSITION, BIN = range(5)  # transforms of a feature


class Feature(NamedTuple):
    """Source and transform of a plane or a scalar.

    dtype      index in `observation_layout.DTYPES`
    offset     of its first item, in items of that dtype
    cells      of the plane; 1 for a scalar
    stride     items from one cell to the next
    transform  ONE_HOT: value == a; LINEAR: (value - a) * b; LOGARITHMIC: log(1 + value - a) * b; POSITION: two values are the
               row and column of a cell of a board with b columns; BIN: abs(value - a) <= b
    """

    dtype: int
    offset: int
    cells: int
    stride: int
    transform: int
    a: float
    b: float


@dataclass(frozen=True)
class ObservationEncoder:
    """Encoding of the observations of a game, or its egocentric view.

    rows, columns      of the board in memory order; 0 without a board
    planes, scalars    float64[P, 7] and float64[V, 7], a `Feature` in each row
    actions_per_cell   number of actions of each cell, if the actions belong to the cells in memory order; else 0
    agent_plane        index of the plane that marks the cell of the agent; -1 if there is none
    agent_ids          length of the one-hot agent id; 0 in games with one agent, and in egocentric views
    view               the egocentric view; None: observations are encoded
    """

    rows: int
    columns: int
    planes: NDArray[np.float64]
    scalars: NDArray[np.float64]
    actions_per_cell: int
    agent_plane: int
    agent_ids: int
    view: EgocentricView | None = None

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def egocentric_size(self) -> int:
        """Return the numbers of the egocentric view; 0: observations are encoded."""
        return self.view.size if self.view else 0

    @property
    def actions(self) -> NDArray[np.int64]:
        """Return the game's actions as the agents see them, int64[A, M]; without rows if all see them as they are."""
        own = self.view.actions if self.view else ()
        return np.array(own, np.int64).reshape(len(own), -1 if own else 0)

    @property
    def reads_agent(self) -> bool:
        """Return whether the network must know which agent acts, besides what it observes."""
        return self.agent_ids > 0 or len(self.actions) > 0

    @property
    def features(self) -> int:
        """Return the number of vector features without the weights."""
        return self.egocentric_size or len(self.scalars) + self.agent_ids


def make_egocentric_encoder(game: Game) -> ObservationEncoder:
    """Return the encoder of the egocentric view that a game declares."""
    assert game.learning.egocentric_view is not None
    return ObservationEncoder(0, 0, _to_table([]), _to_table([]), 0, -1, 0, game.learning.egocentric_view)


def make_network_encoder(game: Game, options: MoppoOptions) -> ObservationEncoder:
    """Return the encoder of the network of these options. Raises InvalidParameter."""
    reason = "the game declares no egocentric view" if game.learning.egocentric_view is None else ""
    reason = reason or ("a centralized critic reads observations" if options.critic == "centralized" else "")
    if options.network == "egocentric" and reason:
        raise InvalidParameter(
            f"moppo: invalid network='egocentric' for {game.id}: expected 'auto' or 'convolutional', {reason}"
        )
    if options.network != "convolutional" and not reason:
        return make_egocentric_encoder(game)
    return make_encoder(game)


def make_encoder(game: Game) -> ObservationEncoder:
    """Return the encoder of the observations of a game. Raises InvalidParameter for a field of an unsupported dtype."""
    rows, columns = _board_shape(game)
    cells = rows * columns
    planes: list[Feature] = []
    scalars: list[Feature] = []
    for dtype, offset, field in field_offsets(game):
        shape = memory_shape(field)
        if len(shape) > 1 and shape[-2:] == (rows, columns):
            for plane in range(math.prod(shape[:-2])):
                planes += _encode_values(dtype, field, offset + plane * cells, cells, 1)
        elif len(shape) == 3 and shape[:2] == (rows, columns):
            for plane in range(shape[2]):
                planes += _encode_values(dtype, field, offset + plane, cells, shape[2])
        else:
            if field.name == "position" and shape == (2,) and rows and field.high == max(rows, columns) - 1:
                planes.append(Feature(dtype, offset, cells, 1, POSITION, 0, columns))
            for scalar in range(math.prod(shape)):
                scalars += _encode_values(dtype, field, offset + scalar, 1, 1)
    size = game.mask_size
    actions_per_cell = size // cells if rows and len(game.actions) == 1 and size % cells == 0 else 0
    agent_plane = next((i for i, feature in enumerate(planes) if feature.transform == POSITION), -1)
    agent_ids = len(game.agents) if len(game.agents) > 1 else 0
    return ObservationEncoder(rows, columns, _to_table(planes), _to_table(scalars), actions_per_cell, agent_plane, agent_ids)


def _to_table(features: list[Feature]) -> NDArray[np.float64]:
    return np.array(features, np.float64).reshape(len(features), len(Feature._fields))


def _board_shape(game: Game) -> tuple[int, int]:
    """Return rows and columns of the first field with a single board, else of the first field with planes; (0, 0) if none."""
    boards = [memory_shape(field) for field in game.fields if len(field.shape) > 1]
    single = [shape for shape in boards if len(shape) == 2]
    rows, columns = (single or boards or [(0, 0)])[0][-2:]
    return rows, columns


def _encode_values(dtype: int, field: Field, offset: int, cells: int, stride: int) -> Iterator[Feature]:
    """Yield the features of one plane or scalar of a field."""
    low, high = float(field.low), float(field.high)
    if field.dtype.startswith("float") or high - low <= 1:
        yield Feature(dtype, offset, cells, stride, LINEAR, low, 1 / (high - low) if high > low else 1.0)
    elif high - low < MAX_ONE_HOT:
        yield from (Feature(dtype, offset, cells, stride, ONE_HOT, value, 0) for value in range(int(low), int(high) + 1))
    else:
        yield Feature(dtype, offset, cells, stride, LOGARITHMIC, low, 1 / math.log1p(MAX_ONE_HOT))
    if field.dtype.startswith("float") and cells == 1 and high > low:
        width = (high - low) / (MAX_ONE_HOT - 1)
        yield from (Feature(dtype, offset, cells, stride, BIN, low + i * width, width / 2) for i in range(MAX_ONE_HOT))
