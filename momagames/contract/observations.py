"""Fields of an observation: views of the bytes that a game writes."""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize

    def view(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Return a view of this field in a buffer of observations.

        rows     uint8[..., nbytes], the bytes of this field
        Returns  dtype[..., *shape]
        """
        lead = rows.shape[:-1]
        order = self.order or tuple(range(len(self.shape)))
        memory = rows.view(self.dtype).reshape(lead + tuple(self.shape[axis] for axis in order))
        back = tuple(len(lead) + int(axis) for axis in np.argsort(order))
        return memory.transpose(tuple(range(len(lead))) + back)
