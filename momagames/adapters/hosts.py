"""Registration of the ids with Gymnasium (and MO-Gymnasium) and PettingZoo, in the namespace momagames/.

Each id has a scalar form for learners that know one reward and vectors of numbers: "momagames/NAME-scalar-vN".
"""

from __future__ import annotations

from typing import Any

import gymnasium
import pettingzoo

from momagames import registry
from momagames.games import GYMNASIUM_IDS
from momagames.plugins import load_object

NAMESPACE = "momagames"


def register_environments() -> None:
    """Register all ids with Gymnasium and PettingZoo, also those that are added later."""
    registry.add_listener(register_environment)
    for id, entry_point in GYMNASIUM_IDS.items():
        if f"{NAMESPACE}/{id}" not in gymnasium.registry:
            gymnasium.register(f"{NAMESPACE}/{id}", entry_point=entry_point)


def register_environment(id: str) -> None:
    """Register an id: gymnasium.make("momagames/mo-samegame-v0"), and pettingzoo.make("aec", ...) from PettingZoo 1.27 on."""
    name = f"{NAMESPACE}/{id}"
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="momagames.adapters.hosts:make_single",
            vector_entry_point="momagames.adapters.hosts:make_vector",
            kwargs={"game_id": id},  # gymnasium.make_vec passes these on to gymnasium.make(id, **kwargs)
            disable_env_checker=True,  # it requires scalar rewards
            order_enforce=False,  # the environments check the order themselves
        )
    scalar, make_scalar = format_scalar_id(name), "momagames.environments:make_scalar"
    if scalar not in gymnasium.registry:
        gymnasium.register(scalar, entry_point=make_scalar, kwargs={"game_id": id}, order_enforce=False)
    for api in ("aec", "parallel") if hasattr(pettingzoo, "register") else ():
        for form, make, kwargs in ((name, "momagames.environments:make", {"id": id}), (scalar, make_scalar, {"game_id": id})):
            if form not in getattr(pettingzoo, f"{api}_registry"):
                pettingzoo.register(api, form, entry_point=make, kwargs={**kwargs, "api": api})


def format_scalar_id(name: str) -> str:
    """Return the name of the scalar form: "mo-samegame-scalar-v0" of "mo-samegame-v0"."""
    base, _, version = name.rpartition("-")
    return f"{base}-scalar-{version}"


def make_single(game_id: str, **options: Any) -> Any:
    """Make the environment of one agent for gymnasium.make."""
    return load_object("momagames.environments:make")(game_id, "gymnasium", **options)


def make_vector(game_id: str, num_envs: int = 1, copy: bool = True, **options: Any) -> Any:
    """Make a batch for gymnasium.make_vec(..., vectorization_mode="vector_entry_point"); it returns copies, as Gymnasium's."""
    return load_object("momagames.environments:make_vec")(game_id, num_envs, copy=copy, **options)
