"""The training loop of MOPPO: rollouts and updates of one network. `options.MoppoOptions` describes the options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan
from momagames.baselines.moppo.loss import Learner
from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.rollout import Progress, RolloutCollector
from momagames.baselines.moppo.utility import Utility
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.policies import BatchPolicy, SeatedPolicies


class Trainer:
    """Training of one network.

    learning_agents   agents that learn in turn, each with its team, where not all teams learn
    opponents         policies that play the other agents there
    budget            environment steps; training stops after the update in which they are used up
    start             record[1], start position of every episode (one agent or a common reward, no chance during play); None:
                      random start positions
    fixed_weights     float64[K], weights of all episodes; None: random weights for each team and episode
    reward_scale      float64[K], divisor of the rewards; None: estimated

    `state.state_dict` returns everything that the next update depends on. A trainer that continues from it is equal to the
    bit, on the CPU of the same machine with the same number of threads.
    """

    def __init__(
        self,
        game: Game,
        options: MoppoOptions,
        learning_agents: Sequence[int],
        opponents: Sequence[BatchPolicy],
        budget: int,
        seed: int,
        start: NDArray[Any] | None = None,
        fixed_weights: NDArray[np.float64] | None = None,
        reward_scale: NDArray[np.float64] | None = None,
    ) -> None:
        self.game, self.options, self.start = game, options, start
        words = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        seeds = [int(word >> np.uint64(1)) for word in words]
        self.rng, self.generator = np.random.default_rng(words[0]), torch.Generator().manual_seed(seeds[1])
        self.progress = Progress(budget)
        self.utility = Utility(game, options, seeds[2], reward_scale)
        self.model = ActorCritic(game, options, seeds[3])
        self.collector = RolloutCollector(
            game, options, self.model, self.utility, self.progress, learning_agents, opponents, self.rng, self.generator,
            start, fixed_weights,
        )  # fmt: skip
        self.learner = Learner(options, self.model, self.utility, self.progress, self.generator)

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self.progress.steps

    @property
    def is_done(self) -> bool:
        return self.steps >= self.progress.budget

    @property
    def is_cloning(self) -> bool:
        """Whether the next rollout is behavior cloning of the expert."""
        has_expert = self.collector.opponents.expert is not None
        return has_expert and self.steps < self.options.bc_fraction * self.progress.budget

    @property
    def archive(self) -> Archive:
        """Non-dominated episodes, if all start from one position."""
        return self.collector.self_imitation.archive

    def make_policy(self) -> NetworkPolicy:
        """Return the current network as a policy."""
        return self.model.make_policy()

    def train_iteration(self) -> dict[str, float]:
        """Collect a rollout and update the network. Returns metrics."""
        self.learner.anneal(self.progress.remaining)
        rollout = self.collector.collect(self.is_cloning)
        losses = self.learner.update(rollout)
        self.progress.updates += 1
        self.collector.opponents.update_pool(self.progress.updates, self.model.network)
        return {"steps": self.steps, **self._summarize_episodes(rollout.episode_returns), **losses}

    def _summarize_episodes(self, returns: NDArray[np.float64]) -> dict[str, float]:
        """Update the utility with the returns float64[n, K] of a rollout. Returns metrics."""
        if not len(returns):
            return {"games": 0.0}
        self.utility.update(returns)
        means = {f"return/{one.name}": float(returns[:, k].mean()) for k, one in enumerate(self.game.objectives)}
        return {"games": float(len(returns)), **means}

    def play_policies(self, policies: Sequence[BatchPolicy]) -> NDArray[np.float64]:
        """Play an episode of each policy from the start position, and archive them. Returns float64[n, K]."""
        assert self.start is not None
        batch = Batch(self.game, len(policies), autoreset="disabled")
        batch.load(np.repeat(self.start, len(policies)))
        seats = np.repeat(np.arange(len(policies))[:, None], len(self.game.agents), axis=1)
        seated = SeatedPolicies(batch, policies, seats, self.collector.opponents.seed)
        history = []
        while not batch.states["over"].all():
            is_running = batch.states["over"] == 0
            history.append(np.where(is_running, seated.act()[:, 0, 0], -1))
            self.progress.steps += int(is_running.sum())
            batch.step(batch.last_actions)
        actions = np.stack(history, 1)

        def make_plan(i: int) -> Plan:
            row = actions[i]
            return Plan(tuple(row[row >= 0].tolist()), batch.returns[i, 0].copy(), self.steps, policies[i].label)

        self.archive.add(batch.returns[:, 0], make_plan)
        return batch.returns[:, 0].copy()
