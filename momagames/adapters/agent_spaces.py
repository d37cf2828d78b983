"""Agents and spaces of a game, shared by both PettingZoo APIs."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.adapters.options import RENDER_MODES, AgentDict
from momagames.adapters.spaces import action_space, field_space, masked_observation_space, reward_space
from momagames.contract import Game
from momagames.engine.episode import Episode


class AgentSpaces:
    """Agents and their spaces; one space object for each agent, as PettingZoo requires."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.metadata = {
            "name": game.id,
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "is_parallelizable": not game.sequential,
            "central_observation": True,
        }
        self.possible_agents = list(game.agents)
        self.observation_spaces: AgentDict[spaces.Space[Any]] = AgentDict(
            {agent: masked_observation_space(game, i) for i, agent in enumerate(game.agents)}
        )
        self.action_spaces = AgentDict({agent: action_space(game, i) for i, agent in enumerate(game.agents)})
        self.reward_spaces = AgentDict({agent: reward_space(game) for agent in game.agents})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces.find(agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces.find(agent)

    def reward_space(self, agent: str) -> spaces.Box:
        """Return the bounds of the reward vector of an agent, float32[K]."""
        return self.reward_spaces.find(agent)

    @property
    def state_space(self) -> spaces.Space[Any]:
        """Space of `state()`."""
        return central_space(self.game)

    @property
    def central_observation_space(self) -> spaces.Space[Any]:
        """Space of `state()`, under the name that momaland's wrappers expect."""
        return self.state_space

    def get_central_observation_space(self) -> spaces.Space[Any]:
        return self.state_space

    def __str__(self) -> str:
        return self.game.id


def central_space(game: Game) -> spaces.Space[Any]:
    """Return the space of `central_state`."""
    space = field_space(game.fields[0])
    if game.information == "perfect" and len(game.fields) == 1:
        return space
    size = len(game.agents) * sum(int(np.prod(field.shape)) for field in game.fields)
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def central_state(game: Game, episode: Episode) -> NDArray[Any]:
    """Return the whole state as an array: the observation of the first agent, or of all agents where they differ."""
    if game.information == "perfect" and len(game.fields) == 1:
        return episode.observe(0)[game.fields[0].name]
    if not game.sequential:
        return episode.flatten_observations()
    fields = [field for i in range(len(game.agents)) for field in episode.observe(i).values()]
    return np.concatenate(fields, axis=None, dtype=np.float32, casting="unsafe")
