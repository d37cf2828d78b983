"""State attributes of known environments: the names of the attributes that hold the state of an environment.

They were read off the behavior of MO-Gymnasium 1.3.2. `tests/tabular/test_simulators.py` compares states that are restored from
these attributes with the environments themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Values = list[Any]


@dataclass(frozen=True)
class StateAdapter:
    """How to read the state of an environment.

    names    attributes of `env.unwrapped`, such as "position" or "cart.speed"
    merge    (environment, values) -> values that represent all states with the same future
    """

    names: Sequence[str]
    merge: Callable[[Any, Values], Values] | None = None


def _merge_broken_bottles(env: Any, values: Values) -> Values:
    """Cap the number of bottles in a cell at 1: rewards depend only on whether there is one, and they cannot be picked up."""
    *rest, dropped = values
    return values if env.unbreakable_bottles else [*rest, [min(count, 1) for count in dropped]]


_ENVS = "mo_gymnasium.envs"
STATE_ADAPTERS = {
    f"{_ENVS}.deep_sea_treasure.deep_sea_treasure:DeepSeaTreasure": StateAdapter(["current_state"]),
    f"{_ENVS}.fruit_tree.fruit_tree:FruitTreeEnv": StateAdapter(["current_state", "terminal"]),
    f"{_ENVS}.resource_gathering.resource_gathering:ResourceGathering": StateAdapter(["current_pos", "has_gold", "has_gem"]),
    f"{_ENVS}.breakable_bottles.breakable_bottles:BreakableBottles": StateAdapter(
        ["location", "bottles_carrying", "bottles_delivered", "bottles_dropped"], _merge_broken_bottles
    ),
    f"{_ENVS}.four_room.four_room:FourRoom": StateAdapter(["state"]),
    f"{_ENVS}.fishwood.fishwood:FishWood": StateAdapter(["_state", "_timestep"]),
    f"{_ENVS}.minecart.minecart:Minecart": StateAdapter(
        ["cart.pos", "cart.speed", "cart.angle", "cart.content", "cart.departed", "end"]
    ),
}


def find_adapter(env: Any) -> StateAdapter | None:
    """Return the adapter of an unwrapped environment, or None."""
    return STATE_ADAPTERS.get(f"{type(env).__module__}:{type(env).__qualname__}")
