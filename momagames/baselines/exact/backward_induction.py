"""Clairvoyant front of a small instance by backward induction: an independent check of `label_setting`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.contract import Game
from momagames.engine.episode import PASS, Episode
from momagames.engine.positions import load_state
from momagames.errors import TooLarge

DECIMALS = 9  # decimals to which returns are compared: the order of summation, and so the rounding, differs from forward search


def backward_induction_front(game: Game, state: Any, *, max_states: int) -> NDArray[np.float64]:
    """Compute the Pareto front of the returns of one instance, float64[n, K] in ascending order, rounded to 9 decimals.

    The front of a position holds the non-dominated sums of the reward of an action and a point of the successor's front.
    Each position is solved once, deepest first, one environment step at a time. Only the rules are shared with
    `clairvoyant_front`.

    Raises     TooLarge if there are more than `max_states` positions
    """
    episode = Episode(game)
    start = load_state(game, state)[0].tobytes()
    fronts: dict[bytes, NDArray[np.float64]] = {}
    transitions: dict[bytes, list[tuple[NDArray[np.float64], bytes]]] = {}
    stack = [start]
    while stack:
        position = stack[-1]
        if position not in transitions:
            if len(transitions) >= max_states:
                raise TooLarge(f"{game.id}: more than max_states={max_states:,} positions")
            transitions[position] = _list_transitions(episode, position)
        unsolved = [successor for _, successor in transitions[position] if successor not in fronts]
        if unsolved:
            stack += unsolved
            continue
        stack.pop()
        fronts[position] = _merge_fronts(transitions[position], fronts, len(game.objectives))
    front = np.round(fronts[start], DECIMALS)
    front = front[is_nondominated(front)]
    return front[np.lexsort(front.T[::-1])]


def _list_transitions(episode: Episode, position: bytes) -> list[tuple[NDArray[np.float64], bytes]]:
    """Return the reward and the next position of every legal action; an empty list if the game is over."""
    game = episode.game
    record = np.frombuffer(position, game.dtype)[0]
    if record["over"]:
        return []
    mover = int(record["to_move"])
    episode.load(record)
    transitions = []
    for action in episode.mask(mover).nonzero()[0].tolist() or [PASS]:
        episode.load(record)
        episode.step(action)
        transitions.append((episode.returns[mover].copy(), episode.state.tobytes()))
    return transitions


def _merge_fronts(
    transitions: list[tuple[NDArray[np.float64], bytes]], fronts: dict[bytes, NDArray[np.float64]], num_objectives: int
) -> NDArray[np.float64]:
    if not transitions:
        return np.zeros((1, num_objectives))
    candidates = np.concatenate([reward + fronts[successor] for reward, successor in transitions])
    return candidates[is_nondominated(candidates)]
