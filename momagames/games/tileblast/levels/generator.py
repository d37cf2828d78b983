"""Generator of levels of MO-TileBlast: a shape, pieces of the chosen mechanics, goals from the placed pieces.

The same arguments give the same level on every machine: randomness is the generator of SPEC §2.3. The limit of moves is an
estimate until `calibrate` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidLevel, InvalidParameter, check_range, nearest, one_of
from momagames.games.seeded_rng import SeededRng
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.levels.level_builder import LevelBuilder, PieceData
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
MECHANICS_SHARE = (0.15, 0.4)  # of the board that mechanics fill, at difficulty 0 and 1
MAX_PIECES = ((BIG, 3), (LASTS, 2), (DROP, 4), (POWER, 4))  # largest number of pieces of a mechanic
MIN_BASICS_SHARE = 0.4  # of the board at least
ATTEMPTS = 40  # boards to try
SPAWNED_UNITS = {
    "beehive": ("bee", 4, 12),
    "sprinkler": ("bubble", 5, 15),
    "dispenser": ("dandelion", 3, 9),
}  # unit, easy, hard


def generate(
    seed: int,
    width: int = WIDTH,
    height: int = HEIGHT,
    colors: int = 4,
    mechanics: Iterable[str] = ("rock", "dandelion"),
    difficulty: float = 0.5,
    moves: int | None = None,
) -> dict[str, Any]:
    """Return the data of a level (SPEC §10) that the linter accepts.

    width, height   of the box that contains the board, in cells
    colors          number of colors
    mechanics       names from MECHANICS: kinds and covers on the board; none: basics alone
    difficulty      0..1: density of obstacles, amounts of the goals, and tightness of the limit of moves
    moves           the limit; None: an estimate, see `calibrate`
    Raises          InvalidParameter if an argument is out of range, or the pieces do not fit
    """
    names = check_arguments(width, height, colors, mechanics, difficulty, moves)
    rng = SeededRng(seed)
    palette = rng.sample(COLORS, colors)
    for _ in range(ATTEMPTS):
        builder = LevelBuilder.carve(rng, width, height)
        pieces = place_mechanics(builder, names, palette, difficulty)
        if pieces is not None:
            break
    else:
        raise InvalidParameter(
            f"invalid mechanics={','.join(names)!r}: expected fewer mechanics, or a board larger than {width} x {height} cells"
        )
    goals, feed = draw_goals(rng, builder, pieces, palette, difficulty)
    layout, legend = builder.format_layout()
    data = {
        "id": seed % 2**31,
        "title": f"Generated {seed}",
        "moves": moves or estimate_moves(goals, pieces, difficulty),
        "colors": palette,
        "goals": [{"collect": name, "amount": amount} for name, amount in goals.items()],
        **({"feed": feed} if feed else {}),
        **({"legend": legend} if legend else {}),
        "layout": layout,
    }
    return loader.load(data).data


def check_arguments(
    width: int, height: int, colors: int, mechanics: Iterable[str], difficulty: float, moves: int | None
) -> tuple[str, ...]:
    """Return the mechanics, each once; raise InvalidParameter if an argument is out of range."""
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
            raise InvalidParameter(f"invalid mechanic={mechanic!r}: expected {one_of(MECHANICS)}{nearest(mechanic, MECHANICS)}")
    return names


# -------------------------------------------------------------------------------------------------------------- pieces


def mechanic_kind(mechanic: str) -> Kind:
    """Return the kind that a mechanic puts on the board; covers lie on basics."""
    return KINDS[CODES["basic" if mechanic in COVERS else mechanic]]


def place_mechanics(
    builder: LevelBuilder, names: tuple[str, ...], palette: list[str], difficulty: float
) -> dict[str, list[PieceData]] | None:
    """Place the pieces of every mechanic, big pieces and drops first; return None if one does not fit."""
    rng, area = builder.rng, len(builder.active)
    share = area * (MECHANICS_SHARE[0] + (MECHANICS_SHARE[1] - MECHANICS_SHARE[0]) * difficulty) / max(1, len(names))
    order = sorted(names, key=lambda name: -(mechanic_kind(name).attributes & (BIG | DROP)))
    placed: dict[str, list[PieceData]] = {}
    for name in order:
        kind = mechanic_kind(name)
        limit = min((limit for bit, limit in MAX_PIECES if kind.attributes & bit), default=area)
        size = 4 if kind.attributes & BIG else 1
        count = max(1, min(limit, round(share / size)))
        placed[name] = builder.place_pieces(lambda name=name: draw_piece(rng, name, palette, difficulty), kind, count)  # type: ignore[misc]
        if not placed[name]:
            return None
    occupied = len(builder.kinds) - sum(len(placed[name]) for name in names if name in COVERS)
    return placed if area - occupied >= MIN_BASICS_SHARE * area else None


def draw_piece(rng: SeededRng, mechanic: str, palette: list[str], difficulty: float) -> PieceData:
    """Return a random piece of a mechanic; its hit points grow with the difficulty."""
    kind = mechanic_kind(mechanic)
    if mechanic in COVERS:
        return {"kind": "basic", "cover": mechanic}
    if kind.attributes & COUNTS:
        counters = dict.fromkeys(palette, 0)
        for _ in range(rng.randint(2, 2 + round((kind.high - 2) * difficulty))):
            counters[rng.choice(palette)] += 1
        return {"kind": mechanic, "colors": {name: count for name, count in counters.items() if count}}
    color = {"color": rng.choice(palette)} if kind.color == "one" else {}
    hp = rng.randint(kind.low, kind.low + round((kind.high - kind.low) * difficulty))
    return {"kind": mechanic, **color, **({"hp": hp} if hp != kind.usual else {})}


def count_hits(piece: PieceData) -> int:
    """Return the number of hits that a piece needs, without its cover."""
    kind = KINDS[CODES[piece["kind"]]]
    return sum(piece["colors"].values()) if kind.attributes & COUNTS else int(piece.get("hp", kind.usual))


# --------------------------------------------------------------------------------------------------------------- goals


def draw_goals(
    rng: SeededRng, builder: LevelBuilder, placed: dict[str, list[PieceData]], palette: list[str], difficulty: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return one to four goals, unit -> amount, and the feeds for them."""
    goals: dict[str, Any] = {}
    feed: list[dict[str, Any]] = []
    for name, pieces in placed.items():
        kind = mechanic_kind(name)
        if name == "weed":
            goals[name] = "all"
            continue
        unit, amount = name, len(pieces)
        if name in SPAWNED_UNITS:
            unit, easy, hard = SPAWNED_UNITS[name]
            amount = easy + round((hard - easy) * difficulty)
        elif kind.attributes & PER_HIT:
            amount = sum(map(count_hits, pieces))
        elif kind.attributes & POWER:
            amount += rng.below(3)
        elif name == "seedbag" and rng.below(2) and not any(mechanic_kind(other).attributes & LASTS for other in placed):
            total = rng.randint(1, 2)
            feed.append({"piece": name, "per_mille": 100, "max_on_board": 2, "total": total})
            amount += total
        goals[unit] = goals.get(unit, 0) + amount
    if len(goals) < 2 and "weed" not in goals:
        goals[f"basic.{rng.choice(palette)}"] = max(3, round(len(builder.active) * (0.15 + 0.3 * difficulty)))
    chosen = rng.sample(list(goals), min(GOALS, len(goals)))
    return {name: goals[name] for name in chosen}, feed


def estimate_moves(goals: dict[str, Any], placed: dict[str, list[PieceData]], difficulty: float) -> int:
    """Return a limit of moves: a constant plus a share of the needed hits, scaled down with the difficulty."""
    hits: int = sum(count_hits(piece) for pieces in placed.values() for piece in pieces)
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
    """Return the level with the limit of moves at which a share of 1 - difficulty of the games is won.

    play     (level, games) -> the moves that each game took to be won, float64[games]; infinite for games that were not won.
             Its level has `limit` moves
    Raises   InvalidLevel if too few games are won within `limit` moves
    """
    moves = np.sort(np.asarray(play(loader.load({**data, "moves": limit}), games), np.float64))
    needed = max(1, math.ceil(round((1 - difficulty) * len(moves), 9)))
    won = int((moves <= limit).sum())
    if won < needed:
        raise InvalidLevel(f"only {won} of {len(moves)} games are won within {limit} moves: expected {needed} or more")
    return loader.load({**data, "moves": max(1, int(moves[needed - 1]))}).data
