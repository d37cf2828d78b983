"""A parsed level of MO-TileBlast (SPEC §2.1, §10), and its fields in a state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from momagames.contract import State
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BIG,
    CODES,
    COUNTS,
    DANDELION,
    PER_HIT,
    UNIT_BUBBLE,
    UNIT_CAGE,
    WEED,
)
from momagames.games.tileblast.rules.state import ALL, CELLS, GOALS, NOWHERE, WIDTH

SPRINKLER, DISPENSER, BUCKET = CODES["sprinkler"], CODES["dispenser"], CODES["bucket"]
NO_COUNTERS = (0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Piece:
    """A piece, and the cover of its cell (§10.3).

    kind, color, cover   codes of rules/pieces.py; color 0 is none, and of a basic: random
    counters             hit points by color, of kinds that count by color
    """

    kind: int
    hp: int
    color: int = 0
    cover: int = 0
    counters: tuple[int, ...] = NO_COUNTERS

    @property
    def attributes(self) -> int:
        return int(ATTRIBUTES[self.kind])

    def cells(self, anchor: int) -> tuple[int, ...]:
        """Return the cells that the piece fills."""
        return (anchor, anchor + 1, anchor + WIDTH, anchor + WIDTH + 1) if self.attributes & BIG else (anchor,)

    def units(self, goal: Goal) -> int:
        """§6.1 Return the units that the piece and its cover can give a goal."""
        covered = bool(self.cover) and goal.collects(UNIT_CAGE - 1 + self.cover, 0)
        if self.attributes & COUNTS:
            mine = (self.counters[goal.color - 1] if goal.color else self.hp) if goal.units >> self.kind & 1 else 0
        else:
            mine = goal.collects(self.kind, self.color) * (self.hp if self.attributes & PER_HIT else 1)
        return mine + covered


@dataclass(frozen=True)
class Goal:
    """Units to collect (§6.1).

    units    bits of the kinds and covers that give a unit, see UNITS of rules/pieces.py
    color    1..6, or 0 for any
    amount   units, or state.ALL
    """

    name: str
    units: int
    color: int
    amount: int

    def collects(self, unit: int, color: int) -> bool:
        """Return whether a kind, or a cover as UNIT_..., of a color gives a unit."""
        return bool(self.units >> unit & 1) and self.color in (0, color)


@dataclass(frozen=True)
class Feed:
    """Pieces that come in from above among the basics (§4.8)."""

    piece: Piece
    per_mille: int
    max_on_board: int
    total: int


@dataclass(frozen=True)
class Level:
    """A parsed level.

    moves    the limit M
    colors   codes 1..6 of the colors that are drawn, with their weights
    active   of each cell, whether it belongs to the board
    pieces   anchor -> piece at the start, ascending
    data     the level with the keys of §10, as plain data
    """

    id: int
    title: str
    moves: int
    colors: tuple[int, ...]
    weights: tuple[int, ...]
    goals: tuple[Goal, ...]
    feeds: tuple[Feed, ...]
    active: tuple[bool, ...]
    pieces: dict[int, Piece]
    data: dict[str, Any] = field(repr=False)

    def all_kinds(self) -> Iterator[int]:
        """Yield the kinds of the start position and of the feeds."""
        yield from (piece.kind for piece in self.pieces.values())
        yield from (feed.piece.kind for feed in self.feeds)

    def start_units(self, goal: Goal) -> int:
        """Return the units that the start position holds for a goal; random basics have no color yet."""
        return sum(piece.units(goal) for piece in self.pieces.values())

    def feed_units(self, goal: Goal) -> int:
        """Return the units that the feeds can bring for a goal."""
        return sum(feed.total * feed.piece.units(goal) for feed in self.feeds)


def write_level(level: Level, state: State) -> None:
    """Write a level into a state (§2.1): the fields of state.py under "the level"."""
    state["limit"] = level.moves
    state["active"] = level.active
    for cell in range(CELLS):
        below = (low for low in range(cell - WIDTH, -1, -WIDTH) if level.active[low])
        state["below"][cell] = next(below, NOWHERE)
    for anchor, piece in level.pieces.items():
        for cell in piece.cells(anchor):
            state["start_kind"][cell] = piece.kind
            state["start_anchor"][cell] = anchor
        state["start_hp"][anchor], state["start_color"][anchor] = piece.hp, piece.color
        state["start_cover"][anchor] = piece.cover
        state["start_counters"][anchor] = sum(n << 4 * k for k, n in enumerate(piece.counters))
    state["colors"] = len(level.colors)
    state["palette"][: len(level.colors)] = level.colors
    state["weights"][: len(level.colors)] = level.weights
    state["goals"] = len(level.goals)
    for k, goal in enumerate(level.goals):
        state["goal_units"][k], state["goal_color"][k], state["goal_amount"][k] = goal.units, goal.color, goal.amount
    state["feeds"] = len(level.feeds)
    for k, feed in enumerate(level.feeds):
        state["feed_kind"][k], state["feed_hp"][k], state["feed_color"][k] = feed.piece.kind, feed.piece.hp, feed.piece.color
        state["feed_per_mille"][k], state["feed_on_board"][k], state["feed_total"][k] = (
            feed.per_mille,
            feed.max_on_board,
            feed.total,
        )


def goal_bounds(level: Level, valid_taps: int) -> tuple[int, ...]:
    """§5.1 Return A_k: the most units of each goal in a game of this many valid taps; 0 for missing goals."""
    bounds = []
    for goal in level.goals:
        amount = goal.amount
        if amount == ALL:
            amount = level.start_units(goal) + level.feed_units(goal) + max_spawned_units(level, goal, valid_taps)
        bounds.append(amount)
    return tuple(bounds) + (0,) * (GOALS - len(bounds))


def max_spawned_units(level: Level, goal: Goal, valid_taps: int) -> int:
    """§5.1 Return the most weeds, bubbles and dandelions for a goal that can appear during a game."""
    kinds = set(level.all_kinds())
    most = 0
    if goal.collects(WEED, 0) and WEED in kinds:
        most += valid_taps
    if goal.collects(UNIT_BUBBLE, 0) and kinds & {SPRINKLER, BUCKET}:
        most += CELLS * valid_taps
    if goal.collects(DANDELION, 0) and DISPENSER in kinds:
        most += CELLS * valid_taps
    return most
