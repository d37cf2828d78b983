"""The linter of MO-TileBlast's levels (SPEC §10.5): what a level that reads well can still have wrong."""

from __future__ import annotations

from collections.abc import Iterator

from momagames.games.tileblast.levels.level import BUCKET, SPRINKLER, Goal, Level, Thing, made
from momagames.games.tileblast.levels.problem import Problem, cell_path
from momagames.games.tileblast.rules.pieces import BASIC, BEEHIVE, BIG, CAGE, CODES, DROP, KINDS, LASTS, POWER, UNIT_BUBBLE
from momagames.games.tileblast.rules.state import ALL, CELLS, WIDTH

BUTTERFLY = CODES["butterfly"]
AROUND = 9  # cells that get a bubble from a bucket
# What a goal may not want all of
ENDLESS = 1 << BASIC | 1 << BEEHIVE | sum(1 << code for code, kind in enumerate(KINDS) if kind.attributes & POWER)


def lint(level: Level) -> list[Problem]:
    """All that is wrong, in the order of the file."""
    return [*goals(level), *drops(level)]


def goals(level: Level) -> Iterator[Problem]:
    """Goals that nobody could reach, and such of `all` that mean nothing."""
    for k, goal in enumerate(level.goals):
        at = ("goals", k, "amount")
        if goal.amount != ALL:
            most = capacity(level, goal)
            if goal.amount > most:
                yield Problem(at, f"{goal.amount} of {goal.name!r} is not possible; the level holds, makes and feeds {most}")
        elif goal.units & ENDLESS:
            yield Problem(at, f"'all' is not possible for {goal.name!r}, of which there is no end; needed: a whole number")
        elif not level.held(goal):
            yield Problem(at, f"'all' is not possible for {goal.name!r}, of which there is none at the start")


def capacity(level: Level, goal: Goal) -> int:
    """No fewer units than a level can have for a goal within its limit of moves."""
    most = level.held(goal) + level.fed(goal)
    if endless(level, goal):
        return most + CELLS * level.moves
    pieces = [*((thing, 1) for thing in level.things.values()), *((feed.thing, feed.total) for feed in level.feeds)]
    if goal.wants(UNIT_BUBBLE, 0) and SPRINKLER not in level.all_kinds():
        return most + AROUND * sum(count for thing, count in pieces if thing.kind == BUCKET)
    if goal.units == 1 << BUTTERFLY and goal.color in level.colors:
        return sum(count for thing, count in pieces if thing.kind == BUTTERFLY)
    return most + made(level, goal, level.moves)


def endless(level: Level, goal: Goal) -> bool:
    """Whether every tap may bring units: basics and power pieces, hits of beehives."""
    if goal.units & 1 << BEEHIVE:
        return BEEHIVE in level.all_kinds()
    return bool(goal.units & ENDLESS) and (goal.color == 0 or goal.color in level.colors)


def drops(level: Level) -> Iterator[Problem]:
    """Drops that are out at once, and seedboxes that never get out."""
    for anchor, thing in level.things.items():
        if not thing.attributes & DROP:
            continue
        columns = [at for at in thing.cells(anchor) if at < anchor + WIDTH]
        if thing.cover != CAGE and not any(beneath(level, at) for at in columns):
            yield Problem(
                cell_path(anchor), f"{KINDS[thing.kind].name!r} is on an exit at the start; needed: an active cell below"
            )
        elif thing.attributes & BIG and (why := blocked(level, anchor)):
            yield Problem(cell_path(anchor), f"{KINDS[thing.kind].name!r} can never leave: {why}")


def beneath(level: Level, cell: int) -> list[int]:
    """The active cells below a cell in its column, the highest first."""
    return [low for low in range(cell - WIDTH, -1, -WIDTH) if level.active[low]]


def blocked(level: Level, anchor: int) -> str:
    """What keeps a piece of size 2 from the bottom of its columns for ever, or nothing."""
    held: dict[int, Thing] = {cell: thing for at, thing in level.things.items() for cell in thing.cells(at)}
    lowest = min(cell // WIDTH for at in (anchor, anchor + 1) for cell in [at, *beneath(level, at)])
    for y in range(anchor // WIDTH - 1, lowest - 1, -1):
        for x in (anchor % WIDTH, anchor % WIDTH + 1):
            cell = x + WIDTH * y
            if not level.active[cell]:
                return f"it would have to pass the inactive cell ({x},{y})"
            if cell in held and held[cell].attributes & LASTS:  # none of these falls
                return f"{KINDS[held[cell].kind].name!r} in the cell ({x},{y}) stays for ever"
    return ""
