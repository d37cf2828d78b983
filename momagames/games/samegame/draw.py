"""Pictures of MO-SameGame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import State


def picture(state: State, last: Any = None) -> NDArray[np.uint8]:
    """A position as an RGB image, uint8[H, W, 3]."""
    raise NotImplementedError
