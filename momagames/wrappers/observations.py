"""Observations of several frames, observations with the agent, and those of agents that have left."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.errors import InvalidParameter
from momagames.wrappers.flatten import MASK

INDICATOR = "agent_indicator"


class FrameStack:
    """The last observations of each agent; a field of shape [...] becomes [stack_size, ...], the newest frame last.

    Frames before the start of an episode are zeros. A mask is not stacked.
    """

    def __init__(self, env: Any, stack_size: int) -> None:
        self.size = stack_size
        self.spaces = {agent: self._stack_space(env.observation_space(agent)) for agent in env.possible_agents}
        self._frames: dict[str, Any] = {}

    def _stack_space(self, space: Any) -> Any:
        if isinstance(space, spaces.Dict):
            return spaces.Dict({name: part if name == MASK else self._stack_space(part) for name, part in space.items()})
        if not isinstance(space, spaces.Box):
            raise InvalidParameter(
                f"FrameStack: invalid observation space {space}: expected Box, or a Dict of Boxes and {MASK!r}"
            )
        low, high = (np.repeat(bound[None], self.size, axis=0) for bound in (space.low, space.high))
        return spaces.Box(np.minimum(low, 0), np.maximum(high, 0), dtype=space.dtype.type)  # type: ignore[union-attr]

    def clear(self) -> None:
        """Start an episode."""
        self._frames.clear()

    def push(self, agent: str, observation: Any) -> Any:
        """Return the frames of an agent with a new one, and store them."""
        self._frames[agent] = stacked = self.add(agent, observation)
        return stacked

    def add(self, agent: str, observation: Any) -> Any:
        """Return the frames of an agent with a new one."""
        before = self._frames.get(agent)
        if not isinstance(observation, dict):
            return self._join(before, observation)
        return {
            name: value if name == MASK else self._join(None if before is None else before[name], value)
            for name, value in observation.items()
        }

    def replace_last(self, agent: str, observation: Any) -> Any:
        """Return the stored frames of an agent, with the mask of its observation now."""
        frames = self._frames[agent]
        return {**frames, MASK: observation[MASK]} if isinstance(frames, dict) and MASK in frames else frames

    def _join(self, before: Any, frame: NDArray[Any]) -> NDArray[Any]:
        old = np.zeros((self.size - 1, *frame.shape), frame.dtype) if before is None else before[1:]
        return np.concatenate([old, frame[None]])


class AgentIndicator:
    """Observations with a field of the agent: one-hot, float32[A]."""

    def __init__(self, env: Any) -> None:
        self.spaces: dict[str, spaces.Dict] = {}
        for agent in env.possible_agents:
            space = env.observation_space(agent)
            if not isinstance(space, spaces.Dict):
                raise InvalidParameter(
                    f"AgentIndicator: invalid observation space {space}: expected a Dict, so apply it inside Flatten"
                )
            self.spaces[agent] = spaces.Dict(
                {**space.spaces, INDICATOR: spaces.Box(0, 1, (len(env.possible_agents),), np.float32)}
            )
        self._rows = dict(zip(env.possible_agents, np.eye(len(env.possible_agents), dtype=np.float32), strict=True))

    def add(self, agent: str, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the observation with the field `agent_indicator`."""
        return {**observation, INDICATOR: self._rows[agent].copy()}


def make_absent_observation(space: spaces.Space[Any]) -> Any:
    """Return the observation of an agent that has left: zeros, and a mask with the first action of each part.

    Its action has no effect; a mask without an action would make the probabilities of masked policies undefined.
    """
    if isinstance(space, spaces.Dict):
        return {
            name: _mask_first(make_absent_observation(part)) if name == MASK else make_absent_observation(part)
            for name, part in space.items()
        }
    if isinstance(space, spaces.Tuple):
        return tuple(make_absent_observation(part) for part in space)
    return np.zeros(space.shape or (), space.dtype)


def _mask_first(mask: Any) -> Any:
    for part in mask if isinstance(mask, tuple) else (mask,):
        part[0] = 1
    return mask
