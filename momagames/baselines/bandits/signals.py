# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What an agent learns from after a step: a utility, the weighted sum of a vector.

local        its own rewards
global       the mean rewards of all agents
difference   the mean rewards of all agents minus what they would be without the agent (see `LearningSupport.write_differences`)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.errors import InvalidParameter
from momagames.kernels.jit import kernel

SIGNALS = ("local", "global", "difference")


def check_signal(name: str, game: Game, signal: str) -> None:
    """Raise InvalidParameter if the game does not have this signal."""
    if signal == "difference" and game.learning.write_differences is None:
        raise InvalidParameter(
            f"{name}: invalid signal='difference' for {game.id}: expected 'local' or 'global', as the game declares no "
            "difference rewards (LearningSupport.write_differences)"
        )


@cache_by_rules
def make_signal(game: Game, signal: str) -> Callable[..., Any]:
    """Return the kernel (state, actions, reward, weights, vectors, utilities).

    It writes the utility of each agent to utilities float64[A]; vectors, float64[A, K], is a buffer
    """
    write_differences = game.learning.write_differences

    @kernel
    def weigh_rewards(state, actions, reward, weights, vectors, utilities):
        for agent in range(reward.shape[0]):
            total = 0.0
            for k in range(weights.shape[0]):
                total += weights[k] * reward[agent, k]
            utilities[agent] = total

    @kernel
    def weigh_mean(state, actions, reward, weights, vectors, utilities):
        weigh_rewards(state, actions, reward, weights, vectors, utilities)
        total = 0.0
        for agent in range(reward.shape[0]):
            total += utilities[agent]
        utilities[:] = total / reward.shape[0]

    @kernel
    def weigh_differences(state, actions, reward, weights, vectors, utilities):
        write_differences(state, actions, vectors)
        weigh_rewards(state, actions, vectors, weights, vectors, utilities)

    return {"local": weigh_rewards, "global": weigh_mean, "difference": weigh_differences}[signal]
