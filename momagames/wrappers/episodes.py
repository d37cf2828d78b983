"""Returns and lengths of episodes, counted once for every step, whatever the host."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.wrappers.reward_spec import Form


class Books:
    """The running episodes of N environments.

    returns   float64[N, A, K], sums of what was paid
    moves     int64[N, A], actions of each agent
    steps     int64[N], environment steps
    episodes  the last finished ones, newest last: {"r": {agent: return}, "l": {agent: moves}, "steps": steps}
    """

    def __init__(self, form: Form, count: int, kept: int) -> None:
        self.form = form
        self.returns = np.zeros((count, *form.shape))
        self.moves = np.zeros((count, len(form.agents)), np.int64)
        self.steps = np.zeros(count, np.int64)
        self.episodes: deque[dict[str, Any]] = deque(maxlen=kept)

    def restart(self, chosen: NDArray[np.bool_]) -> None:
        """New episodes begin in these environments, bool[N]."""
        for book in (self.returns, self.moves, self.steps):
            book[chosen] = 0

    def add(self, reward: NDArray[Any], moved: NDArray[np.bool_], stepped: NDArray[np.bool_]) -> None:
        """A step: reward[N, A, K]; moved bool[N, A] says whose actions it played; stepped bool[N] where it was one."""
        self.returns += reward
        self.moves += moved
        self.steps += stepped

    def entry(self, env: int, agent: int) -> dict[str, Any]:
        """The line of an agent, as it stands in infos[agent]["episode"]."""
        earned = self.returns[env, agent]
        return {
            "r": float(earned[0]) if self.form.scalar else earned.copy(),
            "l": int(self.moves[env, agent]),
            "steps": int(self.steps[env]),
        }

    def close(self, env: int) -> None:
        """The episode of an environment is over: keep it."""
        lines = {agent: self.entry(env, i) for i, agent in enumerate(self.form.agents)}
        self.episodes.append(
            {
                "r": {agent: line["r"] for agent, line in lines.items()},
                "l": {agent: line["l"] for agent, line in lines.items()},
                "steps": int(self.steps[env]),
            }
        )
