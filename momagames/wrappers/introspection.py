"""The API of an environment, its rewards, and the environment of momagames inside its wrappers."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from momagames.contract import Game
from momagames.errors import InvalidCall, InvalidParameter, one_of
from momagames.wrappers.reward_spec import RewardSpec, layers, spec_from_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

API_NAMES = {
    "aec": "a PettingZoo AEC environment",
    "parallel": "a PettingZoo parallel environment",
    "gymnasium": "a Gymnasium environment",
    "vector": "a Gymnasium vector environment",
}


def detect_api(env: Any) -> str | None:
    """Return "aec", "parallel", "gymnasium", "vector" or None."""
    import gymnasium
    import pettingzoo

    bases = {
        "aec": pettingzoo.AECEnv,
        "parallel": pettingzoo.ParallelEnv,
        "gymnasium": gymnasium.Env,
        "vector": gymnasium.vector.VectorEnv,
    }
    return next((kind for kind, base in bases.items() if isinstance(env, base)), None)


def find_module(env: Any, wrapper: str, *kinds: str) -> Any:
    """Return the wrapper module for the API of an environment; InvalidParameter if the wrapper does not support it."""
    kind = detect_api(env)
    if kind not in kinds:
        given = API_NAMES[kind] if kind else f"{type(env).__name__} object {env!r:.60}"
        raise InvalidParameter(
            f"invalid environment for {wrapper}: expected {one_of(API_NAMES[k] for k in kinds)}, got {given}"
        )
    return import_module(f"momagames.wrappers.{kind}")


def reward_spec_of(env: Any) -> RewardSpec:
    """Return the rewards of an environment: of its outermost reward wrapper, else of its game, else of its reward space."""
    for layer in layers(env):
        attributes = vars(layer)
        if (spec := attributes.get("reward_spec")) is not None:
            return spec  # type: ignore[no-any-return]
        if isinstance(attributes.get("game"), Game):
            return _game_reward_spec(layer, attributes["game"])
    return _space_reward_spec(env)


def _game_reward_spec(env: Any, game: Game) -> RewardSpec:
    """Return the rewards of an environment of momagames; in Gymnasium, those of the controlled agent or team."""
    if detect_api(env) != "gymnasium":
        return RewardSpec.of_game(game)
    spec, box = RewardSpec.of_game(game, env.agent), env.reward_space
    return replace(spec, low=box.low[None].astype(np.float64), high=box.high[None].astype(np.float64))


def _space_reward_spec(env: Any) -> RewardSpec:
    import gymnasium

    kind = detect_api(env)
    agents: tuple[str, ...] = ("agent_0",)
    if kind in ("gymnasium", "vector"):
        spaces = [getattr(env.unwrapped, "reward_space", None)]
    else:
        agents = tuple(env.possible_agents)
        spaces = [getattr(env.unwrapped, "reward_spaces", {}).get(agent) for agent in agents]
    bounds = [(box.low, box.high) for box in spaces if isinstance(box, gymnasium.spaces.Box) and len(box.shape) == 1]
    if len(bounds) < len(agents):
        return spec_from_bounds(agents, [-np.inf] * len(agents), [np.inf] * len(agents))
    return spec_from_bounds(agents, [low for low, _ in bounds], [high for _, high in bounds])


def base_env(env: Any, wrapper: str) -> Any:
    """Return the environment of momagames inside all wrappers, which has `episode` or `batch`, and `illegal`."""
    found = [layer for layer in layers(env) if isinstance(vars(layer).get("game"), Game) and "illegal" in vars(layer)]
    if not found:
        raise InvalidCall(f"{wrapper} needs an environment made by momagames, got {env}")
    return found[-1]


def find_acting_agent(env: Any, infos: Mapping[str, Any]) -> str | None:
    """Return the agent to move in a parallel environment of a turn-based game; None if all agents act.

    infos   of the agents, whose `active_agent` tells it for an environment that is not an AEC environment inside
    """
    from pettingzoo import AECEnv

    aec = next((layer for layer in layers(env) if isinstance(layer, AECEnv)), None)
    if aec is None:
        return next((info.get("active_agent") for info in infos.values()), None)
    return None if aec.metadata.get("is_parallelizable") else aec.agent_selection


class IllegalOverride:
    """Base of the HandleIllegal wrappers: sets the effect of illegal actions during a step."""

    env: Any

    def __init__(self, env: Any, policy: str, *args: Any) -> None:
        super().__init__(env, *args)  # type: ignore[call-arg]
        self.policy = policy
        self._inner = base_env(env, "HandleIllegal")

    def step(self, action: Any) -> Any:
        inner = self._inner
        before, inner.illegal = inner.illegal, self.policy
        try:
            return self.env.step(action)
        finally:
            inner.illegal = before
