# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Policies that search before every move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.mcts.simulation import UctOptions, make_playout, make_workspace, select_action
from momagames.baselines.mcts.tree import check_size, make_tree, reset_tree
from momagames.baselines.ntuple.leaf_values import make_leaf_values
from momagames.baselines.weight_lattice import format_weights, resolve_weights
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.engine.policies import LOOKAHEAD_MEMORY, CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.kernels.jit import kernel

# weights float64[K] -> criteria float64[G, K] and their weights float64[G]
MakeCriteria = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


def make_single_criterion(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted sum as the only criterion."""
    return weights[None, :], np.ones(1)


def make_objective_criteria(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each objective as a criterion; the weights apply to the final move selection only."""
    return np.eye(len(weights)), weights


CRITERIA: dict[str, MakeCriteria] = {"uct": make_single_criterion, "pareto_uct": make_objective_criteria}


@cache_by_rules
def make_act_kernel(game: Game, valued: bool) -> Callable[..., Any]:
    """Make the kernel of the policy for this game's rules, see `engine.policies`; scratch: tree and workspace."""
    simulate, sequential = make_playout(game, valued), game.sequential

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        tree, workspace = scratch
        reset_tree(tree)
        workspace.root[0] = state
        for _ in range(workspace.simulations[0]):
            steps, word = simulate(tree, workspace, workspace.horizon[0], word)
            memory["lookahead_steps"] += steps
        for part in range(parts.shape[0]):
            action[part], word = select_action(tree, workspace, agent, 0 if sequential else agent, part, word)
        return word

    return act


def make_search_policy(name: str, game: Game, weights: NDArray[np.float64], options: UctOptions) -> CompiledPolicy:
    """Make the policy `name` with these weights, labeled by them; InvalidParameter for invalid options."""
    options.check(name)
    criteria, criterion_weights = CRITERIA[name](weights)
    has_priors = options.prior_temperature > 0
    check_size(name, game, options.simulations, len(criteria), has_priors)
    make_leaf_values(game, options.value, weights)  # raises an error before play

    def scratch(game: Game) -> tuple[Any, ...]:
        tree = make_tree(game, options.simulations, len(criteria), has_priors)
        return tree, make_workspace(game, criteria, criterion_weights, options)

    label, row = format_weights(weights), tuple(weights.tolist())
    kernel_name = f"{name}.valued" if options.value else name
    act = make_act_kernel(game, bool(options.value))
    return CompiledPolicy(kernel_name, act, LOOKAHEAD_MEMORY, scratch=scratch, label=label, weights=row)


def make_uct_policy(
    name: str,
    game: Game,
    weights: Sequence[float] | None = None,
    simulations: int = 200,
    exploration: float = 0.3,
    horizon: int = 200,
    value: str = "",
    prior_temperature: float = 0.0,
) -> CompiledPolicy:
    """Return the tree search `uct` or `pareto_uct`; see the methods `Uct` and `ParetoUct` for their assumptions.

    weights       weights of the objectives, float[K]; default: equal weights
    simulations   playouts before each move
    exploration   factor of the confidence radius
    horizon       maximum number of steps of a playout
    value         trained tables whose values of moves replace random playouts: "champion", or the path of a checkpoint
    prior_temperature   above 0: of the softmax of these values that is the prior of the moves (PUCT)
    """
    options = UctOptions(simulations, exploration, horizon, value, prior_temperature)
    return replace(make_search_policy(name, game, resolve_weights(name, game, weights), options), label=name)


UCT_POLICY, PARETO_UCT_POLICY = (
    PolicyFactory(partial(make_uct_policy, name), optional=("value", "prior_temperature"), file_option="value")
    for name in ("uct", "pareto_uct")
)
