# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Look-ahead: steps on copies of a position, for policies, searches and exact solvers.

`Trial` is the memory of such steps, and `make_lookahead` returns the kernels that make them: on a copy with the random state of
the position, whose future is that of the game, or with another one, as for an agent that cannot foresee chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.kernels.jit import kernel


class Trial(NamedTuple):
    """Scratch arrays of one thread for steps on copies of positions.

    Policies get them one by one and call `Trial(*arrays)`: with a named tuple a call from Python takes a microsecond more.

    states   record[2]: the copy that `try_action` steps, and a buffer for kernels that overwrite the position they read
    mask     int8[M]
    actions  int64[S, P] of the last step
    reward   float32[A, K] of the last step
    steps    int64[1], environment steps since the search set it to 0
    """

    states: NDArray[Any]
    mask: NDArray[np.int8]
    actions: NDArray[np.int64]
    reward: NDArray[np.float32]
    steps: NDArray[np.int64]


@dataclass(frozen=True)
class Lookahead:
    """Kernels for games whose agents move in turn with one number as action. Each counts one step, and returns whether the game
    is over.

    play(state, action, trial)                        step a position in place
    play_copy(state, action, states, i, trial)        write the position after an action to states[i]
    try_action(state, action, word, trial)            the same to trial.states[0], with a random state for the step and after
    """

    play: Callable[..., Any]
    play_copy: Callable[..., Any]
    try_action: Callable[..., Any]


def make_trial(game: Game) -> Trial:
    """Return the scratch arrays for a game."""
    return Trial(
        np.zeros(2, game.dtype),
        np.zeros(game.mask_size, np.int8),
        np.zeros((game.actors, len(game.actions)), np.int64),
        np.zeros((len(game.agents), len(game.objectives)), np.float32),
        np.zeros(1, np.int64),
    )


@cache_by_rules
def make_lookahead(game: Game) -> Lookahead:
    step = game.kernels.step

    @kernel
    def play(state, action, trial):
        trial.actions[0, 0] = action
        step(state, trial.actions, trial.reward)
        trial.steps[0] += 1
        return state["over"] != 0

    @kernel
    def play_copy(state, action, states, i, trial):
        states[i] = state
        return play(states[i], action, trial)

    @kernel
    def try_action(state, action, word, trial):
        trial.states[0] = state
        trial.states[0]["rng"] = word
        return play(trial.states[0], action, trial)

    return Lookahead(play, play_copy, try_action)


def make_heuristic(heuristic: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the kernel that writes a heuristic of a position, float64[K], which leaves it as it is; zeros without one."""
    estimate = heuristic or zero_estimate

    @kernel
    def write_heuristic(state, trial, out):
        trial.states[1] = state
        estimate(trial.states[1], out)

    return write_heuristic


@kernel
def zero_estimate(state, out):
    """Write zeros: the estimate of games without one."""
    out[:] = 0.0


@kernel
def weigh(weights, rows, row):
    """Return the weighted sum of a row."""
    total = 0.0
    for k in range(weights.shape[0]):
        total += weights[k] * rows[row, k]
    return total


def can_look_ahead(game: Game) -> bool:
    """Return whether the kernels fit: agents take turns, and an action is one number."""
    return game.sequential and len(game.actions) == 1


def supports_lookahead(game: Game) -> bool:
    """Return whether a policy may try its actions on a copy of the state: besides that, nothing is hidden from the agent."""
    return can_look_ahead(game) and game.information == "perfect"
