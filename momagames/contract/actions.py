"""Action masks: int8[M], the parts of a MultiDiscrete action one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS = frozenset({int, float, np.int64, np.int32, np.uint8, np.int8})  # types that need no further check


def split_mask(mask: NDArray[np.int8], actions: Sequence[int]) -> list[NDArray[np.int8]]:
    """Return the parts of a mask, or of masks int8[..., M]; `actions` has their sizes, see `Game.actions`."""
    if len(actions) == 1:
        return [mask]
    parts, start = [], 0
    for size in actions:  # several times as fast as numpy.split
        parts.append(mask[..., start : start + size])
        start += size
    return parts


def join_mask(mask: Any) -> NDArray[np.int8]:
    """Return the mask of an action with one part or several, an array or a tuple of arrays, as one new array int8[M]."""
    return np.array(mask) if isinstance(mask, np.ndarray) else np.concatenate(mask)


def read_integers(given: Any, count: int) -> NDArray[np.integer[Any]] | None:
    """Return actions as an array, or None for anything but `count` integers in a form of `read_numbers`.

    As in the spaces of Gymnasium, other numbers are no actions, even if they are whole: a float is an output of another kind,
    of which the action was not taken.
    """
    array = given if type(given) is np.ndarray else read_numbers(given)
    return array if array is not None and array.dtype.kind in "iu" and array.size == count else None


def read_numbers(given: Any) -> NDArray[Any] | None:
    """Return a number, an array, a tensor, or a list or tuple of these at any depth as an array; None for anything else.

    NumPy reads more inside lists, such as ranges, buffers and truth values beside integers, which are no numbers here.
    """
    try:
        return np.asarray(given) if _has_only_numbers(given) else None
    except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged or endless lists; tensors that are elsewhere
        return None


def _has_only_numbers(given: Any) -> bool:
    if isinstance(given, (list, tuple)):
        return NUMBERS.issuperset(map(type, given)) or all(map(_has_only_numbers, given))
    if hasattr(given, "__array__"):
        return not isinstance(given, np.ma.MaskedArray) and np.asarray(given).dtype.kind in "iuf"
    return isinstance(given, (int, float)) and not isinstance(given, bool)


def has_choice(mask: NDArray[np.int8], actions: Sequence[int]) -> bool:
    """Return whether a mask has more than one legal action in some part."""
    return any(part.sum() > 1 for part in split_mask(mask, actions))


def first_legal_action(mask: NDArray[np.int8], actions: Sequence[int]) -> list[int]:
    """Return the first legal action of each part, 0 where there is none: the only action of a mask without a choice."""
    return [int(part.argmax()) for part in split_mask(mask, actions)]
