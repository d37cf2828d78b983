"""Stable-Baselines3: the batch as a `VecEnv`, with the action masks that MaskablePPO of sb3-contrib reads."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.adapters.spaces import action_space, observation_space
from momagames.errors import InvalidParameter, MissingExtra
from momagames.wrappers import Scalarize

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise MissingExtra("momagames.integrations.sb3 needs Stable-Baselines3: pip install stable-baselines3") from error

MASKS = "action_masks"  # the method that sb3-contrib calls


class BatchVecEnv(VecEnv):  # type: ignore[misc]
    """N environments of one id as a vector environment of Stable-Baselines3, stepped by the compiled batch.

    A game of one agent has N places. A game of A agents that act at the same time has N * A, those of one environment side by
    side, for one policy that plays all of them; an agent that leaves early stays, with reward 0, until the episode of its
    environment ends. A game with turns and several agents is rejected.

    infos of a place hold `vector_reward` float32[K], and at the end of its episode `episode` (return r, length l and seconds t,
    as of `Monitor`), `final_return` float64[K], `terminal_observation` and `TimeLimit.truncated`.

    weights, utility    of the scalar reward, see `momagames.wrappers.Scalarize`
    threads             threads of the batch
    options             parameters of the game, and `illegal`, such as "next" for learners without masks
    Raises              InvalidParameter, UnknownId
    """

    def __init__(
        self, id: str, num_envs: int, weights: Any = None, *, utility: Any = None, threads: int = 1, **options: Any
    ) -> None:
        base = momagames.make_vec(id, num_envs, threads, autoreset="same_step", views="all", **options)
        game, agents = base.game, len(base.agents)
        if agents > 1 and game.sequential:
            raise InvalidParameter(
                f"invalid id={id!r}: expected a game of one agent, or one whose agents act at the same time; for one agent of "
                f"{game.id} use make_vec_env(lambda: momagames.make({id!r}, api='gymnasium', others=..., weights=...))"
            )
        self.envs = Scalarize(base, weights, utility=utility)
        self._agents = agents
        self._returns = np.zeros(base.num_envs * agents)  # of the running episodes
        self._begin = time.perf_counter()
        super().__init__(base.num_envs * agents, observation_space(game), action_space(game))

    def reset(self) -> Any:
        """Start new episodes, with the seed of `seed()` and the options of `set_options()`, and return the observations."""
        options = self._options[0]
        if any(other != options for other in self._options):
            raise InvalidParameter("invalid options: expected equal ones for all environments")
        observations, infos = self.envs.reset(seed=self._seeds[0], options=options or None)
        self._reset_seeds()
        self._reset_options()
        self._masks = infos["action_mask"]
        self._returns[:] = 0
        return self._list_places(observations)

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = np.asarray(actions).reshape(self.envs.num_envs, -1)

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Return observations, rewards float32[num_envs], ends of episodes bool[num_envs] and infos of the step."""
        observations, rewards, terminated, _, infos = self.envs.step(self._actions)
        self._masks, rewards = infos["action_mask"], rewards.reshape(-1)
        self._returns += rewards
        vectors = infos["vector_reward"].reshape(self.num_envs, -1).copy()
        listed: list[dict[str, Any]] = [{"vector_reward": vector} for vector in vectors]
        done = np.zeros(self.num_envs, np.bool_)
        if "final_obs" in infos:
            done |= infos["_final_obs"].repeat(self._agents)
            self._describe_ends(np.flatnonzero(done), listed, infos, terminated.reshape(-1))
            self._returns[done] = 0
        return self._list_places(observations), rewards.astype(np.float32), done, listed

    def _describe_ends(
        self, places: NDArray[np.int64], listed: list[dict[str, Any]], infos: Mapping[str, Any], terminated: NDArray[np.bool_]
    ) -> None:
        """Add to the infos of places what they say at the end of an episode."""
        final, returns = self._list_places(infos["final_obs"]), infos["final_return"].reshape(self.num_envs, -1)
        seconds = round(time.perf_counter() - self._begin, 6)
        for i in places:
            length = infos["final_length"][i // self._agents]
            listed[i] |= {
                "terminal_observation": {k: part[i] for k, part in final.items()} if isinstance(final, dict) else final[i],
                "TimeLimit.truncated": not terminated[i],
                "episode": {"r": float(self._returns[i]), "l": int(length), "t": seconds},
                "final_return": returns[i].copy(),
            }

    def _list_places(self, observations: Any) -> Any:
        """Return a copy of observations, [N, (A,) ...] each, as [num_envs, ...]."""
        if isinstance(observations, dict):
            return {name: self._list_places(part) for name, part in observations.items()}
        return observations.reshape(self.num_envs, *observations.shape[1 + (self._agents > 1) :]).copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool[num_envs, M]; those of an action of several parts one after the other."""
        return self._masks.reshape(self.num_envs, -1) != 0  # type: ignore[no-any-return]

    def set_weights(self, weights: Any) -> None:
        """Change the weights of the scalar reward from the next step on."""
        self.envs.set_weights(weights)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Return what a method returns for each place; `action_masks` alone, the batch has no environments to call."""
        if method_name != MASKS:
            raise AttributeError(f"{type(self).__name__} has no environments with a method {method_name!r}, only {MASKS!r}")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the batch for each place."""
        places = self._get_indices(indices)
        if attr_name == MASKS:
            return [lambda i=i: self.action_masks()[i] for i in places]
        value = None if attr_name == "render_mode" else getattr(self.envs, attr_name)
        return [value for _ in places]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the batch."""
        setattr(self.envs.unwrapped, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return True for each place for `Monitor`, whose statistics are in the infos."""
        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]

    def close(self) -> None:
        """End the threads of the batch."""
        self.envs.close()
