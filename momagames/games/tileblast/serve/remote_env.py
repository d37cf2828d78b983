"""Remote simulator of MO-TileBlast as a Gymnasium environment over the HTTP protocol.

This file belongs to the adapters layer: it imports adapters, and nothing in the game imports it.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.spaces import action_space, observation_space
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, RemoteError
from momagames.games.tileblast.rules.state import CELLS
from momagames.games.tileblast.serve.client import Client

GAME = "mo-tileblast-v0"
MAX_SEED = 2**31 - 1
TAPS_PER_MOVE = 20  # SPEC §6.3
AFTER_END = "step() after the end of the episode: call reset() first"
AFTER_FAILURE = "step() after a failed step, which may have been played: call reset() first"


class RemoteTileBlast(gymnasium.Env[Any, Any]):
    """MO-TileBlast on a remote simulator, with the spaces of `momagames.make("mo-tileblast-v0", api="gymnasium")`.

    url            such as "http://localhost:8090"
    level          number of a level of the simulator
    strict_moves   whether the game is lost when the moves of the level are used up; the simulator does not check this
    max_taps       taps until truncation; None: 20 times the limit of moves
    timeout        seconds to wait for an answer

    The reward is float32[4]: `goals` is the decrease of the remaining units (below 0 if they increase), `win`, `step` and
    `invalid` are as in the game. Infos: action_mask, valid, collected, goals_remaining, moves_left, won, lost, dead.

    reset() and step() raise RemoteError for a missing or invalid answer. A tap is not sent again, because it may have been
    played: call reset() after a failed step.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's form
    objectives = ("goals", "win", "step", "invalid")

    def __init__(
        self, url: str, level: int = 1, strict_moves: bool = True, max_taps: int | None = None, timeout: float = 30
    ) -> None:
        local = registry.spec(GAME, strict_moves=strict_moves, max_taps=max_taps)
        self._client = Client(url, timeout)
        self.level, self.strict_moves, self.max_taps = level, strict_moves, max_taps
        self.observation_space, self.action_space = observation_space(local), action_space(local)
        low, high = (-np.inf, 0, -1, -1), (np.inf, 1, 0, 0)  # levels of the simulator are unknown here
        self.reward_space = gymnasium.spaces.Box(np.array(low, np.float32), np.array(high, np.float32))
        self.reward_dim = len(self.objectives)
        self._session: str | None = None
        self._step_error = "step() before reset(): call reset(seed=...) first"  # error of the next step(), or ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new game in a new session and destroy the old session.

        seed   of the simulator; None draws one from this environment's generator
        """
        if options:
            raise InvalidParameter(f"invalid options={options!r}: expected none for a remote game")
        seed = checks.check_seed(seed)
        super().reset(seed=seed)
        self.close()
        chosen = int(self.np_random.integers(1, MAX_SEED)) if seed is None else seed
        self._session, self._moves, self._position = self._client.create(self.level, chosen)
        self._taps = self._valid_taps = 0
        self._collected = [0] * len(self._position.rest)
        self._valid = False
        self._step_error = AFTER_END if self._won or self._lost else ""
        return self._position.board, self._info()

    def step(self, action: Any) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Tap a cell."""
        if self._step_error or self._session is None:
            raise InvalidCall(self._step_error)
        if not isinstance(action, int | np.integer) or not 0 <= action < CELLS:
            raise IllegalAction(f"invalid action={action!r}: expected 0..{CELLS - 1}")
        self._step_error = AFTER_FAILURE
        before = self._position.rest
        self._valid, self._position = self._client.click(self._session, int(action))
        self._taps += 1
        self._valid_taps += self._valid
        if len(before) != len(self._position.rest):
            raise RemoteError(f"{self._client.url}: invalid number of goals {len(self._position.rest)}: expected {len(before)}")
        self._collected = [a - b for a, b in zip(before, self._position.rest, strict=True)]
        over, cut = self._won or self._lost, self._truncated
        self._step_error = AFTER_END if over or cut else ""
        reward = np.array([sum(self._collected), self._won, -1, -(not self._valid)], np.float32)
        return self._position.board, reward, over, cut, self._info()

    def close(self) -> None:
        """Destroy the session if there is one; an unreachable simulator is no error here."""
        session, self._session = self._session, None
        self._step_error = "step() before reset(): call reset(seed=...) first"
        if session is not None:
            try:
                self._client.destroy(session)
            except RemoteError:
                return

    @property
    def _won(self) -> bool:
        return sum(self._position.rest) == 0

    @property
    def _dead(self) -> bool:
        return not self._won and not self._position.mask.any()

    @property
    def _lost(self) -> bool:
        return self._dead or (self.strict_moves and not self._won and self._valid_taps >= self._moves)

    @property
    def _truncated(self) -> bool:
        return not (self._won or self._lost) and self._taps >= (self.max_taps or TAPS_PER_MOVE * self._moves)

    def _info(self) -> dict[str, Any]:
        """Return the infos. The mask is empty when the game is won or lost, as in the game."""
        is_decided = self._won or self._lost
        return {
            "action_mask": np.zeros_like(self._position.mask) if is_decided else self._position.mask.copy(),
            "valid": self._valid,
            "collected": list(self._collected),
            "goals_remaining": list(self._position.rest),
            "moves_left": max(0, self._moves - self._valid_taps),
            "won": self._won,
            "lost": self._lost,
            "dead": self._dead,
        }
