"""Checked arrays, fronts, and returns as shares of a range."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.baselines.archive import undominated
from momagames.errors import BadParameter

Array = NDArray[np.float64]


def rows(name: str, given: ArrayLike, objectives: int | None = None, least: int = 0) -> Array:
    """`given` as float64[n, K], or BadParameter."""
    array = np.asarray(given, np.float64)
    if array.size == 0 and array.ndim < 2:
        array = array.reshape(0, objectives or 0)
    if array.ndim != 2 or (objectives is not None and array.shape[1] != objectives) or len(array) < least:
        wanted = "K" if objectives is None else objectives
        raise BadParameter(f"{name} has shape {array.shape}; needed: ({least} or more, {wanted})")
    if not np.isfinite(array).all():
        raise BadParameter(f"{name} holds values that are not finite")
    return array


def vector(name: str, given: ArrayLike, objectives: int) -> Array:
    """`given` as float64[K], or BadParameter."""
    array = np.asarray(given, np.float64)
    if array.shape != (objectives,) or not np.isfinite(array).all():
        raise BadParameter(f"{name} is {given!r}; needed: {objectives} finite numbers")
    return array


def front(points: ArrayLike) -> Array:
    """The rows that no other row dominates, each once, in lexicographic order."""
    array = rows("points", points)
    kept = array[undominated(array)]
    return kept[np.lexsort(kept.T[::-1])] if kept.size else kept


def normalize(points: ArrayLike, ref: ArrayLike, utopia: ArrayLike) -> Array:
    """Returns as shares of the way from `ref` (0) to `utopia` (1); not clipped."""
    array = rows("points", points)
    low, high = vector("ref", ref, array.shape[1]), vector("utopia", utopia, array.shape[1])
    if not (high > low).all():
        raise BadParameter(f"utopia {high.tolist()} must be above ref {low.tolist()} in every objective")
    return (array - low) / (high - low)
