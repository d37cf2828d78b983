"""Lists of numbers in parameters and positions, checked entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract.actions import read_numbers
from momagames.errors import InvalidState, MomagamesError, format_number, invalid_value

Shape = Sequence[int | tuple[int, int]]  # of each dimension the length, or the least and the largest one


def describe_number_list(low: Any, high: Any, shape: Shape) -> str:
    """Return what `read_number_list` expects, such as "a list of 2 to 8 integers in 0..100"."""
    counts = [" to ".join(map(str, size)) if isinstance(size, tuple) else str(size) for size in shape]
    kind = "integers" if np.asarray(low).dtype.kind in "iu" else "numbers"
    return f"a list of {' rows of '.join(counts)} {kind} in {format_number(np.min(low))}..{format_number(np.max(high))}"


def read_number_list(
    given: Any, name: str, low: Any, high: Any, shape: Shape, note: str = "", error: type[MomagamesError] = InvalidState
) -> NDArray[Any]:
    """Return a list, a tuple or an array of numbers, or of rows of numbers, as int64 or float64 of this shape.

    low, high    ends of the range, or arrays of them that broadcast; integers, if only integers are allowed
    shape        of each dimension the length, or the least and the largest one
    note         what the numbers are, for messages
    Raises       `error`, which names the first entry that is out of range
    """
    array = read_numbers(given)
    whole = np.asarray(low).dtype.kind in "iu"
    sizes = [size if isinstance(size, tuple) else (size, size) for size in shape]
    if array is not None and array.shape == (0,):  # a list without entries or rows
        array = np.zeros((0, *(least for least, _ in sizes[1:])), np.int64)
    if (
        array is None
        or array.ndim != len(sizes)
        or not all(least <= count <= most for count, (least, most) in zip(array.shape, sizes, strict=True))
        or array.dtype.kind not in ("iu" if whole else "iuf")
    ):
        expected = describe_number_list(low, high, shape) + (f", {note}" if note else "")
        raise error(invalid_value(name, given, expected))
    wrong = np.argwhere(~((array >= low) & (array <= high)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        least, most = (format_number(np.broadcast_to(end, array.shape)[place]) for end in (low, high))
        expected = f"{'an integer' if whole else 'a number'} in {least}..{most}" + (f", {note}" if note else "")
        raise error(invalid_value(name + "".join(f"[{k}]" for k in place), array[place].item(), expected))
    return array.astype(np.int64 if whole else np.float64)
