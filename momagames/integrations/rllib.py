"""RLlib: environments by name, registered when this module is imported.

    import momagames.integrations.rllib
    PPOConfig().environment("momagames", env_config={"id": "mo-samegame-v0", "weights": [1, 1, 1, 1, 1]})

`momagames` is one agent in the Gymnasium API, against the policies `others`; `momagames-multi-agent` all agents of a game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import momagames
from momagames.errors import InvalidParameter, MissingExtra, invalid_value
from momagames.wrappers import Flatten

try:
    from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
    from ray.tune import register_env
except ImportError as error:
    raise MissingExtra('momagames.integrations.rllib needs RLlib: pip install "ray[rllib]"') from error

SINGLE_AGENT, MULTI_AGENT = "momagames", "momagames-multi-agent"
KEY = "observations"  # that RLlib's action-masking modules read


def make_single_agent_env(config: Mapping[str, Any]) -> Any:
    """Return the environment of one agent, with the observation as one vector float32[F] and a scalar reward.

    config    `id`, and `weights` or `utility` (see `momagames.wrappers.Scalarize`); `mask`: "observation" for RLlib's modules
              with action masks, which read a dict of `observations` and `action_mask`, or None, without masks (the default),
              where `illegal` is "next" unless it is given; and options of `momagames.make`, such as `others`
    Raises    InvalidParameter, UnknownId
    """
    id, mask, options = _read_config(config)
    return Flatten(momagames.make(id, api="gymnasium", **options), key=KEY, mask=mask)


def make_multi_agent_env(config: Mapping[str, Any]) -> Any:
    """Return the environment of all agents as a `MultiAgentEnv`: in turn, or all in each step, as the game is played.

    config    as of `make_single_agent_env`
    """
    id, mask, options = _read_config(config)
    env = momagames.make(id, **options)
    if env.metadata["is_parallelizable"]:
        return ParallelPettingZooEnv(Flatten(momagames.make(id, api="parallel", **options), key=KEY, mask=mask))
    return PettingZooEnv(Flatten(env, key=KEY, mask=mask))


def _read_config(config: Mapping[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Return the id, the place of the mask, and the options of `momagames.make`."""
    options = dict(config)
    if "id" not in options:
        raise InvalidParameter(invalid_value("env_config", options, "a dict with 'id' and 'weights'"))
    id, mask = options.pop("id"), options.pop("mask", None)
    if options.get("weights") is None and options.get("utility") is None:
        raise InvalidParameter(f"env_config of {id} needs 'weights' or 'utility': RLlib takes scalar rewards")
    if mask is None:
        options.setdefault("illegal", "next")
    return id, mask, options


def register_environments() -> None:
    """Register the environments with Ray, as the import does; call it again after `ray.shutdown()`, which forgets them."""
    register_env(SINGLE_AGENT, make_single_agent_env)
    register_env(MULTI_AGENT, make_multi_agent_env)


register_environments()
