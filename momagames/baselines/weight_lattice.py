"""Weight vectors of the objectives: the simplex lattice, validation and formatting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import count
from math import comb

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.contract.objective_weights import order_weights, read_weights
from momagames.errors import InvalidParameter, check_range, invalid_value

Weights = Sequence[float] | Mapping[str, float]  # in the order of the objectives, or by their names
MAX_POINTS = 1_000_000
MAX_POLICIES = 1 << 16  # of a method with a policy for each weight vector
LATTICE, LATTICE_SIZE = "lattice", 21  # instead of weights, for a policy for each of at least so many vectors


def simplex_lattice(objectives: int, divisions: int, most: int = MAX_POINTS) -> NDArray[np.float64]:
    """Return all weight vectors whose entries are multiples of 1 / divisions and sum to 1, float64[n, K], descending.

    n is C(divisions + K - 1, K - 1). Raises InvalidParameter if it is above `most`.

    Source: Scheffé, "Experiments with mixtures", J. R. Stat. Soc. B 20, 1958.
    """
    check_range("objectives", objectives, 1, whole=True)
    check_range("divisions", divisions, 1, whole=True)
    if divisions > MAX_POINTS:  # before numbers of thousands of digits
        raise InvalidParameter(invalid_value("divisions", divisions, f"at most {MAX_POINTS:,}"))
    count = comb(divisions + objectives - 1, objectives - 1)
    if count > most:
        raise InvalidParameter(
            f"invalid divisions={divisions}: {count:,} weights for {objectives} objectives, expected at most {most:,}"
        )
    return list_compositions(divisions, objectives) / divisions


def list_usual_weights(objectives: int) -> NDArray[np.float64]:
    """Return the smallest simplex lattice of at least `LATTICE_SIZE` weight vectors, float64[n, K]; [[1]] for K = 1."""
    divisions = next(n for n in count(1) if comb(n + objectives - 1, n) >= LATTICE_SIZE or objectives == 1)
    return simplex_lattice(objectives, divisions)


def list_compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Return all ways to write a number as an ordered sum of `parts` numbers from 0, int64[n, parts], descending."""
    rows = np.zeros((1, 0), np.int64)
    remaining = np.array([total])
    for _ in range(parts - 1):  # extend each row by every possible entry, largest first
        repeats = remaining + 1
        parent = np.repeat(np.arange(len(rows)), repeats)
        rank = np.arange(len(parent)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        entry = remaining[parent] - rank
        rows = np.column_stack([rows[parent], entry])
        remaining = remaining[parent] - entry
    return np.column_stack([rows, remaining])


def check_lattice_size(name: str, game: Game, divisions: int, most: int, noun: str = "policies") -> None:
    """Raise InvalidParameter if a method would have more than `most` policies, one for each weight vector of the lattice."""
    count = len(simplex_lattice(len(game.objectives), divisions))
    if count > most:
        raise InvalidParameter(
            f"{name}: invalid divisions={divisions} for {game.id}: {count:,} {noun}, expected at most {most:,}"
        )


def resolve_weights(name: str, game: Game, weights: Weights | None) -> NDArray[np.float64]:
    """Return the weights of the objectives for the policy `name`, float64[K]; None: all equal. Raises InvalidParameter."""
    names = [objective.name for objective in game.objectives]
    ordered = order_weights(weights, names, f"{name}: weights")
    is_list = isinstance(ordered, Sized) and getattr(ordered, "ndim", 1) > 0
    if ordered is None or (is_list and not len(ordered)):
        return np.full(len(names), 1 / len(names))
    return read_weights(ordered, names, name)


def resolve_shares(name: str, game: Game, weights: Weights | None) -> NDArray[np.float64]:
    """Return the weights as shares of their sum, as trained policies know them, float64[K]; None: all equal.

    Raises InvalidParameter, also for negative weights and for zeros alone.
    """
    row = resolve_weights(name, game, weights)
    if row.min() < 0 or not row.any():
        raise InvalidParameter(f"{name}: invalid weights={weights!r}: expected non-negative numbers, not all 0")
    shares: NDArray[np.float64] = row / row.sum()
    return shares


def format_weights(weights: Iterable[float]) -> str:
    """Return a short name of a weight vector, such as 'w=(0.5, 0.5, 0)'."""
    return f"w=({', '.join(f'{w:.3g}' for w in weights)})"
