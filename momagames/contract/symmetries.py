"""Symmetries of the rules, as learners use them: of a board, and of the egocentric view of an agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # rows and columns of up, down, left and right


@dataclass(frozen=True)
class Symmetry:
    """A symmetry of the rules: a position and its image have the same legal actions, rewards and futures, renamed.

    cells      permutation of the cells: cell i of the image has the code of cell `cells[i]`
    actions    permutation of the actions: action a of the position is action `actions[a]` of the image
    """

    cells: tuple[int, ...]
    actions: tuple[int, ...]


@dataclass(frozen=True)
class ViewSymmetry:
    """A symmetry of the rules, as an agent sees it in its egocentric view.

    sources    permutation of the numbers of the view: number i of the image is signs[i] * (number sources[i]) + offsets[i]
    signs      1 or -1 for each number
    offsets    of each number
    actions    permutation of the mask within each part: action a of the position is action `actions[a]` of the image
    """

    sources: tuple[int, ...]
    signs: tuple[float, ...]
    offsets: tuple[float, ...]
    actions: tuple[int, ...]


def make_square_symmetries(
    radius: int,
    planes: Sequence[str],
    scalars: Sequence[str],
    mask_size: int,
    moves: Sequence[int],
    directions: Sequence[Sequence[str]] = (),
    vectors: Sequence[tuple[str, str]] = (),
    positions: Sequence[tuple[str, str, float]] = (),
) -> tuple[ViewSymmetry, ...]:
    """Return the rotations and reflections of the square, without the identity, for an egocentric view of these names.

    mask_size     places of the mask
    moves         places of the moves up, down, left and right; all other actions have no direction
    directions    scalars of up, down, left and right, four by four
    vectors       planes or scalars of the rows down and the columns to the right, two by two
    positions     scalars of a row and a column of the board, and their largest value
    """
    cells = (2 * radius + 1) ** 2
    places = {name: i * cells for i, name in enumerate(planes)}
    places |= {name: len(planes) * cells + i for i, name in enumerate(scalars)}

    def make_symmetry(turn: NDArray[np.int64]) -> ViewSymmetry:
        size = len(planes) * cells + len(scalars)
        sources, signs, offsets, actions = np.arange(size), np.ones(size), np.zeros(size), np.arange(mask_size)
        order = _turn_cells(turn, radius)
        for i in range(len(planes)):
            sources[i * cells : (i + 1) * cells] = i * cells + order
        for i, direction in enumerate(DIRECTIONS):
            image = DIRECTIONS.index(tuple((turn @ direction).tolist()))
            actions[moves[i]] = moves[image]
            for names in directions:
                sources[places[names[image]]] = places[names[i]]
        for names, high in [(names, 0.0) for names in vectors] + [(names, high) for *names, high in positions]:
            starts = [places[name] for name in names]
            for axis, source in enumerate(np.abs(turn).argmax(axis=1)):
                width = cells if names[axis] in planes else 1
                block, sign = slice(starts[axis], starts[axis] + width), turn[axis, source]
                sources[block] += starts[source] - starts[axis]
                signs[block], offsets[block] = sign, high if sign < 0 else 0.0
        numbers = tuple(sources.tolist()), tuple(signs.tolist()), tuple(offsets.tolist())
        return ViewSymmetry(*numbers, tuple(actions.tolist()))

    return tuple(make_symmetry(turn) for turn in _list_turns())


def _list_turns() -> Iterator[NDArray[np.int64]]:
    """Yield the rotations and reflections of a vector (rows, columns) as matrices int64[2, 2], without the identity."""
    for is_swapped in (False, True):
        for signs in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            if is_swapped or signs != (1, 1):
                yield np.diag(signs)[:, ::-1] if is_swapped else np.diag(signs)


def _turn_cells(turn: NDArray[np.int64], radius: int) -> NDArray[np.int64]:
    """Return for each cell of a turned plane the cell that it shows, int64[side * side]."""
    side = 2 * radius + 1
    offsets = np.stack(np.divmod(np.arange(side * side), side)) - radius
    rows, columns = turn.T @ offsets + radius  # the inverse of an orthogonal matrix is its transpose
    order: NDArray[np.int64] = rows * side + columns
    return order
