"""Observations of the wrapper Flatten: one vector of numbers, and the action mask as a second one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.adapters.options import keep_numeric
from momagames.contract import join_mask
from momagames.errors import InvalidParameter, invalid_value, one_of

MASK = "action_mask"
PLACES = "observation", "info", None  # of the mask
STATISTICS = "episode"  # the entry of RecordEpisodeStatistics, by the name that Gymnasium and learners use


class FlatObservation:
    """Flat observations of one agent.

    place    of the mask: "observation", "info", or None: nowhere
    space    Dict of `key`, a Box float32[sum of all fields], and `action_mask`, a Box int8[M]; with another place of the mask
             the Box alone
    fields   names of the fields in the order of the vector; empty if the observation is a single Box
    """

    def __init__(
        self,
        observations: spaces.Space[Any],
        actions: spaces.Space[Any],
        key: str = "observation",
        place: str | None = "observation",
    ) -> None:
        if place not in PLACES:
            raise InvalidParameter(f"Flatten: {invalid_value('mask', place, one_of(PLACES))}")
        if not isinstance(key, str) or key in ("", MASK):
            raise InvalidParameter(f"invalid key={key!r}: expected any name but {MASK!r}, such as 'observations'")
        self.fields: tuple[str, ...] = ()
        parts: list[Any] = [observations]
        if isinstance(observations, spaces.Dict):
            self.fields = tuple(name for name in observations if name != MASK)
            parts = [observations[name] for name in self.fields]
        for part in parts:
            if not isinstance(part, spaces.Box):
                raise InvalidParameter(
                    f"Flatten: invalid observation space {part}: expected Box, or a Dict of Boxes and {MASK!r}"
                )
        low, high = (
            np.concatenate([np.ravel(getattr(part, end)) for part in parts]).astype(np.float32) for end in ("low", "high")
        )
        self.key, self.place = key, place
        box, masks = spaces.Box(low, high, dtype=np.float32), _mask_space(actions)
        self.space: spaces.Space[Any] = spaces.Dict({key: box, MASK: masks}) if place == "observation" else box

    def flatten(self, observation: Any, mask: Any) -> Any:
        """Return the flat observation in the form of the space."""
        numbers = self.flatten_fields(observation)
        return self.add_mask(numbers, mask)

    def add_mask(self, numbers: NDArray[np.float32], mask: Any) -> Any:
        """Return the vector with the mask, if this is its place."""
        return {self.key: numbers, MASK: _flatten_mask(mask)} if self.place == "observation" else numbers

    def flatten_fields(self, observation: Any) -> NDArray[np.float32]:
        """Return the fields of an observation as one vector, float32[F]."""
        if not self.fields:
            return np.asarray(observation, np.float32).flatten()
        return np.concatenate([observation[name] for name in self.fields], axis=None, dtype=np.float32, casting="unsafe")

    def flatten_info(self, info: Mapping[str, Any], mask: Any) -> dict[str, Any]:
        """Return the numbers and arrays of an info, the statistics of a finished episode, and the mask if it is to be there."""
        numbers = keep_numeric(info)
        if STATISTICS in info:
            numbers[STATISTICS] = info[STATISTICS]
        if self.place == "info":
            numbers[MASK] = _flatten_mask(mask)
        return numbers


class AgentSpaces:
    """Base of the wrappers of both PettingZoo APIs that change observations; `spaces` has those of the agents."""

    env: Any
    spaces: dict[str, Any]

    @property
    def observation_spaces(self) -> dict[str, Any]:
        return self.spaces

    def observation_space(self, agent: str) -> Any:
        self.env.observation_space(agent)  # raises for an unknown agent
        return self.spaces[agent]


class FlattenAgents(AgentSpaces):
    """Base of the Flatten wrappers of both PettingZoo APIs."""

    def __init__(self, env: Any, key: str, place: str | None) -> None:
        super().__init__(env)  # type: ignore[call-arg]
        for space in map(env.observation_space, env.possible_agents):
            if not isinstance(space, spaces.Dict) or MASK not in space.spaces:
                raise InvalidParameter(f"Flatten: invalid observation space {space}: expected a Dict with {MASK!r}")
        self._flat = {
            agent: FlatObservation(env.observation_space(agent), env.action_space(agent), key, place)
            for agent in env.possible_agents
        }
        self.spaces = {agent: flat.space for agent, flat in self._flat.items()}


def _flatten_mask(mask: Any) -> NDArray[np.int8]:
    """Return a mask as one array, int8[M]: the array of the observation itself, which is a copy, if it has one part."""
    return mask if isinstance(mask, np.ndarray) else join_mask(mask)


def _mask_space(actions: spaces.Space[Any]) -> spaces.Box:
    if isinstance(actions, spaces.Discrete):
        return spaces.Box(0, 1, (int(actions.n),), np.int8)
    if isinstance(actions, spaces.MultiDiscrete):
        return spaces.Box(0, 1, (int(actions.nvec.sum()),), np.int8)
    raise InvalidParameter(f"Flatten: invalid action space {actions}: expected Discrete or MultiDiscrete")
