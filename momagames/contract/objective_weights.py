"""Weights of objectives by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from momagames.errors import InvalidParameter, nearest, one_of


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
