"""Checked arrays, non-dominated points, and normalized returns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.baselines.archive import is_nondominated
from momagames.errors import InvalidParameter, invalid_value

Array = NDArray[np.float64]
MAX_OBJECTIVES = 255  # of moocore
ROUNDING = 1e-9  # shares that differ by less are equal: they differ by rounding errors


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


def as_points(name: str, given: ArrayLike, objectives: int | None = None, min_rows: int = 0) -> Array:
    """Return `given` as float64[n, K], as `as_matrix`; InvalidParameter also for a number of objectives that moocore lacks."""
    array = as_matrix(name, given, objectives, min_rows)
    if len(array) and not 1 <= array.shape[1] <= MAX_OBJECTIVES:
        raise InvalidParameter(f"invalid shape {array.shape} of {name}: expected 1 to {MAX_OBJECTIVES} columns")
    return array


def as_vector(name: str, given: ArrayLike, objectives: int) -> Array:
    """Return `given` as float64[K]; InvalidParameter for another shape or non-finite values."""
    array = as_array(name, given)
    if array.shape != (objectives,) or not np.isfinite(array).all():
        raise InvalidParameter(f"invalid {name}={given!r}: expected {objectives} finite numbers")
    return array


def filter_dominated(points: ArrayLike) -> Array:
    """Return the non-dominated rows, each once, in lexicographic order."""
    array = as_points("points", points)
    front = array[is_nondominated(array)]
    return front[np.lexsort(front.T[::-1])] if front.size else front


def number_levels(values: Array, tolerance: float = ROUNDING) -> Array:
    """Return the ranks of the values of each column, the same for values that differ by rounding errors, float64[n, K]."""
    order = values.argsort(axis=0)
    rises = np.diff(np.take_along_axis(values, order, axis=0), axis=0, prepend=values[:1]) > tolerance
    rises[:1] = False
    numbers = np.zeros(values.shape)
    np.put_along_axis(numbers, order, rises.cumsum(axis=0), axis=0)
    return numbers


def normalize(points: ArrayLike, ref: ArrayLike, ideal: ArrayLike) -> Array:
    """Scale returns linearly so that the reference point `ref` is 0 and the ideal point is 1; values are not clipped."""
    array = as_matrix("points", points)
    low, high = as_vector("ref", ref, array.shape[1]), as_vector("ideal", ideal, array.shape[1])
    if not (high > low).all():
        raise InvalidParameter(f"invalid ideal={high.tolist()}: expected values above ref={low.tolist()} in every objective")
    return (array - low) / (high - low)
