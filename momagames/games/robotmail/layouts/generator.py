"""Random layouts (SPEC §10.4): a room where robots start, chargers, receivers, mails, and walls between them."""

from __future__ import annotations

from typing import Any

from momagames.contract import Parameter, check_parameters
from momagames.errors import InvalidParameter
from momagames.games.robotmail.layouts.board_builder import BoardBuilder
from momagames.games.robotmail.layouts.layout import Layout
from momagames.games.robotmail.rules.state import MAX_INDEX, MAX_SIDE
from momagames.games.seeded_rng import SeededRng

LEAST_SIDE = 4
MOST_THINGS = 64
CELLS_OF_A_RECEIVER = 3.5  # on the edge
CELLS_OF_A_GREEN, CELLS_OF_A_CHARGER = 27, 40  # of the board
LEAST_ATTEMPTS, WORK = 5, 4000  # boards that are tried: that many, and more of small ones, up to so many cells
ARGUMENTS = (
    Parameter("seed", 0, "of the board", 0, 10**9),
    Parameter("width", 9, "columns", LEAST_SIDE, MAX_SIDE),
    Parameter("height", 9, "rows", LEAST_SIDE, MAX_SIDE),
    Parameter("density", 0.05, "share of the cells that are walls", 0, 0.2),
    Parameter("receivers", None, "receivers; None: as suits the length of the edge", 1, MAX_INDEX, optional=True),
    Parameter("greens", None, "cells with mails; None: as suits the size", 1, MOST_THINGS, optional=True),
    Parameter("chargers", None, "chargers; None: as suits the size", 0, MOST_THINGS, optional=True),
    Parameter("white", 0.3, "share of the cells that the room takes where robots start", 0.05, 0.6),
)
NAMES = {"y": "receivers", "gr": "greens", "b": "chargers", "r": "walls"}


def generate(
    seed: int = 0,
    width: int = 9,
    height: int = 9,
    density: float = 0.05,
    receivers: int | None = None,
    greens: int | None = None,
    chargers: int | None = None,
    white: float = 0.3,
) -> Layout:
    """Return a layout on which every robot can reach all cells; equal arguments give equal layouts on every platform.

    density     share of the cells that are walls
    receivers   how many there are, each with an index of its own; None: as many as suit the length of the edge
    greens      cells with mails; None: as many as suit the size
    chargers    None: as many as suit the size
    white       share of the cells that the room has in which robots start; up to a third of it may get something else
    Raises      InvalidParameter for an argument that is out of range, or that does not fit on the board
    """
    sizes = {"seed": seed, "width": width, "height": height, "density": density, "white": white}
    things = {"chargers": chargers, "receivers": receivers, "greens": greens}
    given: dict[str, Any] = check_parameters("layout", ARGUMENTS, {**sizes, **things})
    width, height = given["width"], given["height"]
    area, edge = width * height, 2 * (width + height) - 4
    usual = {
        "b": max(1, round(area / CELLS_OF_A_CHARGER)),
        "y": round(edge / CELLS_OF_A_RECEIVER),
        "gr": max(1, round(area / CELLS_OF_A_GREEN)),
        "r": round(given["density"] * area),
    }
    wanted = {code: count if given.get(NAMES[code]) is None else given[NAMES[code]] for code, count in usual.items()}
    rng, best = SeededRng(given["seed"]), dict.fromkeys(wanted, 0)
    for _ in range(max(LEAST_ATTEMPTS, WORK // area)):
        builder = BoardBuilder(rng, width, height, given["white"])
        for code, count in wanted.items():
            best[code] = max(best[code], builder.furnish(code, count))
            if builder.count(code) < count:
                break
        else:
            return builder.layout()
    code = next(code for code, count in wanted.items() if best[code] < count)
    what = f"density={density!r} ({wanted['r']} walls)" if code == "r" else f"{NAMES[code]}={wanted[code]}"
    raise InvalidParameter(
        f"layout: {what} do not fit on {width} x {height} cells; {best[code]} found room: take fewer, or a larger board"
    )
