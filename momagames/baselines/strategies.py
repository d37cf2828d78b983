"""Strategies as data: the actions of one agent in every reachable position, and walks over all games that follow one.

A walk is breadth first, by the number of moves. Positions of a layer with equal keys and equal returns so far are one node.
Nodes are in ascending order of both. A strategy is stored as its actions in the order of the walk.
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
from momagames.kernels.jit import compile_entry_point

MAX_ACTIONS = 1 << 24  # of a stored strategy

Floats = NDArray[np.float64]
# (states record[n] with the agent to move, its returns so far float64[n, K]) -> actions int64[n]
ChooseActions = Callable[[NDArray[Any], Floats], NDArray[np.int64]]
# (states record[n] with another agent to move, its masks int8[n, M]) -> probabilities of its actions float64[n, M]
ReplyModel = Callable[[NDArray[Any], NDArray[np.int8]], Floats]


@dataclass(frozen=True)
class WalkResult:
    """Outcome of all games that follow a strategy.

    outcomes   float64[n, K], the distinct returns of the agent, over all games
    expected   float64[K], the mean return, given a reply model
    nodes      number of positions in which the agent acts
    """

    outcomes: Floats
    expected: Floats
    nodes: int

    @property
    def worst(self) -> Floats:
        """float64[K], the smallest return in each objective."""
        worst: Floats = self.outcomes.min(axis=0)
        return worst


def walk(
    game: Game,
    start: NDArray[Any],
    agent: int,
    choose: ChooseActions,
    reply_model: ReplyModel | None = None,
    returns_of: int | None = None,
) -> WalkResult:
    """Play all games in which `agent` follows `choose` and the others play any action, or those of the reply model.

    start         record[1], a position of a sequential game with position keys and without chance during play
    returns_of    agent whose returns are counted; None: `agent`
    Raises        InvalidParameter for another game, or an illegal action; all errors of `choose`
    """
    check_game(game)
    objectives = len(game.objectives)
    states, returns, probabilities = start.copy(), np.zeros((1, objectives)), np.ones(1)
    counted = agent if returns_of is None else returns_of
    outcomes, expected, nodes = np.zeros((0, objectives)), np.zeros(objectives), 0
    while len(states):
        own = states["to_move"] == agent
        masks = compute_legal_masks(game, states)
        parents, actions = np.nonzero(masks[~own])
        weights = None if reply_model is None else reply_model(states[~own], masks[~own])[parents, actions]
        parents = np.flatnonzero(~own)[parents]
        chosen = choose(states[own], returns[own]) if own.any() else np.zeros(0, np.int64)
        nodes += len(chosen)
        own_rows = np.flatnonzero(own)
        if not masks[own_rows, np.clip(chosen, 0, game.mask_size - 1)].all() or (chosen < 0).any():
            raise InvalidParameter(f"{game.id}: the strategy plays an illegal action")
        factors = np.concatenate([np.ones(len(own_rows)), np.ones(len(parents)) if weights is None else weights])
        parents, actions = np.concatenate([own_rows, parents]), np.concatenate([chosen, actions])
        possible = factors > 0
        parents, actions, factors = parents[possible], actions[possible], factors[possible]
        after, rewards = step_states(game, states[parents], actions)
        total = returns[parents] + rewards[:, counted] + 0.0  # no negative zeros
        probabilities = probabilities[parents] * factors
        over = after["over"] != 0
        if over.any():
            outcomes = np.unique(np.concatenate([outcomes, total[over]]), axis=0)
            expected += probabilities[over] @ total[over]
        states, returns, probabilities = _merge_nodes(game, after[~over], total[~over], probabilities[~over])
    return WalkResult(outcomes, expected, nodes)


def _merge_nodes(
    game: Game, states: NDArray[Any], returns: Floats, probabilities: Floats
) -> tuple[NDArray[Any], Floats, Floats]:
    """Merge equal nodes, in ascending order; their probabilities are added."""
    if not len(states):
        return states, returns, probabilities
    first, numbers = group_nodes(game, states, returns)
    sums: Floats = np.bincount(numbers, probabilities).astype(np.float64)
    return states[first], returns[first], sums


def group_nodes(game: Game, states: NDArray[Any], returns: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number equal nodes, in ascending order of keys and returns float64[n, R].

    Return the first index of each number, and the number of each node, int64[n].
    """
    columns = np.concatenate([compute_position_keys(game, states), _sortable_bits(returns)], axis=1)
    varied = columns[:, (columns != columns[:1]).any(axis=0)]
    order = np.lexsort(varied.T[::-1]) if varied.shape[1] else np.arange(len(states))
    new = np.ones(len(states), np.bool_)
    new[1:] = (varied[order][1:] != varied[order][:-1]).any(axis=1)
    numbers = np.empty(len(states), np.int64)
    numbers[order] = np.cumsum(new) - 1
    return order[new], numbers


def _sortable_bits(values: Floats) -> NDArray[np.uint64]:
    """Return integers in the order of the values."""
    bits = values.view(np.uint64)
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)


def check_game(game: Game) -> None:
    """Raise InvalidParameter unless strategies as data fit this game."""
    if not game.sequential or game.chance == "step" or len(game.actions) != 1 or game.search.exact is None:
        raise InvalidParameter(
            f"{game.id} does not fit: strategies need a sequential game without chance during play, discrete actions, and "
            "position keys"
        )


# --------------------------------------------------------------------------------------------------------- actions as text


def encode_actions(actions: list[int]) -> str:
    """Return actions in the order of the walk as text: 16 bits each, compressed, base64."""
    return base64.b64encode(zlib.compress(np.array(actions, "<u2").tobytes(), 9)).decode("ascii")


class StoredStrategy:
    """A stored strategy as `ChooseActions`: returns its actions in order."""

    def __init__(self, text: str) -> None:
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(base64.b64decode(text, validate=True), 2 * MAX_ACTIONS)
            if unpacker.unconsumed_tail or not unpacker.eof or unpacker.unused_data:
                raise InvalidFile("the strategy is incomplete, or too long")
            self.actions = np.frombuffer(data, "<u2").astype(np.int64)
        except (zlib.error, binascii.Error, ValueError) as error:
            raise InvalidFile(f"the strategy cannot be read: {error}") from None
        self.position = 0

    def __call__(self, states: NDArray[Any], returns: Floats) -> NDArray[np.int64]:
        end = self.position + len(states)
        if end > len(self.actions):
            raise InvalidFile(f"the strategy ends after {len(self.actions)} actions; a game continues")
        actions: NDArray[np.int64] = self.actions[self.position : end]
        self.position = end
        return actions

    def check_exhausted(self) -> None:
        if self.position != len(self.actions):
            raise InvalidFile(f"the strategy has {len(self.actions)} actions; only {self.position} positions are reached")


# --------------------------------------------------------------------------------------------------- batches of states


@cache_by_rules
def _compile_loops(game: Game) -> tuple[Callable[..., Any], Callable[..., Any]]:
    legal, step = game.kernels.legal, game.kernels.step

    def write_masks(states, masks):  # type: ignore[no-untyped-def]
        for n in range(states.shape[0]):
            legal(states[n], np.int64(states[n]["to_move"]), masks[n])

    def step_states_in_place(states, actions, rewards):  # type: ignore[no-untyped-def]
        for n in range(states.shape[0]):
            step(states[n], actions[n], rewards[n])

    name = f"{game.rules_key}.strategies"
    return compile_entry_point(write_masks, f"{name}.masks"), compile_entry_point(step_states_in_place, f"{name}.step")


@cache_by_rules
def _compile_keys(game: Game) -> Callable[..., Any]:
    assert game.search.exact is not None  # see check_game
    write_key = game.search.exact.write_key

    def write_keys(states, keys):  # type: ignore[no-untyped-def]
        for n in range(states.shape[0]):
            write_key(states[n], keys[n])

    return compile_entry_point(write_keys, f"{game.rules_key}.strategies.keys")


def compute_legal_masks(game: Game, states: NDArray[Any]) -> NDArray[np.int8]:
    """Return the masks of the agents to move, int8[n, M]."""
    masks = np.zeros((len(states), game.mask_size), np.int8)
    _compile_loops(game)[0](states, masks)
    return masks


def step_states(game: Game, states: NDArray[Any], actions: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return the states after legal actions, and the rewards, float32[n, A, K].

    actions    int64[n] of the agents to move, or int64[n, A] with simultaneous moves
    """
    after = states.copy()
    rewards = np.zeros((len(states), len(game.agents), len(game.objectives)), np.float32)
    _compile_loops(game)[1](
        after, np.ascontiguousarray(actions, np.int64).reshape(len(states), game.actors, len(game.actions)), rewards
    )
    return after, rewards


def compute_position_keys(game: Game, states: NDArray[Any]) -> NDArray[np.uint64]:
    assert game.search.exact is not None  # see check_game
    keys = np.zeros((len(states), game.search.exact.key_words), np.uint64)
    _compile_keys(game)(states, keys)
    return keys


def make_reply_model(game: Game, opponent_weights: Floats) -> ReplyModel:
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
