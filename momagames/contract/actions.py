"""Action masks: int8[M], the parts of a MultiDiscrete action one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def split_mask(mask: NDArray[np.int8], actions: Sequence[int]) -> list[NDArray[np.int8]]:
    """Return the parts of a mask, or of masks int8[..., M]; `actions` has their sizes, see `Game.actions`."""
    if len(actions) == 1:
        return [mask]
    return np.split(mask, np.cumsum(actions)[:-1], axis=-1)


def read_integers(given: Any, count: int) -> NDArray[np.integer[Any]] | None:
    """Return actions as an array, or None for anything but `count` integers: numbers, arrays, tensors, lists or tuples.

    As in the spaces of Gymnasium, other numbers are no actions, even if they are whole: a float is an output of another kind,
    of which the action was not taken.
    """
    array = given
    if type(given) is not np.ndarray:
        if isinstance(given, np.ma.MaskedArray):
            return None
        if not isinstance(given, (int, list, tuple)) and not hasattr(given, "__array__"):  # buffers, ranges
            return None
        try:
            array = np.asarray(given)
        except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged lists; tensors that are elsewhere
            return None
    return array if array.dtype.kind in "iu" and array.size == count else None


def has_choice(mask: NDArray[np.int8], actions: Sequence[int]) -> bool:
    """Return whether a mask has more than one legal action in some part."""
    return any(part.sum() > 1 for part in split_mask(mask, actions))


def first_legal_action(mask: NDArray[np.int8], actions: Sequence[int]) -> list[int]:
    """Return the first legal action of each part, 0 where there is none: the only action of a mask without a choice."""
    return [int(part.argmax()) for part in split_mask(mask, actions)]
