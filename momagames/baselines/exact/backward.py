"""The front of one deal from its end back, plainly: the second way to what `layers` finds, for small games."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import undominated
from momagames.baselines.exact.solve import begun
from momagames.contract import Game
from momagames.engine.episode import PASS, Play
from momagames.errors import TooLarge

PLACES = 9  # decimals to which returns are compared: sums from the end back are rounded otherwise than sums from the start


def front_from_the_end(game: Game, state: Any = None, *, seed: int = 0, max_states: int) -> NDArray[np.float64]:
    """The Pareto front of the returns of one deal, float64[n, K] in ascending order, rounded to 9 decimals.

    The front of a position is what is not dominated among the rewards of its actions plus the fronts behind them; each
    position is solved once, deepest first, one step of the engine at a time. No code is shared with `foreseen_front` but the
    rules.

    Raises     TooLarge if there are more than `max_states` positions
    """
    play = Play(game)
    start = begun(game, state, seed)[0].tobytes()
    fronts: dict[bytes, NDArray[np.float64]] = {}
    below: dict[bytes, list[tuple[NDArray[np.float64], bytes]]] = {}
    stack = [start]
    while stack:
        position = stack[-1]
        if position not in below:
            if len(below) >= max_states:
                raise TooLarge(f"{game.id}: more than max_states={max_states:,} positions")
            below[position] = _steps(play, position)
        due = [then for _, then in below[position] if then not in fronts]
        if due:
            stack += due
            continue
        stack.pop()
        fronts[position] = _merged(below[position], fronts, len(game.objectives))
    found = np.round(fronts[start], PLACES)
    found = found[undominated(found)]
    return found[np.lexsort(found.T[::-1])]


def _steps(play: Play, position: bytes) -> list[tuple[NDArray[np.float64], bytes]]:
    """Of every legal action what it pays, and the position behind it; none where the game is over."""
    game = play.game
    record = np.frombuffer(position, game.dtype)[0]
    if record["over"]:
        return []
    mover = int(record["to_move"])
    play.load(record)
    found = []
    for action in play.mask(mover).nonzero()[0].tolist() or [PASS]:
        play.load(record)
        play.turn(action)
        found.append((play.returns[mover].copy(), play.state.tobytes()))
    return found


def _merged(
    steps: list[tuple[NDArray[np.float64], bytes]], fronts: dict[bytes, NDArray[np.float64]], goals: int
) -> NDArray[np.float64]:
    if not steps:
        return np.zeros((1, goals))
    every = np.concatenate([paid + fronts[then] for paid, then in steps])
    return every[undominated(every)]
