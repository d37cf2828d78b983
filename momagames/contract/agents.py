"""Agents of a game by name or index."""

from __future__ import annotations

import numpy as np

from momagames.contract.game import Game
from momagames.errors import InvalidParameter, invalid_value, nearest, one_of


def find_agent(game: Game, agent: str | int, what: str = "agent") -> int:
    """Return the index of an agent, from its name or its index.

    what      name of the argument in errors
    Raises    InvalidParameter
    """
    if isinstance(agent, str) and agent in game.agents:
        return game.agents.index(agent)
    if isinstance(agent, (int, np.integer)) and not isinstance(agent, bool) and 0 <= agent < len(game.agents):
        return int(agent)
    expected = f"{one_of(game.agents)}, or an index 0..{len(game.agents) - 1}"
    raise InvalidParameter(f"{game.id}: {invalid_value(what, agent, expected, nearest(agent, game.agents))}")


def find_agent_name(game: Game, agent: str | int, what: str = "agent") -> str:
    """Return the name of an agent, from its name or its index; errors as of `find_agent`."""
    return game.agents[find_agent(game, agent, what)]
