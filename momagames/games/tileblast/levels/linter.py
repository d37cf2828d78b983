"""Linter of MO-TileBlast's levels (SPEC §10.5): errors in levels that parse."""

from __future__ import annotations

from collections.abc import Iterator

from momagames.games.tileblast.levels.level import BUCKET, SPRINKLER, Goal, Level, Piece, max_spawned_units
from momagames.games.tileblast.levels.problem import Problem, cell_path
from momagames.games.tileblast.rules.pieces import BASIC, BEEHIVE, BIG, CAGE, CODES, DROP, KINDS, LASTS, POWER, UNIT_BUBBLE
from momagames.games.tileblast.rules.state import ALL, CELLS, WIDTH

BUTTERFLY = CODES["butterfly"]
BUCKET_CELLS = 9  # cells that a bucket covers with bubbles
# Units that goals of `all` may not collect
UNLIMITED_UNITS = 1 << BASIC | 1 << BEEHIVE | sum(1 << code for code, kind in enumerate(KINDS) if kind.attributes & POWER)


def lint(level: Level) -> list[Problem]:
    """Return all problems, in the order of the file."""
    return [*check_goals(level), *check_drops(level)]


def check_goals(level: Level) -> Iterator[Problem]:
    """Yield goals that cannot be reached, and invalid goals of `all`."""
    for k, goal in enumerate(level.goals):
        at = ("goals", k, "amount")
        if goal.amount != ALL:
            most = max_units(level, goal)
            if goal.amount > most:
                yield Problem(
                    at,
                    f"invalid amount {goal.amount} of {goal.name!r}: expected at most {most}, all of the level",
                )
        elif goal.units & UNLIMITED_UNITS:
            yield Problem(at, f"invalid amount 'all' for {goal.name!r}, unlimited: expected a whole number")
        elif not level.start_units(goal):
            yield Problem(at, f"invalid amount 'all' for {goal.name!r}: expected one or more at the start")


def max_units(level: Level, goal: Goal) -> int:
    """Return an upper bound of the units of a level for a goal within its limit of moves."""
    most = level.start_units(goal) + level.feed_units(goal)
    if is_unlimited(level, goal):
        return most + CELLS * level.moves
    pieces = [*((piece, 1) for piece in level.pieces.values()), *((feed.piece, feed.total) for feed in level.feeds)]
    if goal.collects(UNIT_BUBBLE, 0) and SPRINKLER not in level.all_kinds():
        return most + BUCKET_CELLS * sum(count for piece, count in pieces if piece.kind == BUCKET)
    if goal.units == 1 << BUTTERFLY and goal.color in level.colors:
        return sum(count for piece, count in pieces if piece.kind == BUTTERFLY)
    return most + max_spawned_units(level, goal, level.moves)


def is_unlimited(level: Level, goal: Goal) -> bool:
    """Return whether every tap may bring units: basics and power pieces, hits of beehives."""
    if goal.units & 1 << BEEHIVE:
        return BEEHIVE in level.all_kinds()
    return bool(goal.units & UNLIMITED_UNITS) and (goal.color == 0 or goal.color in level.colors)


def check_drops(level: Level) -> Iterator[Problem]:
    """Yield drops that leave at the start, and seedboxes that can never leave."""
    for anchor, piece in level.pieces.items():
        if not piece.attributes & DROP:
            continue
        columns = [at for at in piece.cells(anchor) if at < anchor + WIDTH]
        if piece.cover != CAGE and not any(cells_below(level, at) for at in columns):
            yield Problem(
                cell_path(anchor), f"{KINDS[piece.kind].name!r} is on an exit at the start: expected an active cell below"
            )
        elif piece.attributes & BIG and (why := describe_obstacle(level, anchor)):
            yield Problem(cell_path(anchor), f"{KINDS[piece.kind].name!r} can never leave: {why}")


def cells_below(level: Level, cell: int) -> list[int]:
    """Return the active cells below a cell in its column, the highest first."""
    return [low for low in range(cell - WIDTH, -1, -WIDTH) if level.active[low]]


def describe_obstacle(level: Level, anchor: int) -> str:
    """Return the obstacle between a piece of size 2 and the bottom of its columns, or ""."""
    occupants: dict[int, Piece] = {cell: piece for at, piece in level.pieces.items() for cell in piece.cells(at)}
    lowest = min(cell // WIDTH for at in (anchor, anchor + 1) for cell in [at, *cells_below(level, at)])
    for y in range(anchor // WIDTH - 1, lowest - 1, -1):
        for x in (anchor % WIDTH, anchor % WIDTH + 1):
            cell = x + WIDTH * y
            if not level.active[cell]:
                return f"the inactive cell ({x},{y}) is in its way"
            if cell in occupants and occupants[cell].attributes & LASTS:  # lasting pieces never fall
                return f"{KINDS[occupants[cell].kind].name!r} in the cell ({x},{y}) never leaves"
    return ""
