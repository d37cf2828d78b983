"""Rollouts: the learning agents and their opponents play in a batch of environments."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from momagames.baselines.moppo.candidate_views import CandidateViews
from momagames.baselines.moppo.distributions import gather_log_probs, masked_log_softmax, sample_actions
from momagames.baselines.moppo.kernels import compile_distinct_masks, compile_safe_masks, compute_advantages, find_choices
from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.opponents import Opponents
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.self_imitation import SelfImitation
from momagames.baselines.moppo.utility import Utility, WeightSampler
from momagames.baselines.moppo.views import Views
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.policies import BatchPolicy
from momagames.engine.threads import Job, run_in_parts


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

    observations     of the views, uint8[..., B]; without bytes where the network reads what is made of states
    inputs           what it then reads of the decisions; `input_rows` is the row of a decision
    masks            of the actions that could be chosen: legal and, if the options say so, safe ones; one of several equivalent
                     ones where the network knows no others
    agents           agent of the view
    is_decision      whether a learning agent had more than one legal action
    has_advantage    whether the advantage of the decision is defined
    is_imitated      whether the expert or a replay chose the action
    past_returns     scaled return of the agent in the episode before the step, float64[..., K]
    rewards          scaled, float32[T, N, A, K]
    dones            bool[T, N]
    episode_returns  of learning agents in finished episodes, float64[n, K]
    """

    def __init__(self, game: Game, steps: int, batch: Batch, inputs: Views | CandidateViews | None) -> None:
        views, objectives = batch.masks.shape[1], len(game.objectives)
        lead = (steps, batch.num_envs, views)
        self.observations = np.zeros((*lead, 0 if inputs else game.observation_bytes), np.uint8)
        self.inputs, self.input_rows = inputs, np.zeros(lead, np.int64)
        self.masks = np.zeros((*lead, game.mask_size), np.int8)
        self.agents = np.zeros(lead, np.int64)
        self.is_decision, self.has_advantage = np.zeros(lead, np.bool_), np.zeros(lead, np.bool_)
        self.actions, self.is_imitated = np.zeros((*lead, len(game.actions)), np.int64), np.zeros(lead, np.bool_)
        self.log_probs = np.zeros((*lead, len(game.actions)), np.float32)
        self.values = np.zeros((*lead, objectives), np.float32)
        self.weights, self.advantages = np.zeros((*lead, objectives), np.float32), np.zeros((*lead, objectives), np.float32)
        self.past_returns = np.zeros((*lead, objectives))
        self.rewards = np.zeros((*lead[:2], len(game.agents), objectives), np.float32)
        self.dones = np.zeros(lead[:2], np.bool_)
        self.episode_returns = np.zeros((0, objectives))

    def forward(self, model: Model, indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return logits float32[R, M] and values float32[R, K] of decisions, given by index as in `select`."""
        if self.inputs is not None:
            return model.forward_views((self.inputs, self.input_rows.reshape(-1)[indices]))
        assert isinstance(model, ActorCritic)
        n, v = np.divmod(indices, self.masks.shape[2])
        observations = self.observations.reshape(-1, *self.observations.shape[2:])
        agents, weights = self.agents.reshape(-1)[indices], self.weights.reshape(-1, self.weights.shape[3])[indices]
        return model.forward(observations, n, v, agents, weights)

    def select(self, indices: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the rows of decisions, given by index into the flattened leading axes."""
        names = (
            "masks", "actions", "log_probs", "values", "weights", "advantages", "past_returns", "is_imitated",
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
        model: Model,
        utility: Utility,
        progress: Progress,
        learning_agents: Sequence[int],
        opponents: Sequence[BatchPolicy],
        rng: np.random.Generator,
        generator: torch.Generator,
        starts: NDArray[Any] | None,
        fixed_weights: NDArray[np.float64] | None,
        threads: int,
    ) -> None:
        self.game, self.options, self.model, self.utility, self.progress = game, options, model, utility, progress
        self._generator, self._parts, self._threads = generator, np.array(game.actions, np.int64), threads
        self.batch = Batch(game, options.num_envs, autoreset="disabled")
        self.batch.seed(int(rng.integers(2**63)))
        self._starts, self._rng = starts, rng
        self._weight_sampler = WeightSampler(len(game.objectives), options.concentration, rng, fixed_weights)
        self.opponents = Opponents(self.batch, options, learning_agents, opponents, model, self._weight_sampler, rng, threads)
        self.self_imitation = SelfImitation(game, options, utility, rng, starts is not None and len(starts) == 1)
        self.weights = np.zeros((options.num_envs, len(game.agents), len(game.objectives)), np.float32)
        self.returns = np.zeros(self.weights.shape)
        self._reset(np.ones(options.num_envs, np.bool_))

    def _reset(self, reset: NDArray[np.bool_]) -> None:
        """Reset some environments, and draw new weights for each team."""
        if self._starts is None:
            self.batch.reset(reset)
        else:
            many = len(self._starts) > 1
            chosen = self._rng.integers(len(self._starts), size=len(reset)) if many else np.zeros(len(reset), np.int64)
            self.batch.load(self._starts[chosen], reset)
        teams = np.array(self.game.teams)
        self.weights[reset] = self._weight_sampler.sample(int(reset.sum()), int(teams.max()) + 1)[:, teams]
        self.returns[reset] = 0.0
        self.self_imitation.choose_replays(reset, self.weights[:, 0])

    def collect(self, is_cloning: bool) -> Rollout:
        """Play `num_steps` steps in all environments. In behavior cloning the expert plays for the learning agents."""
        batch, progress, seconds = self.batch, self.progress, self.progress.seconds
        rollout = Rollout(self.game, self.options.num_steps, batch, self._make_inputs(self.options.num_steps))
        finished_returns = []
        for t in range(self.options.num_steps):
            rollout.is_imitated[t] = (self.self_imitation.is_replay | is_cloning)[:, None]
            actions, choose = self._find_decisions(rollout, t, is_cloning)
            started, before = time.perf_counter(), seconds["network"]
            self.opponents.players.act(actions, meanwhile=choose)
            if self.opponents.expert is not None and is_cloning:
                self.opponents.expert.act(actions)
            self.self_imitation.apply_replays(actions, batch.lengths)
            rollout.actions[t] = actions
            if self.model.caution or self.model.prunes_actions:  # the network cannot imitate what it cannot play
                rollout.is_decision[t] &= _are_legal(rollout.masks[t], actions, self.game.actions)
            batch.step(actions)
            progress.steps += batch.num_envs
            ended = batch.finished | self._are_out()
            rollout.rewards[t], rollout.dones[t] = batch.rewards / self.utility.reward_scale, ended
            self.returns += batch.rewards
            if ended.any():
                is_own = self.opponents.is_learning & ~self.self_imitation.is_replay[:, None] & ended[:, None]
                finished_returns.append(self.returns[is_own])
                self.self_imitation.archive_finished(batch, progress.steps)
                self._reset(ended)
            seconds["games"] += time.perf_counter() - started - (seconds["network"] - before)
        progress.decisions += int(rollout.is_decision.sum())
        self._compute_advantages(rollout)
        if finished_returns:
            rollout.episode_returns = np.concatenate(finished_returns)
        return rollout

    def _are_out(self) -> NDArray[np.bool_]:
        """Return whether all learning agents have left the game, bool[N]: the rest of the episode teaches nothing."""
        has_left = self.batch.states["gone"][:, : self.weights.shape[1]] != 0
        return np.asarray((has_left | ~self.opponents.is_learning).all(axis=1))

    def _view_agents(self) -> NDArray[np.int64]:
        """Return the agent of each view, int64[N, V]."""
        if self.game.sequential:
            return self.batch.to_move[:, None].astype(np.int64)
        return np.broadcast_to(np.arange(len(self.game.agents)), (self.batch.num_envs, len(self.game.agents)))

    def _find_decisions(self, rollout: Rollout, t: int, is_cloning: bool) -> tuple[NDArray[np.int64], Job]:
        """Record the decisions of the learning agents in step t, before they are made.

        Returns arbitrary legal actions int64[N, V, P], and what writes those that the network chooses; in behavior cloning it
        records values only.
        """
        batch, game, view_agents = self.batch, self.game, self._view_agents()
        masks = rollout.masks[t]
        masks[:], rollout.agents[t] = batch.masks, view_agents
        if rollout.inputs is None:
            rollout.observations[t] = batch.observations
        if self.model.caution:
            self._clear_unsafe_actions(view_agents, masks)
        if self.model.prunes_actions:
            compile_distinct_masks(game)(batch.states, masks)
        find_choices(masks, self._parts, rollout.is_decision[t])
        rollout.is_decision[t] &= np.take_along_axis(self.opponents.is_learning, view_agents, 1)
        actions = _first_legal_actions(masks, game.actions)[:, : game.actors].copy()
        return actions, partial(self._choose_actions, rollout, t, is_cloning, actions)

    def _choose_actions(self, rollout: Rollout, t: int, is_cloning: bool, actions: NDArray[np.int64]) -> None:
        """Write the actions that the network chooses in step t to int64[N, V, P], and record them with their values."""
        n, v = rollout.is_decision[t].nonzero()
        if not len(n):
            return
        started = time.perf_counter()
        agents, masks = rollout.agents[t, n, v], rollout.masks[t, n, v]
        rollout.weights[t, n, v] = self.weights[n, agents]
        rollout.past_returns[t, n, v] = self.returns[n, agents] / self.utility.reward_scale
        with torch.no_grad():
            rollout.input_rows[t, n, v], outputs = self._forward(n, v, agents, rollout.inputs)
            logits, values = outputs[0].cpu(), outputs[1].cpu()
            rollout.values[t, n, v] = values.numpy()
            if not is_cloning:
                log_probs = masked_log_softmax(logits, torch.from_numpy(masks), self.game.actions)
                sampled = sample_actions(log_probs, self._generator)
                rollout.log_probs[t, n, v] = gather_log_probs(log_probs, sampled).numpy()
                actions[n, v] = sampled.numpy()
        self.progress.seconds["network"] += time.perf_counter() - started

    def _clear_unsafe_actions(self, view_agents: NDArray[np.int64], masks: NDArray[np.int8]) -> None:
        """Clear the unsafe actions of learning agents in masks int8[N, V, M]."""
        states, is_learning, clear_masks = self.batch.states, self.opponents.is_learning, compile_safe_masks(self.game)

        def clear(start: int, end: int) -> None:
            part = slice(start, end)
            clear_masks(states[part], view_agents[part], is_learning[part], self.model.caution, self._parts, masks[part])

        run_in_parts(clear, len(masks), self._threads)

    def _make_inputs(self, steps: int, has_logits: bool = True) -> Views | CandidateViews | None:
        """Return room for the decisions of this many steps; see `Model.make_views`."""
        decisions = self.batch.num_envs if self.game.sequential else int(self.opponents.is_learning.sum())
        return self.model.make_views(self.game, steps * decisions, self._rng, self._threads, has_logits)

    def _forward(
        self, n: NDArray[np.int64], v: NDArray[np.int64], agents: NDArray[np.int64], inputs: Views | CandidateViews | None
    ) -> tuple[NDArray[np.int64], tuple[Tensor, Tensor]]:
        """Return the rows of the inputs and (logits float32[R, M], values float32[R, K]) of the present views [n, v].

        inputs    to which they are appended; None: the network reads observations
        """
        weights = self.weights[n, agents]
        if inputs is None:
            assert isinstance(self.model, ActorCritic)
            return np.zeros(len(n), np.int64), self.model.forward(self.batch.observations, n, v, agents, weights)
        before = inputs.steps
        rows = inputs.append(self.batch.states, n, agents, weights)
        self.progress.steps += inputs.steps - before
        return rows, self.model.forward_views((inputs, rows))

    def _compute_advantages(self, rollout: Rollout) -> None:
        """Fill in the advantages. Values after the last step are known for agents that observe the last position."""
        options, batch = self.options, self.batch
        next_values = np.full(self.weights.shape, np.nan, np.float32)
        next_values[batch.states["gone"][:, : next_values.shape[1]] != 0] = 0.0
        view_agents = self._view_agents()
        n, v = np.take_along_axis(self.opponents.is_learning, view_agents, 1).nonzero()
        is_active = batch.masks[n, v].any(axis=1)
        n, v = n[is_active], v[is_active]
        agents = view_agents[n, v]
        with torch.no_grad():
            _, (_, values) = self._forward(n, v, agents, self._make_inputs(1, has_logits=False))
        next_values[n, agents] = values.cpu().numpy()
        compute_advantages(
            rollout.rewards, rollout.dones, rollout.agents[:, :, 0].astype(np.int32), rollout.is_decision, rollout.values,
            next_values, options.gamma, options.gae_lambda, np.zeros((3, next_values.shape[2])), rollout.advantages,
            rollout.has_advantage,
        )  # fmt: skip


def _first_legal_actions(masks: NDArray[np.int8], parts: Sequence[int]) -> NDArray[np.int64]:
    """Return the first legal value of each part, int64[N, V, P]: the action of agents without a choice."""
    ends = np.cumsum(parts)
    return np.stack([masks[:, :, end - size : end].argmax(axis=2) for end, size in zip(ends, parts, strict=True)], axis=2)


def _are_legal(masks: NDArray[np.int8], actions: NDArray[np.int64], parts: Sequence[int]) -> NDArray[np.bool_]:
    """Return whether all parts of actions int64[N, V, P] are in the masks int8[N, V, M], bool[N, V]."""
    starts = np.cumsum(parts, dtype=np.int64) - np.array(parts, np.int64)
    return np.asarray(np.take_along_axis(masks, actions + starts, axis=2).all(axis=2))
