"""What a front is worth to users who each have a utility function.

Utilities are functions of normalized returns (0 the reference point, 1 the utopia) that never fall when an objective
rises. A linear one is a weighted sum; `weights` are float[w, K].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array, rows, vector
from momagames.baselines.chebyshev import augmented_chebyshev
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.errors import InvalidParameter, check_range

# Divisions of the weight lattice by number of objectives: about 100 to 250 weights each
DIVISIONS = {1: 1, 2: 99, 3: 12, 4: 7, 5: 6, 6: 5, 7: 4, 8: 3, 9: 3, 10: 3}
SAMPLED, SAMPLE_SEED = 1024, 20240
TINY = 1e-6  # keeps a Cobb-Douglas utility above 0, so that the other objectives still count where one has nothing


# ------------------------------------------------------------------------------------------------------ weighted sums


def utility_weights(objectives: int) -> Array:
    """The fixed lattice of weights for expected utility, float64[w, K].

    From six objectives on it lies mostly on the faces of the simplex: see `sampled_weights`.
    """
    check_range("objectives", objectives, 1, max(DIVISIONS), whole=True)
    return simplex_lattice(objectives, DIVISIONS[objectives])


def sampled_weights(objectives: int) -> Array:
    """1,024 weights drawn evenly from the simplex (Dirichlet(1)), the same on every machine, float64[1024, K]."""
    check_range("objectives", objectives, 1)
    lots = -np.log1p(-np.random.default_rng(SAMPLE_SEED).random((SAMPLED, objectives)))
    return np.asarray(lots / lots.sum(axis=1, keepdims=True))


def expected_utility(points: ArrayLike, weights: ArrayLike) -> float:
    """Mean over the weights of the best weighted sum that a point offers. It does not see concave parts of a front.

    Source: Zintgraf et al., "Quality assessment of MORL algorithms: a utility-based approach", Benelearn 2015.
    """
    array = rows("points", points, least=1)
    return float((rows("weights", weights, array.shape[1], least=1) @ array.T).max(axis=1).mean())


def delivered_utility(returns: ArrayLike, weights: ArrayLike) -> float:
    """Mean weighted sum of what a policy delivers that is told its weights: `returns[i]`, float[w, K], under `weights[i]`.

    It is at most `expected_utility(returns, weights)`. The difference is what the policy loses because it does not know
    which of its behaviors suits the weights best.
    """
    array = rows("returns", returns, least=1)
    given = rows("weights", weights, array.shape[1], least=1)
    if len(given) != len(array):
        raise InvalidParameter(f"{len(array)} returns and {len(given)} weights; needed: as many of both")
    return float((array * given).sum(axis=1).mean())


# -------------------------------------------------------------------------------------------------- utility functions


@dataclass(frozen=True)
class Utility:
    """A named function of normalized returns, float[..., K] -> float[...]."""

    name: str
    of: Callable[[Array], Array]


def linear(weights: ArrayLike) -> Utility:
    """The weighted sum."""
    given = _simplex(weights)
    return Utility(f"linear{_told(given)}", lambda v: np.asarray(v @ given))


def chebyshev(weights: ArrayLike) -> Utility:
    """Minus the largest weighted shortfall from the utopia, and a hundredth of the weighted sum."""
    given = _simplex(weights)
    return Utility(f"Chebyshev{_told(given)}", lambda v: augmented_chebyshev(v, given))


def egalitarian() -> Utility:
    """The worst objective."""
    return Utility("egalitarian", lambda v: np.asarray(v.min(axis=-1)))


def threshold(levels: ArrayLike) -> Utility:
    """The first objective where every objective reaches its level, else nothing.

    In single episodes (ESR) it counts how often a user gets all that is asked for.
    """
    given = np.asarray(levels, np.float64)
    given = vector("levels", given, given.size)
    return Utility(f"threshold{_told(given)}", lambda v: np.where((v >= given).all(axis=-1), np.maximum(v[..., 0], 0.0), 0.0))


def cobb_douglas(weights: ArrayLike) -> Utility:
    """The weighted geometric mean; what lies below the reference point counts as nothing."""
    given = _simplex(weights)
    return Utility(f"Cobb-Douglas{_told(given)}", lambda v: np.asarray(((np.maximum(v, 0) + TINY) ** given).prod(axis=-1)))


def family(objectives: int) -> tuple[Utility, ...]:
    """One utility function of each kind that treats all objectives alike: what reports compare ESR and SER by."""
    even = np.full(objectives, 1 / objectives)
    return linear(even), chebyshev(even), egalitarian(), threshold(np.full(objectives, 0.5)), cobb_douglas(even)


def family_utility(points: ArrayLike, utilities: Sequence[Utility]) -> float:
    """Mean over `utilities` of the best that a point offers; with other than linear ones it sees concave parts, too."""
    array = rows("points", points, least=1)
    if not utilities:
        raise InvalidParameter("no utility function given; needed: one or more")
    return float(np.mean([utility.of(array).max() for utility in utilities]))


def check_monotone(utility: Utility, objectives: int, pairs: int = 2_000) -> Utility:
    """The utility itself if it did not fall in any of many random pairs of which one is weakly better; else InvalidParameter."""
    rng = np.random.default_rng(SAMPLE_SEED)
    worse = rng.uniform(-0.2, 1.2, (pairs, objectives))
    better = worse + rng.uniform(0, 0.5, worse.shape) * rng.integers(0, 2, worse.shape)
    falls = utility.of(worse) > utility.of(better) + 1e-12
    if falls.any():
        i = int(np.flatnonzero(falls)[0])
        raise InvalidParameter(f"{utility.name} falls from {worse[i].round(3).tolist()} to {better[i].round(3).tolist()}")
    return utility


def _simplex(weights: ArrayLike) -> Array:
    given = np.asarray(weights, np.float64)
    given = vector("weights", given, given.size)
    if not given.size or (given < 0).any() or not np.isclose(given.sum(), 1):
        raise InvalidParameter(f"weights {given.tolist()} are not possible; needed: numbers of at least 0 that sum to 1")
    return given


def _told(numbers: Array) -> str:
    """(0.5, 0.5), or (0.2 each) where all are equal."""
    each = len(numbers) > 1 and np.ptp(numbers) == 0
    return f"({numbers[0]:.3g} each)" if each else f"({', '.join(f'{n:.3g}' for n in numbers)})"
