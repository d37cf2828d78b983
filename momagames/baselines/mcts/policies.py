# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Policies that search before every move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.mcts.simulation import UctOptions, make_playout, make_workspace, select_action
from momagames.baselines.mcts.tree import check_size, make_tree, reset_tree
from momagames.baselines.weight_lattice import resolve_weights, format_weights
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.engine.playouts import KERNEL
from momagames.engine.policies import Compiled, CompiledPolicy, Member
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
def make_act_kernel(game: Game) -> Callable[..., Any]:
    """Make the kernel of the policy for this game's rules, see `engine.policies`; scratch: tree and workspace."""
    simulate, sequential = make_playout(game), game.sequential

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        tree, workspace = scratch
        reset_tree(tree)
        workspace.root[0] = state
        for _ in range(workspace.simulations[0]):
            _, word = simulate(tree, workspace, workspace.horizon[0], word)
        for part in range(parts.shape[0]):
            action[part], word = select_action(tree, workspace, agent, 0 if sequential else agent, part, word)
        return word

    return act


def compile_search_policy(name: str, game: Game, weights: NDArray[np.float64], options: UctOptions) -> Compiled:
    """Compile the policy `name`; InvalidParameter for invalid options."""
    options.check(name)
    criteria, criterion_weights = CRITERIA[name](weights)
    check_size(name, game, options.simulations, len(criteria))

    def scratch(game: Game) -> tuple[Any, ...]:
        return make_tree(game, options.simulations, len(criteria)), make_workspace(game, criteria, criterion_weights, options)

    return Compiled(name, make_act_kernel(game), scratch=scratch)


def make_search_policy(name: str, game: Game, weights: NDArray[np.float64], options: UctOptions) -> Member:
    """Make the policy `name` with these weights, labeled by them."""
    return Member(format_weights(weights), KERNEL, tuple(weights.tolist()), compile_search_policy(name, game, weights, options))


class UctPolicy(CompiledPolicy):
    """Tree search with upper confidence bounds of a weighted sum; see `Uct` for its assumptions.

    weights       weights of the objectives, float[K]; default: equal weights
    simulations   playouts before each move
    exploration   factor of the confidence radius
    horizon       maximum number of steps of a playout
    """

    name: ClassVar[str] = "uct"

    def __init__(
        self,
        game: Game,
        agent: int | None = None,
        weights: Sequence[float] | None = None,
        simulations: int = 200,
        exploration: float = 0.3,
        horizon: int = 200,
    ) -> None:
        options = UctOptions(simulations, exploration, horizon)
        self.compiled = compile_search_policy(  # type: ignore[misc]
            self.name, game, resolve_weights(self.name, game, weights), options
        )
        super().__init__(game, agent)


class ParetoUctPolicy(UctPolicy):
    """Tree search with Pareto upper confidence bounds; see `ParetoUct`."""

    name: ClassVar[str] = "pareto_uct"
