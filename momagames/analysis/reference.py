"""Reference fronts: what the points of a run are measured against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from momagames.analysis import indicators
from momagames.analysis.arrays import Array, normalize
from momagames.analysis.indicators import Volume

MARGIN = 0.1  # of the range of a front, by which its reference point is below its nadir point


def find_ends(front: Array) -> tuple[Array, Array]:
    """Return the nadir and the ideal point of a front float[n, K], float64[K] each; see `widen`."""
    low = front.min(axis=0)
    return low, widen(low, front.max(axis=0))


def widen(low: Array, high: Array) -> Array:
    """Return the upper ends of ranges; one above the lower end for an objective without a range, which has no scale."""
    return np.where(high > low, high, low + 1)


@dataclass(frozen=True)
class Reference:
    """The reference front of a seed and its normalization.

    tag      "exact" (proven) or "best known" (the union of all methods here, and of the archived runs behind a front of the
             package), with the name of the set in brackets if it is that of a set of the suite
    ref      the reference point, moved outwards by the margin
    ideal    the ideal point
    methods  whose policies are on a best-known front of a set, as this set says; empty: not known
    declared    these two points by the bounds that the game declares, where the others are those of the front; None: no others
    """

    values: Array
    tag: str
    ref: Array
    ideal: Array
    declared: tuple[Array, Array] | None = None
    methods: tuple[str, ...] = ()

    @cached_property
    def volume(self) -> Volume:
        """The hypervolume of the front, which takes long with many points."""
        return self.measure(self.values)

    def measure(self, values: Array) -> Volume:
        """Return the hypervolume of a front, which two indicators need."""
        key = values.tobytes()
        if key not in self._volumes:
            self._volumes[key] = indicators.hypervolume(values, self.ref)
        return self._volumes[key]

    @cached_property
    def _volumes(self) -> dict[bytes, Volume]:
        return {}

    def normalize(self, values: Array) -> Array:
        """Scale returns float[..., K] so that `ref` is 0 and `ideal` is 1."""
        return normalize(values.reshape(-1, values.shape[-1]), self.ref, self.ideal).reshape(values.shape)
