"""Action masks: int8[M], the parts of a MultiDiscrete action one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def split_mask(mask: NDArray[np.int8], actions: Sequence[int]) -> list[NDArray[np.int8]]:
    """Return the parts of a mask, or of masks int8[..., M]; `actions` has their sizes, see `Game.actions`."""
    if len(actions) == 1:
        return [mask]
    return np.split(mask, np.cumsum(actions)[:-1], axis=-1)


def has_choice(mask: NDArray[np.int8], actions: Sequence[int]) -> bool:
    """Return whether a mask has more than one legal action in some part."""
    return any(part.sum() > 1 for part in split_mask(mask, actions))


def first_legal_action(mask: NDArray[np.int8], actions: Sequence[int]) -> list[int]:
    """Return the first legal action of each part, 0 where there is none: the only action of a mask without a choice."""
    return [int(part.argmax()) for part in split_mask(mask, actions)]
