"""Levels of MO-TileBlast from plain data (SPEC §10.1 to §10.4). What is wrong is collected, so that it can be told together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from momagames.errors import nearest, one_of
from momagames.games.tileblast.levels.level import NO_COUNTERS, Feed, Goal, Level, Thing
from momagames.games.tileblast.levels.problem import Path, Problem, cell_path
from momagames.games.tileblast.rules.pieces import BASIC, BIG, CODES, COLORED, COLORS, COUNTS, COVERS, KINDS, UNITS, Kind
from momagames.games.tileblast.rules.state import ALL, CELLS, FEEDS, GOALS, HEIGHT, WIDTH

KEYS = ("id", "title", "moves", "colors", "weights", "goals", "feed", "legend", "layout")
NEEDED = ("id", "title", "moves", "colors", "goals", "layout")
THING_KEYS = ("kind", "color", "colors", "hp", "cover")
# What stands for a part that is missing; that those of NEEDED are missing was told before
DEFAULTS: dict[str, Any] = {
    "id": 0,
    "title": "",
    "moves": 1,
    "colors": COLORS,
    "goals": [{"collect": "basic", "amount": 1}],
    "layout": "\n".join(["." * WIDTH] * HEIGHT),
    "weights": None,
    "feed": (),
    "legend": {},
}
INACTIVE, EMPTY = "#", "_"
# §10.2
SIGNS = {
    ".": Thing(BASIC, 1),
    "-": Thing(CODES["rocket_h"], 1),
    "|": Thing(CODES["rocket_v"], 1),
    "*": Thing(CODES["bomb"], 1),
    **{sign: Thing(BASIC, 1, k + 1) for k, sign in enumerate("rbyopk")},
    **{sign: Thing(CODES["flask"], 1, k + 1) for k, sign in enumerate("RBYOPK")},
}
KNOWN = " ".join([INACTIVE, EMPTY, *SIGNS])
MAX_MOVES = 50_000
MAX_WEIGHT = 1_000_000


class Reader:
    """Reads the data of a level; `problems` collects what is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def refuse(self, path: Path, text: str) -> None:
        self.problems.append(Problem(path, text))

    def whole(self, path: Path, value: Any, low: int, high: int, also: str = "") -> int:
        """A whole number from low to high; low if it is none."""
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self.refuse(path, f"{value!r} is not possible; allowed: whole numbers {low}..{high}{also}")
        return low

    def name(self, path: Path, value: Any, allowed: Iterable[str], what: str) -> str | None:
        """One of the allowed names, or None."""
        allowed = tuple(allowed)
        if isinstance(value, str) and value in allowed:
            return value
        self.refuse(path, f"{what} {value!r} is not known; allowed: {one_of(allowed)}{nearest(value, allowed)}")
        return None

    def keys(self, path: Path, value: Any, allowed: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
        """A mapping with none but the allowed keys and all that are needed."""
        if not isinstance(value, Mapping):
            self.refuse(path, f"{value!r} is not possible; needed: a mapping with {one_of(allowed)}")
            return {}
        for key in value:
            if key not in allowed:
                self.refuse(
                    (*path, str(key)), f"the key {key!r} is not known; allowed: {one_of(allowed)}{nearest(key, allowed)}"
                )
        for key in needed:
            if key not in value:
                self.refuse(path, f"the key {key!r} is missing")
        return {str(key): value[key] for key in value if key in allowed}

    def entries(self, path: Path, value: Any, low: int, high: int, what: str) -> list[Any]:
        """A list of low to high entries."""
        if not isinstance(value, list | tuple):
            self.refuse(path, f"{value!r} is not possible; needed: a list of {what}")
            return []
        if not low <= len(value) <= high:
            self.refuse(path, f"{len(value)} {what}; allowed: {low if low == high else f'{low} to {high}'}")
        return list(value)

    # ------------------------------------------------------------------------------------------------ the parts of a level

    def level(self, data: Any) -> Level | None:
        """§10.1 The level, or None if there are problems."""
        given = self.keys((), data, KEYS, NEEDED)
        if not given:
            return None
        parts = {**DEFAULTS, **{key: value for key, value in given.items() if key in NEEDED or value is not None}}
        if not isinstance(parts["title"], str):
            self.refuse(("title",), f"{parts['title']!r} is not possible; needed: a text")
        names = self.entries(("colors",), parts["colors"], 2, len(COLORS), "colors")
        colors = self.colors(names)
        weights = self.weights(parts["weights"], len(names))
        goals = self.entries(("goals",), parts["goals"], 1, GOALS, "goals")
        feeds = self.entries(("feed",), parts["feed"], 0, FEEDS, "feeds")
        lines = self.lines(parts["layout"])
        active, things = self.cells(lines, self.legend(parts["legend"]))
        level = Level(
            id=self.whole(("id",), parts["id"], 0, 2**31 - 1),
            title=str(parts["title"]),
            moves=self.whole(("moves",), parts["moves"], 1, MAX_MOVES),
            colors=tuple(colors),
            weights=tuple(weights),
            goals=tuple(goal for k, entry in enumerate(goals) if (goal := self.goal(("goals", k), entry))),
            feeds=tuple(feed for k, entry in enumerate(feeds) if (feed := self.feed(("feed", k), entry))),
            active=tuple(active),
            things=things,
            data=plain(given, lines),
        )
        return None if self.problems else level

    def colors(self, names: list[Any]) -> list[int]:
        codes = []
        for k, name in enumerate(names):
            if self.name(("colors", k), name, COLORS, "the color"):
                codes.append(COLORS.index(name) + 1)
                if names.index(name) < k:
                    self.refuse(("colors", k), f"{name!r} stands there twice")
        return codes

    def weights(self, value: Any, count: int) -> list[int]:
        if value is None:
            return [1] * count
        weights = self.entries(("weights",), value, count, count, "weights, one for each color")
        return [self.whole(("weights", k), weight, 1, MAX_WEIGHT) for k, weight in enumerate(weights)]

    def goal(self, path: Path, value: Any) -> Goal | None:
        """§6.1"""
        given = self.keys(path, value, ("collect", "amount"), ("collect", "amount"))
        if len(given) < 2:
            return None
        amount = given["amount"]
        amount = ALL if amount == "all" else self.whole((*path, "amount"), amount, 1, 1_000_000, " and 'all'")
        at = (*path, "collect")
        unit, dot, color = str(given["collect"]).partition(".")
        if not self.name(at, unit, UNITS, "the unit"):
            return None
        if dot and unit not in COLORED:
            self.refuse(at, f"{unit!r} has no color; what may be asked for in one: {one_of(COLORED)}")
        elif dot and not self.name(at, color, COLORS, "the color"):
            return None
        return Goal(str(given["collect"]), UNITS[unit], COLORS.index(color) + 1 if color in COLORS else 0, amount)

    def feed(self, path: Path, value: Any) -> Feed | None:
        """§4.8"""
        names = ("piece", "per_mille", "max_on_board", "total")
        given = self.keys(path, value, names, names)
        if len(given) < len(names):
            return None
        at = (*path, "piece")
        thing = self.thing(at, given["piece"])
        if thing and thing.cover:
            self.refuse(at, "a feed has no cover")
        if thing and thing.attributes & BIG:
            self.refuse(at, f"{KINDS[thing.kind].name!r} has size 2; a feed needs size 1")
        if thing and thing.kind == BASIC:
            self.refuse(at, "basics come in by themselves; a feed needs another kind")
        most = [
            self.whole((*path, name), given[name], 1, high)
            for name, high in (("per_mille", 1000), ("max_on_board", CELLS), ("total", 1_000_000))
        ]
        return Feed(thing, *most) if thing else None

    # ----------------------------------------------------------------------------------------------------- §10.3: things

    def thing(self, path: Path, value: Any) -> Thing | None:
        """`cover+kind.color:hp`, or a dict."""
        given = self.keys(path, parts(value) if isinstance(value, str) else value, THING_KEYS, ("kind",))
        if "kind" not in given or not self.name(path, given["kind"], CODES, "the kind"):
            return None
        code = CODES[given["kind"]]
        counters = self.counters(path, given.get("colors"), KINDS[code])
        return Thing(
            kind=code,
            hp=self.hit_points(path, given.get("hp"), KINDS[code], counters),
            color=self.color(path, given.get("color"), KINDS[code]),
            cover=self.cover(path, given.get("cover"), KINDS[code]),
            counters=counters,
        )

    def cover(self, path: Path, value: Any, kind: Kind) -> int:
        if value is None or not self.name(path, value, COVERS[1:], "the cover"):
            return 0
        if kind.attributes & BIG:
            self.refuse(path, f"{kind.name!r} has size 2; covers lie on pieces of size 1 only")
        return COVERS.index(value)

    def color(self, path: Path, value: Any, kind: Kind) -> int:
        if value is None:
            if kind.color == "one" and kind.name != "basic":
                self.refuse(path, f"{kind.name!r} needs a color: {one_of(COLORS)}")
            return 0
        if kind.color != "one":
            self.refuse(path, f"{kind.name!r} has no 'color' at the start")
            return 0
        return COLORS.index(value) + 1 if self.name(path, value, COLORS, "the color") else 0

    def hit_points(self, path: Path, value: Any, kind: Kind, counters: tuple[int, ...]) -> int:
        """§1.1"""
        if kind.attributes & COUNTS:
            total = self.whole(path, sum(counters), kind.low, kind.high, " as the sum of the colors")
            if value not in (None, total):
                self.refuse(path, f"hp {value!r} is not the sum of the colors, {total}")
            return total
        if value is None:
            return kind.usual
        return self.whole(path, value, kind.low, kind.high, f" as hit points of {kind.name!r}")

    def counters(self, path: Path, value: Any, kind: Kind) -> tuple[int, ...]:
        """Hit points by color."""
        if not kind.attributes & COUNTS:
            if value is not None:
                self.refuse(path, f"{kind.name!r} has no 'colors'")
            return NO_COUNTERS
        given = self.keys(path, value or {}, COLORS, ())
        return tuple(self.whole((*path, name), given.get(name, 0), 0, kind.high) for name in COLORS)

    # --------------------------------------------------------------------------------------- §10.2, §10.4: legend, layout

    def legend(self, value: Any) -> dict[str, Thing | None]:
        """What every character stands for; None for one that could not be read."""
        signs: dict[str, Thing | None] = dict(SIGNS)
        if not isinstance(value, Mapping):
            self.refuse(("legend",), f"{value!r} is not possible; needed: a mapping from characters to things")
            return signs
        for key, thing in value.items():
            sign, path = str(key), ("legend", str(key))
            if len(sign) != 1 or sign.isspace():
                self.refuse(path, f"{sign!r} is not possible; needed: one character")
            elif sign in SIGNS or sign in (INACTIVE, EMPTY):
                self.refuse(path, f"the character {sign!r} has its meaning already")
            else:
                signs[sign] = self.thing(path, thing)
        return signs

    def lines(self, value: Any) -> list[str]:
        """The lines of the layout, cut or padded to the size of the board."""
        if not isinstance(value, str):
            self.refuse(("layout",), f"{value!r} is not possible; needed: a text of {HEIGHT} lines")
            value = ""
        lines = [line.rstrip() for line in value.rstrip().splitlines()]
        if len(lines) != HEIGHT:
            self.refuse(("layout",), f"{len(lines)} lines; needed: {HEIGHT} lines of {WIDTH} characters")
        for k, line in enumerate(lines):
            if len(line) != WIDTH:
                self.refuse(("layout", k), f"{len(line)} characters; needed: {WIDTH}")
        lines += [""] * (HEIGHT - len(lines))
        return [line[:WIDTH].ljust(WIDTH, INACTIVE) for line in lines[:HEIGHT]]

    def cells(self, lines: list[str], signs: dict[str, Thing | None]) -> tuple[list[bool], dict[int, Thing]]:
        """Which cells are active, and what is at each anchor."""
        drawn = "".join(reversed(lines))
        things: dict[int, Thing] = {}
        taken: set[int] = set()
        told: set[str] = set()
        for cell, sign in enumerate(drawn):
            if sign in (INACTIVE, EMPTY) or cell in taken:
                continue
            thing = signs.get(sign)
            if sign not in signs:
                wrong = f"the character {sign!r} is not known; put it into the legend, or use one of {KNOWN}"
            elif thing and not self.fits(cell, thing.cells(cell), drawn, taken):
                wrong = f"{KINDS[thing.kind].name!r} fills 2 x 2 cells; those right, above and right above must be {sign!r} too"
            else:
                if thing:
                    things[cell] = thing
                    taken.update(thing.cells(cell))
                continue
            if sign not in told:  # the first cell is enough
                self.refuse(cell_path(cell), wrong)
                told.add(sign)
        return [sign != INACTIVE for sign in drawn], things

    @staticmethod
    def fits(anchor: int, fills: tuple[int, ...], drawn: str, taken: set[int]) -> bool:
        """§10.4 Whether a piece has all its cells."""
        inside = len(fills) == 1 or (anchor % WIDTH < WIDTH - 1 and anchor // WIDTH < HEIGHT - 1)
        return inside and all(drawn[cell] == drawn[anchor] and cell not in taken for cell in fills)


def parts(text: str) -> dict[str, Any]:
    """`cover+kind.color:hp` taken apart."""
    cover, _, rest = text.rpartition("+")
    rest, _, hp = rest.partition(":")
    kind, _, color = rest.partition(".")
    points = int(hp) if hp.isascii() and hp.isdecimal() else hp
    return {"kind": kind} | {name: part for name, part in (("cover", cover), ("color", color), ("hp", points)) if part != ""}


def plain(given: Mapping[str, Any], lines: list[str]) -> dict[str, Any]:
    """The data of a level in one form, whatever it was read from; shares nothing with it."""
    data = {key: copied(given[key]) for key in KEYS if key in given and (key in NEEDED or given[key])}
    return {**data, "layout": "\n".join(lines) + "\n"}


def copied(value: Any) -> Any:
    """Lists and dicts with text as keys, all the way down."""
    if isinstance(value, Mapping):
        return {str(key): copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list | tuple) else value
