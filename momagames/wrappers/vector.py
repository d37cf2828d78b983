"""The wrappers around vector environments: batches of games of one agent or of several.

N environments, A agents, K objectives, as in `momagames.adapters.vector`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorWrapper
from numpy.typing import NDArray

from momagames.wrappers.common import RewardHost, reward_space
from momagames.wrappers.episodes import EpisodeStatistics
from momagames.wrappers.kinds import base_env, override_illegal, reward_spec_of
from momagames.wrappers.reward_spec import RewardSpec, layers
from momagames.wrappers.transforms import Scalarize, StepContext, Transform

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class Wrapper(VectorWrapper):  # type: ignore[misc]
    """A vector wrapper that knows who still plays.

    over   bool[N], environments whose last step ended an episode and that have not been dealt anew
    gone   bool[N, A], agents that left the running episode
    """

    def __init__(self, env: Any, form: RewardSpec) -> None:
        super().__init__(env)
        self.over = np.zeros(env.num_envs, np.bool_)
        self.gone = np.zeros((env.num_envs, len(form.agents)), np.bool_)
        self._same_step = env.metadata.get("autoreset_mode") == AutoresetMode.SAME_STEP

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the inner environment (`game`, `batch`, `action_masks`)."""
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.env.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else np.asarray(mask, np.bool_)
        self.over[chosen] = False
        self.gone[chosen] = False
        self._restart(chosen)
        return result

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        """Start new episodes in these environments, bool[N]."""

    def _moment(self, terminated: NDArray[np.bool_], truncated: NDArray[np.bool_]) -> StepContext:
        """Return the context of the last step, and store `over` and `gone` for the next one."""
        done = np.logical_or(terminated, truncated).reshape(self.gone.shape)
        ended: NDArray[np.bool_] = np.asarray(done.all(axis=1))
        moment = StepContext(moved=~self.over, acting=~self.gone & ~self.over[:, None], ended=ended & ~self.over)
        self.over = np.zeros_like(ended) if self._same_step else ended
        self.gone = done & ~ended[:, None]
        return moment


class RewardWrapper(RewardHost, Wrapper):  # type: ignore[misc]
    """Transforms rewards; the buffers of the inner environment do not change."""

    def __init__(self, env: Any, transform: Transform) -> None:
        Wrapper.__init__(self, env, transform.source)
        self._alone = len(transform.source.agents) == 1
        self._bind(transform)

    def _bind(self, transform: Transform) -> None:
        super()._bind(transform)
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

    def step(self, actions: Any) -> Step:
        seen = self._observe_states()
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        source, form = self.transform.source, self.reward_spec
        source.check(rewards[0] if self._alone else rewards[0, 0])
        moment = self._moment(terminated, truncated)
        if self.transform.needs_states:
            moment.observed, moment.actions = seen, base_env(self.env, self.transform.name).batch.last_actions
        reward = self.transform.apply(rewards.reshape(self.num_envs, *source.shape), moment).astype(form.dtype, copy=False)
        if isinstance(self.transform, Scalarize):
            infos = {**infos, "vector_reward": rewards}
        reward = reward[..., 0] if form.scalar else reward
        return observations, reward[:, 0] if self._alone else reward, terminated, truncated, infos


def _space(form: RewardSpec) -> spaces.Box:
    if len(form.agents) == 1:
        return reward_space(form, 0)
    low, high = (bound[:, 0] if form.scalar else bound.astype(np.float32) for bound in (form.low, form.high))
    return spaces.Box(low, high, dtype=form.dtype)


class RecordEpisodeStatistics(Wrapper):
    """Adds returns and lengths of finished episodes to infos["episode"], with the mask infos["_episode"].

    `r` float64[N, (A,) K] and `l` int64[N, (A,)], the agents' own moves, and `steps` int64[N]. They replace the report
    of the environment itself, whose returns are those of the game.
    """

    def __init__(self, env: Any, buffer_length: int) -> None:
        self.reward_spec: RewardSpec = reward_spec_of(env)
        super().__init__(env, self.reward_spec)
        self.statistics = EpisodeStatistics(self.reward_spec, env.num_envs, buffer_length)
        self._alone = len(self.reward_spec.agents) == 1

    @property
    def episodes(self) -> Any:
        """The last finished episodes, in order."""
        return self.statistics.episodes

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        self.statistics.restart(chosen)

    def step(self, actions: Any) -> Step:
        turn = self._turn()
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        moment, books = self._moment(terminated, truncated), self.statistics
        books.add(rewards.reshape(books.returns.shape), turn & moment.acting, moment.moved)
        if moment.ended.any():
            returns, moves = books.returns.copy(), books.moves.copy()
            if self.reward_spec.scalar:
                returns = returns[..., 0]
            if self._alone:
                returns, moves = returns[:, 0], moves[:, 0]
            lines = {"r": returns, "l": moves, "steps": books.steps.copy()}
            infos = {**infos, "episode": lines, "_episode": moment.ended}
            for env in np.flatnonzero(moment.ended):
                books.close(int(env))
            books.restart(moment.ended)
        return observations, rewards, terminated, truncated, infos

    def _turn(self) -> NDArray[np.bool_]:
        """Return the agents whose actions the next step applies, bool[N, A]."""
        game = self.reward_spec.game
        if self._alone or game is None or not game.sequential:
            return np.ones_like(self.gone)
        movers: NDArray[np.bool_] = base_env(self.env, "RecordEpisodeStatistics").batch.to_move[:, None] == np.arange(
            self.gone.shape[1]
        )
        return movers


class HandleIllegal(Wrapper):
    """Sets the effect of illegal actions."""

    def __init__(self, env: Any, how: str) -> None:
        super().__init__(env, reward_spec_of(env))
        self.how = how

    def step(self, actions: Any) -> Step:
        with override_illegal(self.env, self.how):
            return self.env.step(actions)  # type: ignore[no-any-return]
