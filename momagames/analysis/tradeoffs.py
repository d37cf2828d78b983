"""Whether a front is a trade-off: whether one policy, few policies or simple policies are enough.

Returns are scaled by the front itself: the best value of an objective in it is 1, the worst one (the nadir point) 0. The
reference point of hypervolumes is MARGIN below the nadir point in each objective, so that extreme points count and points far
below the front do not (Ishibuchi et al., "How to specify a reference point in hypervolume calculation for fair performance
comparison", Evolutionary Computation 26, 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import ROUNDING, Array, as_points, filter_dominated, normalize
from momagames.analysis.indicators import hypervolume
from momagames.analysis.reference import MARGIN, find_ends
from momagames.errors import InvalidParameter

GRID = 0.02  # points that are equal after rounding to this count once
MIN_POINTS = 12
MIN_LOSS = 0.3
MAX_SIMPLE_SHARE = 0.5
MAX_SINGLE_SHARE = 0.65, 0.6  # with two objectives, where a straight front has 0.51; with more


@dataclass(frozen=True)
class Tradeoffs:
    """What a front of K objectives shows.

    single_share    hypervolume of the best single point, as a share of that of the front
    points          number of points after rounding to GRID
    losses          for each objective: by how much of the range the best point for it is below the best value of another one,
                    at most; 0 for an objective in which all points are equal. With two objectives it is 1 otherwise
    simple_share    hypervolume of simple policies, as a share of that of the front; None: not known
    untrained_share    the same of all policies without training, with those that look ahead, which is not judged
    """

    single_share: float
    points: int
    losses: tuple[float, ...]
    simple_share: float | None
    untrained_share: float | None

    @property
    def max_single_share(self) -> float:
        return MAX_SINGLE_SHARE[len(self.losses) > 2]

    def list_failures(self) -> list[str]:
        """Return what a setting with this front lacks, each as a phrase; empty: one policy is not enough in it."""
        checks = [
            ("one policy is enough", self.single_share > self.max_single_share),
            ("few points", self.points < MIN_POINTS),
            ("an extreme costs little", min(self.losses) < MIN_LOSS),
            ("simple policies are enough", self.simple_share is not None and self.simple_share > MAX_SIMPLE_SHARE),
        ]
        return [text for text, is_lacking in checks if is_lacking]


def measure_tradeoffs(front: ArrayLike, simple: ArrayLike | None = None, ahead: ArrayLike | None = None) -> Tradeoffs:
    """Return what a front float[n, K] with two objectives or more shows.

    simple    mean returns of simple policies, float[m, K]; None: not known
    ahead     those of other policies without training, which look ahead, float[m, K]; None: there are none

    Raises InvalidParameter for a front without points, or with fewer than two objectives.
    """
    points = filter_dominated(as_points("front", front, min_rows=1))
    objectives = points.shape[1]
    if objectives < 2:
        raise InvalidParameter(f"invalid shape {points.shape} of front: expected two objectives or more")
    ends = find_ends(points)
    scaled, ref = normalize(points, *ends), np.full(objectives, -MARGIN)
    whole = hypervolume(scaled, ref)

    def measure_share(**returns: ArrayLike | None) -> float | None:
        known = [as_points(name, values, objectives) for name, values in returns.items() if values is not None]
        return hypervolume(normalize(np.concatenate(known), *ends), ref).share_of(whole).value if known else None

    return Tradeoffs(
        single_share=float((scaled + MARGIN).prod(axis=1).max()) / whole.value,
        points=len(np.unique(np.rint(scaled / GRID), axis=0)),
        losses=tuple(_lose_elsewhere(scaled, objective) for objective in range(objectives)),
        simple_share=measure_share(simple=simple),
        untrained_share=measure_share(simple=simple, ahead=ahead),
    )


def _lose_elsewhere(scaled: Array, objective: int) -> float:
    """Return by how much the best points for an objective fall short of the best value of another one, at least."""
    values = scaled[:, objective]
    if not np.ptp(values):
        return 0.0
    best = np.delete(scaled[values >= values.max() - ROUNDING], objective, axis=1)
    others = np.delete(scaled, objective, axis=1).max(axis=0)
    return float((others - best).max(axis=1).min())
