"""Fields of an observation: views of the bytes that a game writes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Field:
    """One field of an observation.

    shape   shape of the array
    order   axes of `shape` in the order of memory (outermost first); None: the same order
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    low: float
    high: float
    order: tuple[int, ...] | None = None

    @cached_property
    def nbytes(self) -> int:
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    @cached_property
    def _memory_layout(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shape in memory, and the place of each axis of `shape` in it."""
        order = self.order or tuple(range(len(self.shape)))
        return tuple(self.shape[axis] for axis in order), tuple(order.index(axis) for axis in range(len(order)))

    def view(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Return a view of this field in a buffer of observations.

        rows     uint8[..., nbytes], the bytes of this field
        Returns  dtype[..., *shape]
        """
        lead, (shape, places) = rows.shape[:-1], self._memory_layout
        memory = rows.view(self.dtype).reshape(lead + shape)
        if self.order is None:
            return memory
        return memory.transpose(*range(len(lead)), *(len(lead) + place for place in places))
