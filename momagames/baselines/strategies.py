"""Strategies as data: what one agent does in every position that can come up, and walks over all games that follow one.

A walk goes breadth first, from one number of moves to the next. Positions of a layer that are equal in key and in what the
agent has got so far are one node, and nodes are in ascending order of both, so that a strategy is no more than its actions
in the order in which the walk asks for them.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.errors import InvalidFile, InvalidParameter
from momagames.kernels.jit import driver

MOST_ACTIONS = 1 << 24  # of a strategy that is read

Floats = NDArray[np.float64]
# for states record[n] with the agent to move and what it has got, float64[n, K], an action for each
Choose = Callable[[NDArray[Any], Floats], NDArray[np.int64]]
# for states record[n] with another to move and its masks int8[n, M], how likely each action is, float64[n, M]
ReplyModel = Callable[[NDArray[Any], NDArray[np.int8]], Floats]


@dataclass(frozen=True)
class WalkResult:
    """What came of all games that follow a strategy.

    worst      float64[K], the smallest return of the agent in each objective, over all games
    expected   float64[K], the mean return, if it was said how likely replies are
    nodes      positions in which the agent was asked
    """

    worst: Floats
    expected: Floats
    nodes: int


def walk(game: Game, start: NDArray[Any], agent: int, choose: Choose, likely: ReplyModel | None = None) -> WalkResult:
    """Play all games in which `agent` does what `choose` says and the others do anything (or what is `likely`).

    start     record[1], a position of a game whose agents move in turn, with keys and without chance
    Raises    InvalidParameter for another game; whatever `choose` raises
    """
    check_turns(game)
    goals = len(game.objectives)
    states, got, chance = start.copy(), np.zeros((1, goals)), np.ones(1)
    worst, expected, nodes = np.full(goals, np.inf), np.zeros(goals), 0
    while len(states):
        own = states["to_move"] == agent
        masks = legal_masks(game, states)
        parents, actions = np.nonzero(masks[~own])
        weights = None if likely is None else likely(states[~own], masks[~own])[parents, actions]
        parents = np.flatnonzero(~own)[parents]
        chosen = choose(states[own], got[own]) if own.any() else np.zeros(0, np.int64)
        nodes += len(chosen)
        asked = np.flatnonzero(own)
        if not masks[asked, np.clip(chosen, 0, game.mask_size - 1)].all() or (chosen < 0).any():
            raise InvalidParameter(f"{game.id}: the strategy plays what is not legal")
        likeliness = np.concatenate([np.ones(len(asked)), np.ones(len(parents)) if weights is None else weights])
        parents, actions = np.concatenate([asked, parents]), np.concatenate([chosen, actions])
        played = likeliness > 0
        parents, actions, likeliness = parents[played], actions[played], likeliness[played]
        after, rewards = step_states(game, states[parents], actions)
        total = got[parents] + rewards[:, agent] + 0.0  # no negative zeros
        chance = chance[parents] * likeliness
        over = after["over"] != 0
        if over.any():
            worst = np.minimum(worst, total[over].min(axis=0))
            expected += chance[over] @ total[over]
        states, got, chance = _nodes(game, after[~over], total[~over], chance[~over])
    return WalkResult(worst, expected, nodes)


def _nodes(game: Game, states: NDArray[Any], got: Floats, chance: Floats) -> tuple[NDArray[Any], Floats, Floats]:
    """Equal positions as one, in order; what they are likely is added up."""
    if not len(states):
        return states, got, chance
    columns = np.concatenate([position_keys(game, states), _ordered(got)], axis=1)
    varied = columns[:, (columns != columns[0]).any(axis=0)]
    order = np.lexsort(varied.T[::-1]) if varied.shape[1] else np.arange(len(states))
    new = np.ones(len(states), np.bool_)
    new[1:] = (varied[order][1:] != varied[order][:-1]).any(axis=1)
    first = order[new]
    together: Floats = np.bincount(np.cumsum(new) - 1, chance[order]).astype(np.float64)
    return states[first], got[first], together


def _ordered(values: Floats) -> NDArray[np.uint64]:
    """Numbers whose order is that of the values."""
    bits = values.view(np.uint64)
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)


def check_turns(game: Game) -> None:
    """Raise InvalidParameter if strategies as data are not for this game."""
    if not game.sequential or game.chance == "step" or len(game.actions) != 1 or game.search.state_key is None:
        raise InvalidParameter(
            f"{game.id}: strategies need agents that move in turn, no chance during play, one number as action, and keys of "
            "positions"
        )


# --------------------------------------------------------------------------------------------------------- actions as text


def pack(actions: list[int]) -> str:
    """Actions in the order of the walk as text: 16 bits each, compressed, base64."""
    return base64.b64encode(zlib.compress(np.array(actions, "<u2").tobytes(), 9)).decode("ascii")


class StoredStrategy:
    """A stored strategy as `choose`: it gives its actions one after the other."""

    def __init__(self, text: str) -> None:
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(base64.b64decode(text, validate=True), 2 * MOST_ACTIONS)
            if unpacker.unconsumed_tail or not unpacker.eof or unpacker.unused_data:
                raise InvalidFile("the strategy is not of one piece, or too long")
            self.actions = np.frombuffer(data, "<u2").astype(np.int64)
        except (zlib.error, binascii.Error, ValueError) as error:
            raise InvalidFile(f"the strategy cannot be read: {error}") from None
        self.at = 0

    def __call__(self, states: NDArray[Any], got: Floats) -> NDArray[np.int64]:
        end = self.at + len(states)
        if end > len(self.actions):
            raise InvalidFile(f"the strategy ends after {len(self.actions)} actions; a game goes on")
        given: NDArray[np.int64] = self.actions[self.at : end]
        self.at = end
        return given

    def check_done(self) -> None:
        if self.at != len(self.actions):
            raise InvalidFile(f"the strategy has {len(self.actions)} actions; only {self.at} positions come up")


# --------------------------------------------------------------------------------------------------- many states at a time


@cache_by_rules
def _loops(game: Game) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    legal, step, make_key = game.kernels.legal, game.kernels.step, game.search.state_key
    assert make_key is not None

    def masks_of(states, masks):  # type: ignore[no-untyped-def]
        for n in range(states.shape[0]):
            legal(states[n], np.int64(states[n]["to_move"]), masks[n])

    def step_each(states, actions, rewards):  # type: ignore[no-untyped-def]
        for n in range(states.shape[0]):
            step(states[n], actions[n], rewards[n])

    def keys_of(states, keys):  # type: ignore[no-untyped-def]
        for n in range(states.shape[0]):
            make_key(states[n], keys[n])

    name = f"{game.rules_key}.strategies"
    return driver(masks_of, f"{name}.masks"), driver(step_each, f"{name}.step"), driver(keys_of, f"{name}.keys")


def legal_masks(game: Game, states: NDArray[Any]) -> NDArray[np.int8]:
    """What is legal for whom it is to move, int8[n, M]."""
    masks = np.zeros((len(states), game.mask_size), np.int8)
    _loops(game)[0](states, masks)
    return masks


def step_states(game: Game, states: NDArray[Any], actions: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """The states after a legal action of each, and what it paid, float32[n, A, K]."""
    after = states.copy()
    rewards = np.zeros((len(states), len(game.agents), len(game.objectives)), np.float32)
    _loops(game)[1](after, np.ascontiguousarray(actions, np.int64).reshape(-1, 1, 1), rewards)
    return after, rewards


def position_keys(game: Game, states: NDArray[Any]) -> NDArray[np.uint64]:
    keys = np.zeros((len(states), game.search.key_words), np.uint64)
    _loops(game)[2](states, keys)
    return keys


def reply_probabilities(game: Game, opponent_weights: Floats) -> ReplyModel:
    """Make the reply distribution of a greedy opponent for `walk`; if all weights are zero the opponent is random."""

    def compute_probabilities(states: NDArray[Any], masks: NDArray[np.int8]) -> Floats:
        rows, actions = np.nonzero(masks)
        _, rewards = step_states(game, states[rows], actions)
        own_rewards = rewards[np.arange(len(rows)), states["to_move"][rows]].astype(np.float64)
        value = np.zeros(len(rows))
        for k, weight in enumerate(opponent_weights):
            value += weight * own_rewards[:, k]
        table = np.full(masks.shape, -np.inf)
        table[rows, actions] = value
        best: NDArray[np.bool_] = (table == table.max(axis=1, keepdims=True)) & (masks != 0)
        probabilities: Floats = best / best.sum(axis=1, keepdims=True)
        return probabilities

    return compute_probabilities
