"""Gymnasium environment in which learners of other libraries train: flat observations, scaled rewards, and a budget.

The learner chooses where it has a choice, as policies in evaluations do: an only legal action is played for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.adapters.spaces import observation_space
from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan
from momagames.contract import Game, first_legal_action, has_choice
from momagames.engine.policies import BatchPolicy
from momagames.engine.policy_sources import make_agent_policy
from momagames.wrappers.flatten import FlatObservation

Step = tuple[NDArray[np.float32], NDArray[np.float32], bool, bool, dict[str, Any]]


class BudgetReached(Exception):
    """The environment steps of a training are used up."""


class StepBudget:
    """Environment steps of one training; environments may share it.

    limit   None: no limit
    used    environment steps so far, those of the other agents included
    """

    def __init__(self, limit: int | None) -> None:
        self.limit, self.used = limit, 0

    def check(self) -> None:
        """Raise BudgetReached before a step beyond the limit."""
        if self.limit is not None and self.used >= self.limit:
            raise BudgetReached


def make_flat_observation(game: Game) -> FlatObservation:
    """Return the flat form of the observations of a game with one action part."""
    return FlatObservation(observation_space(game), gymnasium.spaces.Discrete(game.actions[0]), place=None)


class TrainingEnv(gymnasium.Env[Any, Any]):
    """A game for a learner of one agent. Observations are float32[F], rewards float32[K], divided by `return_scale`.

    learning_agents   agents that the learner plays in turn, an episode each
    opponents         policies of the other agents, in turn
    illegal           action played in place of an illegal one: "next" or "random", see `momagames.wrappers.HandleIllegal`
    starts            record[S], start positions of the episodes, drawn at random; None: a new one for each episode
    archive           gets each finished episode as a plan, if given
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        game: Game,
        learning_agents: Sequence[int],
        opponents: Sequence[BatchPolicy],
        illegal: str,
        budget: StepBudget,
        rng: np.random.Generator,
        starts: NDArray[Any] | None = None,
        archive: Archive | None = None,
    ) -> None:
        self.game, self.budget, self.archive = game, budget, archive
        self._arguments = game, learning_agents, opponents, illegal, budget
        self._rng, self._starts = rng, starts
        self._matches = [
            SingleAgentEnv(game, game.agents[agent], _seat_opponents(game, agent, opponent), illegal)
            for opponent in opponents or (None,)
            for agent in learning_agents
        ]
        self._flat = make_flat_observation(game)
        self.observation_space = self._flat.space
        self.action_space = gymnasium.spaces.Discrete(game.actions[0], seed=int(rng.integers(2**31)))
        self.return_scale = np.ones(len(game.objectives))
        self.reward_dim = len(game.objectives)
        self.reward_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.reward_dim,), np.float32)
        self.spec = EnvSpec(game.id)
        self._episodes = 0

    def make_evaluation_env(self) -> TrainingEnv:
        """Return another environment with the same budget, scale and archive, for evaluations during the training."""
        env = TrainingEnv(*self._arguments, self._rng.spawn(1)[0], self._starts, self.archive)
        env.return_scale = self.return_scale
        return env

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start the next episode. Seeds and options are ignored: the generator of the training draws the episodes."""
        self._match = self._matches[self._episodes % len(self._matches)]
        self._episodes += 1
        self._match.episode.log = []
        options, seed = None, int(self._rng.integers(2**63))
        if self._starts is not None:
            at = seed % len(self._starts)
            options = {"state": self._starts[at : at + 1], "keep_rng": True}
        observation, _ = self._match.reset(seed=seed, options=options)
        self._counted = 0
        self._count_steps()
        return self._flatten(observation), {}

    def step(self, action: Any) -> Step:
        """Apply an action, and the only legal ones after it. Raises BudgetReached if the budget is used up."""
        self.budget.check()
        observation, reward, terminated, truncated, _ = self._match.step(int(action))
        while not (terminated or truncated or has_choice(self.action_masks(), self.game.actions)):
            only = first_legal_action(self.action_masks(), self.game.actions)[0]
            observation, more, terminated, truncated, _ = self._match.step(only)
            reward = reward + more
        self._count_steps()
        if (terminated or truncated) and self.archive is not None:
            self._add_plan(self.archive)
        scaled = (reward / self.return_scale).astype(np.float32)
        return self._flatten(observation), scaled, terminated, truncated, {}

    def action_masks(self) -> NDArray[np.int8]:
        """Return the legal actions, int8[M], under the name that sb3-contrib expects."""
        mask = self._match.action_masks()
        return mask if len(mask) == self.game.mask_size else np.pad(mask, (0, self.game.mask_size - len(mask)))

    def read_situation(self) -> tuple[Any, NDArray[np.int8], NDArray[np.float64]]:
        """Return the observation of the game, the mask, and the rewards of the agent since the start of the episode."""
        agent, episode = self.game.agents.index(self._match.agent), self._match.episode
        fields, mask = episode.observe_with_mask(agent)
        return next(iter(fields.values())) if len(fields) == 1 else fields, mask.copy(), episode.returns[agent].copy()

    def _flatten(self, observation: Any) -> NDArray[np.float32]:
        return self._flat.flatten_fields(observation)

    def _count_steps(self) -> None:
        """Add the steps of the game since the last call, which its log has after the start position, to the budget."""
        assert self._match.episode.log is not None
        steps = len(self._match.episode.log) - 1
        self.budget.used += steps - self._counted
        self._counted = steps

    def _add_plan(self, archive: Archive) -> None:
        log, value = self._match.episode.log, self._match.episode.returns[0].copy()
        assert log is not None
        actions = tuple(int(step[0][0]) for step in log[1:])
        archive.add(value[None], lambda _: Plan(actions, value, self.budget.used))


def estimate_return_scale(env: Any, steps: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the root mean square of the returns of random play for each objective, float64[K]; 1 where it is 0.

    Whole episodes are played, one at least, until `steps` of the budget of the environment are used.
    """
    squares, episodes = np.zeros(env.reward_dim), 0
    while not episodes or env.budget.used < steps:
        env.reset()
        value, is_over = np.zeros(env.reward_dim), False
        while not is_over:
            _, reward, terminated, truncated, _ = env.step(rng.choice(np.flatnonzero(env.action_masks())))
            value, is_over = value + reward, terminated or truncated
        squares, episodes = squares + value**2, episodes + 1
    return np.where(squares > 0, np.sqrt(squares / episodes), 1.0)


def _seat_opponents(game: Game, agent: int, opponent: BatchPolicy | None) -> Any:
    """Return the policies of the other agents by name."""
    others = [other for other in range(len(game.agents)) if other != agent]
    return {game.agents[other]: make_agent_policy(opponent, game, other) for other in others} if opponent else "random"


class IdleEnv(gymnasium.Env[Any, Any]):
    """An environment whose episodes end at once with a reward of 0: for evaluations that a library makes and does not use."""

    def __init__(self, env: TrainingEnv) -> None:
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.reward_space, self.spec = env.reward_space, env.spec

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return np.zeros(self.observation_space.shape or (), np.float32), {}

    def step(self, action: Any) -> Step:
        observation, _ = self.reset()
        return observation, np.zeros(self.reward_space.shape, np.float32), True, False, {}  # type: ignore[attr-defined]
