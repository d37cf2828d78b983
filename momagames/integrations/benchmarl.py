"""BenchMARL: a task for every id, on the batch of `momagames.integrations.torchrl`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from momagames.errors import InvalidParameter, MissingExtra

try:
    from benchmarl.environments.common import TaskClass
    from torchrl.data import Composite
except ImportError as error:
    raise MissingExtra("momagames.integrations.benchmarl needs BenchMARL: pip install benchmarl") from error

from momagames.integrations.torchrl import BatchEnv  # needs a library that BenchMARL brings


class MomagamesTask(TaskClass):  # type: ignore[misc]
    """A task of BenchMARL: all agents of an id, with a scalar reward for each.

    id             of the environments
    weights        of the reward, or `utility` among the options, see `momagames.wrappers.Scalarize`
    max_steps      length of evaluation rollouts; without it the longest episode
    options        of `BatchEnv`, such as `group_map`, and parameters of the game
    Raises         InvalidParameter, UnknownId
    """

    def __init__(self, id: str, weights: Any = None, *, max_steps: int | None = None, **options: Any) -> None:
        if weights is None and options.get("utility") is None:
            raise InvalidParameter(f"the task of {id} needs weights=... or utility=...: BenchMARL takes scalar rewards")
        self._make = partial(BatchEnv, id, weights=weights, **options)
        env = self._make(num_envs=1)
        if not env.group_map:  # BenchMARL needs a group, also of one agent
            self._make = partial(self._make, group_map={"agent": list(env.game.agents)})
        self._max_steps = max_steps or env.game.max_episode_steps
        super().__init__(name=env.game.id, config={"id": id, "weights": weights, "max_steps": max_steps, **options})
        env.close()

    def get_env_fun(self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any) -> Callable[[], BatchEnv]:
        """Return a function that makes a batch of environments."""

        def make_env() -> BatchEnv:
            env = self._make(num_envs=num_envs, device=device)
            env.set_seed(seed)
            return env

        return make_env

    def supports_continuous_actions(self) -> bool:
        return False

    def supports_discrete_actions(self) -> bool:
        return True

    def has_render(self, env: Any) -> bool:
        return False

    def max_steps(self, env: Any) -> int:
        return self._max_steps

    def group_map(self, env: Any) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = env.group_map
        return groups

    def state_spec(self, env: Any) -> None:
        return None

    def info_spec(self, env: Any) -> None:
        return None

    def observation_spec(self, env: Any) -> Composite:
        return self._select(env, lambda name: name != "action_mask")

    def action_mask_spec(self, env: Any) -> Composite:
        return self._select(env, lambda name: name == "action_mask")

    def action_spec(self, env: Any) -> Composite:
        return env.full_action_spec_unbatched

    @staticmethod
    def env_name() -> str:
        return "momagames"

    @staticmethod
    def _select(env: Any, is_wanted: Callable[[str], bool]) -> Composite:
        """Return the observation specs with these names, of each group, without the axis of environments."""
        spec = env.full_observation_spec_unbatched.clone()
        for group in env.group_map:
            for name in list(spec[group].keys()):
                if not is_wanted(name):
                    del spec[group, name]
        return spec
