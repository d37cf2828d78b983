"""Symmetries of the rules on a board, as learners use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Symmetry:
    """A symmetry of the rules: a position and its image have the same legal actions, rewards and futures, renamed.

    cells      permutation of the cells: cell i of the image has the code of cell `cells[i]`
    actions    permutation of the actions: action a of the position is action `actions[a]` of the image
    """

    cells: tuple[int, ...]
    actions: tuple[int, ...]
