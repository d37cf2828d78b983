"""Returns of single episodes: standard errors of mean returns, ESR and SER, and dominance between distributions.

returns    float[n, E, K]: n policies, E episodes each; episode e has the same random seed for every policy.
           With several matches of an episode (opponents, seats): float[n, E, M, K]. The matches of an episode share its
           start position and are not independent samples.

SER, scalarized expected returns, is the utility of the mean return; it is the criterion of a user who averages over many
episodes. ESR, expected scalarized returns, is the mean utility of the return; it is the criterion of a user who evaluates
each episode separately. They are equal for linear utilities; for concave ones ESR is at most SER.

Source: Roijers et al., "A survey of multi-objective sequential decision-making", J. Artif. Intell. Res. 48, 2013; Hayes et
al., "Expected scalarized returns dominance", Neural Comput. Appl. 2022.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, as_array, as_vector
from momagames.analysis.utilities import Utility
from momagames.errors import InvalidParameter

MAX_CELLS = 20_000_000  # largest grid on which distributions are compared


def mean_returns(returns: ArrayLike) -> Array:
    """Return the value of each policy, float[n, K]."""
    return np.asarray(_as_returns(returns).mean(axis=(1, 2)))


def standard_errors(returns: ArrayLike, instances: ArrayLike | None = None) -> Array:
    """Return the standard error of each value, float[n, K]; infinite for a single episode, or a single instance.

    instances    [E], the instance (start position) of each episode, any kind of label; None: each episode has its own

    Observations are independent. The mean over the matches of an episode is one, because they share its start position, and so
    is the mean over all episodes in one instance. Instances with more episodes count more, as in the value.

    Source: the cluster-robust variance of a mean, with its correction for few clusters: Liang and Zeger, "Longitudinal data
    analysis using generalized linear models", Biometrika 73, 1986.
    """
    given = _as_returns(returns)
    each = given.mean(axis=2)
    labels = np.arange(each.shape[1]) if instances is None else np.asarray(instances)
    if labels.shape != each.shape[1:2]:
        raise InvalidParameter(f"invalid instances of shape {labels.shape}: expected ({each.shape[1]},), one for each episode")
    _, clusters = np.unique(labels, return_inverse=True)
    count = int(clusters.max()) + 1
    if count < 2:
        return np.full((len(each), each.shape[2]), np.inf)
    membership = np.equal.outer(np.arange(count), clusters.reshape(-1)).astype(np.float64)
    sums = membership @ (each - each.mean(axis=1, keepdims=True))
    return np.asarray(np.sqrt((sums**2).sum(axis=1) * count / (count - 1)) / each.shape[1])


def front_standard_error(errors: ArrayLike, spans: ArrayLike) -> float:
    """Return the standard error of a front: the largest of all points and objectives, as a share of the objective's range.

    errors    float[n, K], of `standard_errors`;  spans  float[K], ideal point minus reference point
    """
    given = as_array("errors", errors)
    if given.ndim != 2 or not given.size or np.isnan(given).any():
        raise InvalidParameter(f"invalid errors of shape {given.shape}: expected numbers, (1 or more, K)")
    widths = as_vector("spans", spans, given.shape[1])
    if not (widths > 0).all():
        raise InvalidParameter(f"invalid spans={widths.tolist()}: expected numbers above 0")
    return float((given / widths).max())


def required_episodes(standard_error: float, error: float, episodes: int) -> int:
    """Estimate the number of episodes for each policy that reduces the standard error to `standard_error`.

    error, episodes    the measured standard error, and the number of episodes that it was measured with

    The standard error falls with the square root of the number of episodes.
    """
    if not standard_error > 0 or not 0 <= error < np.inf or episodes < 2:
        raise InvalidParameter(
            f"invalid standard_error={standard_error}, error={error}, episodes={episodes}: expected "
            "standard_error above 0, a finite error of at least 0, and 2 or more episodes"
        )
    return max(2, ceil(episodes * (error / standard_error) ** 2 * (1 - 1e-12)))


# --------------------------------------------------------------------------------------------------------- ESR and SER


def esr_values(returns: ArrayLike, utility: Utility) -> Array:
    """Return the expected scalarized return of each policy, float[n]; for normalized returns."""
    return np.asarray(utility.function(_as_returns(returns)).mean(axis=(1, 2)))


def ser_values(returns: ArrayLike, utility: Utility) -> Array:
    """Return the scalarized expected return of each policy, float[n]; for normalized returns."""
    return utility.function(mean_returns(returns))


def selected_value(select: Array, report: Array) -> float:
    """Return the value in `report`, float[n], of the policy that is best in `select`, float[n].

    The largest value of `report` itself would be biased upwards.
    """
    return float(report[int(np.argmax(select))])


def esr_set(returns: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each policy is non-dominated in distribution, bool[n]; of equal distributions the first.

    Policy a dominates b if the cumulative distribution function of its returns is nowhere above that of b and somewhere
    below. One to three objectives. Users prefer a if their utility rises in each objective and the objectives are
    substitutes. For utilities that need several objectives at once (see docs/metrics.md), compare `esr_values` instead.

    Source: Hayes et al. (above); Atkinson and Bourguignon, "The comparison of multi-dimensioned distributions of economic
    status", Rev. Econ. Stud. 49, 1982.
    """
    given = _as_returns(returns)
    samples = given.reshape(len(given), -1, given.shape[3])
    values = samples.mean(axis=1)
    slack = 1e-9 * np.abs(samples).max()  # a dominating policy has no smaller mean, which excludes most pairs
    if samples.shape[2] > 3:
        raise InvalidParameter(f"invalid number of objectives {samples.shape[2]}: esr_set compares distributions of up to 3")
    member = np.ones(len(samples), np.bool_)
    for b in range(len(samples)):
        for a in range(len(samples)):
            if a == b or not member[a] or (values[a] < values[b] - slack).any():
                continue
            if _dominates(samples[a], samples[b], equal=a < b):
                member[b] = False
                break
    return member


def _dominates(better: Array, worse: Array, equal: bool) -> bool:
    """Return whether a sample, float[E, K], dominates another; `equal`: equal distributions count as dominated."""
    # The distribution functions are step functions: `better` minus `worse` is largest at a step of `better`, and smallest at
    # a step of `worse`
    if (_cumulative_counts(better, better) > _cumulative_counts(worse, better)).any():
        return False
    return equal or bool((_cumulative_counts(better, worse) < _cumulative_counts(worse, worse)).any())


def _cumulative_counts(sample: Array, grid: Array) -> NDArray[np.int64]:
    """Return the number of rows of a sample, float[E, K], that are at most x, for every x on the grid of coordinates."""
    axes = [np.unique(column) for column in grid.T]
    if prod(map(len, axes)) > MAX_CELLS:
        raise InvalidParameter(
            f"{prod(map(len, axes)):,} combinations of returns exceed the limit of {MAX_CELLS:,}: use fewer episodes"
        )
    places = [np.searchsorted(axis, column) for axis, column in zip(axes, sample.T, strict=True)]
    inside = np.all([place < len(axis) for place, axis in zip(places, axes, strict=True)], axis=0)
    counts = np.zeros([len(axis) for axis in axes], np.int64)
    np.add.at(counts, tuple(place[inside] for place in places), 1)
    for axis in range(counts.ndim):
        counts = counts.cumsum(axis=axis)
    return counts


def _as_returns(given: ArrayLike) -> Array:
    """Return float64[n, E, M, K]; InvalidParameter for another shape or non-finite values."""
    array = as_array("returns", given)
    array = array[:, :, None, :] if array.ndim == 3 else array
    if array.ndim != 4 or not array.size or not np.isfinite(array).all():
        raise InvalidParameter(
            f"invalid returns of shape {np.shape(given)}: expected finite numbers, (policies, episodes, objectives)"
        )
    return array
