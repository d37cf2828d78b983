"""Entrants who met in pairs: a rating for each, and how far their results go round in circles.

wins    float[N, N], wins[i, j] of i against j; a tie is half a win for both. Who never met has 0 both ways

Ratings are in Elo's unit: 400 more means ten wins to one. A pair that met has half a win more each way (a prior of one
game), so that who won every game has a finite rating.
"""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import SEED, Interval
from momagames.errors import InvalidParameter

PRIOR = 0.5  # wins each way, for every pair that met
ELO = 400 / log(10)  # points for each unit of the logarithm of the odds
ROUNDS, ENOUGH = 2_000, 1e-4  # of the fit, and the change in points at which it ends


class Cycle(NamedTuple):
    """Three entrants of whom each does better against the next than ratings could say, and by how many points in all."""

    entrants: tuple[int, int, int]
    residual: float


def bradley_terry(wins: ArrayLike, anchor: int = 0) -> Array:
    """Ratings float[N] that make the wins most likely, with `anchor` at 0; wins float[..., N, N] give float[..., N].

    Raises     InvalidParameter if some never met, not even by way of others
    Source     Hunter, "MM algorithms for generalized Bradley-Terry models", Ann. Stat. 32, 2004
    """
    won = _checked(wins)
    games = won + won.swapaxes(-1, -2)
    total = won.sum(axis=-1)
    strength = np.ones(total.shape)
    for _ in range(ROUNDS):
        new = total / (games / (strength[..., :, None] + strength[..., None, :])).sum(axis=-1)
        new /= new[..., anchor, None]
        moved = np.abs(np.log(new / strength)).max() * ELO
        strength = new
        if moved < ENOUGH:
            break
    return np.asarray(ELO * np.log(strength))


def intervals(samples: ArrayLike, anchor: int = 0, confidence: float = 0.95, resamples: int = 1_000) -> list[Interval]:
    """Ratings with bootstrap intervals, from float[E, N, N]: wins in each of E episodes, which are drawn whole, because all
    pairs of an episode share their start."""
    given = np.asarray(samples, np.float64)
    if given.ndim != 3 or not len(given):
        raise InvalidParameter(f"samples have shape {given.shape}; needed: (1 or more, N, N)")
    if not 0 < confidence < 1 or resamples < 1:
        raise InvalidParameter(f"confidence={confidence}, resamples={resamples} are not possible; allowed: 0 to 1, 1 or more")
    often = np.random.default_rng(SEED).multinomial(len(given), np.full(len(given), 1 / len(given)), size=resamples)
    values = bradley_terry(given.sum(axis=0), anchor)
    drawn = bradley_terry(np.tensordot(often, given, axes=1), anchor)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return [
        Interval(value, least, most, len(given))
        for value, least, most in zip(values.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def largest_cycle(wins: ArrayLike) -> Cycle | None:
    """The three entrants, all of whom met each other, whose results go round in a circle the most; None if there are no
    three. Ratings see nothing of that: whatever they are, their differences round a circle sum to 0.

    Source: Jiang, Lim, Yao and Ye, "Statistical ranking and combinatorial Hodge theory", Math. Program. 127, 2011.
    """
    won = _checked(wins)
    met = won > 0
    odds = np.zeros(won.shape)
    odds[met] = ELO * np.log(won[met] / won.T[met])
    found = [
        (a, b, c) if odds[a, b] + odds[b, c] + odds[c, a] >= 0 else (a, c, b)
        for a, b, c in combinations(range(len(won)), 3)
        if met[a, b] and met[b, c] and met[a, c]
    ]
    cycles = [Cycle(three, float(sum(odds[three[k - 1], three[k]] for k in range(3)))) for three in found]
    return max(cycles, key=lambda cycle: cycle.residual, default=None)


def _checked(wins: ArrayLike) -> Array:
    """Wins with their prior, or InvalidParameter."""
    given = np.asarray(wins, np.float64)
    if given.ndim < 2 or given.shape[-1] != given.shape[-2] or not np.isfinite(given).all() or (given < 0).any():
        raise InvalidParameter(f"wins have shape {given.shape}; needed: (N, N), numbers of at least 0")
    met: NDArray[np.bool_] = np.asarray(given + given.swapaxes(-1, -2) > 0)
    if (given * np.eye(given.shape[-1])).any():
        raise InvalidParameter("an entrant has wins against itself")
    if not _connected(np.asarray(met.reshape(-1, *met.shape[-2:]).all(axis=0))):
        raise InvalidParameter("some entrants never met, not even by way of others: no rating compares them")
    return given + PRIOR * met


def _connected(met: NDArray[np.bool_]) -> bool:
    """Whether everybody can be reached from the first."""
    reached = np.zeros(len(met), np.bool_)
    reached[0] = True
    while (grown := reached | met[reached].any(axis=0)).sum() > reached.sum():
        reached = grown
    return bool(reached.all())
