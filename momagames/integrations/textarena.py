"""TextArena: the text environments with its `Env` interface, for the players of TextArena."""

from __future__ import annotations

from typing import Any

import numpy as np

import momagames
from momagames.contract.objective_weights import read_weights
from momagames.errors import InvalidParameter, MissingExtra, invalid_value

try:
    import textarena
except ImportError as error:
    raise MissingExtra("momagames.integrations.textarena needs TextArena: pip install textarena") from error


class TextArenaEnv(textarena.Env):  # type: ignore[misc]
    """A game in which player i is agent i. The first observation of a player begins with its instructions.

    weights    of the objectives in the reward of a player, a list or a mapping by objective
    options    parameters of the game, and options of text environments (`momagames.make(id, api="text")`): `preference` (stated
               in the instructions), `legal_actions`, `max_cycles`, and `illegal`, which is "forfeit" unless it is given
    Raises     InvalidParameter, UnknownId
    """

    def __init__(self, id: str, weights: Any, **options: Any) -> None:
        self.env: Any = momagames.make(id, api="text", **{"illegal": "forfeit", **options})
        self.objectives = [objective.name for objective in self.env.game.objectives]
        self.weights = read_weights(weights, self.objectives, "TextArenaEnv")
        self._turns = np.zeros(len(self.env.possible_agents), np.int64)

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Start a game for the number of players that it has."""
        expected = len(self.env.possible_agents)
        if num_players != expected:
            raise InvalidParameter(invalid_value("num_players", num_players, f"{expected}, the agents of {self.env.game.id}"))
        self.env.reset(seed=seed)
        self._turns[:] = 0

    def get_observation(self) -> tuple[int, str]:
        """Return the number of the player to move, and what it reads."""
        agent = self.env.agent_selection
        player = self.env.possible_agents.index(agent)
        seen = self.env.observe(agent)
        return player, seen if self._turns[player] else f"{self.env.instructions(agent)}\n\n{seen}"

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the answer of the player to move; return whether the game is over, and no info."""
        self._turns[self.env.possible_agents.index(self.env.agent_selection)] += 1
        self.env.step(action)
        while self.env.agents and any(self.env.last(observe=False)[2:4]):
            self.env.step(None)  # takes the agents out that have finished
        return not self.env.agents, {}

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """Return the reward of each player, and of each its `returns` by objective and its `turn_count`."""
        returns = self.env.episode.returns
        rewards = {player: float(returns[player] @ self.weights) for player in range(len(returns))}
        infos = {
            player: {
                "returns": dict(zip(self.objectives, returns[player].tolist(), strict=True)),
                "turn_count": int(self._turns[player]),
            }
            for player in range(len(returns))
        }
        return rewards, infos
