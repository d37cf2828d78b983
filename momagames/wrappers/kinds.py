"""Which kind of environment this is, what it pays, and the door of momagames below its wrappers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from momagames.contract import Game
from momagames.errors import InvalidCall, InvalidParameter, one_of
from momagames.wrappers.reward_spec import Form, layers, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {
    "aec": "a PettingZoo AEC environment",
    "parallel": "a PettingZoo parallel environment",
    "gymnasium": "a Gymnasium environment",
    "vector": "a Gymnasium vector environment",
}


def kind_of(env: Any) -> str | None:
    """ "aec", "parallel", "gymnasium", "vector" or None."""
    import gymnasium
    import pettingzoo

    bases = {
        "aec": pettingzoo.AECEnv,
        "parallel": pettingzoo.ParallelEnv,
        "gymnasium": gymnasium.Env,
        "vector": gymnasium.vector.VectorEnv,
    }
    return next((kind for kind, base in bases.items() if isinstance(env, base)), None)


def host(env: Any, wrapper: str, *kinds: str) -> Any:
    """The module of the host for this environment, or InvalidParameter if the wrapper does not take its kind."""
    kind = kind_of(env)
    if kind not in kinds:
        given = KINDS[kind] if kind else f"{type(env).__name__} object {env!r:.60}"
        raise InvalidParameter(f"{wrapper} cannot wrap {given}; allowed: {one_of(KINDS[k] for k in kinds)}")
    return import_module(f"momagames.wrappers.{kind}")


def form_of(env: Any) -> Form:
    """What an environment pays: by the outermost wrapper of ours, else by its game, else by its reward space."""
    for layer in layers(env):
        held = vars(layer)
        form = held.get("reward_form")
        if form is not None:
            return form  # type: ignore[no-any-return]
        if isinstance(held.get("game"), Game):
            return _of_door(layer, held["game"])
    return _foreign(env)


def _of_door(env: Any, game: Game) -> Form:
    """What a door pays; that of Gymnasium pays one agent or team, and what it gets in steps of others too."""
    if kind_of(env) != "gymnasium":
        return Form.of_game(game)
    form, box = Form.of_game(game, env.agent), env.reward_space
    return replace(form, low=box.low[None].astype(np.float64), high=box.high[None].astype(np.float64))


def _foreign(env: Any) -> Form:
    import gymnasium

    kind = kind_of(env)
    agents: tuple[str, ...] = ("agent_0",)
    if kind in ("gymnasium", "vector"):
        spaces = [getattr(env.unwrapped, "reward_space", None)]
    else:
        agents = tuple(env.possible_agents)
        spaces = [getattr(env.unwrapped, "reward_spaces", {}).get(agent) for agent in agents]
    bounds = [(box.low, box.high) for box in spaces if isinstance(box, gymnasium.spaces.Box) and len(box.shape) == 1]
    if len(bounds) < len(agents):
        return unknown(agents, [-np.inf] * len(agents), [np.inf] * len(agents))
    return unknown(agents, [low for low, _ in bounds], [high for _, high in bounds])


def door(env: Any, wrapper: str) -> Any:
    """The door of momagames that all these wrappers are around: it has `play` or `batch`, and `illegal`."""
    found = [layer for layer in layers(env) if isinstance(vars(layer).get("game"), Game) and "illegal" in vars(layer)]
    if not found:
        raise InvalidCall(f"{wrapper} works around environments made by momagames only, not around {env}")
    return found[-1]


@contextmanager
def illegal_means(env: Any, how: str) -> Iterator[None]:
    """While this lasts, the door below treats illegal actions in this way."""
    inner = door(env, "HandleIllegal")
    before, inner.illegal = inner.illegal, how
    try:
        yield
    finally:
        inner.illegal = before
