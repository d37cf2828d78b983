"""What repeated runs of a method attain: the distribution of a front, not the mean of an indicator.

`sets` holds the points that each run returned, float[n_s, K]. A run attains a goal if one of its points is at least as
good in every objective. The empirical attainment function of a goal is the share of runs that attain it. Surfaces are
computed by moocore, for two and three objectives; `attained` and `projections` serve any number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, front, rows, vector
from momagames.analysis.indicators import hypervolume
from momagames.errors import InvalidParameter, check_range


class Surfaces(NamedTuple):
    """Fronts that bound what at least one run attained (best), at least half of the runs (median), and every run (worst)."""

    best: Array
    median: Array
    worst: Array


class Vorobev(NamedTuple):
    """A mean of sets.

    expectation    float[n, K], the front of the attainment level whose volume is nearest to the mean volume of the runs
    threshold      share of runs that attain what it bounds
    deviation      mean volume by which a run and the expectation differ
    """

    expectation: Array
    threshold: float
    deviation: float


def attained(sets: Sequence[ArrayLike], goals: ArrayLike) -> Array:
    """Share of the runs that attain each of `goals`, float[g, K] -> float[g]; any number of objectives.

    Source: Grunert da Fonseca et al., "Inferential performance assessment of stochastic optimizers and the attainment
    function", EMO 2001.
    """
    wanted = rows("goals", goals)
    runs = _runs(sets, wanted.shape[1])
    met = [(run[:, None, :] >= wanted[None]).all(axis=2).any(axis=0) for run in runs]
    return np.asarray(np.mean(met, axis=0, dtype=np.float64))


def surface(sets: Sequence[ArrayLike], runs: int) -> Array:
    """The front of the goals that at least `runs` of the runs attain, float[n, K]; two or three objectives."""
    check_range("runs", runs, 1, len(sets))
    return _levels(_runs(sets)).get(runs, np.zeros((0, np.shape(sets[0])[1])))


def surfaces(sets: Sequence[ArrayLike]) -> Surfaces:
    """The best, the median and the worst surface; with an even number of runs, half of them make the median."""
    found = _runs(sets)
    levels = _levels(found)
    none = np.zeros((0, found[0].shape[1]))
    return Surfaces(*(levels.get(runs, none) for runs in (1, (len(found) + 1) // 2, len(found))))


def vorobev(sets: Sequence[ArrayLike], ref: ArrayLike) -> Vorobev:
    """Vorob'ev expectation and deviation of fronts, volumes above `ref`; two or three objectives.

    Source: Binois, Ginsbourger and Roustant, "Quantifying uncertainty on Pareto fronts with Gaussian process conditional
    simulations", Eur. J. Oper. Res. 243, 2015.
    """
    found = _runs(sets)
    _surfaces_exist(found[0].shape[1])
    low = vector("ref", ref, found[0].shape[1])
    clipped = [run[(run > low).all(axis=1)] for run in found]
    if not all(len(run) for run in clipped):
        raise InvalidParameter(f"a run has no point above ref {low.tolist()}: such runs have no volume to compare")
    points, owners = _stacked(clipped)
    made = moocore.vorob_t(-points, owners, ref=-low)
    expectation = -np.asarray(made["ve"], np.float64)
    whole = hypervolume(expectation, low).value
    volumes = [hypervolume(run, low).value for run in clipped]
    unions = [hypervolume(np.concatenate([run, expectation]), low).value for run in clipped]
    deviation = np.mean([2 * union - volume - whole for union, volume in zip(unions, volumes, strict=True)])
    return Vorobev(front(expectation), float(made["threshold"]) / 100, float(deviation))


def advantage(first: Sequence[ArrayLike], second: Sequence[ArrayLike], goals: ArrayLike) -> Array:
    """How much more often the runs of `first` attain each goal than those of `second`, float[g] from -1 to 1."""
    return attained(first, goals) - attained(second, goals)


def advantage_map(first: Sequence[ArrayLike], second: Sequence[ArrayLike], ref: ArrayLike) -> tuple[Array, Array]:
    """Where the runs of `first` attain more often, and where those of `second`, as rectangles above `ref`; two objectives.

    Returns    corners float[n, 4] (low x, low y, high x, high y), and `advantage` inside each, float[n], never 0
    Source     López-Ibáñez, Paquete and Stützle, "Exploratory analysis of stochastic local search algorithms in biobjective
               optimization", 2010
    """
    ours, theirs = _runs(first), _runs(second)
    low = vector("ref", ref, 2)
    if ours[0].shape[1] != 2 or theirs[0].shape[1] != 2:
        raise InvalidParameter("rectangles exist for 2 objectives; for more, see `projections` or `advantage`")
    edges = [np.unique(np.concatenate([[low[k]], *(run[:, k] for run in (*ours, *theirs))])) for k in (0, 1)]
    edges = [edge[edge >= low[k]] for k, edge in enumerate(edges)]
    if min(map(len, edges)) < 2:
        return np.zeros((0, 4)), np.zeros(0)
    # inside a cell every goal is attained by the same runs as its upper corner
    shares = _attained_cells(ours, *edges) - _attained_cells(theirs, *edges)
    return _strips(shares, edges[0], edges[1])


def projections(sets: Sequence[ArrayLike]) -> Mapping[tuple[int, int], list[Array]]:
    """The fronts of each run in each pair of objectives.

    Points that no other dominates in all objectives may be dominated in a pair and vanish there: a projection shows what
    can be had in two objectives if the others do not matter.
    """
    found = _runs(sets)
    return {pair: [front(run[:, pair]) for run in found] for pair in combinations(range(found[0].shape[1]), 2)}


# -------------------------------------------------------------------------------------------------------------- parts


def _runs(sets: Sequence[ArrayLike], objectives: int | None = None) -> list[Array]:
    if not len(sets):
        raise InvalidParameter("no run given; needed: one or more")
    first = rows("the points of a run", sets[0], objectives, least=1)
    return [rows("the points of a run", one, first.shape[1], least=1) for one in sets]


def _stacked(runs: Sequence[Array]) -> tuple[Array, NDArray[np.int64]]:
    return np.concatenate(runs), np.repeat(np.arange(1, len(runs) + 1), [len(run) for run in runs])


def _surfaces_exist(objectives: int) -> None:
    if objectives not in (2, 3):
        raise InvalidParameter(
            f"attainment surfaces exist for 2 and 3 objectives, not {objectives}; for more, see `projections`"
        )


def _levels(runs: Sequence[Array]) -> dict[int, Array]:
    """The surface of each number of runs. Levels that moocore leaves out have no goal of their own."""
    _surfaces_exist(runs[0].shape[1])
    points, owners = _stacked(runs)
    found = np.asarray(moocore.eaf(-points, owners), np.float64)
    counts = np.rint(found[:, -1] * len(runs) / 100).astype(np.int64)
    return {int(count): front(-found[counts == count, :-1]) for count in np.unique(counts)}


def _attained_cells(runs: Sequence[Array], x: Array, y: Array) -> Array:
    """Share of the runs that attain the upper corner of each cell between the edges x and y, float[len(x)-1, len(y)-1]."""
    met = np.zeros((len(x) - 1, len(y) - 1))
    for run in runs:
        order = run[run[:, 0].argsort()]
        tops = np.append(np.maximum.accumulate(order[::-1, 1])[::-1], -np.inf)  # the best y of all points with as much x
        met += tops[np.searchsorted(order[:, 0], x[1:])][:, None] >= y[1:]
    return met / len(runs)


def _strips(shares: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Cells float[i, j] as rectangles: equal neighbors are joined along y, then along x; those with 0 are left out."""
    corners: list[tuple[float, ...]] = []
    values: list[float] = []
    growing: dict[tuple[int, int, float], float] = {}  # rectangles that may go on in the next column, and where they began
    for i, column in enumerate([*shares, np.zeros(shares.shape[1])]):
        ends = [*(np.flatnonzero(np.diff(column)) + 1).tolist(), len(column)]
        found = {(start, end, float(column[start])) for start, end in zip([0, *ends[:-1]], ends, strict=True) if column[start]}
        for strip in [strip for strip in growing if strip not in found]:
            corners.append((growing.pop(strip), y[strip[0]], x[i], y[strip[1]]))
            values.append(strip[2])
        growing |= {strip: x[i] for strip in found if strip not in growing}
    return np.array(corners, np.float64).reshape(-1, 4), np.array(values, np.float64)
