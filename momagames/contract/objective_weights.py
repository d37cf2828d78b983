"""Weights of objectives by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidParameter, invalid_value, nearest, one_of


def order_weights(weights: Any, names: Sequence[str], what: str = "weights") -> Any:
    """Return weights by the names of objectives as a list in their order, 0 where none is given; anything else as it is.

    what      name of the argument in errors
    Raises    InvalidParameter for a name that no objective has
    """
    if not isinstance(weights, Mapping):
        return weights
    for name in weights:
        if name not in names:
            raise InvalidParameter(f"{what} name the objective {name!r}; there are {one_of(names)}{nearest(name, names)}")
    return [weights.get(name, 0.0) for name in names]


def read_weights(given: Any, names: Sequence[str], owner: str, usual: Mapping[str, float] | None = None) -> NDArray[np.float64]:
    """Return weights in the order of the objectives or by their names, float64[K].

    owner     whose weights they are, for messages
    usual     weights in place of None and of an empty list; without it these raise
    Raises    InvalidParameter
    """
    if usual is not None and (given is None or (isinstance(given, list) and not given)):
        given = usual
    weights = order_weights(given, names, f"{owner}: weights")
    try:
        row = np.array(weights, np.float64)
    except (TypeError, ValueError, OverflowError):
        row = np.zeros(0)
    if row.shape != (len(names),) or not np.isfinite(row).all():
        expected = f"{len(names)} finite numbers, for {', '.join(names)}"
        raise InvalidParameter(f"{owner}: {invalid_value('weights', weights, expected)}")
    return row
