# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Independent learners: every agent has arms of its own, and all agents pull at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.bandits.gradient import choose_by_preference, update_preferences
from momagames.baselines.bandits.signals import make_signal
from momagames.baselines.bandits.trainer import NO_HISTORY, Learner
from momagames.baselines.bandits.ucb import choose_by_bound, update_statistics
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import advance, below, mix

RULES = {"ucb": (choose_by_bound, update_statistics), "gradient": (choose_by_preference, update_preferences)}


class PullBuffers(NamedTuple):
    """Scratch arrays of pulls.

    work        record[1]
    actions     int64[A, 1]
    rewards     float32[A, K]
    vectors     float64[A, K]
    utilities   float64[A]
    """

    work: NDArray[Any]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    vectors: NDArray[np.float64]
    utilities: NDArray[np.float64]


def make_buffers(game: Game) -> PullBuffers:
    """Return the scratch arrays for a game."""
    agents, objectives = len(game.agents), len(game.objectives)
    return PullBuffers(
        np.zeros(1, game.dtype), np.zeros((agents, 1), np.int64), np.zeros((agents, objectives), np.float32),
        np.zeros((agents, objectives)), np.zeros(agents),
    )  # fmt: skip


@dataclass
class IndependentLearners(Learner):
    """The learning agents of one weight vector.

    starts     record[S], start positions, of which each pull draws one
    mask       int8[A, M], the arms
    weights    float64[K], of unscaled rewards
    rule       "ucb" or "gradient", with its tables and options
    signal     see `signals`
    word       generator word
    pulls      so far, each of all agents
    """

    game: Game
    starts: NDArray[Any]
    mask: NDArray[np.int8]
    weights: NDArray[np.float64]
    rule: str
    tables: Any
    options: Any
    signal: str
    word: int
    pulls: int = 0

    def pull(self, count: int, history: NDArray[np.int16] = NO_HISTORY) -> None:
        """Pull `count` times. The joint actions of the first pulls are written to history int16[n, A]."""
        word = compile_pulls(self.game, self.rule, self.signal)(
            self.starts, self.mask, self.weights, self.tables, self.options, np.uint64(self.word), self.pulls, count,
            make_buffers(self.game), history,
        )  # fmt: skip
        self.word = int(word)
        self.pulls += count


@cache_by_rules
def compile_pulls(game: Game, rule: str, signal: str) -> Callable[..., Any]:
    """Compile the loop of `IndependentLearners.pull`."""
    step, write_signal = game.kernels.step, make_signal(game, signal)
    choose, update = RULES[rule]

    def run(starts, mask, weights, tables, options, word, pulls, count, buffers, history):
        state, actions, utilities = buffers.work[0], buffers.actions, buffers.utilities
        for number in range(count):
            word = advance(word)
            buffers.work[0] = starts[below(word, starts.shape[0])]
            state["rng"] = mix(word)
            for agent in range(actions.shape[0]):
                actions[agent, 0], word = choose(tables, agent, mask[agent], pulls + number, options, word)
                if number < history.shape[0]:
                    history[number, agent] = actions[agent, 0]
            step(state, actions, buffers.rewards)
            write_signal(state, actions, buffers.rewards, weights, buffers.vectors, utilities)
            for agent in range(actions.shape[0]):
                update(tables, agent, mask[agent], actions[agent, 0], utilities[agent], options)
        return word

    return compile_entry_point(run, f"{game.rules_key}.bandit.{rule}.{signal}")
