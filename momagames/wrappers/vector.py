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
from momagames.wrappers.episodes import Books
from momagames.wrappers.kinds import door, form_of, illegal_means
from momagames.wrappers.reward_spec import Form, layers
from momagames.wrappers.transforms import Moment, Scalarize, Transform

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class Wrapper(VectorWrapper):  # type: ignore[misc]
    """A vector wrapper that knows who still plays.

    over   bool[N], environments whose last step ended an episode and that have not been dealt anew
    gone   bool[N, A], agents that left the running episode
    """

    def __init__(self, env: Any, form: Form) -> None:
        super().__init__(env)
        self.over = np.zeros(env.num_envs, np.bool_)
        self.gone = np.zeros((env.num_envs, len(form.agents)), np.bool_)
        self._same_step = env.metadata.get("autoreset_mode") == AutoresetMode.SAME_STEP

    def __getattr__(self, name: str) -> Any:
        """What we do not have, the inner environment may (`game`, `batch`, `action_masks`)."""
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
        """New episodes begin in these environments, bool[N]."""

    def _moment(self, terminated: NDArray[np.bool_], truncated: NDArray[np.bool_]) -> Moment:
        """Who took part in the step that just was; keeps `over` and `gone` for the next one."""
        done = np.logical_or(terminated, truncated).reshape(self.gone.shape)
        ended: NDArray[np.bool_] = np.asarray(done.all(axis=1))
        moment = Moment(live=~self.over, present=~self.gone & ~self.over[:, None], ended=ended & ~self.over)
        self.over = np.zeros_like(ended) if self._same_step else ended
        self.gone = done & ~ended[:, None]
        return moment


class RewardWrapper(RewardHost, Wrapper):  # type: ignore[misc]
    """Pays other rewards; the buffers of the inner environment stay as they are."""

    def __init__(self, env: Any, transform: Transform) -> None:
        Wrapper.__init__(self, env, transform.source)
        self._alone = len(transform.source.agents) == 1
        self._bind(transform)

    def _bind(self, transform: Transform) -> None:
        super()._bind(transform)
        self.reward_space = _space(self.reward_form)
        self.reward_dim = len(self.reward_form.objectives)

    @property
    def unwrapped(self) -> Any:
        """The door; this wrapper itself where the reward vector has changed, see `wrappers.gymnasium`."""
        if self.reward_form.scalar:
            return next(layer for layer in layers(self) if not isinstance(layer, VectorWrapper))
        return self.env.unwrapped if self.reward_form.names == self.transform.source.names else self

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        self.transform.restart(chosen)

    def step(self, actions: Any) -> Step:
        seen = self._look()
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        source, form = self.transform.source, self.reward_form
        source.check(rewards[0] if self._alone else rewards[0, 0])
        moment = self._moment(terminated, truncated)
        if self.transform.looks:
            moment.seen, moment.played = seen, door(self.env, self.transform.name).batch.played
        paid = self.transform.apply(rewards.reshape(self.num_envs, *source.shape), moment).astype(form.dtype, copy=False)
        if isinstance(self.transform, Scalarize):
            infos = {**infos, "vector_reward": rewards}
        paid = paid[..., 0] if form.scalar else paid
        return observations, paid[:, 0] if self._alone else paid, terminated, truncated, infos


def _space(form: Form) -> spaces.Box:
    if len(form.agents) == 1:
        return reward_space(form, 0)
    low, high = (bound[:, 0] if form.scalar else bound.astype(np.float32) for bound in (form.low, form.high))
    return spaces.Box(low, high, dtype=form.dtype)


class RecordEpisode(Wrapper):
    """Puts returns and lengths of the episodes that ended into infos["episode"], with the mask infos["_episode"].

    `r` float64[N, (A,) K] and `l` int64[N, (A,)], the agents' own moves, and `steps` int64[N]. They replace what the door
    reports of itself, which is what the game paid; these are what is paid here.
    """

    def __init__(self, env: Any, kept: int) -> None:
        self.reward_form: Form = form_of(env)
        super().__init__(env, self.reward_form)
        self.books = Books(self.reward_form, env.num_envs, kept)
        self._alone = len(self.reward_form.agents) == 1

    @property
    def episodes(self) -> Any:
        """The last finished episodes, newest last."""
        return self.books.episodes

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        self.books.restart(chosen)

    def step(self, actions: Any) -> Step:
        turn = self._turn()
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        moment, books = self._moment(terminated, truncated), self.books
        books.add(rewards.reshape(books.returns.shape), turn & moment.present, moment.live)
        if moment.ended.any():
            returns, moves = books.returns.copy(), books.moves.copy()
            if self.reward_form.scalar:
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
        """Whose actions the next step plays, bool[N, A]."""
        game = self.reward_form.game
        if self._alone or game is None or not game.sequential:
            return np.ones_like(self.gone)
        movers: NDArray[np.bool_] = door(self.env, "RecordEpisode").batch.to_move[:, None] == np.arange(self.gone.shape[1])
        return movers


class HandleIllegal(Wrapper):
    """Says what an illegal action does."""

    def __init__(self, env: Any, how: str) -> None:
        super().__init__(env, form_of(env))
        self.how = how

    def step(self, actions: Any) -> Step:
        with illegal_means(self.env, self.how):
            return self.env.step(actions)  # type: ignore[no-any-return]
