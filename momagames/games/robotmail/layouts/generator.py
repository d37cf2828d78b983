"""Random layouts (SPEC §10.4): a room where robots start, chargers, receivers, mails, and walls between them."""

from __future__ import annotations

from typing import Any

from momagames.contract import Parameter, check_parameters
from momagames.errors import InvalidParameter
from momagames.games.robotmail.layouts.board_builder import BoardBuilder
from momagames.games.robotmail.layouts.layout import Layout
from momagames.games.robotmail.rules.state import MAX_INDEX, MAX_SIDE
from momagames.games.seeded_rng import SeededRng

MIN_SIDE = 4
MAX_COUNT = 64
EDGE_CELLS_PER_RECEIVER = 3.5  # on the edge
CELLS_PER_GREEN, CELLS_PER_CHARGER = 27, 40  # of the board
MIN_ATTEMPTS, MAX_CELLS = 5, 4000  # boards tried: at least MIN_ATTEMPTS, and more of small boards, up to MAX_CELLS cells in all
ARGUMENTS = (
    Parameter("seed", 0, "random seed of the board", 0, 10**9),
    Parameter("width", 9, "columns", MIN_SIDE, MAX_SIDE),
    Parameter("height", 9, "rows", MIN_SIDE, MAX_SIDE),
    Parameter("density", 0.05, "share of the cells that are walls", 0, 0.2),
    Parameter("receivers", None, "receivers; None: in proportion to the length of the edge", 1, MAX_INDEX, optional=True),
    Parameter("greens", None, "cells with mails; None: in proportion to the size", 1, MAX_COUNT, optional=True),
    Parameter("chargers", None, "chargers; None: in proportion to the size", 0, MAX_COUNT, optional=True),
    Parameter("white", 0.3, "share of the cells in the room where robots start", 0.05, 0.6),
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
    receivers   number of receivers, each with an index of its own; None: in proportion to the length of the edge
    greens      number of cells with mails; None: in proportion to the size
    chargers    number of chargers; None: in proportion to the size
    white       share of the cells in the room where robots start; up to a third of it may become other colors
    Raises      InvalidParameter for an argument that is out of range, or that does not fit on the board
    """
    sizes = {"seed": seed, "width": width, "height": height, "density": density, "white": white}
    counts = {"chargers": chargers, "receivers": receivers, "greens": greens}
    given: dict[str, Any] = check_parameters("layout", ARGUMENTS, {**sizes, **counts})
    width, height = given["width"], given["height"]
    area, edge = width * height, 2 * (width + height) - 4
    defaults = {
        "b": max(1, round(area / CELLS_PER_CHARGER)),
        "y": round(edge / EDGE_CELLS_PER_RECEIVER),
        "gr": max(1, round(area / CELLS_PER_GREEN)),
        "r": round(given["density"] * area),
    }
    required = {code: count if given.get(NAMES[code]) is None else given[NAMES[code]] for code, count in defaults.items()}
    rng, best = SeededRng(given["seed"]), dict.fromkeys(required, 0)
    for _ in range(max(MIN_ATTEMPTS, MAX_CELLS // area)):
        builder = BoardBuilder(rng, width, height, given["white"])
        for code, count in required.items():
            best[code] = max(best[code], builder.place_color(code, count))
            if builder.count(code) < count:
                break
        else:
            return builder.build_numbered_layout()
    code = next(code for code, count in required.items() if best[code] < count)
    what = f"density={density!r} ({required['r']} walls)" if code == "r" else f"{NAMES[code]}={required[code]}"
    raise InvalidParameter(
        f"layout: {what} do not fit on {width} x {height} cells, only {best[code]} do: take fewer, or a larger board"
    )
