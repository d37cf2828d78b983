"""Policies on single instances, measured against the exact Pareto front of each.

returns    float[n, P, S, K], normalized: n policies, P episodes of each in each of S instances
fronts     S exact fronts, float[m, K] each, normalized in the same way
weights    float[w, K], of users
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, as_array, as_matrix
from momagames.analysis.indicators import hypervolume_ratio
from momagames.errors import InvalidParameter, check_range


def instance_ratios(returns: ArrayLike, fronts: Sequence[ArrayLike], plays: int) -> Array:
    """Return the share of the hypervolume of each exact front that the episodes of all policies reach together, float[S].

    The reference point is 0. A method has `plays` episodes in each instance, which its policies have in turn; further ones do
    not count, so that the size of a policy set is no advantage.
    """
    array = _as_returns(returns, fronts)
    check_range("plays", plays, 1, array.shape[0] * array.shape[1], whole=True)
    episodes = array.swapaxes(0, 1).reshape(-1, *array.shape[2:])[:plays]
    origin = np.zeros(array.shape[3])
    return np.array([hypervolume_ratio(episodes[:, i], origin, front).value for i, front in enumerate(fronts)])


def choose_policies(returns: ArrayLike, weights: ArrayLike) -> NDArray[np.int64]:
    """Return the policy with the best mean weighted sum over all episodes for each weight vector, int[w]; ties: the first."""
    array = as_array("returns", returns)
    given = as_matrix("weights", weights, array.shape[-1], min_rows=1)
    return np.asarray((given @ array.mean(axis=(1, 2)).T).argmax(axis=1))


def expected_utility_regrets(
    returns: ArrayLike, fronts: Sequence[ArrayLike], weights: ArrayLike, chosen: NDArray[np.int64]
) -> Array:
    """Return what users lose in each instance, float[S]: the mean over the weights of the best weighted sum of the exact front
    minus the mean weighted sum of the policy that the user has chosen. It is at least 0.

    chosen    int[w], the policy of each user, of `choose_policies` on other instances

    Source: the expected utility of Zintgraf et al., "Quality assessment of MORL algorithms: a utility-based approach",
    Benelearn 2015, as a difference to that of the front.
    """
    array = _as_returns(returns, fronts)
    given = as_matrix("weights", weights, array.shape[3], min_rows=1)
    means = array.mean(axis=1)[chosen]
    delivered = (means * given[:, None]).sum(axis=2).mean(axis=0)
    best = [(given @ as_matrix("front", front, array.shape[3], min_rows=1).T).max(axis=1).mean() for front in fronts]
    return np.asarray(best - delivered)


def _as_returns(returns: ArrayLike, fronts: Sequence[ArrayLike]) -> Array:
    """Return the returns as float64[n, P, S, K]; InvalidParameter for another shape or number of fronts."""
    array = as_array("returns", returns)
    if array.ndim != 4 or not array.size or array.shape[2] != len(fronts) or not np.isfinite(array).all():
        raise InvalidParameter(
            f"invalid returns of shape {array.shape}: expected finite numbers, (n, P, {len(fronts)}, K): one front an instance"
        )
    return array
