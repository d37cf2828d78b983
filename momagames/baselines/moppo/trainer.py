"""The training loop of MOPPO: rollouts and updates of one network. `options.MoppoOptions` describes the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan
from momagames.baselines.moppo.candidate_network import CandidateModel
from momagames.baselines.moppo.candidate_views import make_candidates
from momagames.baselines.moppo.loss import Learner
from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.rollout import Progress, RolloutCollector
from momagames.baselines.moppo.state import TrainingParts, load_state_dict, state_dict
from momagames.baselines.moppo.utility import Utility
from momagames.baselines.torch_threads import use_torch_threads
from momagames.baselines.trainer import Arrays, TrainedPolicies, list_weights
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.policies import BatchPolicy, SeatedPolicies


class MoppoTrainer:
    """Training of one network, on rollouts of each game in turn.

    Opponents play where not all teams learn. A single start position is for games with one agent or a common reward, without
    chance during play. Training stops after the update in which the budget is used up.
    """

    def __init__(self, options: MoppoOptions, setup: TrainingSetup) -> None:
        self.game, self.options, self.setup = setup.game, options, setup
        words = np.random.SeedSequence(setup.seed).generate_state(4, np.uint64)
        seeds = [int(word >> np.uint64(1)) for word in words]
        self.rng, self.generator = np.random.default_rng(words[0]), torch.Generator().manual_seed(seeds[1])
        self.progress = Progress(setup.budget)
        self.utility = Utility(self.game, options, seeds[2], setup.return_scale)
        self.model = make_model(self.game, options, seeds[3])
        fixed = None if setup.fixed_weights is None else list_weights(self.game, 1, setup.fixed_weights)[0]
        self.collectors = [
            RolloutCollector(
                game, options, self.model, self.utility, self.progress, setup.list_learning_agents(game), setup.opponents,
                self.rng, self.generator, setup.starts, fixed, setup.threads,
            )
            for game in setup.games
        ]  # fmt: skip
        self.collector = self.collectors[0]
        self.learner = Learner(options, self.model, self.utility, self.progress, self.generator, setup.threads)
        self._parts = TrainingParts(
            self.rng, self.generator, self.progress, self.utility, self.model, self.collectors, self.learner.optimizer,
        )  # fmt: skip

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self.progress.steps

    @property
    def decisions(self) -> int:
        """Decisions of the learning agents so far."""
        return self.progress.decisions

    @property
    def return_scale(self) -> NDArray[np.float64]:
        return self.utility.reward_scale

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

    def make_policies(self) -> TrainedPolicies:
        """Return the policies of the current network."""
        return self.model.make_policy()

    def train_iteration(self) -> dict[str, float]:
        """Collect a rollout and update the network. Returns metrics."""
        # small layers take longer on two threads than on one: minibatches are shared instead
        with use_torch_threads(1 if self.model.reads_states else self.setup.threads):
            self.learner.anneal(self.progress.remaining)
            collector = self.collectors[self.progress.updates % len(self.collectors)]
            rollout = collector.collect(self.is_cloning)
            losses = self.learner.update(rollout)
        self.progress.updates += 1
        for one in self.collectors:
            one.opponents.update_pool(self.progress.updates)
        return {"steps": self.steps, "decisions": self.decisions, **self._summarize_episodes(rollout.episode_returns), **losses}

    def summarize(self) -> dict[str, Any]:
        """Return counts that are stored with results."""
        return {
            "updates": self.progress.updates,
            "parameters": self.model.num_parameters,
            "reward_scale": self.utility.reward_scale.tolist(),
        }

    def state_dict(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that the next update depends on, as JSON-able data and arrays."""
        return state_dict(self._parts)

    def load_state_dict(self, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""
        load_state_dict(self._parts, data, arrays)

    def _summarize_episodes(self, returns: NDArray[np.float64]) -> dict[str, float]:
        """Update the utility with the returns float64[n, K] of a rollout. Returns metrics."""
        if not len(returns):
            return {"games": 0.0}
        self.utility.update(returns)
        means = {f"return/{one.name}": float(returns[:, k].mean()) for k, one in enumerate(self.game.objectives)}
        return {"games": float(len(returns)), **means}

    def play_policies(self, policies: Sequence[BatchPolicy]) -> NDArray[np.float64]:
        """Play an episode of each policy from the start position, and archive them. Returns float64[n, K]."""
        assert self.setup.starts is not None
        batch = Batch(self.game, len(policies), autoreset="disabled")
        batch.load(np.repeat(self.setup.starts, len(policies)))
        seats = np.repeat(np.arange(len(policies))[:, None], len(self.game.agents), axis=1)
        seated = SeatedPolicies(batch, policies, seats, self.collector.opponents.seed)
        history = []
        while not batch.states["over"].all():
            is_running = batch.states["over"] == 0
            history.append(np.where(is_running, seated.act()[:, 0, 0], -1))
            self.progress.steps += int(is_running.sum())
            batch.step(batch.last_actions)
        self.progress.steps += int(seated.lookahead_steps().sum())
        actions = np.stack(history, 1)

        def make_plan(i: int) -> Plan:
            row = actions[i]
            return Plan(tuple(row[row >= 0].tolist()), batch.returns[i, 0].copy(), self.steps, policies[i].label)

        self.archive.add(batch.returns[:, 0], make_plan)
        return batch.returns[:, 0].copy()


def make_model(game: Game, options: MoppoOptions, seed: int) -> Model:
    """Return the network of these options; see `Model`."""
    candidates = make_candidates(game, options)
    return CandidateModel(game, candidates, options, seed) if candidates else ActorCritic(game, options, seed)
