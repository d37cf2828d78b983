"""All positions of a game of two agents in turn, layer by layer, and backward induction over sets that are bits of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact.backward_induction import DECIMALS
from momagames.baselines.strategies import Floats, check_game, compute_legal_masks, group_nodes, step_states
from momagames.contract import Game
from momagames.errors import TooLarge

Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]
Progress = Callable[[int, int], None]  # (positions solved, bytes used)


@dataclass(frozen=True)
class Layer:
    """All moves of the positions after a number of moves. Positions are in the order of `strategies.group_nodes`.

    movers      int64[n], of each position
    firsts      int64[n], the first move of each position
    children    int64[m], for each move the index of the position in the next layer; -1 - o: the game ends with outcome o
    actions     int64[m], for each move its action
    """

    movers: Numbers
    firsts: Numbers
    children: Numbers
    actions: Numbers

    @property
    def ends(self) -> Numbers:
        """int64[n], the end of the moves of each position."""
        return np.append(self.firsts[1:], len(self.children))

    def choose(self, positions: Numbers, allowed: NDArray[np.bool_]) -> Numbers:
        """Return for positions, int64[p], the first move that is allowed, bool[m]."""
        candidates = np.append(np.flatnonzero(allowed), len(allowed))
        found: Numbers = candidates[np.searchsorted(candidates, self.firsts[positions])]
        return found

    def list_next(self, positions: Numbers, moves: Numbers) -> Numbers:
        """Return the positions of the next layer after all moves of `positions`, and after `moves`, in ascending order."""
        counts = self.ends[positions] - self.firsts[positions]
        every = np.repeat(self.firsts[positions] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        children = np.unique(self.children[np.concatenate([every, moves])])
        return children[children >= 0]


# (layer, sets after each of its moves uint64[S, m, W]) -> sets of its positions uint64[S, n, W]
Join = Callable[[Layer, Words], Words]


def list_layers(game: Game, start: NDArray[Any], max_states: int) -> tuple[list[Layer], Floats]:
    """Return all moves of all positions, by the number of moves before, and the outcomes, float64[o, 2 * K].

    Raises    InvalidParameter for another game; TooLarge beyond max_states positions
    """
    check_game(game)
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
        layers.append(Layer(states["to_move"].astype(np.int64), firsts, children, actions))
        states, returns = after[~over][first], total[~over][first]
    return layers, np.array(list(outcomes))


def solve_layers(layers: list[Layer], ends: Words, join: Join) -> Iterator[Words]:
    """Yield the sets of the positions of each layer, uint64[S, n, W], from the last layer to the first.

    ends    uint64[S, o, W], the sets of the outcomes
    """
    sets = ends[:, :0]
    for layer in reversed(layers):
        sets = join(layer, np.concatenate([sets, ends[:, ::-1]], axis=1)[:, layer.children])
        yield sets


def collect_layers(layers: list[Layer], ends: Words, join: Join, report: Progress | None = None) -> list[Words]:
    """Return all sets of `solve_layers`, in the order of the layers."""
    found, states, size = list[Words](), 0, 0
    for sets in solve_layers(layers, ends, join):
        found.append(sets)
        states, size = states + sets.shape[1], size + sets.nbytes
        if report is not None:
            report(states, size)
    return found[::-1]


def pack_sets(sets: NDArray[np.bool_]) -> Words:
    """Return sets as bits: bool[n, m] -> uint64[n, W]."""
    width = -sets.shape[1] % 64
    packed = np.packbits(np.pad(sets, ((0, 0), (0, width))), axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint64)


def unpack_set(words: Words, size: int) -> NDArray[np.bool_]:
    """Return a set of `pack_sets`: uint64[W] -> bool[m]."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:size].astype(np.bool_)
