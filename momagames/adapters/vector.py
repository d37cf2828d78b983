"""Vector environments: N environments of one game as a gymnasium.vector.VectorEnv with vector rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from momagames.adapters import options as checks
from momagames.adapters.render import Renderer
from momagames.adapters.spaces import action_space, observation_space, reward_space
from momagames.contract import Game
from momagames.engine.batch import Autoreset, Batch, Views
from momagames.engine.episode import count_actions
from momagames.engine.positions import has_random_word, load_state
from momagames.errors import IllegalAction, InvalidParameter
from momagames.kernels.rng import draw_words, random_words

AUTORESET = {
    "next_step": AutoresetMode.NEXT_STEP,
    "same_step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}
RENDER_MODES = ("rgb_array", "ansi", "svg")
VIEWS = ("_observations", "_final_observations", "_reward_sums", "_terminated", "_truncated", "_returns", "_infos")


class MultiObjectiveVectorEnv(VectorEnv):  # type: ignore[misc]
    """N environments of one game. Made by `momagames.make_vec(id, num_envs)`.

    Letters: N environments, A agents, K objectives, M length of an action mask.

    A game of one agent behaves as any Gymnasium vector environment, with rewards float32[N, K], terminations bool[N] and
    truncations bool[N]. With several agents these have an agent axis: [N, A, K] and [N, A]. Observations are
    those of the agent to move, [N, ...] (sequential games with views="mover"), or of every agent, [N, A, ...].

    infos holds `action_mask` int8[N, M] (or [N, A, M]), `to_move` int32[N], and after a step in which episodes ended
    their returns `final_return` float64[N, (A,) K] and lengths `final_length` int32[N]; in same_step mode also `final_obs`
    and `final_action_mask`. Each has a mask bool[N] with an underscore before its name: `_final_return`. Where agents have
    different numbers of actions, M is the largest one, and the entries of an agent end with zeros.

    `reward_space` bounds the rewards of one environment, [K] or [A, K], as in MO-Gymnasium's vector environments.
    `reward_dim` is K, `agents` has the names of the agents, and `game` the facts of the game: `sequential` (one agent acts in
    each step), `teams` (index of the team of each agent), `objectives` with their bounds.

    max_cycles    truncate episodes after this number of steps, as in the Parallel and the Gymnasium API
    copy          whether calls return copies, as Gymnasium's vector environments do. Without, arrays are allocated once and
                  overwritten by the next step: copy them to keep them. Calls of several threads wait for each other, so that no
                  step is done by halves, but they return the same arrays
    render_mode   "rgb_array", "ansi" or "svg", see `render`; render_options as in the other APIs
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        threads: int = 1,
        autoreset: Autoreset = "next_step",
        views: Views = "mover",
        illegal: str = "raise",
        max_cycles: int | None = None,
        copy: bool = False,
        render_mode: str | None = None,
        render_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.game = game
        self.max_cycles = checks.check_max_cycles(max_cycles)
        self.copy = checks.check_flag("copy", copy)
        self.render_mode = checks.check_render_mode(render_mode, RENDER_MODES)
        self.render_options = checks.check_render_options(game, render_options)
        self._renderer: Renderer | None = None
        self.illegal = checks.check_illegal(illegal)
        self.batch = Batch(game, num_envs, threads, autoreset, views, self.max_cycles)
        self.num_envs = self.batch.num_envs
        self.agents = game.agents
        self.autoreset_mode = AUTORESET[autoreset]  # as SyncVectorEnv; TorchRL reads it
        self.metadata = {"name": game.id, "render_modes": list(RENDER_MODES), "autoreset_mode": self.autoreset_mode}
        self._is_single = len(game.agents) == 1
        num_views, actors = self.batch.observations.shape[1], game.actors
        self.single_observation_space = _repeat_space(observation_space(game), num_views)
        self.single_action_space = _repeat_space(action_space(game, 0 if self._is_single else None), actors)
        if game.agent_actions and actors > 1:
            self.single_action_space = spaces.MultiDiscrete(list(game.agent_actions))
        self.reward_space = _repeat_space(reward_space(game), len(game.agents))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.reward_dim = len(game.objectives)
        self._sample_words: NDArray[np.uint64] | None = None  # also for illegal="random"
        self._link_buffers()

    def _link_buffers(self) -> None:
        """Set what calls return: views of the buffers of the batch, see VIEWS."""
        self._observations = self._format_observations(self.batch.observations)
        self._final_observations = self._format_observations(self.batch.final_observations)
        self._reward_sums = _squeeze_axis(self.batch.rewards, self._is_single)
        self._terminated = _squeeze_axis(self.batch.terminated, self._is_single)
        self._truncated = _squeeze_axis(self.batch.truncated, self._is_single)
        self._returns = _squeeze_axis(self.batch.returns, self._is_single)
        self._infos = {"action_mask": self.action_masks, "to_move": self.batch.to_move}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in VIEWS} | {"_renderer": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._link_buffers()

    def _format_observations(self, buffer: NDArray[np.uint8]) -> Any:
        """Return a buffer of observations as an array, or as a dict of arrays if the game has several fields."""
        fields = self.batch.fields(_squeeze_axis(buffer, buffer.shape[1] == 1))
        return next(iter(fields.values())) if len(fields) == 1 else fields

    @property
    def action_masks(self) -> NDArray[np.int8]:
        """Return the masks int8[N, M], or [N, A, M] with views="all"."""
        return _squeeze_axis(self.batch.masks, self.batch.masks.shape[1] == 1)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes. Environment i starts as a single environment with seed + i.

        seed      of the random draws; without one they continue, and begin with entropy from the operating system, which
                  differs for each environment. Or a list of N seeds, one for each environment, None as without one
        options   {"reset_mask": bool[N]} resets only these environments; {"state": position} or the keys of the dict form
                  (such as {"board": rows}) start every environment from that position, a list of N positions one each. With a
                  seed, its draws replace those that positions would continue with, unless there is {"keep_rng": True}
        Raises    InvalidState, InvalidParameter; the environments do not change
        """
        seed = checks.check_seeds(seed, self.num_envs)
        position, keep_rng = checks.read_start(self.game, options, is_vector=True)
        chosen = (options or {}).get(checks.RESET_MASK)
        chosen = None if chosen is None else self.batch.select_envs(chosen)
        if position is not None and chosen is not None:
            raise InvalidParameter("invalid options in reset(): expected either 'reset_mask' or a position, got both")
        given = None if position is None else self._read_positions(position)
        with self.batch.lock:
            if seed is not None:
                self._seed_actions(seed)
                self.batch.seed(seed, chosen)
            self._begin_streams()
            if given is None:
                self.batch.reset(chosen)
            else:
                states, have_words = given
                self.batch.seed_from_system()
                seeded = np.array([one is not None for one in seed] if isinstance(seed, list) else [seed is not None])
                others = ~have_words | seeded if not keep_rng else ~have_words
                states["rng"][others] = self.batch.states["rng"][others]
                self.batch.load(states)
            return self._copy_out(self._observations), {k: self._copy_out(one) for k, one in self._infos.items()}

    def _seed_actions(self, seed: int | list[int | None]) -> None:
        """Begin the generators of `sample_actions` and of illegal="random"; of environments with a seed only."""
        if isinstance(seed, int):
            self._sample_words = random_words(seed, self.num_envs)
            return
        words = self._begin_streams()
        for i, one in enumerate(seed):
            if one is not None:
                words[i] = random_words(one, 1)[0]

    def _copy_out(self, result: Any) -> Any:
        """Return an array or a dict of arrays as calls return it, see `copy`."""
        if not self.copy:
            return result
        return {name: one.copy() for name, one in result.items()} if isinstance(result, dict) else result.copy()

    def _read_positions(self, given: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the states of positions, record[N], and whether their random states are given, bool[N]."""
        records = isinstance(given, np.ndarray) and given.dtype == self.game.dtype and given.size > 1
        if records or (isinstance(given, list) and given):
            if len(given) != self.num_envs:
                raise InvalidParameter(
                    f"invalid options['state'] with {len(given)} positions: expected {self.num_envs}, one for each environment"
                )
            states = np.concatenate([load_state(self.game, one) for one in given])
            return states, np.array([has_random_word(self.game, one) for one in given])
        states = np.repeat(load_state(self.game, given), self.num_envs)
        return states, np.full(self.num_envs, has_random_word(self.game, given))

    def sample_actions(self) -> NDArray[np.int64]:
        """Return uniformly random legal actions for `step`, int64[N] or int64[N, A], [..., P] for actions of P parts.

        `reset(seed=...)` seeds them. The action is 0 where the mask is empty. The array is overwritten by the next call.
        """
        actions = self.batch.sample_actions(self._begin_streams())
        return actions.reshape([n for i, n in enumerate(actions.shape) if i == 0 or n > 1])

    def _begin_streams(self) -> NDArray[np.uint64]:
        """Return the generators of actions; those that no seed has begun begin with entropy from the operating system."""
        if self._sample_words is None:
            self._sample_words = draw_words(self.num_envs)
        return self._sample_words

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Step every environment.

        actions   int[N] of the agents to move, or int[N, A] in simultaneous games; [..., P] for actions of P parts. An
                  environment that is reset in this step (next_step mode) ignores its action
        Raises    IllegalAction with the first environment that has an illegal action; no environment changes
        """
        with self.batch.lock:  # nothing may change between the check and the step
            checked = self.batch.actions(actions)
            if self.illegal in ("next", "random"):
                self.batch.replace_illegal(checked, self._begin_streams() if self.illegal == "random" else None)
            else:
                self._check_actions(checked)
            self.batch.step(checked)
            infos: dict[str, Any] = dict(self._infos)
            if self.batch.finished.any():
                final: dict[str, Any] = {"final_return": self._returns, "final_length": self.batch.final_lengths}
                if len(self.batch.final_masks):
                    final["final_obs"] = self._final_observations
                    final["final_action_mask"] = _squeeze_axis(self.batch.final_masks, self.batch.final_masks.shape[1] == 1)
                infos |= final | {f"_{name}": self.batch.finished for name in final}
            if self.copy:
                infos = {name: self._copy_out(one) for name, one in infos.items()}
            outputs = self._observations, self._reward_sums, self._terminated, self._truncated
            observations, rewards, terminated, truncated = map(self._copy_out, outputs) if self.copy else outputs
        return observations, rewards, terminated, truncated, infos

    def _check_actions(self, actions: NDArray[np.int64]) -> None:
        """Raise IllegalAction for an illegal action, or let its agent forfeit."""
        env = self.batch.find_illegal_env(actions)
        while env >= 0:
            actor = self.batch.find_illegal_actor(actions, env)
            agent = int(self.batch.to_move[env]) if self.game.sequential else actor
            if self.illegal == "raise":
                given, mask = actions[env, actor].tolist(), self._mask(env, actor)
                raise IllegalAction(
                    f"illegal action={given if len(given) > 1 else given[0]} of {self.agents[agent]} in environment {env}: "
                    f"expected one of {int(mask.sum())} legal actions{count_actions(self.game, agent)}"
                )
            self.batch.forfeit(env, agent)  # the actions of the environment have no effect
            env = self.batch.find_illegal_env(actions, env + 1)

    def _mask(self, env: int, actor: int) -> NDArray[np.int8]:
        masks = self.batch.masks[env]
        row = int(self.batch.to_move[env]) if self.game.sequential and len(masks) > 1 else actor
        mask: NDArray[np.int8] = masks[row]
        return mask

    def render(self) -> tuple[Any, ...] | None:
        """Return a frame of each environment, as Gymnasium's SyncVectorEnv does: what `render` of a single environment returns.

        None without a render_mode
        """
        if self.render_mode is None:
            return None
        self.batch.check_started("render()")
        if self._renderer is None:
            self._renderer = Renderer(self.game, self.render_mode, self.render_options)
        return tuple(self._render_env(self._renderer, i) for i in range(self.num_envs))

    def _render_env(self, renderer: Renderer, i: int) -> Any:
        batch, action = self.batch, None
        if batch.lengths[i] or (batch.finished[i] and self.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP):
            action = batch.last_actions[i].copy()
            action = (int(action[0, 0]) if len(self.game.actions) == 1 else action[0]) if self.game.sequential else action
        is_over = action is not None and not batch.lengths[i]
        return renderer.render(batch.states[i], action, batch.returns[i] if is_over else batch.running_returns[i])

    def close_extras(self, **kwargs: Any) -> None:
        """End the worker threads."""
        self.batch.close()


def _repeat_space(space: spaces.Space[Any], times: int) -> spaces.Space[Any]:
    return space if times == 1 else batch_space(space, times)


def _squeeze_axis(array: NDArray[Any], one: bool) -> NDArray[Any]:
    return array[:, 0] if one else array


def make(id: str, num_envs: int, threads: int = 1, **options: Any) -> MultiObjectiveVectorEnv:
    """Make the vector environment of an id; see `momagames.make_vec`."""
    return checks.make_environment(MultiObjectiveVectorEnv, id, num_envs=num_envs, threads=threads, **options)
