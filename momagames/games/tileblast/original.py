"""MO-TileBlast as the Gym environment of the tap-to-blast competition, without a server: scalar reward, and its infos."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.games.tileblast.levels import loader

GAME = "mo-tileblast-v0"
OBJECTIVES = ("goals", "win", "step", "invalid")
WEIGHTS = np.array([1.0, 5.0, 0.1, 0.5])  # SPEC §5.6


class TapToBlastEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """The competition's environment on the rules of MO-TileBlast: `gymnasium.make("momagames/tap-to-blast-v0")`.

    level          number of a level, or a level file
    max_taps       taps until truncation; None: 20 times the moves of the level
    render_mode    "rgb_array", "ansi" or "human"

    The observation is float32[13, 9, 24], see SPEC §7.3; the action is x + 13 * y. The reward of a tap is the number of
    collected units, + 5 for the win, - 0.1, and another - 0.5 for an invalid tap, as the competition's page describes it. An
    episode ends with the win, or when no tap is valid; the limit of moves is not enforced. Infos: `valid_steps`, `total_steps`,
    `successful_click`, `new_progress` (collected units) and `goal_reached`; besides `action_mask` int8[117] and the
    infos of MO-TileBlast.
    """

    metadata = {"render_modes": SingleAgentEnv.metadata["render_modes"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's form

    def __init__(self, level: loader.Source = 1, max_taps: int | None = None, render_mode: str | None = None) -> None:
        self._max_taps, self.render_mode = max_taps, render_mode
        self._next_level: loader.Source | None = None
        self._env = self._make(level)
        board = self._env.observation_space
        assert isinstance(board, gymnasium.spaces.Box)
        self.observation_space = gymnasium.spaces.Box(0, 255, board.shape, np.float32)
        self.action_space = self._env.action_space
        self._valid_steps = self._total_steps = 0

    def _make(self, level: loader.Source) -> SingleAgentEnv:
        game = registry.spec(GAME, level=level, objectives=OBJECTIVES, strict_moves=False, max_taps=self._max_taps)
        return SingleAgentEnv(game, render_mode=self.render_mode)

    def set_level(self, level: loader.Source) -> None:
        """Set the level of the next episodes. Raises InvalidLevel."""
        loader.load(level)
        self._next_level = level

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        if self._next_level is not None:
            self._env.close()
            self._env, self._next_level = self._make(self._next_level), None
        board, infos = self._env.reset(seed=seed, options=options)
        self._valid_steps = self._total_steps = self._progress = 0
        return self._convert(board), self._convert_infos(infos)

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Tap a cell."""
        board, reward, terminated, truncated, infos = self._env.step(action)
        self._total_steps += 1
        self._valid_steps += infos["valid"]
        self._progress += round(float(reward[0]))
        return self._convert(board), float(WEIGHTS @ reward), terminated, truncated, self._convert_infos(infos)

    @staticmethod
    def _convert(board: NDArray[np.uint8]) -> NDArray[np.float32]:
        return board.astype(np.float32)

    def _convert_infos(self, infos: dict[str, Any]) -> dict[str, Any]:
        return {
            **infos,
            "valid_steps": self._valid_steps,
            "total_steps": self._total_steps,
            "successful_click": infos["valid"],
            "new_progress": self._progress,
            "goal_reached": infos["won"],
        }

    def action_masks(self) -> NDArray[np.int8]:
        """Return the valid taps, int8[117]."""
        return self._env.action_masks()

    def render(self) -> Any:
        """Return the picture or the text, depending on `render_mode`."""
        return self._env.render()

    def close(self) -> None:
        self._env.close()
