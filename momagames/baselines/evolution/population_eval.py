"""Evaluation of populations of linear policies, all from the same start positions and with the same random seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import assign_seats
from momagames.baselines.evolution.linear_policy import LinearPolicy
from momagames.baselines.training_setup import TrainingSetup
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies


class PopulationEvaluator:
    """Evaluates linear policies within a budget.

    policy     kind of the policies
    setup      agents that they play, opponents, and start positions, of which `episodes` are drawn
    episodes   episodes per policy, opponent and learning agent; the same for every policy and call
    budget     environment steps, with the look-ahead of the linear policies and not of opponents; checked after each step of
               the batch
    used       environment steps so far
    """

    def __init__(
        self,
        policy: LinearPolicy,
        setup: TrainingSetup,
        episodes: int,
        budget: int,
        rng: np.random.Generator,
    ) -> None:
        game, starts = policy.game, setup.starts
        self.policy, self.budget, self.used = policy, budget, 0
        self._learning_agents, self._opponents = tuple(setup.learning_agents), tuple(setup.opponents)
        if starts is None:
            self._starts = generate_starts(game, rng.integers(2**64, size=episodes, dtype=np.uint64))
        else:  # each of them once before one of them twice
            self._starts = starts[np.resize(rng.permutation(len(starts)), episodes)]
        self._words = rng.integers(2**64, size=(episodes, len(game.agents)), dtype=np.uint64)
        self._seats = np.array(
            [assign_seats(game, agent, i) for i in range(len(self._opponents)) for agent in self._learning_agents]
        )

    def evaluate(self, parameters: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the mean returns float64[n, K] of policies with parameters float64[n, num_rows, row_size].

        Returns None if the budget is used up before the end of their episodes.
        """
        count, matches, episodes = len(parameters), len(self._seats), len(self._starts)
        batch = Batch(self.policy.game, count * matches * episodes, autoreset="disabled")
        batch.load(np.tile(self._starts, count * matches))
        seats = np.tile(self._seats.repeat(episodes, axis=0), (count, 1))
        seated = SeatedPolicies(
            batch,
            [self.policy.compile(), *self._opponents],
            seats,
            np.tile(self._words, (count * matches, 1)),
            self.policy.initial_memories(parameters).repeat(matches * episodes),
        )
        before = self.used
        steps = 0
        while not batch.states["over"].all():
            steps += int((batch.states["over"] == 0).sum())
            batch.step(seated.act())
            self.used = before + steps + int(seated.lookahead_steps(seats == 0).sum())
            if self.used > self.budget:
                return None
        returns = batch.returns.reshape(
            count, len(self._opponents), len(self._learning_agents), episodes, *batch.returns.shape[1:]
        )
        own = [returns[:, :, i, :, agent].mean(axis=(1, 2)) for i, agent in enumerate(self._learning_agents)]
        means: NDArray[np.float64] = np.mean(own, axis=0)
        return means
