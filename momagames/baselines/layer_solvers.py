"""Solvers of fronts for any game of two agents in turn without chance, by backward induction over all of its positions.

A game that is small enough names them in its `Solvers.fronts`; see `front_solvers`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.equilibria import PositionSets, evaluate_equilibrium, list_equilibria
from momagames.baselines.exact.backward_induction import DECIMALS
from momagames.baselines.front_solvers import Floats, SearchLimits, SolvedFront, check_no_checkpoint, compare_points
from momagames.baselines.position_layers import (
    Join,
    Layer,
    Progress,
    Words,
    collect_layers,
    list_layers,
    pack_sets,
    solve_layers,
    unpack_set,
)
from momagames.baselines.strategies import StoredStrategy, encode_actions, walk
from momagames.baselines.subgame_perfect import find_subgame_perfect, list_subgame_perfect
from momagames.contract import Game
from momagames.engine.positions import load_state
from momagames.errors import TooLarge

BATCH = 1024  # vectors for which one pass over all positions decides
METHOD = "backward induction over sets"


class Guaranteed:
    """Solver of the vectors that an agent can guarantee against every reply.

    A vector of the grid of all values that outcomes have is guaranteed where a move of the agent leads to a position in which
    it is, or all moves of the opponent do. The front is the vectors with no guaranteed vector above them.
    """

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `FrontSolver.solve`."""
        check_no_checkpoint(limits.checkpoint, "positions that are solved all at once")
        began = time.perf_counter()
        record = load_state(game, start)
        layers, outcomes = list_layers(game, record, limits.max_states)
        states = sum(len(layer.movers) for layer in layers)
        own = np.hsplit(outcomes, 2)[agent]
        values = find_guaranteed(layers, own, agent)
        ends = _find_covering(own, values)
        sets = collect_layers(layers, ends, _join_for(agent), _make_report(game, limits))
        strategies = [_list_actions(layers, sets, ends, agent, number) for number in range(len(values))]
        worst = [walk(game, record, agent, StoredStrategy(encode_actions(actions))).worst for actions in strategies]
        return SolvedFront(
            METHOD, np.array(worst), strategies, states, sum(one.nbytes for one in sets), time.perf_counter() - began
        )

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Derive the front again from the rules of the environment."""
        layers, outcomes = list_layers(game, load_state(game, start), limits.max_states)
        compare_points(values, np.round(values, DECIMALS), find_guaranteed(layers, np.hsplit(outcomes, 2)[agent], agent))


def find_guaranteed(layers: list[Layer], own: Floats, agent: int) -> Floats:
    """Return the front of the vectors that an agent can guarantee, float64[n, K], in ascending lexicographic order.

    own    its returns in each outcome, float64[o, K]
    """
    axes = [np.unique(column) for column in own.T]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    held = np.zeros(len(grid), np.bool_)
    for first in range(0, len(grid), BATCH):
        batch = grid[first : first + BATCH]
        ends = _find_covering(own, batch)
        *_, root = solve_layers(layers, ends, _join_for(agent))
        held[first : first + BATCH] = unpack_set(root[0, 0], len(batch))
    shaped = held.reshape([len(axis) for axis in axes])
    largest = shaped.copy()
    for k in range(len(axes)):  # a vector with a guaranteed one above it in this objective is not on the front
        np.moveaxis(largest, k, 0)[:-1] &= ~np.moveaxis(shaped, k, 0)[1:]
    return grid[largest.reshape(-1)]


def _find_covering(own: Floats, vectors: Floats) -> Words:
    """Return which vectors, float64[m, K], each outcome reaches, uint64[1, o, W]."""
    reached: NDArray[np.bool_] = np.all(own[:, None] >= vectors, axis=2)
    return pack_sets(reached)[None]


def _join_for(agent: int) -> Join:
    """Return the rule of `solve_layers` for vectors that an agent can guarantee."""

    def join(layer: Layer, moves: Words) -> Words:
        some = np.bitwise_or.reduceat(moves, layer.firsts, axis=1)
        every = np.bitwise_and.reduceat(moves, layer.firsts, axis=1)
        return np.where((layer.movers == agent)[:, None], some, every)

    return join


def _list_actions(layers: list[Layer], sets: list[Words], ends: Words, agent: int, number: int) -> list[int]:
    """Return the actions of a strategy that guarantees a vector, by its number, in the order of `strategies.walk`."""
    word, bit = number // 64, np.uint64(number % 64)
    visited, actions = np.zeros(1, np.int64), list[int]()
    for layer, after in zip(layers, [*sets[1:], ends[:, :0]], strict=True):
        held = np.concatenate([after[0, :, word], ends[0, ::-1, word]]) >> bit & np.uint64(1)
        is_own = layer.movers[visited] == agent
        chosen = layer.choose(visited[is_own], held[layer.children] != 0)
        actions += layer.actions[chosen].tolist()
        visited = layer.list_next(visited[~is_own], chosen)
    return actions


@dataclass(frozen=True)
class Equilibrium:
    """Solver of the Pareto-Nash equilibria in pure strategies.

    Both strategies of a point are in equilibrium; those of a subgame perfect point need not be subgame perfect.

    perfect    only the outcomes of subgame perfect equilibria
    """

    perfect: bool

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `FrontSolver.solve`."""
        check_no_checkpoint(limits.checkpoint, "equilibria")
        began = time.perf_counter()
        record = load_state(game, start)
        layers, outcomes = list_layers(game, record, limits.max_states)
        states = sum(len(layer.movers) for layer in layers)
        found = PositionSets(layers, outcomes, _make_report(game, limits))
        chosen = find_subgame_perfect(game, layers, outcomes) if self.perfect else found.equilibria
        pairs = [found.find_strategies(returns) for returns in chosen]
        return make_equilibrium_front(game, record, pairs, states, found.bytes, time.perf_counter() - began)

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Derive all outcomes again from the rules of the environment."""
        derive = list_subgame_perfect if self.perfect else list_equilibria
        compare_points(values, np.round(values, DECIMALS), derive(game, load_state(game, start), limits.max_states))


def make_equilibrium_front(
    game: Game, start: NDArray[Any], pairs: Sequence[tuple[list[int], list[int]]], states: int, size: int, seconds: float
) -> SolvedFront:
    """Return a front of equilibria from the actions of both agents in each, whose returns are those of their replay."""
    values = np.array([evaluate_equilibrium(game, start, (encode_actions(a), encode_actions(b))) for a, b in pairs])
    first, second = zip(*pairs, strict=True)
    return SolvedFront(METHOD, values, first, states, size, seconds, second)


def _make_report(game: Game, limits: SearchLimits) -> Progress:
    def report(states: int, size: int) -> None:
        """Report progress, or raise TooLarge."""
        if size > limits.max_bytes:
            raise TooLarge(f"{game.id}: the sets take more than max_bytes={limits.max_bytes:,}; choose a smaller start")
        if limits.progress is not None:
            limits.progress(states, size)

    return report


GUARANTEED, EQUILIBRIUM, SUBGAME_PERFECT = Guaranteed(), Equilibrium(perfect=False), Equilibrium(perfect=True)
