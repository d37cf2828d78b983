"""Checked arrays, non-dominated points, and normalized returns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.baselines.archive import is_nondominated
from momagames.errors import InvalidParameter, invalid_value

Array = NDArray[np.float64]


def as_array(name: str, given: ArrayLike) -> Array:
    """Return `given` as float64; InvalidParameter for anything but numbers in an array."""
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(invalid_value(name, given, "finite numbers")) from None


def as_matrix(name: str, given: ArrayLike, objectives: int | None = None, min_rows: int = 0) -> Array:
    """Return `given` as float64[n, K].

    Raises     InvalidParameter for another shape, fewer than `min_rows` rows, or non-finite values
    """
    array = as_array(name, given)
    if array.size == 0 and array.ndim < 2:
        array = array.reshape(0, objectives or 0)
    if array.ndim != 2 or (objectives is not None and array.shape[1] != objectives) or len(array) < min_rows:
        columns = "K" if objectives is None else objectives
        raise InvalidParameter(f"invalid shape {array.shape} of {name}: expected ({min_rows} or more, {columns})")
    if not np.isfinite(array).all():
        raise InvalidParameter(f"invalid {name}: expected finite numbers")
    return array


def as_vector(name: str, given: ArrayLike, objectives: int) -> Array:
    """Return `given` as float64[K]; InvalidParameter for another shape or non-finite values."""
    array = as_array(name, given)
    if array.shape != (objectives,) or not np.isfinite(array).all():
        raise InvalidParameter(f"invalid {name}={given!r}: expected {objectives} finite numbers")
    return array


def filter_dominated(points: ArrayLike) -> Array:
    """Return the non-dominated rows, each once, in lexicographic order."""
    array = as_matrix("points", points)
    if len(array) and not array.shape[1]:
        raise InvalidParameter(f"invalid shape {array.shape} of points: expected one or more columns")
    front = array[is_nondominated(array)]
    return front[np.lexsort(front.T[::-1])] if front.size else front


def normalize(points: ArrayLike, ref: ArrayLike, ideal: ArrayLike) -> Array:
    """Scale returns linearly so that the reference point `ref` is 0 and the ideal point is 1; values are not clipped."""
    array = as_matrix("points", points)
    low, high = as_vector("ref", ref, array.shape[1]), as_vector("ideal", ideal, array.shape[1])
    if not (high > low).all():
        raise InvalidParameter(f"invalid ideal={high.tolist()}: expected values above ref={low.tolist()} in every objective")
    return (array - low) / (high - low)
