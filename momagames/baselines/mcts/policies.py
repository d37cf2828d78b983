# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Policies that search before every move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.mcts.simulation import UctOptions, decide, playout, tools
from momagames.baselines.mcts.tree import check_size, empty_tree, forget
from momagames.baselines.weight_lattice import given_weights, label
from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.engine.playouts import KERNEL
from momagames.engine.policies import Compiled, CompiledPolicy, Member
from momagames.kernels.jit import kernel

# weights float64[K] -> aims float64[G, K] and their weights float64[G]
Aims = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


def one_aim(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weighted sum."""
    return weights[None, :], np.ones(1)


def every_aim(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each objective by itself; the weights decide in the end."""
    return np.eye(len(weights)), weights


AIMS: dict[str, Aims] = {"uct": one_aim, "pareto_uct": every_aim}


@once_for_rules
def searching(game: Game) -> Callable[..., Any]:
    """The kernel for this game's rules, see `players.Compiled`; scratch: tree and tools."""
    play, sequential = playout(game), game.sequential

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        tree, tools = scratch
        forget(tree)
        tools.root[0] = state
        for _ in range(tools.simulations[0]):
            _, word = play(tree, tools, tools.horizon[0], word)
        for part in range(parts.shape[0]):
            action[part], word = decide(tree, tools, agent, 0 if sequential else agent, part, word)
        return word

    return act


def searcher(name: str, game: Game, weights: NDArray[np.float64], effort: UctOptions) -> Compiled:
    """The policy `name` as a kernel, or InvalidParameter."""
    effort.check(name)
    aims, wishes = AIMS[name](weights)
    check_size(name, game, effort.simulations, len(aims))

    def scratch(game: Game) -> tuple[Any, ...]:
        return empty_tree(game, effort.simulations, len(aims)), tools(game, aims, wishes, effort)

    return Compiled(name, searching(game), scratch=scratch)


def search_member(name: str, game: Game, weights: NDArray[np.float64], effort: UctOptions) -> Member:
    """The policy `name` with these weights, labeled by them."""
    return Member(label(weights), KERNEL, tuple(weights.tolist()), searcher(name, game, weights, effort))


class UctPolicy(CompiledPolicy):
    """Tree search with upper confidence bounds of a weighted sum; see `Uct` for what it sees and takes for granted.

    weights       of the objectives, float[K]; none: all equal
    simulations   playouts before each move
    exploration   factor of the confidence radius
    horizon       steps after which a playout is cut off
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
        chosen = given_weights(self.name, game, weights)
        self.compiled = searcher(self.name, game, chosen, UctOptions(simulations, exploration, horizon))  # type: ignore[misc]
        super().__init__(game, agent)


class ParetoUctPolicy(UctPolicy):
    """Tree search with Pareto upper confidence bounds; see `ParetoUct`."""

    name: ClassVar[str] = "pareto_uct"
