"""Bradley-Terry ratings of players that met in pairs, and cycles in their results.

wins       float[N, N], wins[i, j] of player i against j. A pair that never met has 0 both ways
samples    float[E, N, N], wins in each of E independent units, which a bootstrap resamples whole: episodes, because all pairs
           of an episode share their start position, or seeds, where the policies of a seed share their training

In ratings a tie is half a win for both. In cycles it counts for neither: a player beats another one by what either wins.

Ratings use the Elo scale: a difference of 400 means odds of ten to one. A prior of half a win each way is added for every
pair that met, so that a player that won every game has a finite rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import ROUNDING, Array, as_array
from momagames.analysis.statistics import SEED, Interval, check_confidence
from momagames.errors import InvalidParameter, check_range

PRIOR = 0.5  # wins added each way for every pair that met
ELO_SCALE = 400 / log(10)  # points per unit of log odds
MAX_ITERATIONS, TOLERANCE = 2_000, 1e-4  # of the fit; the tolerance is in points


class Cycle(NamedTuple):
    """Three players, each of which beats the next, the last one the first; `shares`: those of the decided games won."""

    players: tuple[str, ...]
    shares: tuple[Interval, ...]


def bradley_terry(wins: ArrayLike, anchor: int = 0) -> Array:
    """Return the maximum-likelihood ratings, float[..., N, N] -> float[..., N], with the player `anchor` at 0.

    Raises     InvalidParameter if the players are not connected by matches
    Source     Hunter, "MM algorithms for generalized Bradley-Terry models", Ann. Stat. 32, 2004
    """
    won = _add_prior(wins)
    games = won + won.swapaxes(-1, -2)
    total = won.sum(axis=-1)
    strength = np.ones(total.shape)
    for _ in range(MAX_ITERATIONS):
        new = total / (games / (strength[..., :, None] + strength[..., None, :])).sum(axis=-1)
        new /= new[..., anchor, None]
        moved = np.abs(np.log(new / strength)).max() * ELO_SCALE
        strength = new
        if moved < TOLERANCE:
            break
    return np.asarray(ELO_SCALE * np.log(strength))


def rating_intervals(samples: ArrayLike, anchor: int = 0, confidence: float = 0.95, resamples: int = 1_000) -> list[Interval]:
    """Return ratings with bootstrap intervals; errors as of `bradley_terry`."""
    given = _check_samples(samples)
    values = bradley_terry(given.sum(axis=0), anchor)
    low, high = _find_bounds(bradley_terry(_resample(given, resamples), anchor), confidence)
    return [Interval(*bounds, len(given)) for bounds in zip(values.tolist(), low.tolist(), high.tolist(), strict=True)]


def find_clearest_cycle(
    players: Sequence[str], samples: ArrayLike, confidence: float = 0.95, resamples: int = 1_000
) -> Cycle | None:
    """Return the cycle of three of the N players whose lowest bound of a share is highest; None without a cycle.

    samples    without ties

    A player beats another one if it wins more than half of the games that either wins, and the bootstrap interval of this
    share is above one half; a single unit has no interval. Ratings cannot represent a cycle: whoever has the higher rating is
    expected to win more than half of the games.
    """
    given = _check_wins(_check_samples(samples))
    if len(given) == 1:
        return None
    values = _measure_shares(given.sum(axis=0))
    low, high = _find_bounds(_measure_shares(_resample(given, resamples)), confidence)

    def measure(order: tuple[int, ...]) -> tuple[Interval, ...]:
        pairs = zip(order, (*order[1:], order[0]), strict=True)
        return tuple(Interval(float(values[pair]), float(low[pair]), float(high[pair]), len(given)) for pair in pairs)

    beaten = low > 0.5 + ROUNDING  # the first player of the pair beats the second
    cycles = [
        Cycle(tuple(players[i] for i in (a, b, c)), measure((a, b, c)))
        for a, b, c in permutations(range(len(values)), 3)
        if a == min(a, b, c) and beaten[a, b] and beaten[b, c] and beaten[c, a]
    ]
    return max(cycles, key=lambda cycle: min(share.low for share in cycle.shares), default=None)


def _measure_shares(wins: Array) -> Array:
    """Return the shares of the games won, float[..., N, N]; one half for a pair without any."""
    games = wins + wins.swapaxes(-1, -2)
    return np.asarray(np.divide(wins, games, out=np.full(wins.shape, 0.5), where=games > 0))


def _resample(samples: Array, resamples: int) -> Array:
    """Return the sums of bootstrap samples of the units, float[B, N, N]."""
    check_range("resamples", resamples, 1)
    units = len(samples)
    counts = np.random.default_rng(SEED).multinomial(units, np.full(units, 1 / units), size=resamples)
    return np.tensordot(counts, samples, axes=1)


def _find_bounds(values: Array, confidence: float) -> tuple[Array, Array]:
    """Return the bounds of the percentile intervals of float[B, ...]."""
    check_confidence(confidence)
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return low, high


def _check_samples(samples: ArrayLike) -> Array:
    given = as_array("samples", samples)
    if given.ndim != 3 or not len(given):
        raise InvalidParameter(f"invalid samples of shape {given.shape}: expected (1 or more, N, N)")
    return given


def _check_wins(wins: ArrayLike) -> Array:
    """Return wins float[..., N, N]; InvalidParameter for another shape or values."""
    given = as_array("wins", wins)
    if given.ndim < 2 or given.shape[-1] != given.shape[-2] or not np.isfinite(given).all() or (given < 0).any():
        raise InvalidParameter(f"invalid wins of shape {given.shape}: expected (N, N), numbers of at least 0")
    if (given * np.eye(given.shape[-1])).any():
        raise InvalidParameter("invalid wins: a player has wins against itself")
    return given


def _add_prior(wins: ArrayLike) -> Array:
    """Return the wins with the prior added; InvalidParameter if no ratings exist for them."""
    given = _check_wins(wins)
    met: NDArray[np.bool_] = np.asarray(given + given.swapaxes(-1, -2) > 0)
    if not _is_connected(np.asarray(met.reshape(-1, *met.shape[-2:]).all(axis=0))):
        raise InvalidParameter("invalid wins: the players are not connected by matches, so that no rating compares them all")
    return given + PRIOR * met


def _is_connected(met: NDArray[np.bool_]) -> bool:
    """Return whether every player is connected to the first one."""
    reached = np.zeros(len(met), np.bool_)
    reached[0] = True
    while (grown := reached | met[reached].any(axis=0)).sum() > reached.sum():
        reached = grown
    return bool(reached.all())
