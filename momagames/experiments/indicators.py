"""Quality of a set of return vectors, all objectives maximised. Pareto indicators are computed by moocore.

points           float[n, K]; dominated and equal rows are allowed and change nothing
ref              float[K], the worst return that counts
utopia           float[K], the best
reference_set    float[r, K], an exact or best-known front
weights          float[w, K], see `utility_weights`

Every function raises BadParameter for values that are not finite or sizes that do not fit, and does not depend on the
order of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.baselines.archive import undominated
from momagames.baselines.lattice import simplex_lattice
from momagames.errors import BadParameter

Array = NDArray[np.float64]
# Most points for which the exact volume is computed in about a second, by number of objectives; more than 8: 20
EXACT_POINTS = {7: 100, 8: 50}
APPROXIMATE_SEED = 20240
# Divisions of the weight lattice by number of objectives: about 100 to 250 weights each
DIVISIONS = {1: 1, 2: 99, 3: 12, 4: 7, 5: 6, 6: 5, 7: 4, 8: 3, 9: 3, 10: 3}


class Volume(NamedTuple):
    """A hypervolume, and whether it is an estimate (relative error at most 0.2 % where that was measured)."""

    value: float
    approx: bool


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
    return np.unique(array[undominated(array)], axis=0)


def normalize(points: ArrayLike, ref: ArrayLike, utopia: ArrayLike) -> Array:
    """Returns as shares of the way from `ref` (0) to `utopia` (1); not clipped."""
    array = rows("points", points)
    low, high = vector("ref", ref, array.shape[1]), vector("utopia", utopia, array.shape[1])
    if not (high > low).all():
        raise BadParameter(f"utopia {high.tolist()} must be above ref {low.tolist()} in every objective")
    return (array - low) / (high - low)


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
        raise BadParameter(f"no point of the reference set is above ref {np.asarray(ref).tolist()}")
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


def utility_weights(objectives: int) -> Array:
    """The fixed lattice of weights for expected utility, float64[w, K]."""
    if objectives not in DIVISIONS:
        raise BadParameter(f"objectives={objectives} is not possible; allowed: 1..{max(DIVISIONS)}")
    return simplex_lattice(objectives, DIVISIONS[objectives])


def expected_utility(points: ArrayLike, weights: ArrayLike) -> float:
    """Mean over the weights of the best weighted sum that a point offers. It does not see concave parts of a front.

    Source: Zintgraf et al., "Quality assessment of MORL algorithms: a utility-based approach", Benelearn 2015.
    """
    array = rows("points", points, least=1)
    return float((rows("weights", weights, array.shape[1], least=1) @ array.T).max(axis=1).mean())
