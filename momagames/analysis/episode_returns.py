"""Returns of single episodes: how sure a mean return is, and what users get who live through one episode only.

returns    float[n, E, K]: n policies, E episodes each, the same starts and lots in episode e of every policy.
           With several matches of an episode (opponents, seats): float[n, E, M, K]; matches of one episode share their
           start and are no independent evidence.

SER is the utility of the mean return, what matters to a user of many episodes; ESR is the mean utility of the return, what
matters where each episode counts. For linear utilities they are equal, for concave ones ESR is at most SER.

Source: Roijers et al., "A survey of multi-objective sequential decision-making", J. Artif. Intell. Res. 48, 2013; Hayes et
al., "Expected scalarized returns dominance", Neural Comput. Appl. 2022.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, vector
from momagames.analysis.utilities import Utility
from momagames.errors import InvalidParameter

MAX_CELLS = 20_000_000  # of the grid on which distributions are compared


def means(returns: ArrayLike) -> Array:
    """The value of each policy, float[n, K]."""
    given = _returns(returns)
    return np.asarray(given.mean(axis=(1, 2)))


def standard_errors(returns: ArrayLike) -> Array:
    """Standard error of each value, float[n, K], from the spread between episodes; infinite for a single episode.

    Means of the matches of an episode count as one observation each, because they share its start.
    """
    return np.asarray(deviations(returns) / np.sqrt(_returns(returns).shape[1]))


def deviations(returns: ArrayLike) -> Array:
    """Standard deviation between episodes (their matches averaged), float[n, K]; infinite for a single episode."""
    each = _returns(returns).mean(axis=2)
    return np.asarray(each.std(axis=1, ddof=1)) if each.shape[1] > 1 else np.full((len(each), each.shape[2]), np.inf)


def front_error(errors: ArrayLike, spans: ArrayLike) -> float:
    """Standard error of a front: the largest of its points' in any objective, as a share of that objective's range.

    errors    float[n, K], of `standard_errors`;  spans  float[K], utopia less reference point
    """
    given = np.asarray(errors, np.float64)
    if given.ndim != 2 or not given.size or np.isnan(given).any():
        raise InvalidParameter(f"errors have shape {given.shape}; needed: numbers, (1 or more, K)")
    widths = vector("spans", spans, given.shape[1])
    if not (widths > 0).all():
        raise InvalidParameter(f"spans {widths.tolist()} are not possible; allowed: above 0")
    return float((given / widths).max())


def episodes_for(standard_error: float, error: float, episodes: int) -> int:
    """Episodes for each policy that bring a standard error down to `standard_error`.

    error, episodes    the standard error that was found, and the number of episodes that it was found with

    It falls with the square root of their number. The answer is an estimate: take a few more.
    """
    if not standard_error > 0 or not 0 <= error < np.inf or episodes < 2:
        raise InvalidParameter(
            f"standard_error={standard_error}, error={error}, episodes={episodes} are not possible; allowed: "
            "standard_error above 0, a finite error of at least 0, and 2 or more episodes"
        )
    return max(2, ceil(episodes * (error / standard_error) ** 2 * (1 - 1e-12)))


# --------------------------------------------------------------------------------------------------------- ESR and SER


def esr_values(returns: ArrayLike, utility: Utility) -> Array:
    """Mean utility of an episode for each policy, float[n]; for normalized returns."""
    return np.asarray(utility.of(_returns(returns)).mean(axis=(1, 2)))


def ser_values(returns: ArrayLike, utility: Utility) -> Array:
    """Utility of the mean return of each policy, float[n]; for normalized returns."""
    return utility.of(means(returns))


def delivered(select: Array, report: Array) -> float:
    """What a user gets who takes the policy that is best in `select`, float[n]: its value in `report`, float[n].

    Taking the largest of `report` itself would favor luck.
    """
    return float(report[int(np.argmax(select))])


def esr_set(returns: ArrayLike) -> NDArray[np.bool_]:
    """Which policies no other dominates by its whole distribution of returns, bool[n]; of equal ones the first.

    Policy a dominates b if the chance to end with at most x in every objective is never larger for a than for b, and
    somewhere smaller. One to three objectives. Every user prefers a whose utility rises in each objective, but the less
    the more the others already give; not a user who wants several at once (see docs/benchmark.md): compare those by
    `esr_values`.

    Source: Hayes et al. (above); Atkinson and Bourguignon, "The comparison of multi-dimensioned distributions of economic
    status", Rev. Econ. Stud. 49, 1982.
    """
    given = _returns(returns)
    samples = given.reshape(len(given), -1, given.shape[3])
    values = samples.mean(axis=1)
    slack = 1e-9 * np.abs(samples).max()  # one that dominates has no smaller mean: most pairs end here
    if samples.shape[2] > 3:
        raise InvalidParameter(f"distributions are compared for up to 3 objectives; given: {samples.shape[2]}")
    kept = np.ones(len(samples), np.bool_)
    for b in range(len(samples)):
        for a in range(len(samples)):
            if a == b or not kept[a] or (values[a] < values[b] - slack).any():
                continue
            if _dominates(samples[a], samples[b], equal=a < b):
                kept[b] = False
                break
    return kept


def _dominates(better: Array, worse: Array, equal: bool) -> bool:
    """Whether a sample, float[E, K], dominates another; `equal` says whether equal distributions count as that."""
    # Distribution functions are steps: where `better` has its steps, it is largest against `worse`, and the other way round
    if (_distribution(better, better) > _distribution(worse, better)).any():
        return False
    return equal or bool((_distribution(better, worse) < _distribution(worse, worse)).any())


def _distribution(sample: Array, grid: Array) -> NDArray[np.int64]:
    """Number of rows of a sample, float[E, K], that are at most x, for every x on the grid of the other's coordinates."""
    axes = [np.unique(column) for column in grid.T]
    if prod(map(len, axes)) > MAX_CELLS:
        raise InvalidParameter(f"{prod(map(len, axes)):,} combinations of returns; allowed: {MAX_CELLS:,}. Take fewer episodes")
    places = [np.searchsorted(axis, column) for axis, column in zip(axes, sample.T, strict=True)]
    inside = np.all([place < len(axis) for place, axis in zip(places, axes, strict=True)], axis=0)
    counts = np.zeros([len(axis) for axis in axes], np.int64)
    np.add.at(counts, tuple(place[inside] for place in places), 1)
    for axis in range(counts.ndim):
        counts = counts.cumsum(axis=axis)
    return counts


def _returns(given: ArrayLike) -> Array:
    """Returns as float64[n, E, M, K], or InvalidParameter."""
    array = np.asarray(given, np.float64)
    array = array[:, :, None, :] if array.ndim == 3 else array
    if array.ndim != 4 or not array.size or not np.isfinite(array).all():
        raise InvalidParameter(
            f"returns have shape {np.shape(given)}; needed: finite numbers, (policies, episodes, objectives)"
        )
    return array
