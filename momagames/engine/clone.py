"""Copies of states. A state holds its own generator word: a copy has the same luck ahead of it, until it is reseeded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import check_range
from momagames.kernels.rng import random_words


def copy_state(state: Any, count: int, seed: int | None = None) -> NDArray[Any]:
    """`count` copies of one state (a record, or record[1]).

    seed      gives each copy a future of its own; without it all have the luck of the original
    Returns   record[count]
    """
    check_range("count", count, 1)
    out = np.repeat(np.asarray(state).reshape(1), count)
    if seed is not None:
        reseed(out, seed)
    return out


def select_states(states: NDArray[Any], chosen: Any) -> NDArray[Any]:
    """Copies of the chosen states, with their luck: record[...] from whole numbers, a bool mask or a slice."""
    return np.atleast_1d(states[chosen]).copy()


def reseed(states: NDArray[Any], seed: int) -> None:
    """Give each of the states, record[N], a generator word of its own, drawn from `seed`: independent futures, in place."""
    states["rng"] = random_words(seed, len(states))
