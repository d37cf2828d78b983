"""Copies of states. A state contains its random state: a copy has the same random future until it is reseeded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import check_range
from momagames.kernels.rng import random_words


def copy_state(state: Any, count: int, seed: int | None = None) -> NDArray[Any]:
    """Return `count` copies of one state (a record, or record[1]).

    seed      reseed each copy independently; None: all have the random future of the original
    Returns   record[count]
    """
    check_range("count", count, 1)
    out = np.repeat(np.asarray(state).reshape(1), count)
    if seed is not None:
        reseed(out, seed)
    return out


def select_states(states: NDArray[Any], chosen: Any) -> NDArray[Any]:
    """Return copies of the selected states, random states included: record[...] from integers, a bool mask or a slice."""
    return np.atleast_1d(states[chosen]).copy()


def reseed(states: NDArray[Any], seed: int) -> None:
    """Set the random states of record[N] in place, drawn from `seed`, so that their futures are independent."""
    states["rng"] = random_words(seed, len(states))
