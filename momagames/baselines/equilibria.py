"""Pareto-Nash equilibria of games of two agents in turn: verification of strategies, and derivation from all positions.

A pair of pure strategies is an equilibrium if no strategy of either agent, against that of the other, has a return that
dominates its return (Shapley, "Equilibrium points in games with vector payoffs", Naval Research Logistics Quarterly 6, 1959).
Returns of both agents are one row, first those of agent 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact.backward_induction import DECIMALS
from momagames.baselines.strategies import (
    Floats,
    StoredStrategy,
    check_game,
    compute_legal_masks,
    compute_position_keys,
    group_nodes,
    step_states,
    walk,
)
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.errors import InvalidFile, TooLarge


class _PositionStrategy(StoredStrategy):
    """A stored strategy that remembers its action in each position; InvalidFile if it has two."""

    def __init__(self, game: Game, text: str) -> None:
        super().__init__(text)
        self.game = game
        self.actions_by_key: dict[bytes, int] = {}

    def __call__(self, states: NDArray[Any], returns: Floats) -> NDArray[np.int64]:
        actions = super().__call__(states, returns)
        for key, action in zip(compute_position_keys(self.game, states), actions.tolist(), strict=True):
            if self.actions_by_key.setdefault(key.tobytes(), action) != action:
                raise InvalidFile("the strategy has two actions in a position")
        return actions


def evaluate_equilibrium(game: Game, start: NDArray[Any], texts: tuple[str, str]) -> Floats:
    """Return the returns, float64[2 * K], of two stored strategies against each other; InvalidFile unless they are in
    equilibrium: all deviations of each agent are played against the strategy of the other.

    start    record[1]
    Raises   InvalidParameter as `walk`
    """
    strategies = [_PositionStrategy(game, text) for text in texts]
    attained = []
    for agent, strategy in enumerate(strategies):
        attained.append(np.round(walk(game, start, agent, strategy, returns_of=1 - agent).outcomes, DECIMALS))
        strategy.check_exhausted()
    episode = Episode(game)
    episode.load(start[0])
    while not episode.state["over"]:
        key = compute_position_keys(game, episode.states)[0].tobytes()
        episode.step(strategies[episode.mover].actions_by_key[key])
    returns = np.round(episode.returns, DECIMALS)
    for agent in (0, 1):
        for better in attained[1 - agent][_find_dominating(attained[1 - agent], returns[agent])].tolist():
            raise InvalidFile(f"{game.agents[agent]} gets {returns[agent].tolist()}, and {better} by another strategy")
    value: Floats = episode.returns.flatten()
    return value


def _find_dominating(vectors: Floats, other: Floats) -> NDArray[np.bool_]:
    """Return the vectors, float64[n, K], that dominate another one, bool[n]."""
    found: NDArray[np.bool_] = np.logical_and((vectors >= other).all(axis=1), (vectors > other).any(axis=1))
    return found


def compute_dominance(vectors: Floats) -> NDArray[np.bool_]:
    """Return for vectors float64[n, K] whether vector i dominates vector j, bool[n, n]."""
    return np.array([_find_dominating(vectors, one) for one in vectors]).T


def list_equilibria(game: Game, start: NDArray[Any], max_states: int) -> Floats:
    """Return the returns of both agents in all equilibria in pure strategies, float64[n, 2 * K], rounded to DECIMALS.

    An outcome is that of an equilibrium if a game leads to it in which no agent, where it moves, can force a return that
    dominates its return in the outcome: then the other agent has a strategy that prevents it after every deviation.

    start     record[1]
    Raises    InvalidParameter for another game; TooLarge beyond max_states positions
    """
    check_game(game)
    layers, outcomes = list_layers(game, start, max_states)
    halves = np.hsplit(outcomes, 2)
    dominated = [compute_dominance(own) for own in halves]
    ends = np.stack([_pack(one) for one in (*dominated, np.eye(len(outcomes), dtype=np.bool_))])
    sets = ends[:, :0]
    for layer in reversed(layers):  # outcomes that agent 0 can improve by force, that agent 1 can, and those of such games
        moves = np.concatenate([sets, ends[:, ::-1]], axis=1)[:, layer.children]
        some = np.bitwise_or.reduceat(moves, layer.firsts, axis=1)
        every = np.bitwise_and.reduceat(moves, layer.firsts, axis=1)
        moves_first = (layer.movers == 0)[:, None]
        forced = np.where(moves_first, some[0], every[0]), np.where(moves_first, every[1], some[1])
        sets = np.stack([*forced, some[2] & ~np.where(moves_first, *forced)])
    found = np.unpackbits(sets[2, 0].view(np.uint8), bitorder="little")[: len(outcomes)].astype(np.bool_)
    return outcomes[found]


@dataclass(frozen=True)
class Layer:
    """All moves of the positions after a number of moves.

    movers      int64[n], of each position
    firsts      int64[n], the first move of each position
    children    int64[m], for each move the index of the position in the next layer; -1 - o: the game ends with outcome o
    """

    movers: NDArray[np.int64]
    firsts: NDArray[np.int64]
    children: NDArray[np.int64]


def list_layers(game: Game, start: NDArray[Any], max_states: int) -> tuple[list[Layer], Floats]:
    """Return all moves of all positions, by the number of moves before, and the outcomes, float64[o, 2 * K]."""
    states, returns = start.copy(), np.zeros((1, len(game.agents) * len(game.objectives)))
    layers: list[Layer] = []
    outcomes: dict[tuple[float, ...], int] = {}
    while len(states):
        if (count := sum(len(layer.movers) for layer in layers) + len(states)) > max_states:
            raise TooLarge(f"{game.id}: {count:,} positions and more are reachable: expected at most max_states={max_states:,}")
        parents, actions = np.nonzero(compute_legal_masks(game, states))
        after, rewards = step_states(game, states[parents], actions)
        total = returns[parents] + rewards.reshape(len(rewards), -1) + 0.0  # no negative zeros
        over = after["over"] != 0
        children = np.empty(len(parents), np.int64)
        children[over] = [
            -1 - outcomes.setdefault(tuple(row), len(outcomes)) for row in np.round(total[over], DECIMALS).tolist()
        ]
        first, children[~over] = group_nodes(game, after[~over], total[~over])
        firsts = np.flatnonzero(np.diff(parents, prepend=-1))
        layers.append(Layer(states["to_move"].astype(np.int64), firsts, children))
        states, returns = after[~over][first], total[~over][first]
    return layers, np.array(list(outcomes))


def _pack(sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return sets as bits: bool[n, m] -> uint64[n, W]."""
    width = -sets.shape[1] % 64
    packed = np.packbits(np.pad(sets, ((0, 0), (0, width))), axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint64)
