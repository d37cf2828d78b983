"""Pictures and text of a running game, in the modes of PettingZoo and Gymnasium."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, State


class Renderer:
    """Shows one game: text (ansi), picture (rgb_array) or a window (human)."""

    def __init__(self, game: Game, mode: str | None) -> None:
        self.game, self.mode = game, mode

    def show(self, state: State, last: Any, returns: NDArray[np.float64]) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        pass
