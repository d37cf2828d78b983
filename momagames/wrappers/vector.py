"""The wrappers around vector environments: batches of games of one agent or of several.

N environments, A agents, K objectives, as in `momagames.adapters.vector`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorWrapper
from numpy.typing import NDArray

from momagames.wrappers.common import RewardWrapperBase, reward_space
from momagames.wrappers.episodes import EpisodeStatistics
from momagames.wrappers.introspection import IllegalOverride, base_env, reward_spec_of
from momagames.wrappers.reward_spec import RewardSpec, layers
from momagames.wrappers.transforms import Scalarize, StepContext, Transform, compiled_loops

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class Wrapper(VectorWrapper):  # type: ignore[misc]
    """A vector wrapper that tracks finished episodes and agents.

    over   bool[N], environments whose last step ended an episode and that have not been reset since
    gone   bool[N, A], agents that left the running episode
    """

    def __init__(self, env: Any, spec: RewardSpec) -> None:
        super().__init__(env)
        self.over = np.zeros(env.num_envs, np.bool_)
        self.gone = np.zeros((env.num_envs, len(spec.agents)), np.bool_)
        self._flags: tuple[Any, Any] | None = None  # terminations and truncations of a step that `over` does not know
        self._no_context = StepContext(np.empty(0, np.bool_), np.empty((0, 0), np.bool_), np.empty(0, np.bool_))
        self._same_step = env.metadata.get("autoreset_mode") == AutoresetMode.SAME_STEP

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the inner environment (`game`, `batch`, `action_masks`)."""
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._catch_up()
        result: tuple[Any, dict[str, Any]] = self.env.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else np.asarray(mask, np.bool_)
        self.over[chosen] = False
        self.gone[chosen] = False
        self._restart(chosen)
        return result

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        """Start new episodes in these environments, bool[N]."""

    def _catch_up(self) -> None:
        """Update `over` and `gone` after steps without a context: they depend on the last step only."""
        if self._flags is not None:
            self._make_context(*self._flags)
            self._flags = None

    def _make_context(self, terminated: NDArray[np.bool_], truncated: NDArray[np.bool_]) -> StepContext:
        """Return the context of the last step, and store `over` and `gone` for the next one."""
        shape = self.gone.shape
        moved, acting, ended = np.empty(shape[0], np.bool_), np.empty(shape, np.bool_), np.empty(shape[0], np.bool_)
        compiled_loops().track(
            terminated.reshape(shape), truncated.reshape(shape), self._same_step, self.over, self.gone, moved, acting, ended
        )
        return StepContext(moved, acting, ended)


class RewardWrapper(RewardWrapperBase, Wrapper):  # type: ignore[misc]
    """Transforms rewards; the buffers of the inner environment do not change.

    Scalarize also adds the vectors as infos["vector_reward"], zeros at the start.
    """

    def __init__(self, env: Any, transform: Transform) -> None:
        Wrapper.__init__(self, env, transform.source)
        self._is_single = len(transform.source.agents) == 1
        self._set_transform(transform)

    def _set_transform(self, transform: Transform) -> None:
        super()._set_transform(transform)
        self.reward_space = _space(self.reward_spec)
        self.reward_dim = len(self.reward_spec.objectives)

    @property
    def unwrapped(self) -> Any:
        """The environment of the game; this wrapper itself if the reward vector has changed, see `wrappers.gymnasium`."""
        if self.reward_spec.scalar:
            return next(layer for layer in layers(self) if not isinstance(layer, VectorWrapper))
        return self.env.unwrapped if self.reward_spec.names == self.transform.source.names else self

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        self.transform.restart(chosen)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observations, infos = super().reset(seed=seed, options=options)
        if isinstance(self.transform, Scalarize):
            source = self.transform.source
            shape = source.shape[1:] if self._is_single else source.shape
            infos = {**infos, "vector_reward": np.zeros((self.num_envs, *shape), source.dtype)}
        return observations, infos

    def step(self, actions: Any) -> Step:
        if self.transform.needs_context:
            self._catch_up()
        observed = self._observe_states() if self.transform.needs_states else None
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        source, spec = self.transform.source, self.reward_spec
        source.check(rewards[0] if self._is_single else rewards[0, 0])
        if self.transform.needs_context:
            context = self._make_context(terminated, truncated)
        else:
            context, self._flags = self._no_context, (terminated, truncated)
        if self.transform.needs_states:
            context.observed, context.actions = observed, base_env(self.env, self.transform.name).batch.last_actions
        reward = self.transform.apply(rewards.reshape(self.num_envs, *source.shape), context).astype(spec.dtype, copy=False)
        if isinstance(self.transform, Scalarize):
            infos = {**infos, "vector_reward": rewards}
        reward = reward[..., 0] if spec.scalar else reward
        return observations, reward[:, 0] if self._is_single else reward, terminated, truncated, infos


def _space(spec: RewardSpec) -> spaces.Box:
    if len(spec.agents) == 1:
        return reward_space(spec, 0)
    low, high = (bound[:, 0] if spec.scalar else bound.astype(np.float32) for bound in (spec.low, spec.high))
    return spaces.Box(low, high, dtype=spec.dtype)


class RecordEpisodeStatistics(Wrapper):
    """Adds returns and lengths of finished episodes to infos["episode"], with the mask infos["_episode"].

    They are `r` float64[N, (A,) K], with a gamma `dr` of the same shape, `l` int64[N, (A,)], the actions of each agent, and
    `steps` int64[N]. They replace the entry of the environment, whose returns are those of the game.
    """

    def __init__(self, env: Any, buffer_length: int, gamma: float | None) -> None:
        self.reward_spec: RewardSpec = reward_spec_of(env)
        super().__init__(env, self.reward_spec)
        self.statistics = EpisodeStatistics(self.reward_spec, env.num_envs, buffer_length, gamma)
        self._is_single = len(self.reward_spec.agents) == 1
        game = self.reward_spec.game
        takes_turns = not self._is_single and game is not None and game.sequential
        self._batch = base_env(env, "RecordEpisodeStatistics").batch if takes_turns else None
        self._movers = np.full(env.num_envs, compiled_loops().ALL, np.int32)

    @property
    def episodes(self) -> Any:
        """The last finished episodes, in order."""
        return self.statistics.episodes

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        self.statistics.restart(chosen)

    def step(self, actions: Any) -> Step:
        if self._batch is not None:
            self._movers[:] = self._batch.to_move
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        statistics, shape, ended = self.statistics, self.gone.shape, np.empty(len(self.over), np.bool_)
        count = compiled_loops().record_step(
            *statistics.sums, statistics.gamma or 0.0, rewards.reshape(statistics.returns.shape), self._movers,
            terminated.reshape(shape), truncated.reshape(shape), self._same_step, self.over, self.gone, ended,
        )  # fmt: skip
        if count:
            returns, discounted, moves, steps = statistics.finish(ended, count)
            entry = {"r": returns} if statistics.gamma is None else {"r": returns, "dr": discounted}
            if self.reward_spec.scalar:
                entry = {name: sums[..., 0] for name, sums in entry.items()}
            entry["l"] = moves
            if self._is_single:
                entry = {name: sums[:, 0] for name, sums in entry.items()}
            entry["steps"] = steps
            infos = {**infos, "episode": entry, "_episode": ended}
        return observations, rewards, terminated, truncated, infos


class HandleIllegal(IllegalOverride, Wrapper):
    """Sets the effect of illegal actions."""

    def __init__(self, env: Any, policy: str) -> None:
        super().__init__(env, policy, reward_spec_of(env))
