"""Quality indicators of a set of return vectors, all objectives maximized. Pareto indicators are computed by moocore.

points           float[n, K]; dominated and duplicate rows change nothing
ref              float[K], the reference point: the worst return that counts
reference_set    float[r, K], an exact or best-known front
"""

from __future__ import annotations

from typing import NamedTuple

import moocore
import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array, as_array, as_points, as_vector, filter_dominated
from momagames.errors import InvalidParameter, check_range

# Number of points up to which the exact volume takes about a second at most, by number of objectives; MORE_EXACT_POINTS beyond
EXACT_POINTS = {7: 250, 8: 120, 9: 70, 10: 50, 11: 36, 12: 30, 13: 25, 14: 21, 15: 19}
MORE_EXACT_POINTS = 12
SEED = 20240  # of the samples of an estimate, which is therefore reproducible
MAX_SAMPLES, MAX_TESTS, CHUNK = 1 << 20, 1 << 29, 1 << 16  # samples, tests of a sample against a box, samples at a time
MEASURED_ERRORS = {250: 0.0015, 1000: 0.004, 3000: 0.008}  # relative standard error by number of points; tests measure it


class Volume(NamedTuple):
    """A hypervolume. `approx`: it is an estimate, see `hypervolume` for its error."""

    value: float
    approx: bool

    def share_of(self, other: Volume) -> Volume:
        """Return this volume divided by another one, which is above 0."""
        return Volume(self.value / other.value, self.approx or other.approx)


def hypervolume(points: ArrayLike, ref: ArrayLike) -> Volume:
    """Return the volume that `points` dominate above `ref`, in the product of the objectives' units; 0 without such points.

    The volume is exact for up to 6 objectives, and for few points beyond that (EXACT_POINTS). Otherwise it is an unbiased
    estimate from random samples, marked `approx`. Its relative standard error is at most the square root of points per sample,
    whatever the number of objectives; for random points on simplexes, spheres and cubes it is at most MEASURED_ERRORS.

    Source: Zitzler and Thiele, "Multiobjective optimization using evolutionary algorithms", PPSN V, 1998; Karp, Luby and
    Madras, "Monte-Carlo approximation algorithms for enumeration problems", J. Algorithms 10, 1989.
    """
    array = as_points("points", points)
    low = as_vector("ref", ref, array.shape[1]) if array.size else as_array("ref", ref)
    array = filter_dominated(array[(array > low).all(axis=1)]) if array.size else array
    if not array.size:
        return Volume(0.0, False)
    objectives = array.shape[1]
    if objectives == 1:
        return Volume(float(array.max() - low[0]), False)
    if objectives <= 6 or len(array) <= EXACT_POINTS.get(objectives, MORE_EXACT_POINTS):
        return Volume(float(moocore.hypervolume(array, ref=low, maximise=True)), False)
    return Volume(_estimate_union(array - low), True)


def _estimate_union(boxes: Array) -> float:
    """Return an estimate of the volume of the union of boxes from 0 to each row of float64[n, K], all above 0.

    A sample is a uniform point of a box, and boxes have samples in proportion to their volumes. The number of boxes that a
    sample is in tells how often its place was counted.
    """
    scale = boxes.max(axis=0)
    shares = boxes / scale
    volumes = shares.prod(axis=1)
    samples = _count_samples(len(boxes))
    rng, total = np.random.default_rng(SEED), 0.0
    ends = (samples * volumes.cumsum() / volumes.sum() + rng.random()).astype(np.int64)
    ends[-1] = samples
    for start in range(0, samples, CHUNK):
        owners = np.searchsorted(ends, np.arange(start, min(start + CHUNK, samples)), side="right")
        points = rng.random((boxes.shape[1], len(owners))) * shares[owners].T
        total += (1 / _count_boxes(shares, points)).sum()
    return float(volumes.sum() * total / samples * scale.prod())


def _count_samples(boxes: int) -> int:
    return min(MAX_SAMPLES, max(CHUNK, MAX_TESTS // boxes))


def _count_boxes(boxes: Array, points: Array) -> Array:
    """Return the number of boxes, float64[n, K], that each point of float64[K, P] is in, float64[P]."""
    counts = np.zeros(points.shape[1])
    for box in boxes:
        inside = points[0] <= box[0]
        for k in range(1, len(box)):
            inside &= points[k] <= box[k]
        counts += inside
    return counts


def hypervolume_ratio(points: ArrayLike, ref: ArrayLike, reference_set: ArrayLike) -> Volume:
    """Return the hypervolume as a share of that of the reference set; above 1 if the points beat the set."""
    array = as_points("points", points)
    known = hypervolume(as_points("reference_set", reference_set, array.shape[1], min_rows=1), ref)
    if known.value <= 0:
        raise InvalidParameter(f"invalid reference_set: expected at least one point above ref={np.asarray(ref).tolist()}")
    return hypervolume(array, ref).share_of(known)


def igd_plus(points: ArrayLike, reference_set: ArrayLike) -> float:
    """Return the modified inverted generational distance IGD+: the mean shortfall of the nearest point; 0 is best.

    Source: Ishibuchi et al., "Modified distance calculation in generational distance and inverted generational distance",
    EMO 2015.
    """
    known = as_points("reference_set", reference_set, min_rows=1)
    return float(moocore.igd_plus(as_points("points", points, known.shape[1], min_rows=1), ref=known, maximise=True))


def epsilon(points: ArrayLike, reference_set: ArrayLike) -> float:
    """Return the additive epsilon: the least shift of all objectives after which the points dominate the reference set.

    0 or less is best.

    Source: Zitzler et al., "Performance assessment of multiobjective optimizers", IEEE Trans. Evol. Comp. 7, 2003.
    """
    known = as_points("reference_set", reference_set, min_rows=1)
    return float(moocore.epsilon_additive(as_points("points", points, known.shape[1], min_rows=1), ref=known, maximise=True))


def cardinality(points: ArrayLike) -> int:
    """Return the number of distinct non-dominated points."""
    return len(filter_dominated(points))


def rounded_cardinality(points: ArrayLike, resolution: float = 0.01) -> int:
    """Return the number of distinct points of the front after rounding to multiples of `resolution`; for normalized points.

    A cluster of nearly equal points counts once, so that noise does not raise the count.
    """
    check_range("resolution", resolution, 0, above=True)
    return len(np.unique(np.rint(filter_dominated(points) / resolution), axis=0))


def sparsity(points: ArrayLike) -> float:
    """Return the sum over objectives of the squared gaps between neighboring values, divided by the number of points minus 1.

    Sparsity is defined as "less is better" and thereby rewards collapsed fronts: on a line from (0, 1) to (1, 0), eleven
    evenly spaced points have 0.02, two neighbors of them also have 0.02, the two ends have 2, and a single point has 0. Use it
    for comparison with older work only, never to rank methods.

    Source: Xu et al., "Prediction-guided multi-objective reinforcement learning", ICML 2020.
    """
    array = filter_dominated(points)
    if len(array) < 2:
        return 0.0
    return float((np.diff(np.sort(array, axis=0), axis=0) ** 2).sum() / (len(array) - 1))
