"""Objectives: the coordinates of the reward vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from momagames.errors import InvalidParameter, invalid_value, nearest, one_of


@dataclass(frozen=True)
class Objective:
    """One coordinate of the reward vector.

    low, high                 bounds of the reward of one step
    return_low, return_high   bounds of the return of an episode
    source                    section of SPEC.md that defines it
    zero_sum                  whether the gain of one agent is the loss of the others
    """

    name: str
    unit: str
    low: float
    high: float
    return_low: float
    return_high: float
    source: str
    zero_sum: bool = False


def check_objectives(game: str, names: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the selected objectives: of a sequence, of a single name, or none for None.

    Raises InvalidParameter
    """
    if names is None:
        return ()
    what, expected = f"{game}: objectives", f"None, or a selection of {one_of(known)}"
    if not isinstance(names, (str, list, tuple)):
        raise InvalidParameter(invalid_value(what, names, expected))
    chosen = (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        if name not in known:
            raise InvalidParameter(invalid_value(what, name, one_of(known), nearest(name, known)))
    if not chosen or len(set(chosen)) != len(chosen):
        raise InvalidParameter(invalid_value(what, chosen, f"at least one objective, each once, of {one_of(known)}"))
    return chosen
