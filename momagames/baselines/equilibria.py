"""Pareto-Nash equilibria of games of two agents in turn: verification of strategies, and derivation from all positions.

A pair of pure strategies is an equilibrium if no strategy of either agent, against that of the other, has a return that
dominates its return (Shapley, "Equilibrium points in games with vector payoffs", Naval Research Logistics Quarterly 6, 1959).
Returns of both agents are one row, first those of agent 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact.backward_induction import DECIMALS
from momagames.baselines.position_layers import Layer, Progress, Words, collect_layers, list_layers, pack_sets, unpack_set
from momagames.baselines.strategies import Floats, StoredStrategy, compute_position_keys, walk
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.errors import InvalidFile


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

    start     record[1]
    Raises    InvalidParameter for another game; TooLarge beyond max_states positions
    """
    return PositionSets(*list_layers(game, start, max_states)).equilibria


class PositionSets:
    """Which outcomes an agent can improve on by force in each position, and which are those of equilibria.

    An outcome is that of an equilibrium if a game leads to it in which no agent, where it moves, can force a return that
    dominates its return in the outcome: then the other agent has a strategy that prevents it after every deviation.

    layers, outcomes    of `list_layers`
    """

    def __init__(self, layers: list[Layer], outcomes: Floats, report: Progress | None = None) -> None:
        self._layers, self._outcomes = layers, outcomes
        dominated = [compute_dominance(own) for own in np.hsplit(outcomes, 2)]
        self._ends = np.stack([pack_sets(one) for one in (*dominated, np.eye(len(outcomes), dtype=np.bool_))])
        self._sets = collect_layers(layers, self._ends, _join_moves, report)
        self._reached = unpack_set(self._sets[0][2, 0], len(outcomes))

    @property
    def equilibria(self) -> Floats:
        """Returns of both agents, float64[n, 2 * K]."""
        return self._outcomes[self._reached]

    @property
    def bytes(self) -> int:
        return sum(one.nbytes for one in self._sets)

    def find_strategies(self, returns: Floats) -> tuple[list[int], list[int]]:
        """Return the actions of both agents in an equilibrium with returns float64[2 * K], in the order of their walks.

        On the way to the outcome both play the moves of a game that leads to it. Elsewhere each agent plays a move after which
        the other cannot force a return that dominates its return in the outcome.
        """
        outcome = int(np.flatnonzero((self._outcomes == returns).all(axis=1))[0])
        word, bit = outcome // 64, np.uint64(outcome % 64)
        path, node = list[int](), 0  # moves by their number in the layer
        for number, layer in enumerate(self._layers):
            moves = np.arange(layer.firsts[node], layer.ends[node])
            sets = self._after(number, 2, word)
            path.append(int(moves[np.argmax(sets[layer.children[moves]] >> bit & np.uint64(1))]))
            node = int(layer.children[path[-1]])
            if node < 0:
                break

        def follow(agent: int) -> list[int]:
            visited, actions = np.zeros(1, np.int64), list[int]()
            node = 0  # that of the game to the outcome; -1 after its end
            for number, layer in enumerate(self._layers):
                forced = self._after(number, 1 - agent, word) >> bit & np.uint64(1)
                own = visited[layer.movers[visited] == agent]
                chosen = layer.choose(own, forced[layer.children] == 0)
                if node >= 0:
                    chosen[own == node] = path[number]
                    node = int(layer.children[path[number]])
                actions += layer.actions[chosen].tolist()
                visited = layer.list_next(visited[layer.movers[visited] != agent], chosen)
            return actions

        return follow(0), follow(1)

    def _after(self, number: int, kind: int, word: int) -> Words:
        """Return words of the sets after the moves of a layer: of the next positions, then, from the end, of the outcomes."""
        following = self._sets[number + 1][kind, :, word] if number + 1 < len(self._sets) else self._ends[kind, :0, word]
        return np.concatenate([following, self._ends[kind, ::-1, word]])


def _join_moves(layer: Layer, moves: Words) -> Words:
    """Return the sets of the positions of a layer: outcomes that agent 0 can improve on by force, that agent 1 can, and those
    of games in which no agent has this possibility where it moves.
    """
    some = np.bitwise_or.reduceat(moves, layer.firsts, axis=1)
    every = np.bitwise_and.reduceat(moves, layer.firsts, axis=1)
    moves_first = (layer.movers == 0)[:, None]
    forced = np.where(moves_first, some[0], every[0]), np.where(moves_first, every[1], some[1])
    return np.stack([*forced, some[2] & ~np.where(moves_first, *forced)])
