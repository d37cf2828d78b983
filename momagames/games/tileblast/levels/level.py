"""A level of MO-TileBlast as data that has been read (SPEC §2.1, §10), and how it gets into a state."""

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
class Thing:
    """A piece, and what covers its cell (§10.3).

    kind, color, cover   codes of the catalog; color 0 is none, and of a basic: left to chance
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
        """The cells that the piece fills."""
        return (anchor, anchor + 1, anchor + WIDTH, anchor + WIDTH + 1) if self.attributes & BIG else (anchor,)

    def units(self, goal: Goal) -> int:
        """§6.1 What the piece and its cover can give a goal."""
        covered = bool(self.cover) and goal.wants(UNIT_CAGE - 1 + self.cover, 0)
        if self.attributes & COUNTS:
            mine = (self.counters[goal.color - 1] if goal.color else self.hp) if goal.units >> self.kind & 1 else 0
        else:
            mine = goal.wants(self.kind, self.color) * (self.hp if self.attributes & PER_HIT else 1)
        return mine + covered


@dataclass(frozen=True)
class Goal:
    """What is to be collected (§6.1).

    units    bits of the things that give a unit, see catalog.UNITS
    color    1..6, or 0 for any
    amount   units, or state.ALL
    """

    name: str
    units: int
    color: int
    amount: int

    def wants(self, thing: int, color: int) -> bool:
        """Whether a thing (a kind, or a cover as UNIT_...) of a color gives a unit."""
        return bool(self.units >> thing & 1) and self.color in (0, color)


@dataclass(frozen=True)
class Feed:
    """Pieces that come in from above among the basics (§4.8)."""

    thing: Thing
    per_mille: int
    max_on_board: int
    total: int


@dataclass(frozen=True)
class Level:
    """A level that has been read.

    moves    the limit M
    colors   codes 1..6 that may be drawn, with their weights
    active   of each cell, whether it belongs to the board
    things   anchor -> what is there at the start, ascending
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
    things: dict[int, Thing]
    data: dict[str, Any] = field(repr=False)

    def all_kinds(self) -> Iterator[int]:
        """The kinds that are there at the start or may be fed."""
        yield from (thing.kind for thing in self.things.values())
        yield from (feed.thing.kind for feed in self.feeds)

    def held(self, goal: Goal) -> int:
        """Units that the board holds for a goal at the start; basics left to chance have no color yet."""
        return sum(thing.units(goal) for thing in self.things.values())

    def fed(self, goal: Goal) -> int:
        """Units that the feeds can bring for a goal."""
        return sum(feed.total * feed.thing.units(goal) for feed in self.feeds)


def fill(level: Level, blank: State) -> None:
    """Write a level into a state (§2.1): the fields of state.py under "the level"."""
    blank["limit"] = level.moves
    blank["active"] = level.active
    for cell in range(CELLS):
        below = (low for low in range(cell - WIDTH, -1, -WIDTH) if level.active[low])
        blank["below"][cell] = next(below, NOWHERE)
    for anchor, thing in level.things.items():
        for cell in thing.cells(anchor):
            blank["start_kind"][cell] = thing.kind
            blank["start_anchor"][cell] = anchor
        blank["start_hp"][anchor], blank["start_color"][anchor] = thing.hp, thing.color
        blank["start_cover"][anchor] = thing.cover
        blank["start_counters"][anchor] = sum(n << 4 * k for k, n in enumerate(thing.counters))
    blank["colors"] = len(level.colors)
    blank["palette"][: len(level.colors)] = level.colors
    blank["weights"][: len(level.colors)] = level.weights
    blank["goals"] = len(level.goals)
    for k, goal in enumerate(level.goals):
        blank["goal_units"][k], blank["goal_color"][k], blank["goal_amount"][k] = goal.units, goal.color, goal.amount
    blank["feeds"] = len(level.feeds)
    for k, feed in enumerate(level.feeds):
        blank["feed_kind"][k], blank["feed_hp"][k], blank["feed_color"][k] = feed.thing.kind, feed.thing.hp, feed.thing.color
        blank["feed_per_mille"][k], blank["feed_on_board"][k], blank["feed_total"][k] = (
            feed.per_mille,
            feed.max_on_board,
            feed.total,
        )


def goal_bounds(level: Level, valid_taps: int) -> tuple[int, ...]:
    """A_k of §5.1: the most units of each goal in a game of so many valid taps; 0 for goals that the level has not."""
    bounds = []
    for goal in level.goals:
        amount = goal.amount
        if amount == ALL:
            amount = level.held(goal) + level.fed(goal) + made(level, goal, valid_taps)
        bounds.append(amount)
    return tuple(bounds) + (0,) * (GOALS - len(bounds))


def made(level: Level, goal: Goal, valid_taps: int) -> int:
    """§5.1 The most weeds, bubbles and dandelions for a goal that can come up during a game."""
    kinds = set(level.all_kinds())
    most = 0
    if goal.wants(WEED, 0) and WEED in kinds:
        most += valid_taps
    if goal.wants(UNIT_BUBBLE, 0) and kinds & {SPRINKLER, BUCKET}:
        most += CELLS * valid_taps
    if goal.wants(DANDELION, 0) and DISPENSER in kinds:
        most += CELLS * valid_taps
    return most
