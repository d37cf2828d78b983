"""Quality of a set of return vectors, all objectives maximized. Pareto indicators are computed by moocore.

points           float[n, K]; dominated and equal rows are allowed and change nothing
ref              float[K], the worst return that counts
reference_set    float[r, K], an exact or best-known front
"""

from __future__ import annotations

from typing import NamedTuple

import moocore
import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import front, rows, vector
from momagames.errors import InvalidParameter, check_range

# Most points for which the exact volume is computed in about a second, by number of objectives; more than 8: 20
EXACT_POINTS = {7: 100, 8: 50}


class Volume(NamedTuple):
    """A hypervolume, and whether it is an estimate (relative error at most 0.2 % where that was measured)."""

    value: float
    approx: bool


def hypervolume(points: ArrayLike, ref: ArrayLike) -> Volume:
    """Volume that `points` dominate above `ref`, in the product of the objectives' units; 0 for no points above it.

    Up to 6 objectives, and for few points beyond that, it is exact; else an estimate by a quasi-random sweep of
    directions, flagged as such.

    Source: Zitzler and Thiele, "Multiobjective optimization using evolutionary algorithms", PPSN V, 1998.
    """
    array = rows("points", points)
    low = vector("ref", ref, array.shape[1]) if array.size else np.asarray(ref, np.float64)
    array = front(array[(array > low).all(axis=1)]) if array.size else array
    if not len(array):
        return Volume(0.0, False)
    goals = array.shape[1]
    if goals == 1:
        return Volume(float(array.max() - low[0]), False)
    if goals <= 6 or len(array) <= EXACT_POINTS.get(goals, 20):
        return Volume(float(moocore.hypervolume(array, ref=low, maximise=True)), False)
    return Volume(float(moocore.hv_approx(array, ref=low, maximise=True, method="Rphi-FWE+")), True)


def hypervolume_ratio(points: ArrayLike, ref: ArrayLike, reference_set: ArrayLike) -> Volume:
    """Hypervolume as a share of that of the reference set; above 1 if the points beat it."""
    array = rows("points", points)
    known = hypervolume(rows("reference_set", reference_set, array.shape[1], least=1), ref)
    if known.value <= 0:
        raise InvalidParameter(f"no point of the reference set is above ref {np.asarray(ref).tolist()}")
    own = hypervolume(array, ref)
    return Volume(own.value / known.value, own.approx or known.approx)


def igd_plus(points: ArrayLike, reference_set: ArrayLike) -> float:
    """Mean over the reference set of the distance by which the nearest point falls short; 0 is best.

    Source: Ishibuchi et al., "Modified distance calculation in generational distance and inverted generational distance",
    EMO 2015.
    """
    known = rows("reference_set", reference_set, least=1)
    return float(moocore.igd_plus(rows("points", points, known.shape[1], least=1), ref=known, maximise=True))


def epsilon(points: ArrayLike, reference_set: ArrayLike) -> float:
    """Additive epsilon: what must be added to every objective so that the points cover the reference set; 0 or less is
    best.

    Source: Zitzler et al., "Performance assessment of multiobjective optimizers", IEEE Trans. Evol. Comp. 7, 2003.
    """
    known = rows("reference_set", reference_set, least=1)
    return float(moocore.epsilon_additive(rows("points", points, known.shape[1], least=1), ref=known, maximise=True))


def cardinality(points: ArrayLike) -> int:
    """Number of different non-dominated points."""
    return len(front(points))


def rounded_cardinality(points: ArrayLike, resolution: float = 0.01) -> int:
    """Number of different points of the front after rounding to multiples of `resolution`; for normalized points.

    A cloud of nearly equal points counts once, so that noise does not pass for choice.
    """
    check_range("resolution", resolution, 0, above=True)
    return len(np.unique(np.rint(front(points) / resolution), axis=0))


def sparsity(points: ArrayLike) -> float:
    """Sum over objectives of the squared gaps between neighboring values, divided by the number of points less one.

    It was meant as "less is better", and rewards collapse: on a line from (0, 1) to (1, 0), eleven even points have 0.02,
    so have two of them that are neighbors, the two ends have 2, and one point alone has 0. It is here for comparison with
    older work and never ranks methods.

    Source: Xu et al., "Prediction-guided multi-objective reinforcement learning", ICML 2020.
    """
    array = front(points)
    if len(array) < 2:
        return 0.0
    return float((np.diff(np.sort(array, axis=0), axis=0) ** 2).sum() / (len(array) - 1))
