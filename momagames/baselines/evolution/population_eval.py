"""Games in which many policies of one kind are tried side by side, on the same starts and with the same lots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import kernels_of, side
from momagames.baselines.evolution.linear_policy import LinearPolicy
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import deal
from momagames.engine.policies import Member, Players


class Arena:
    """Tries linear policies out while its budget lasts.

    policy      their kind
    ours        agents that they play, in turn, each with the others of its team
    others      who plays the other agents, in turn
    episodes    games for each of them and each of our agents: the same ones for every policy and at every call
    budget      steps of the engine that it may make; it notices after a step of all games that they are spent
    used        steps that it has made
    """

    def __init__(
        self,
        policy: LinearPolicy,
        ours: Sequence[int],
        others: Sequence[Member],
        episodes: int,
        budget: int,
        luck: np.random.Generator,
    ) -> None:
        game = policy.game
        kernels = kernels_of(others)
        self.policy, self.budget, self.used = policy, budget, 0
        self._ours, self._kernels = tuple(ours), kernels
        self._starts = deal(game, luck.integers(2**64, size=episodes, dtype=np.uint64))
        self._words = luck.integers(2**64, size=(episodes, len(game.agents)), dtype=np.uint64)
        self._seats = np.array([_seats(game, agent, i) for i in range(len(kernels)) for agent in ours])

    def returns(self, numbers: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Mean returns float64[n, K] of policies with numbers float64[n, minds, size]; None if the budget was spent before
        their games were over."""
        count, matches, episodes = len(numbers), len(self._seats), len(self._starts)
        batch = Batch(self.policy.game, count * matches * episodes, autoreset="disabled")
        batch.load(np.tile(self._starts, count * matches))
        players = Players(
            batch,
            [self.policy.kernel(), *self._kernels],
            np.tile(self._seats.repeat(episodes, axis=0), (count, 1)),
            np.tile(self._words, (count * matches, 1)),
            self.policy.begun(numbers).repeat(matches * episodes),
        )
        before = self.used
        played = 0
        while not batch.states["over"].all():
            played += int((batch.states["over"] == 0).sum())
            batch.step(players.act())
            self.used = before + played + int(players.looked().sum())
            if self.used > self.budget:
                return None
        found = batch.returns.reshape(count, len(self._kernels), len(self._ours), episodes, *batch.returns.shape[1:])
        own = [found[:, :, i, :, agent].mean(axis=(1, 2)) for i, agent in enumerate(self._ours)]
        values: NDArray[np.float64] = np.mean(own, axis=0)
        return values


def _seats(game: Game, seat: int, other: int) -> list[int]:
    """Who plays each agent: 0 is our policy, 1 + i another one."""
    ours = side(game, seat)
    return [0 if agent in ours else 1 + other for agent in range(len(game.agents))]
