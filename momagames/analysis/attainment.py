"""Attainment of repeated runs: the distribution of the fronts of a method, not the mean of an indicator.

`sets` holds the points that each run returned, float[n_s, K]. A run attains a target if one of its points is at least as
good in every objective. The empirical attainment function of a target is the share of the runs that attain it. Surfaces are
computed by moocore for two and three objectives; `attainment_rate` and `pairwise_projections` work for any number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, as_matrix, as_vector, filter_dominated
from momagames.analysis.indicators import hypervolume
from momagames.errors import InvalidParameter, check_range


class AttainmentSurfaces(NamedTuple):
    """Fronts of the targets that at least one run (best), half of the runs (median) and every run (worst) attained."""

    best: Array
    median: Array
    worst: Array


class VorobevExpectation(NamedTuple):
    """The mean of a sample of fronts.

    expectation    float[n, K], the attainment surface whose hypervolume is nearest to the mean hypervolume of the runs
    threshold      share of the runs that attain the points of this surface
    deviation      mean hypervolume of the symmetric difference between a run and the expectation
    """

    expectation: Array
    threshold: float
    deviation: float


def attainment_rate(sets: Sequence[ArrayLike], targets: ArrayLike) -> Array:
    """Return the share of the runs that attain each target, float[g, K] -> float[g]; any number of objectives.

    Source: Grunert da Fonseca et al., "Inferential performance assessment of stochastic optimizers and the attainment
    function", EMO 2001.
    """
    checked = as_matrix("targets", targets)
    runs = _check_runs(sets, checked.shape[1])
    attained = [(run[:, None, :] >= checked[None]).all(axis=2).any(axis=0) for run in runs]
    return np.asarray(np.mean(attained, axis=0, dtype=np.float64))


def attainment_surface(sets: Sequence[ArrayLike], runs: int) -> Array:
    """Return the front of the targets that at least `runs` of the runs attain, float[n, K]; two or three objectives."""
    check_range("runs", runs, 1, len(sets))
    return _surfaces_by_level(_check_runs(sets)).get(runs, np.zeros((0, np.shape(sets[0])[1])))


def attainment_surfaces(sets: Sequence[ArrayLike]) -> AttainmentSurfaces:
    """Return the best, median and worst surface. With an even number of runs, half of them define the median."""
    runs = _check_runs(sets)
    levels = _surfaces_by_level(runs)
    empty = np.zeros((0, runs[0].shape[1]))
    return AttainmentSurfaces(*(levels.get(level, empty) for level in (1, (len(runs) + 1) // 2, len(runs))))


def vorobev_expectation(sets: Sequence[ArrayLike], ref: ArrayLike) -> VorobevExpectation:
    """Return the Vorob'ev expectation and deviation of fronts, with hypervolumes above `ref`; two or three objectives.

    Source: Binois, Ginsbourger and Roustant, "Quantifying uncertainty on Pareto fronts with Gaussian process conditional
    simulations", Eur. J. Oper. Res. 243, 2015.
    """
    runs = _check_runs(sets)
    _check_num_objectives(runs[0].shape[1])
    low = as_vector("ref", ref, runs[0].shape[1])
    clipped = [run[(run > low).all(axis=1)] for run in runs]
    if not all(len(run) for run in clipped):
        raise InvalidParameter(f"invalid ref={low.tolist()}: expected a reference point below at least one point of every run")
    points, owners = _stack_runs(clipped)
    result = moocore.vorob_t(-points, owners, ref=-low)
    expectation = -np.asarray(result["ve"], np.float64)
    expected_volume = hypervolume(expectation, low).value
    volumes = [hypervolume(run, low).value for run in clipped]
    unions = [hypervolume(np.concatenate([run, expectation]), low).value for run in clipped]
    deviation = np.mean([2 * union - volume - expected_volume for union, volume in zip(unions, volumes, strict=True)])
    return VorobevExpectation(filter_dominated(expectation), float(result["threshold"]) / 100, float(deviation))


def attainment_difference(first: Sequence[ArrayLike], second: Sequence[ArrayLike], targets: ArrayLike) -> Array:
    """Return the attainment rate of `first` minus that of `second` for each target, float[g] from -1 to 1."""
    return attainment_rate(first, targets) - attainment_rate(second, targets)


def attainment_difference_map(first: Sequence[ArrayLike], second: Sequence[ArrayLike], ref: ArrayLike) -> tuple[Array, Array]:
    """Return the regions above `ref` in which two methods differ in attainment, as rectangles; two objectives.

    Returns    corners float[n, 4] (low x, low y, high x, high y), and the `attainment_difference` inside each, float[n],
               never 0
    Source     López-Ibáñez, Paquete and Stützle, "Exploratory analysis of stochastic local search algorithms in biobjective
               optimization", 2010
    """
    first_runs, second_runs = _check_runs(first), _check_runs(second)
    low = as_vector("ref", ref, 2)
    if first_runs[0].shape[1] != 2 or second_runs[0].shape[1] != 2:
        raise InvalidParameter(
            "attainment_difference_map needs 2 objectives; for more, use pairwise_projections or attainment_difference"
        )
    edges = [np.unique(np.concatenate([[low[k]], *(run[:, k] for run in (*first_runs, *second_runs))])) for k in (0, 1)]
    edges = [edge[edge >= low[k]] for k, edge in enumerate(edges)]
    if min(map(len, edges)) < 2:
        return np.zeros((0, 4)), np.zeros(0)
    # every target inside a cell is attained by the same runs as the upper corner of the cell
    differences = _cell_attainment(first_runs, *edges) - _cell_attainment(second_runs, *edges)
    return _merge_cells(differences, edges[0], edges[1])


def pairwise_projections(sets: Sequence[ArrayLike]) -> Mapping[tuple[int, int], list[Array]]:
    """Return the fronts of each run in each pair of objectives.

    A point that is non-dominated in all objectives may be dominated in a pair and is then missing: a projection shows the
    trade-off of two objectives for a user who ignores the others.
    """
    runs = _check_runs(sets)
    return {pair: [filter_dominated(run[:, pair]) for run in runs] for pair in combinations(range(runs[0].shape[1]), 2)}


# ------------------------------------------------------------------------------------------------------------ helpers


def _check_runs(sets: Sequence[ArrayLike], objectives: int | None = None) -> list[Array]:
    if not len(sets):
        raise InvalidParameter("invalid sets: expected one or more runs")
    first = as_matrix("the points of a run", sets[0], objectives, min_rows=1)
    return [as_matrix("the points of a run", points, first.shape[1], min_rows=1) for points in sets]


def _stack_runs(runs: Sequence[Array]) -> tuple[Array, NDArray[np.int64]]:
    """Return all points and the number of the run, from 1, that each belongs to."""
    return np.concatenate(runs), np.repeat(np.arange(1, len(runs) + 1), [len(run) for run in runs])


def _check_num_objectives(objectives: int) -> None:
    if objectives not in (2, 3):
        raise InvalidParameter(
            f"invalid number of objectives {objectives}: attainment surfaces need 2 or 3; for more, use pairwise_projections"
        )


def _surfaces_by_level(runs: Sequence[Array]) -> dict[int, Array]:
    """Return the surface of each number of runs. moocore omits a level whose surface equals that of the next level."""
    _check_num_objectives(runs[0].shape[1])
    points, owners = _stack_runs(runs)
    surfaces = np.asarray(moocore.eaf(-points, owners), np.float64)
    counts = np.rint(surfaces[:, -1] * len(runs) / 100).astype(np.int64)
    return {int(count): filter_dominated(-surfaces[counts == count, :-1]) for count in np.unique(counts)}


def _cell_attainment(runs: Sequence[Array], x: Array, y: Array) -> Array:
    """Return the attainment rate of the upper corner of each cell between the edges x and y, float[len(x)-1, len(y)-1]."""
    counts = np.zeros((len(x) - 1, len(y) - 1))
    for run in runs:
        order = run[run[:, 0].argsort()]
        tops = np.append(np.maximum.accumulate(order[::-1, 1])[::-1], -np.inf)  # the best y of all points with as much x
        counts += tops[np.searchsorted(order[:, 0], x[1:])][:, None] >= y[1:]
    return counts / len(runs)


def _merge_cells(shares: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Merge equal neighboring cells, float[i, j], into rectangles, along y and then along x; cells of value 0 are omitted."""
    corners: list[tuple[float, ...]] = []
    values: list[float] = []
    open_strips: dict[tuple[int, int, float], float] = {}  # rectangles that the next column may extend -> their left edge
    for i, column in enumerate([*shares, np.zeros(shares.shape[1])]):
        ends = [*(np.flatnonzero(np.diff(column)) + 1).tolist(), len(column)]
        strips = {(start, end, float(column[start])) for start, end in zip([0, *ends[:-1]], ends, strict=True) if column[start]}
        for strip in [strip for strip in open_strips if strip not in strips]:
            corners.append((open_strips.pop(strip), y[strip[0]], x[i], y[strip[1]]))
            values.append(strip[2])
        open_strips |= {strip: x[i] for strip in strips if strip not in open_strips}
    return np.array(corners, np.float64).reshape(-1, 4), np.array(values, np.float64)
