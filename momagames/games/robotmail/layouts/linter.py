"""Linter of layouts (SPEC §10.2): problems of two well-formed maps."""

from __future__ import annotations

from collections.abc import Iterable

from momagames.games.robotmail.layouts.layout import COLORS, Cell, Layout
from momagames.games.robotmail.layouts.map_parser import Map, parse_target
from momagames.games.robotmail.layouts.problem import Problem

NEEDED = {"w": "robots start on it", "gr": "mails lie on it", "y": "mails are delivered to it"}
NARROW = "narrow, that is, it has exactly two yellow or red neighbors"


def find_target_problems(colors: Map, targets: Map) -> list[Problem]:
    """Return receivers without a number, and numbers without a receiver unless an unreadable cell may be one."""
    codes = dict(colors.cells())
    numbers = {cell: parse_target(text) for cell, text in targets.cells()}
    accepted = {numbers[cell] for cell, code in codes.items() if code == "y"}
    is_complete = None not in accepted and set(codes.values()) <= set(COLORS)
    allowed = ", ".join(str(index) for index in sorted(filter(None, accepted))) or "none"
    found = []
    for cell, value in numbers.items():
        if value == 0 and codes[cell] == "y":
            found.append(
                targets.problem_at(cell, "the yellow cell has no target: expected the index of the mail that it accepts")
            )
        elif value and value not in accepted and is_complete:
            found.append(targets.problem_at(cell, f"invalid target {value}, which no yellow cell accepts: expected {allowed}"))
    return found


def find_missing_colors(colors: Map) -> list[Problem]:
    """Return the required colors that are missing."""
    there = {text for _, text in colors.cells()}
    return [
        Problem(0, f"there is no cell {code!r}: expected at least one, {why}")
        for code, why in NEEDED.items()
        if code not in there
    ]


def find_unreachable(layout: Layout) -> list[tuple[Cell, str]]:
    """Return the cells from which robots cannot reach their targets, with the reason, row by row.

    Chargers count as walls: a robot may enter one only while its battery is low, so no path may depend on it.
    """
    greens = layout.cells("gr")
    home = find_sources(layout, greens, 0)
    found = [(cell, "a robot that starts here cannot reach any mail") for cell in layout.cells("w") if cell not in home]
    for cell in layout.cells("y"):
        if cell not in home:
            found.append((cell, "a robot that delivers here cannot reach any mail afterwards"))
        mail = layout.target(cell)
        cut_off = sorted(set(greens) - find_sources(layout, [cell], mail))
        if cut_off:
            names = ", ".join("({},{})".format(*green) for green in cut_off)
            tight = f"; it is {NARROW}" if cell in layout.narrow and not can_enter(layout, cell, mail) else ""
            found.append((cell, f"the receiver of mail {mail} cannot be reached from the green cells {names}{tight}"))
    return sorted(found, key=lambda wrong: wrong[0][::-1])


def find_sources(layout: Layout, targets: Iterable[Cell], mail: int) -> set[Cell]:
    """Return the cells from which a robot with this mail (0: none) can reach a target over white and gray cells."""
    found: set[Cell] = set()
    frontier = list(targets)
    while frontier:
        cell = frontier.pop()
        closed = not can_enter(layout, cell, mail)
        for near in layout.neighbors(cell):
            color = layout.color(near)
            if near not in found and (color == "y" or not closed):
                found.add(near)
                if color in "wg":
                    frontier.append(near)
    return found


def can_enter(layout: Layout, cell: Cell, mail: int) -> bool:
    """§3.3 Return whether narrowness lets a robot with this mail enter a cell, not coming from a receiver."""
    return cell not in layout.narrow or (mail > 0 and mail in map(layout.target, layout.neighbors(cell)))
