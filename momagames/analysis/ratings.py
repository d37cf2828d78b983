"""Bradley-Terry ratings of players that met in pairs, and cycles in their results.

wins    float[N, N], wins[i, j] of player i against j; a tie is half a win for both. A pair that never met has 0 both ways

Ratings use the Elo scale: a difference of 400 means odds of ten to one. A prior of half a win each way is added for every
pair that met, so that a player that won every game has a finite rating.
"""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, as_array
from momagames.analysis.statistics import SEED, Interval, check_confidence
from momagames.errors import InvalidParameter, check_range

PRIOR = 0.5  # wins added each way for every pair that met
ELO_SCALE = 400 / log(10)  # points per unit of log odds
MAX_ITERATIONS, TOLERANCE = 2_000, 1e-4  # of the fit; the tolerance is in points
TIE = 1e-9  # shares of games that differ from one half by less are ties: sums of shares have rounding errors


class Cycle(NamedTuple):
    """Three players, each of which wins more than half of its games against the next; `win_rate`: the least of these shares."""

    players: tuple[int, int, int]
    win_rate: float


def bradley_terry(wins: ArrayLike, anchor: int = 0) -> Array:
    """Return the maximum-likelihood ratings, float[..., N, N] -> float[..., N], with the player `anchor` at 0.

    Raises     InvalidParameter if the players are not connected by matches
    Source     Hunter, "MM algorithms for generalized Bradley-Terry models", Ann. Stat. 32, 2004
    """
    won = _check_wins(wins)
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
    """Return ratings with bootstrap intervals.

    samples    float[E, N, N], wins in each of E independent units, which are resampled whole: episodes, because all pairs of an
               episode share their start position, or seeds, where the policies of a seed share their training
    """
    given = as_array("samples", samples)
    if given.ndim != 3 or not len(given):
        raise InvalidParameter(f"invalid samples of shape {given.shape}: expected (1 or more, N, N)")
    check_confidence(confidence)
    check_range("resamples", resamples, 1)
    counts = np.random.default_rng(SEED).multinomial(len(given), np.full(len(given), 1 / len(given)), size=resamples)
    values = bradley_terry(given.sum(axis=0), anchor)
    resampled = bradley_terry(np.tensordot(counts, given, axes=1), anchor)
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return [
        Interval(value, least, most, len(given))
        for value, least, most in zip(values.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def find_clearest_cycle(wins: ArrayLike) -> Cycle | None:
    """Return the cycle of three players with the highest `win_rate`; None without a cycle.

    Who wins exactly half of the games does not beat the other, so that there is no cycle with a tie, and none with a pair that
    never met. Ratings cannot represent a cycle: whoever has the higher rating is expected to win more than half of the games.
    """
    given = as_array("wins", wins)
    _check_wins(given)
    games = given + given.T
    rates = np.divide(given, games, out=np.full(given.shape, 0.5), where=games > 0)
    triples = (order for a, b, c in combinations(range(len(rates)), 3) for order in ((a, b, c), (a, c, b)))
    cycles = [Cycle((a, b, c), float(min(rates[a, b], rates[b, c], rates[c, a]))) for a, b, c in triples]
    return max((one for one in cycles if one.win_rate > 0.5 + TIE), key=lambda cycle: cycle.win_rate, default=None)


def _check_wins(wins: ArrayLike) -> Array:
    """Return the wins with the prior added; InvalidParameter if no ratings exist for them."""
    given = as_array("wins", wins)
    if given.ndim < 2 or given.shape[-1] != given.shape[-2] or not np.isfinite(given).all() or (given < 0).any():
        raise InvalidParameter(f"invalid wins of shape {given.shape}: expected (N, N), numbers of at least 0")
    met: NDArray[np.bool_] = np.asarray(given + given.swapaxes(-1, -2) > 0)
    if (given * np.eye(given.shape[-1])).any():
        raise InvalidParameter("invalid wins: a player has wins against itself")
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
