"""Fairness over agents: how the utility of one outcome is divided among them.

utilities   float[n, A], the utilities of A agents in n outcomes (policies, profiles of policies, or episodes), in one unit

Utilities are measured from the reference point of the game, as utilities of normalized returns are: 0 is the worst that counts.
Shares and products of utilities have no meaning below 0, so that an agent below the reference point counts as one at it. Lorenz
curves need no shares, and take utilities as they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import ROUNDING, Array, as_array, as_matrix, number_levels
from momagames.baselines.archive import is_nondominated
from momagames.errors import InvalidParameter


def agent_utilities(returns: ArrayLike, weights: ArrayLike) -> Array:
    """Return the weighted sums of normalized returns, float[n, A, K] and weights float[n, K] -> float64[n, A].

    The weights of an outcome are those of all its agents, and are divided by their sum.
    """
    array = as_array("returns", returns)
    if array.ndim != 3 or not array.size or not np.isfinite(array).all():
        raise InvalidParameter(
            f"invalid returns of shape {array.shape}: expected finite numbers, (outcomes, agents, objectives)"
        )
    given = as_matrix("weights", weights, array.shape[2], min_rows=1)
    if len(given) != len(array) or (given < 0).any() or not given.any(axis=1).all():
        raise InvalidParameter(f"invalid weights: expected {len(array)} rows of numbers of at least 0, one above 0 in each")
    return np.asarray(np.einsum("nak,nk->na", array, given / given.sum(axis=1, keepdims=True)))


def gini(utilities: ArrayLike) -> Array:
    """Return the Gini coefficient of each outcome, float64[n]: 0 for equal utilities, 1 - 1/A where one agent has all.

    It is half the mean difference of two agents, as a share of the mean utility; 0 where no agent is above 0.

    Source: Gini, "Variabilità e mutabilità", 1912; Sen, "On economic inequality", 1973.
    """
    array = _as_shares(utilities)
    differences = np.abs(array[:, :, None] - array[:, None, :]).mean(axis=(1, 2))
    means = array.mean(axis=1)
    return np.asarray(np.divide(differences, 2 * means, out=np.zeros(len(array)), where=means > 0))


def nash_welfare(utilities: ArrayLike) -> Array:
    """Return the geometric mean of the agents' utilities, float64[n]; 0 where one agent is at the reference point or below.

    Source: Nash, "The bargaining problem", Econometrica 18, 1950; Kaneko and Nakamura, "The Nash social welfare function",
    Econometrica 47, 1979.
    """
    return alpha_fair_welfare(utilities, 1)


def alpha_fair_welfare(utilities: ArrayLike, alpha: float) -> Array:
    """Return the alpha-fair welfare of each outcome as an equivalent utility, float64[n].

    alpha   aversion to inequality, at least 0: 0 is the mean, 1 the geometric mean (Nash welfare), infinity the minimum

    The alpha-fair welfare is the sum of u ** (1 - alpha) / (1 - alpha), and of log u for alpha = 1. The result is the utility
    that has the same welfare if all agents have it: it ranks outcomes alike and has the unit of utilities. 0 from alpha = 1 on
    where an agent is at the reference point or below.

    Source: Mo and Walrand, "Fair end-to-end window-based congestion control", IEEE/ACM Trans. Netw. 8, 2000; Atkinson, "On the
    measurement of inequality", J. Econ. Theory 2, 1970.
    """
    if not alpha >= 0:
        raise InvalidParameter(f"invalid alpha={alpha}: expected a number of at least 0")
    array = _as_shares(utilities)
    lowest, highest = array.min(axis=1), array.max(axis=1)
    if alpha == np.inf:
        return np.asarray(lowest)
    result = np.zeros(len(array))
    valid = (lowest if alpha >= 1 else highest) > 0
    scale = (lowest if alpha >= 1 else highest)[valid]
    ratios = array[valid] / scale[:, None]  # powers of these neither overflow nor vanish together
    if alpha == 1:
        result[valid] = scale * np.exp(np.log(ratios).mean(axis=1))
    else:
        result[valid] = scale * (ratios ** (1 - alpha)).mean(axis=1) ** (1 / (1 - alpha))
    return result


def generalized_lorenz_curves(utilities: ArrayLike) -> Array:
    """Return the generalized Lorenz curve of each outcome, float64[n, A]: the total utility of its 1, 2, ... A worst agents.

    Source: Shorrocks, "Ranking income distributions", Economica 50, 1983.
    """
    return np.asarray(np.sort(as_matrix("utilities", utilities, min_rows=1), axis=1).cumsum(axis=1))


def lorenz_front(utilities: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each outcome is non-dominated in the sense of Lorenz, bool[n].

    An outcome dominates another if its generalized Lorenz curve is nowhere below and somewhere above. Then everyone who prefers
    more utility, whoever has it, and an equal division prefers it. Outcomes with equal curves, such as those of agents that
    change places, are members together. The members are a subset of the non-dominated outcomes.

    Source: Shorrocks (above); Michailidis et al., "Scalable multi-objective reinforcement learning with fairness guarantees
    using Lorenz dominance", J. Artif. Intell. Res. 85, 2026.
    """
    curves = generalized_lorenz_curves(utilities)
    levels = number_levels(curves, ROUNDING * np.abs(curves).max(initial=0))
    different, places = np.unique(levels, axis=0, return_inverse=True)
    return is_nondominated(different)[places.reshape(-1)]


# Measures of single outcomes by name: float64[n, A] -> float64[n]
FAIRNESS_MEASURES: dict[str, Callable[[ArrayLike], Array]] = {
    "mean utility": lambda utilities: alpha_fair_welfare(utilities, 0),
    "Gini": gini,
    "Nash welfare": nash_welfare,
    "worst agent": lambda utilities: alpha_fair_welfare(utilities, np.inf),
}


def _as_shares(utilities: ArrayLike) -> Array:
    """Return utilities float64[n, A] with those below 0 raised to 0; InvalidParameter for another shape."""
    array = as_matrix("utilities", utilities, min_rows=1)
    if not array.shape[1]:
        raise InvalidParameter(f"invalid shape {array.shape} of utilities: expected one agent or more")
    return np.maximum(array, 0.0)
