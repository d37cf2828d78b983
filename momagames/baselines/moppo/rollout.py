"""Rollouts: the learning agents and their opponents play in a batch of environments."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from momagames.baselines.moppo.distributions import gather_log_probs, masked_log_softmax, sample_actions
from momagames.baselines.moppo.kernels import compute_advantages, find_choices
from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.opponents import Opponents
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.self_imitation import SelfImitation
from momagames.baselines.moppo.utility import Utility, WeightSampler
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.policies import BatchPolicy


@dataclass
class Progress:
    """Progress of training.

    budget     environment steps
    seconds    wall-clock time by part of the training
    """

    budget: int
    steps: int = 0
    updates: int = 0
    decisions: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"games": 0.0, "network": 0.0, "update": 0.0})

    @property
    def remaining(self) -> float:
        """Remaining fraction of the budget."""
        return max(0.0, 1 - self.steps / self.budget)


class Rollout:
    """Buffer of T steps in N environments with V views each (1 where agents move in turn, else one for each agent).

    Arrays have the leading axes [T, N, V], unless noted; K objectives, M actions, P parts of an action.

    agents           agent of the view
    is_decision      whether a learning agent had more than one legal action
    has_advantage    whether the advantage of the decision is defined
    is_imitated      whether the expert or a replay chose the action
    past_returns     scaled return of the agent in the episode before the step, float64[..., K]
    rewards          scaled, float32[T, N, A, K]
    dones            bool[T, N]
    episode_returns  of learning agents in finished episodes, float64[n, K]
    """

    def __init__(self, game: Game, steps: int, batch: Batch) -> None:
        views, objectives = batch.masks.shape[1], len(game.objectives)
        lead = (steps, batch.num_envs, views)
        self.observations = np.zeros((*lead, game.observation_bytes), np.uint8)
        self.masks = np.zeros((*lead, game.mask_size), np.int8)
        self.agents = np.zeros(lead, np.int64)
        self.is_decision, self.has_advantage = np.zeros(lead, np.bool_), np.zeros(lead, np.bool_)
        self.actions, self.is_imitated = np.zeros((*lead, len(game.actions)), np.int64), np.zeros(lead, np.bool_)
        self.log_probs, self.values = np.zeros(lead, np.float32), np.zeros((*lead, objectives), np.float32)
        self.weights, self.advantages = np.zeros((*lead, objectives), np.float32), np.zeros((*lead, objectives), np.float32)
        self.past_returns = np.zeros((*lead, objectives))
        self.rewards = np.zeros((*lead[:2], len(game.agents), objectives), np.float32)
        self.dones = np.zeros(lead[:2], np.bool_)
        self.episode_returns = np.zeros((0, objectives))

    def select(self, indices: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the rows of decisions, given by index into the flattened leading axes."""
        names = (
            "masks", "agents", "actions", "log_probs", "values", "weights", "advantages", "past_returns", "is_imitated",
        )  # fmt: skip
        return {name: array.reshape(-1, *array.shape[3:])[indices] for name in names for array in [getattr(self, name)]}


class RolloutCollector:
    """Plays in a batch of environments and fills rollouts.

    See `trainer.MoppoTrainer` for the arguments.

    weights     float32[N, A, K] of the current episodes; agents of a team share them
    returns     float64[N, A, K], return of the current episodes so far, not scaled
    """

    def __init__(
        self,
        game: Game,
        options: MoppoOptions,
        model: ActorCritic,
        utility: Utility,
        progress: Progress,
        learning_agents: Sequence[int],
        opponents: Sequence[BatchPolicy],
        rng: np.random.Generator,
        generator: torch.Generator,
        start: NDArray[Any] | None,
        fixed_weights: NDArray[np.float64] | None,
    ) -> None:
        self.game, self.options, self.model, self.utility, self.progress = game, options, model, utility, progress
        self._generator, self._parts = generator, np.array(game.actions, np.int64)
        self.batch = Batch(game, options.num_envs, autoreset="disabled")
        self.batch.seed(int(rng.integers(2**63)))
        self._start = None if start is None else np.repeat(start, options.num_envs)
        self._weight_sampler = WeightSampler(len(game.objectives), options.concentration, rng, fixed_weights)
        self.opponents = Opponents(self.batch, options, learning_agents, opponents, model.network, self._weight_sampler, rng)
        self.self_imitation = SelfImitation(game, options, utility, rng, start is not None)
        self.weights = np.zeros((options.num_envs, len(game.agents), len(game.objectives)), np.float32)
        self.returns = np.zeros(self.weights.shape)
        self._reset(np.ones(options.num_envs, np.bool_))

    def _reset(self, reset: NDArray[np.bool_]) -> None:
        """Reset some environments, and draw new weights for each team."""
        if self._start is None:
            self.batch.reset(reset)
        else:
            self.batch.load(self._start, reset)
        teams = np.array(self.game.teams)
        self.weights[reset] = self._weight_sampler.sample(int(reset.sum()), int(teams.max()) + 1)[:, teams]
        self.returns[reset] = 0.0
        self.self_imitation.choose_replays(reset, self.weights[:, 0])

    def collect(self, is_cloning: bool) -> Rollout:
        """Play `num_steps` steps in all environments. In behavior cloning the expert plays for the learning agents."""
        batch, progress, seconds = self.batch, self.progress, self.progress.seconds
        rollout = Rollout(self.game, self.options.num_steps, batch)
        finished_returns = []
        for t in range(self.options.num_steps):
            rollout.is_imitated[t] = (self.self_imitation.is_replay | is_cloning)[:, None]
            actions = self._choose_actions(rollout, t, is_cloning)
            started = time.perf_counter()
            if self.opponents.expert is not None and is_cloning:
                self.opponents.expert.act(actions)
            self.self_imitation.apply_replays(actions, batch.lengths)
            rollout.actions[t] = actions
            self.opponents.players.act(actions)
            batch.step(actions)
            progress.steps += batch.num_envs
            rollout.rewards[t], rollout.dones[t] = batch.rewards / self.utility.reward_scale, batch.finished
            self.returns += batch.rewards
            if batch.finished.any():
                is_own = self.opponents.is_learning & ~self.self_imitation.is_replay[:, None] & batch.finished[:, None]
                finished_returns.append(batch.returns[is_own])
                self.self_imitation.archive_finished(batch, progress.steps)
                self._reset(batch.finished.copy())
            seconds["games"] += time.perf_counter() - started
        progress.decisions += int(rollout.is_decision.sum())
        self._compute_advantages(rollout)
        if finished_returns:
            rollout.episode_returns = np.concatenate(finished_returns)
        return rollout

    def _view_agents(self) -> NDArray[np.int64]:
        """Return the agent of each view, int64[N, V]."""
        if self.game.sequential:
            return self.batch.to_move[:, None].astype(np.int64)
        return np.broadcast_to(np.arange(len(self.game.agents)), (self.batch.num_envs, len(self.game.agents)))

    def _choose_actions(self, rollout: Rollout, t: int, is_cloning: bool) -> NDArray[np.int64]:
        """Return the actions int64[N, V, P] of the learning agents in step t, and record their decisions.

        In behavior cloning only values are recorded, and the actions are arbitrary legal ones.
        """
        batch, game, view_agents = self.batch, self.game, self._view_agents()
        rollout.observations[t], rollout.masks[t], rollout.agents[t] = batch.observations, batch.masks, view_agents
        find_choices(batch.masks, self._parts, rollout.is_decision[t])
        rollout.is_decision[t] &= np.take_along_axis(self.opponents.is_learning, view_agents, 1)
        actions = _first_legal_actions(batch.masks, game.actions)[:, : game.actors].copy()
        n, v = rollout.is_decision[t].nonzero()
        if not len(n):
            return actions
        agents = view_agents[n, v]
        rollout.weights[t, n, v] = self.weights[n, agents]
        rollout.past_returns[t, n, v] = self.returns[n, agents] / self.utility.reward_scale
        started = time.perf_counter()
        with torch.no_grad():
            outputs = self.model.forward(batch.observations, n, v, agents, self.weights[n, agents])
            logits, values = outputs[0].cpu(), outputs[1].cpu()
            rollout.values[t, n, v] = values.numpy()
            if not is_cloning:
                log_probs = masked_log_softmax(logits, torch.from_numpy(batch.masks[n, v]), game.actions)
                sampled = sample_actions(log_probs, self._generator)
                rollout.log_probs[t, n, v] = gather_log_probs(log_probs, sampled).numpy()
                actions[n, v] = sampled.numpy()
        self.progress.seconds["network"] += time.perf_counter() - started
        return actions

    def _compute_advantages(self, rollout: Rollout) -> None:
        """Fill in the advantages. Values after the last step are known for agents that observe the last position."""
        options, batch = self.options, self.batch
        next_values = np.full(self.weights.shape, np.nan, np.float32)
        next_values[batch.states["gone"][:, : next_values.shape[1]] != 0] = 0.0
        view_agents = self._view_agents()
        n, v = np.take_along_axis(self.opponents.is_learning, view_agents, 1).nonzero()
        agents = view_agents[n, v]
        with torch.no_grad():
            _, values = self.model.forward(batch.observations, n, v, agents, self.weights[n, agents])
        is_active = batch.masks[n, v].any(axis=1)
        next_values[n[is_active], agents[is_active]] = values.cpu().numpy()[is_active]
        compute_advantages(
            rollout.rewards, rollout.dones, rollout.agents[:, :, 0].astype(np.int32), rollout.is_decision, rollout.values,
            next_values, options.gamma, options.gae_lambda, np.zeros((3, next_values.shape[2])), rollout.advantages,
            rollout.has_advantage,
        )  # fmt: skip


def _first_legal_actions(masks: NDArray[np.int8], parts: Sequence[int]) -> NDArray[np.int64]:
    """Return the first legal value of each part, int64[N, V, P]: the action of agents without a choice."""
    ends = np.cumsum(parts)
    return np.stack([masks[:, :, end - size : end].argmax(axis=2) for end, size in zip(ends, parts, strict=True)], axis=2)
