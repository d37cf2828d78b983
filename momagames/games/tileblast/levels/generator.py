"""Levels of MO-TileBlast by chance: a shape, pieces of the mechanics that are asked for, goals from what was placed.

The same arguments give the same level everywhere: chance is the generator of SPEC §2.3. How many moves a level should
have is a guess, until `calibrate` has had it played.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidLevel, InvalidParameter, check_range, nearest, one_of
from momagames.games.seeded_rng import Luck
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.levels.level_builder import Site, Thing
from momagames.games.tileblast.levels.level_parser import MAX_MOVES
from momagames.games.tileblast.rules.pieces import (
    BIG,
    CODES,
    COLORS,
    COUNTS,
    COVERS,
    DROP,
    KINDS,
    LASTS,
    PER_HIT,
    POWER,
    Kind,
)
from momagames.games.tileblast.rules.state import GOALS, HEIGHT, WIDTH

MECHANICS = (*(name for name in CODES if name != "basic"), *COVERS[1:])
SHARE = (0.15, 0.4)  # of the board that mechanics take, from the easiest to the hardest
FEW = ((BIG, 3), (LASTS, 2), (DROP, 4), (POWER, 4))  # pieces of a mechanic at most
BASICS = 0.4  # of the board at least
ATTEMPTS = 40  # boards that are tried
MADE = {"beehive": ("bee", 4, 12), "sprinkler": ("bubble", 5, 15), "dispenser": ("dandelion", 3, 9)}  # unit, easy, hard


def generate(
    seed: int,
    width: int = WIDTH,
    height: int = HEIGHT,
    colors: int = 4,
    mechanics: Iterable[str] = ("rock", "dandelion"),
    difficulty: float = 0.5,
    moves: int | None = None,
) -> dict[str, Any]:
    """The data of a level (SPEC §10) that the linter accepts.

    width, height   of the box that the board lies in; it may be smaller
    colors          how many colors are drawn
    mechanics       names from MECHANICS, kinds and covers that are to be there; none: basics alone
    difficulty      0..1: how much stands in the way, how much is asked for, and how tight the moves are
    moves           the limit; None: a guess, see `calibrate`
    Raises          InvalidParameter if an argument is out of range, or there is no room
    """
    names = check(width, height, colors, mechanics, difficulty, moves)
    luck = Luck(seed)
    palette = luck.some(COLORS, colors)
    for _ in range(ATTEMPTS):
        site = Site.carve(luck, width, height)
        placed = furnish(site, names, palette, difficulty)
        if placed is not None:
            break
    else:
        raise InvalidParameter(
            f"mechanics={','.join(names)!r} do not fit on {width} x {height} cells; take fewer, or a larger board"
        )
    goals, feed = wanted(luck, site, placed, palette, difficulty)
    layout, legend = site.layout()
    data = {
        "id": seed % 2**31,
        "title": f"Generated {seed}",
        "moves": moves or guess(goals, placed, difficulty),
        "colors": palette,
        "goals": [{"collect": name, "amount": amount} for name, amount in goals.items()],
        **({"feed": feed} if feed else {}),
        **({"legend": legend} if legend else {}),
        "layout": layout,
    }
    return loader.load(data).data


def check(
    width: int, height: int, colors: int, mechanics: Iterable[str], difficulty: float, moves: int | None
) -> tuple[str, ...]:
    """The mechanics, each once; InvalidParameter for anything that is out of range."""
    ranges: tuple[tuple[str, float, float, float], ...] = (
        ("width", width, 3, WIDTH),
        ("height", height, 3, HEIGHT),
        ("colors", colors, 2, len(COLORS)),
        ("difficulty", difficulty, 0, 1),
        ("moves", 1 if moves is None else moves, 1, MAX_MOVES),
    )
    for name, value, low, high in ranges:
        check_range(name, value, low, high)
    names = tuple(dict.fromkeys(mechanics))
    for mechanic in names:
        if mechanic not in MECHANICS:
            raise InvalidParameter(
                f"mechanic {mechanic!r} is not known; allowed: {one_of(MECHANICS)}{nearest(mechanic, MECHANICS)}"
            )
    return names


# -------------------------------------------------------------------------------------------------------------- pieces


def kind_of(mechanic: str) -> Kind:
    """The kind that a mechanic puts on the board; covers lie on basics."""
    return KINDS[CODES["basic" if mechanic in COVERS else mechanic]]


def furnish(site: Site, names: tuple[str, ...], palette: list[str], difficulty: float) -> dict[str, list[Thing]] | None:
    """Put the pieces of every mechanic on the board, those that find room hardest first; None if one finds none."""
    luck, area = site.luck, len(site.active)
    share = area * (SHARE[0] + (SHARE[1] - SHARE[0]) * difficulty) / max(1, len(names))
    order = sorted(names, key=lambda name: -(kind_of(name).attributes & (BIG | DROP)))
    placed: dict[str, list[Thing]] = {}
    for name in order:
        kind = kind_of(name)
        most = min((few for bit, few in FEW if kind.attributes & bit), default=area)
        size = 4 if kind.attributes & BIG else 1
        count = max(1, min(most, round(share / size)))
        placed[name] = site.place(lambda name=name: thing(luck, name, palette, difficulty), kind, count)  # type: ignore[misc]
        if not placed[name]:
            return None
    solid = len(site.taken) - sum(len(placed[name]) for name in names if name in COVERS)
    return placed if area - solid >= BASICS * area else None


def thing(luck: Luck, mechanic: str, palette: list[str], difficulty: float) -> Thing:
    """A piece of a mechanic; the harder the level, the more hit points it may have."""
    kind = kind_of(mechanic)
    if mechanic in COVERS:
        return {"kind": "basic", "cover": mechanic}
    if kind.attributes & COUNTS:
        counters = dict.fromkeys(palette, 0)
        for _ in range(luck.within(2, 2 + round((kind.high - 2) * difficulty))):
            counters[luck.pick(palette)] += 1
        return {"kind": mechanic, "colors": {name: count for name, count in counters.items() if count}}
    color = {"color": luck.pick(palette)} if kind.color == "one" else {}
    hp = luck.within(kind.low, kind.low + round((kind.high - kind.low) * difficulty))
    return {"kind": mechanic, **color, **({"hp": hp} if hp != kind.usual else {})}


def hit_points(piece: Thing) -> int:
    """The hits that a piece needs, that of its cover included."""
    kind = KINDS[CODES[piece["kind"]]]
    return sum(piece["colors"].values()) if kind.attributes & COUNTS else int(piece.get("hp", kind.usual))


# --------------------------------------------------------------------------------------------------------------- goals


def wanted(
    luck: Luck, site: Site, placed: dict[str, list[Thing]], palette: list[str], difficulty: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One to four goals: unit -> amount; and what is fed for them."""
    goals: dict[str, Any] = {}
    feed: list[dict[str, Any]] = []
    for name, things in placed.items():
        kind = kind_of(name)
        if name == "weed":
            goals[name] = "all"
            continue
        unit, amount = name, len(things)
        if name in MADE:
            unit, easy, hard = MADE[name]
            amount = easy + round((hard - easy) * difficulty)
        elif kind.attributes & PER_HIT:
            amount = sum(map(hit_points, things))
        elif kind.attributes & POWER:
            amount += luck.below(3)
        elif name == "seedbag" and luck.below(2) and not any(kind_of(other).attributes & LASTS for other in placed):
            total = luck.within(1, 2)
            feed.append({"piece": name, "per_mille": 100, "max_on_board": 2, "total": total})
            amount += total
        goals[unit] = goals.get(unit, 0) + amount
    if len(goals) < 2 and "weed" not in goals:
        goals[f"basic.{luck.pick(palette)}"] = max(3, round(len(site.active) * (0.15 + 0.3 * difficulty)))
    chosen = luck.some(list(goals), min(GOALS, len(goals)))
    return {name: goals[name] for name in chosen}, feed


def guess(goals: dict[str, Any], placed: dict[str, list[Thing]], difficulty: float) -> int:
    """A limit of moves: some for a start, more for every hit that has to be made, fewer the harder the level."""
    hits: int = sum(hit_points(piece) for things in placed.values() for piece in things)
    hits += sum(amount // 3 for name, amount in goals.items() if name.startswith("basic."))
    return math.ceil((10 + 0.6 * hits) * (1.5 - 0.8 * difficulty))


# --------------------------------------------------------------------------------------------------------- calibration


def calibrate(
    data: dict[str, Any],
    play: Callable[[loader.Level, int], NDArray[np.float64]],
    difficulty: float = 0.5,
    games: int = 200,
    limit: int = 200,
) -> dict[str, Any]:
    """The level with the limit of moves that leaves a share of 1 - difficulty of the games won.

    play     (level, games) -> the moves that each game took to be won, float64[games]; infinite for those that were not.
             The level that it gets has `limit` moves
    Raises   InvalidLevel if so many games are not won within `limit` moves
    """
    took = np.sort(np.asarray(play(loader.load({**data, "moves": limit}), games), np.float64))
    need = max(1, math.ceil(round((1 - difficulty) * len(took), 9)))
    won = int((took <= limit).sum())
    if won < need:
        raise InvalidLevel(f"only {won} of {len(took)} games were won within {limit} moves; needed: {need}")
    return loader.load({**data, "moves": max(1, int(took[need - 1]))}).data
