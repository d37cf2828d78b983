# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Tree search with the tables that are being trained, for moves and targets of self-play."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.mcts.simulation import (
    UctOptions,
    Workspace,
    copy_returns,
    make_playout,
    make_workspace,
    select_action,
)
from momagames.baselines.mcts.tree import Tree, make_tree, reset_tree
from momagames.baselines.ntuple.heads import Heads
from momagames.baselines.ntuple.leaf_values import make_table_values
from momagames.baselines.ntuple.patterns import Patterns
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.kernels.jit import kernel

EXPLORATION = 0.1


class TreeSearch(NamedTuple):
    """A tree search with scratch arrays.

    tree        see `mcts.tree`
    workspace   see `mcts.simulation`; no playouts: no search
    visits      int64[M], playouts through each action of the root
    sums        float64[M, A, K], sums of their returns
    """

    tree: Tree
    workspace: Workspace
    visits: NDArray[np.int64]
    sums: NDArray[np.float64]


def make_tree_search(
    game: Game,
    weights: NDArray[np.float64],
    patterns: Patterns,
    heads: Heads,
    tables: NDArray[np.float32],
    simulations: int,
) -> TreeSearch:
    """Return a search that reads the tables, float32[H, n], as they change."""
    options = UctOptions(simulations, EXPLORATION, game.max_episode_steps)
    workspace = make_workspace(game, weights[None, :], np.ones(1), options, line_capacity=1)
    return TreeSearch(
        make_tree(game, simulations, 1),
        workspace._replace(values=make_table_values(game, patterns, heads, tables)),
        np.zeros(game.mask_size, np.int64),
        np.zeros((game.mask_size, len(game.agents), len(game.objectives))),
    )


@cache_by_rules
def make_tree_search_kernel(game: Game) -> Callable[..., object]:
    """Return the kernel of a search: it returns the action, the number of environment steps, and the generator word.

    It writes the mean returns of the playouts through that action, float64[A, K].
    """
    simulate = make_playout(game, True)

    @kernel
    def search_position(state, agent, search, value, word):
        tree, workspace, visits, sums = search
        reset_tree(tree)
        workspace.root[0] = state
        visits[:] = 0
        sums[:] = 0.0
        steps, word = simulate(tree, workspace, workspace.horizon[0], word)  # the values of the actions of the root
        copy_returns(workspace.returns, value)
        for _ in range(1, workspace.simulations[0]):
            made, word = simulate(tree, workspace, workspace.horizon[0], word)
            steps += made
            action = workspace.line[0]
            visits[action] += 1
            add_returns(workspace.returns, 1.0, sums[action])
        chosen, word = select_action(tree, workspace, agent, 0, 0, word)
        if visits[chosen] > 0:
            value[:] = 0.0
            add_returns(sums[chosen], 1.0 / visits[chosen], value)
        return chosen, steps, word

    return search_position


@kernel
def add_returns(source, factor, out):
    for a in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[a, k] += factor * source[a, k]


@kernel
def search_nothing(state, agent, search, value, word):
    """Take the place of a search that is never called."""
    return 0, 0, word
