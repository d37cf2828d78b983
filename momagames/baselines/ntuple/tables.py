"""Policies of trained tables: one for each weight vector that has tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.ntuple.heads import make_heads
from momagames.baselines.ntuple.patterns import check_board, make_patterns
from momagames.baselines.ntuple.search import make_search, make_search_kernel
from momagames.baselines.weight_lattice import format_weights
from momagames.contract import Game
from momagames.engine.policies import LOOKAHEAD_MEMORY, CompiledPolicy
from momagames.errors import InvalidParameter

RESOLUTION = 4096  # stored table entries are multiples of 1 / RESOLUTION
Windows = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class PatternTables:
    """Tables of several weight vectors.

    windows         sides of the patterns
    depth           moves of look-ahead
    weights         float64[W, K]
    return_scale    float64[K], divisors of the returns, to which weights refer
    tables          of each weight vector, float16[H, n]
    reads_weights   see `TrainedPolicies`
    """

    game: Game
    windows: Windows
    depth: int
    weights: NDArray[np.float64]
    return_scale: NDArray[np.float64]
    tables: Sequence[NDArray[np.float16]]
    reads_weights: bool = True

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its parameters, as they are stored."""
        tables = {f"tables/{i}": one for i, one in enumerate(self.tables)}
        return {"weights": self.weights, "return_scale": self.return_scale, **tables}

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> CompiledPolicy:
        """Return the policy of the nearest weights that have tables, divided by their sum as these are.

        Raises InvalidParameter without `greedy`: tables give values, not probabilities
        """
        if not greedy:
            raise InvalidParameter("pattern tables: invalid greedy=False: expected True, they play the best move")
        return make_policy(self.game, self.windows, self.depth, *self.find_nearest(np.array(weights, np.float64)), label)

    def find_nearest(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float16]]:
        """Return the nearest weights that have tables, as weights of unscaled returns float64[K], and these tables."""
        row = weights / weights.sum() if weights.sum() > 0 else weights
        nearest = int(np.square(self.weights - row).sum(axis=1).argmin())
        return self.weights[nearest] / self.return_scale, self.tables[nearest]


def round_tables(tables: NDArray[Any]) -> NDArray[np.float16]:
    """Return tables, float[H, n], as they are stored: rounded, so that they compress to half the size."""
    return (np.round(tables * RESOLUTION) / RESOLUTION).astype(np.float16)


def make_policy(
    game: Game, windows: Windows, depth: int, weights: NDArray[np.float64], tables: NDArray[np.float16], label: str = ""
) -> CompiledPolicy:
    """Return the policy of the tables of a weight vector, float64[K]."""
    patterns, heads = make_patterns(game, windows)[0], make_heads(game, weights)

    def scratch(other: Game) -> tuple[Any, ...]:
        if (other.objectives, check_board(other).shape) != (game.objectives, check_board(game).shape):
            raise InvalidParameter(f"these pattern tables are for {game.id} with other objectives or another board")
        return make_search(other, weights, patterns, heads, tables.astype(np.float32), depth)

    return CompiledPolicy(
        "ntuple", make_search_kernel(game), LOOKAHEAD_MEMORY, (game.rules_key,), scratch=scratch,
        label=label or format_weights(weights), weights=tuple(weights.tolist()),
        arrays={"tables": tables, "weights": weights},
    )  # fmt: skip
