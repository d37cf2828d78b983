# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Values of positions by trained tables, in place of random playouts: for each agent and objective that has a head."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.checkpoint_policy import load_stored_policies
from momagames.baselines.ntuple.heads import MOVED, Heads, make_heads
from momagames.baselines.ntuple.kernels import Buffers, find_entries, make_buffers, sum_entries, value_of_head
from momagames.baselines.ntuple.patterns import Patterns, check_board, make_patterns
from momagames.baselines.ntuple.tables import PatternTables
from momagames.contract import Game
from momagames.errors import InvalidParameter
from momagames.kernels.jit import kernel


class LeafValues(NamedTuple):
    """Tables of a weight vector, with scratch arrays.

    patterns   see `Patterns`
    heads      see `Heads`
    tables     float32[H, n]
    buffers    see `Buffers`
    returns    float64[A, K] after a move
    best       float64[A, K] after the best move
    """

    patterns: Patterns
    heads: Heads
    tables: NDArray[np.float32]
    buffers: Buffers
    returns: NDArray[np.float64]
    best: NDArray[np.float64]


def make_leaf_values(game: Game, name: str, weights: NDArray[np.float64]) -> LeafValues | tuple[()]:
    """Return the values by the stored tables of the nearest weights, or () without a name. Raises InvalidParameter.

    name   "champion", or the path of a checkpoint of `ntuple`
    """
    if not name:
        return ()
    stored = load_stored_policies(game, name, PatternTables, "value", "ntuple")
    if len(game.agents) > 2 or game.chance == "step":
        raise InvalidParameter(
            f"{game.id}: invalid value={name!r}: expected none in games of more than two agents, or with chance during play"
        )
    own, tables = stored.find_nearest(weights)
    patterns, _ = make_patterns(game, stored.windows)
    return make_table_values(game, patterns, make_heads(game, own), tables.astype(np.float32))


def make_table_values(game: Game, patterns: Patterns, heads: Heads, tables: NDArray[np.float32]) -> LeafValues:
    """Return the values by tables, float32[H, n], which are not copied."""
    returns, best = np.zeros((2, len(game.agents), len(game.objectives)))
    return LeafValues(patterns, heads, tables, make_buffers(patterns), returns, best)


def make_value_kernel(game: Game) -> Callable[..., Any]:
    """Return the kernel that adds the values of a position to the returns, float64[A, K]."""
    write_codes = check_board(game).write_codes

    @kernel
    def add_values(state, agent, values, returns):
        """Agent: the one that moved last."""
        heads, buffers = values.heads, values.buffers
        write_codes(state, agent, buffers.codes)
        find_entries(values.patterns, buffers)
        other = returns.shape[0] - 1 - agent
        for h in range(heads.objectives.shape[0]):
            value = value_of_head(heads, h, sum_entries(values.tables[h], buffers.entries))
            k = heads.objectives[h]
            if heads.roles[h] == MOVED:
                returns[agent, k] += value
                if heads.coefficients[1, h] != 0.0:  # zero-sum: one head for both agents
                    returns[other, k] -= value
            else:
                returns[other, k] += value

    return add_values
