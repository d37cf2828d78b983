"""Observations of all agents of a simultaneous game as vectors of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.kernels.jit import compile_entry_point


def _read_places(rows: Any, places: Any, flat: Any, first: int) -> None:
    """Copy the columns `places` of rows[V, B] to flat, float32[V, F], from `first` on."""
    for row in range(rows.shape[0]):
        for i in range(places.shape[0]):
            flat[row, first + i] = rows[row, places[i]]


read_places = compile_entry_point(_read_places, "observations.read_places", nogil=False)


class FlatRows:
    """Flat observations of all agents of a simultaneous game at once, read from the bytes of its observations.

    Where an agent sees many small arrays, joining them one by one takes longer than a step.
    """

    def __init__(self, game: Game, fields: Iterable[str]) -> None:
        row = np.zeros(game.observation_bytes, np.uint8)
        views = game.observation_views(row)
        runs: list[tuple[Any, list[NDArray[np.int64]]]] = []  # types, and the places of fields of one type, in numbers of it
        for view in (views[name] for name in fields):
            start = (view.__array_interface__["data"][0] - row.__array_interface__["data"][0]) // view.itemsize
            places = np.full(view.shape, start)
            for index, stride in zip(np.indices(view.shape), view.strides, strict=True):
                places += index * (stride // view.itemsize)
            if not runs or runs[-1][0] != view.dtype:
                runs.append((view.dtype, []))
            runs[-1][1].append(places.ravel())
        self._takes = [(dtype, np.concatenate(places)) for dtype, places in runs]
        self._size = sum(len(places) for _, places in self._takes)

    def flatten(self, rows: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the flat observations of all agents, float32[V, F], from their bytes uint8[V, B]."""
        flat, first = np.empty((len(rows), self._size), np.float32), 0
        for dtype, places in self._takes:
            read_places(rows.view(dtype), places, flat, first)
            first += len(places)
        return flat
