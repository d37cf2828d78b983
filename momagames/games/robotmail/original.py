"""MO-RoboticMail with the constructor, names and return values that agents of the original package expect.

from momagames.games.robotmail.original import OriginalEnv

env = OriginalEnv("colors.csv", "targets.csv", required_mail=10, robot_colors=["r", "b"], num_robots_per_player=2)
observation, info = env.reset(seed=1)
observation, reward, terminated, truncated, info = env.step(1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper

from momagames import registry
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.errors import InvalidParameter, invalid_value, one_of
from momagames.wrappers import Scalarize

GAME = "mo-robotmail-v0"
COLORS = ("r", "b", "gr", "p", "pi", "o")


class OriginalEnv(BaseWrapper):  # type: ignore[misc]
    """MO-RoboticMail as a PettingZoo AEC environment with the original's interface and scalar reward.

    colors_map, targets_map    paths of two CSV files, or their texts (SPEC §10.1)
    required_mail              mails that a player needs to win
    robot_colors               a different one of COLORS for each player
    num_robots_per_player, with_battery, random_num_steps, max_step, render_mode    as in the original
    log_to_file                False: there is no log

    Agents are named by their color and number, such as "r1". The observation is a dict of the vector float32[N] and
    `action_mask` uint8[5], which is all zeros for a robot that cannot act: it skips its turn then. The reward is 5 for a mail
    delivered, 1 for one picked up and for entering a charger, -0.1 for other steps, 0 for charging. `env.unwrapped` is the
    environment with vector rewards.

    Raises    InvalidLayout; InvalidParameter
    """

    def __init__(
        self,
        colors_map: str | Path,
        targets_map: str | Path,
        required_mail: int,
        robot_colors: Sequence[str],
        num_robots_per_player: int = 1,
        with_battery: bool = False,
        random_num_steps: bool = False,
        max_step: int = 500,
        render_mode: str | None = None,
        log_to_file: bool = False,
    ) -> None:
        colors = [robot_colors] if isinstance(robot_colors, str) else list(robot_colors)
        if len(set(colors)) < len(colors) or not colors or not set(colors) <= set(COLORS):
            raise InvalidParameter(invalid_value("robot_colors", robot_colors, f"different ones of {one_of(COLORS)}"))
        if log_to_file:
            raise InvalidParameter(invalid_value("log_to_file", log_to_file, "False: there is no log"))
        game = registry.spec(
            GAME,
            layout=(str(colors_map), str(targets_map)),
            required_mail=required_mail,
            num_players=len(colors),
            num_robots_per_player=num_robots_per_player,
            with_battery=with_battery,
            random_num_steps=random_num_steps,
            max_step=max_step,
            always_legal=False,
        )
        names = tuple(f"{color}{number + 1}" for color in colors for number in range(num_robots_per_player))
        inner = MultiObjectiveAEC(replace(game, agents=names), render_mode=render_mode)
        super().__init__(Scalarize(inner, game.original.published_weights))

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of the vector and of the mask."""
        vector = self.env.observation_space(agent)["observation"]
        return spaces.Dict({"observation": vector, "action_mask": spaces.Box(0, 1, (self.action_space(agent).n,), np.uint8)})

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the vector and the mask of an agent."""
        observation = self.env.observe(agent)
        return {"observation": observation["observation"], "action_mask": observation["action_mask"].astype(np.uint8)}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the observation of the agent to act, and its reward since its last action."""
        _, *rest = self.env.last(observe=False)
        return self.observe(self.agent_selection) if observe else None, *rest

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; return the observation of the first agent, and no infos."""
        self.env.reset(seed=seed, options=options)
        return self.observe(self.agent_selection), {}

    def step(self, action: int | None) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]] | None:
        """Apply an action; an illegal one is a skip. Return what the agent that acted observes and gets, and its index.

        Returns None for an agent that has finished, whose action is None
        """
        agent = self.agent_selection
        has_finished = bool(self.terminations[agent] or self.truncations[agent])
        self.env.step(action)
        if has_finished:
            return None
        info = {"transition_belongs_agent": self.possible_agents.index(agent)}
        return self.observe(agent), self.rewards[agent], self.terminations[agent], self.truncations[agent], info

    def __str__(self) -> str:
        return f"original<{self.env}>"
