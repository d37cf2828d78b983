"""Utility functions of users, and the expected utility of a front.

Utilities are functions of normalized returns (0 is the reference point, 1 the ideal point) that are monotonically increasing
in every objective. A linear utility is a weighted sum; `weights` are float[w, K].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array, as_array, as_matrix, as_vector
from momagames.baselines.utilities import augmented_chebyshev
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.errors import InvalidParameter, check_range

# Divisions of the weight lattice by number of objectives: about 100 to 250 weights each
DIVISIONS = {1: 1, 2: 99, 3: 12, 4: 7, 5: 6, 6: 5, 7: 4, 8: 3, 9: 3, 10: 3}
NUM_SAMPLED_WEIGHTS, SAMPLE_SEED = 1024, 20240
EPSILON = 1e-6  # keeps a Cobb-Douglas utility above 0, so that the other objectives count where one is 0


# ------------------------------------------------------------------------------------------------------ weighted sums


def utility_weights(objectives: int) -> Array:
    """Return the fixed lattice of weights for expected utility, float64[w, K].

    For six objectives and more, most of the lattice lies on the faces of the simplex: see `sampled_weights`.
    """
    check_range("objectives", objectives, 1, max(DIVISIONS), whole=True)
    return simplex_lattice(objectives, DIVISIONS[objectives])


def sampled_weights(objectives: int) -> Array:
    """Return 1,024 weights sampled uniformly from the simplex, Dirichlet(1), equal on every machine, float64[1024, K]."""
    check_range("objectives", objectives, 1)
    samples = -np.log1p(-np.random.default_rng(SAMPLE_SEED).random((NUM_SAMPLED_WEIGHTS, objectives)))
    return np.asarray(samples / samples.sum(axis=1, keepdims=True))


def expected_utility(points: ArrayLike, weights: ArrayLike) -> float:
    """Return the mean over the weights of the best weighted sum of a point. It ignores concave parts of a front.

    Source: Zintgraf et al., "Quality assessment of MORL algorithms: a utility-based approach", Benelearn 2015.
    """
    array = as_matrix("points", points, min_rows=1)
    return float((as_matrix("weights", weights, array.shape[1], min_rows=1) @ array.T).max(axis=1).mean())


def delivered_utility(returns: ArrayLike, weights: ArrayLike) -> float:
    """Return the mean weighted sum of a weight-conditioned policy: `returns[i]`, float[w, K], was obtained under `weights[i]`.

    It is at most `expected_utility(returns, weights)`, the coverage utility of these behaviors: see `utility_regret`.

    Source: as for `expected_utility`, of the policy that the weights select instead of the best one.
    """
    array, given = _as_pairs(returns, weights)
    return float((array * given).sum(axis=1).mean())


def utility_regret(returns: ArrayLike, weights: ArrayLike) -> float:
    """Return the coverage utility minus the delivered utility of a weight-conditioned policy, at least 0.

    It is what a user loses on average because the policy does not play the best of its own behaviors for the user's weights.
    """
    array, given = _as_pairs(returns, weights)
    return float(((given @ array.T).max(axis=1) - (array * given).sum(axis=1)).mean())


def _as_pairs(returns: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
    """Return returns and weights, float64[w, K] each; InvalidParameter for other shapes."""
    array = as_matrix("returns", returns, min_rows=1)
    given = as_matrix("weights", weights, array.shape[1], min_rows=1)
    if len(given) != len(array):
        raise InvalidParameter(f"invalid weights of length {len(given)}: expected {len(array)}, one for each row of returns")
    return array, given


# -------------------------------------------------------------------------------------------------- utility functions


@dataclass(frozen=True)
class Utility:
    """A named function of normalized returns, float[..., K] -> float[...]."""

    name: str
    function: Callable[[Array], Array]


def linear(weights: ArrayLike) -> Utility:
    """Return the utility that is the weighted sum."""
    given = _check_weights(weights)
    return Utility(f"linear{_format_numbers(given)}", lambda v: np.asarray(v @ given))


def chebyshev(weights: ArrayLike) -> Utility:
    """Return the utility that is minus the largest weighted shortfall from the ideal point, plus 0.01 of the weighted sum."""
    given = _check_weights(weights)
    return Utility(f"Chebyshev{_format_numbers(given)}", lambda v: augmented_chebyshev(v, given))


def egalitarian() -> Utility:
    """Return the utility that is the worst objective."""
    return Utility("egalitarian", lambda v: np.asarray(v.min(axis=-1)))


def threshold(levels: ArrayLike) -> Utility:
    """Return the utility that is the first objective where every objective reaches its level, and 0 elsewhere.

    Under ESR it measures how often an episode reaches all levels.
    """
    given = as_array("levels", levels)
    given = as_vector("levels", given, given.size)
    return Utility(
        f"threshold{_format_numbers(given)}", lambda v: np.where((v >= given).all(axis=-1), np.maximum(v[..., 0], 0.0), 0.0)
    )


def cobb_douglas(weights: ArrayLike) -> Utility:
    """Return the utility that is the weighted geometric mean; values below the reference point count as 0."""
    given = _check_weights(weights)
    return Utility(
        f"Cobb-Douglas{_format_numbers(given)}", lambda v: np.asarray(((np.maximum(v, 0) + EPSILON) ** given).prod(axis=-1))
    )


def symmetric_utilities(objectives: int) -> tuple[Utility, ...]:
    """Return one utility function of each kind with equal weights, for which reports compare ESR and SER."""
    even = np.full(objectives, 1 / objectives)
    return linear(even), chebyshev(even), egalitarian(), threshold(np.full(objectives, 0.5)), cobb_douglas(even)


def expected_family_utility(points: ArrayLike, utilities: Sequence[Utility]) -> float:
    """Return the mean over `utilities` of the best utility of a point; non-linear ones also value concave parts of a front."""
    array = as_matrix("points", points, min_rows=1)
    if not utilities:
        raise InvalidParameter("invalid utilities: expected one or more utility functions")
    return float(np.mean([utility.function(array).max() for utility in utilities]))


def check_monotone(utility: Utility, objectives: int, pairs: int = 2_000) -> Utility:
    """Return the utility if it is monotone on random pairs of points of which one dominates the other.

    Raises     InvalidParameter with a pair on which it falls
    """
    rng = np.random.default_rng(SAMPLE_SEED)
    worse = rng.uniform(-0.2, 1.2, (pairs, objectives))
    better = worse + rng.uniform(0, 0.5, worse.shape) * rng.integers(0, 2, worse.shape)
    falls = utility.function(worse) > utility.function(better) + 1e-12
    if falls.any():
        i = int(np.flatnonzero(falls)[0])
        low, high = worse[i].round(3).tolist(), better[i].round(3).tolist()
        raise InvalidParameter(f"invalid utility {utility.name}: expected a monotone function; it falls from {low} to {high}")
    return utility


def _check_weights(weights: ArrayLike) -> Array:
    given = as_array("weights", weights)
    given = as_vector("weights", given, given.size)
    if not given.size or (given < 0).any() or not np.isclose(given.sum(), 1):
        raise InvalidParameter(f"invalid weights={given.tolist()}: expected numbers of at least 0 that sum to 1")
    return given


def _format_numbers(numbers: Array) -> str:
    """Return "(0.5, 0.4)", or "(0.2 each)" where all numbers are equal."""
    each = len(numbers) > 1 and np.ptp(numbers) == 0
    return f"({numbers[0]:.3g} each)" if each else f"({', '.join(f'{n:.3g}' for n in numbers)})"
