"""Levels of MO-TileBlast from plain data (SPEC §10.1 to §10.4). What is wrong is collected, so that it can be told together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from momagames.errors import nearest, one_of
from momagames.games.tileblast.catalogue import BASIC, BIG, CODES, COLORED, COLORS, COUNTS, COVERS, KINDS, UNITS
from momagames.games.tileblast.level import NO_COUNTERS, Feed, Goal, Level, Thing
from momagames.games.tileblast.state import ALL, CELLS, FEEDS, GOALS, HEIGHT, WIDTH

Path = tuple[str | int, ...]

KEYS = ("id", "title", "moves", "colours", "weights", "goals", "feed", "legend", "layout")
NEEDED = ("id", "title", "moves", "colours", "goals", "layout")
THING_KEYS = ("kind", "colour", "colours", "hp", "cover")
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
NAMES = tuple(CODES)
MAX_MOVES = 50_000
MAX_WEIGHT = 1_000_000


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with a level.

    path    where in the data: keys and indices; of a cell ("layout", line, column), from 0
    text    what was given and what is allowed
    """

    path: Path
    text: str

    @property
    def cell(self) -> tuple[int, int] | None:
        """(x, y) of a problem that is in a cell."""
        match self.path:
            case ("layout", int(line), int(column)):
                return column, HEIGHT - 1 - line
        return None

    def __str__(self) -> str:
        at = "the cell ({},{})".format(*self.cell) if self.cell else ".".join(map(str, self.path))
        return f"{at}: {self.text}" if at else self.text


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

    def list(self, path: Path, value: Any, low: int, high: int, what: str) -> list[Any]:
        """A list of low to high entries."""
        if not isinstance(value, list | tuple):
            self.refuse(path, f"{value!r} is not possible; needed: a list of {what}")
            return []
        if not low <= len(value) <= high:
            self.refuse(path, f"{len(value)} {what}; allowed: {low} to {high}")
        return list(value)

    # ------------------------------------------------------------------------------------------------ the parts of a level

    def level(self, data: Any) -> Level:
        """§10.1 The level; worth nothing if there are problems."""
        given = self.keys((), data, KEYS, NEEDED)
        title = given.get("title", "")
        if not isinstance(title, str):
            self.refuse(("title",), f"{title!r} is not possible; needed: a text")
        colors = self.colors(given.get("colours", []))
        weights = self.weights(given.get("weights"), len(colors))
        goals = self.list(("goals",), given.get("goals", []), 1, GOALS, "goals")
        feeds = self.list(("feed",), given.get("feed") or [], 0, FEEDS, "feeds")
        signs = self.legend(given.get("legend") or {})
        lines = self.lines(given.get("layout", ""))
        active, things = self.cells(lines, signs)
        level = Level(
            id=self.whole(("id",), given.get("id", 0), 0, 2**31 - 1),
            title=str(title),
            moves=self.whole(("moves",), given.get("moves", 1), 1, MAX_MOVES),
            colors=tuple(colors),
            weights=tuple(weights),
            goals=tuple(goal for k, entry in enumerate(goals) if (goal := self.goal(("goals", k), entry))),
            feeds=tuple(feed for k, entry in enumerate(feeds) if (feed := self.feed(("feed", k), entry))),
            active=tuple(active),
            things=things,
            data={},
        )
        level.data.update(plain(given, lines))
        return level

    def colors(self, value: Any) -> list[int]:
        colors = self.list(("colours",), value, 2, len(COLORS), "colours")
        codes = []
        for k, name in enumerate(colors):
            if self.name(("colours", k), name, COLORS, "the colour"):
                codes.append(COLORS.index(name) + 1)
                if colors.index(name) < k:
                    self.refuse(("colours", k), f"{name!r} stands there twice")
        return codes

    def weights(self, value: Any, count: int) -> list[int]:
        if value is None:
            return [1] * count
        weights = self.list(("weights",), value, count, count, "weights, one for each colour")
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
            self.refuse(at, f"{unit!r} has no colour; what may be asked for in one: {one_of(COLORED)}")
        elif dot and not self.name(at, color, COLORS, "the colour"):
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
        """`cover+kind.colour:hp`, or a dict."""
        if isinstance(value, str):
            cover, _, rest = value.rpartition("+")
            rest, _, hp = rest.partition(":")
            kind, _, color = rest.partition(".")
            points: Any = int(hp) if hp.isdecimal() and hp.isascii() else hp
            parts = {"cover": cover, "kind": kind, "colour": color, "hp": points}
            value = {name: part for name, part in parts.items() if part != "" or name == "kind"}
        given = self.keys(path, value, THING_KEYS, ("kind",))
        if "kind" not in given or not self.name(path, given["kind"], NAMES, "the kind"):
            return None
        code = CODES[given["kind"]]
        kind = KINDS[code]
        cover = given.get("cover")
        if cover is not None and self.name(path, cover, COVERS[1:], "the cover") and kind.attributes & BIG:
            self.refuse(path, f"{kind.name!r} has size 2; covers lie on pieces of size 1 only")
        color = given.get("colour")
        if color is not None and kind.color != "one":
            self.refuse(path, f"{kind.name!r} has no colour at the start")
        elif color is None and kind.color == "one" and code != BASIC:
            self.refuse(path, f"{kind.name!r} needs a colour: {one_of(COLORS)}")
        elif color is not None:
            self.name(path, color, COLORS, "the colour")
        counters = self.counters(path, given.get("colours"), code)
        hp = given.get("hp", kind.usual)
        if kind.attributes & COUNTS:
            hp = self.whole(path, sum(counters), kind.low, kind.high, " as the sum of the colours")
            if given.get("hp", hp) != hp:
                self.refuse(path, f"hp={given['hp']!r} is not the sum of the colours, {hp}")
        elif not kind.low <= self.whole(path, hp, 0, 255, f" as hit points of {kind.name!r}") <= kind.high:
            allowed = f"{kind.low}..{kind.high}" if kind.low < kind.high else str(kind.low)
            self.refuse(path, f"{hp} hit points are not possible; allowed for {kind.name!r}: {allowed}")
        return Thing(
            kind=code,
            hp=hp if isinstance(hp, int) else kind.usual,
            color=COLORS.index(color) + 1 if color in COLORS else 0,
            cover=COVERS.index(cover) if cover in COVERS[1:] else 0,
            counters=counters,
        )

    def counters(self, path: Path, value: Any, code: int) -> tuple[int, ...]:
        """Hit points by colour."""
        kind = KINDS[code]
        if not kind.attributes & COUNTS:
            if value is not None:
                self.refuse(path, f"{kind.name!r} has no 'colours'")
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
        for cell, sign in enumerate(drawn):
            if sign in (INACTIVE, EMPTY) or cell in taken:
                continue
            path = place(cell)
            if sign not in signs:
                known = [INACTIVE, EMPTY, *signs]
                self.refuse(path, f"the character {sign!r} is not known; put it into the legend, or use {one_of(known)}")
            elif thing := signs[sign]:
                fills = thing.cells(cell)
                if len(fills) > 1 and not self.fits(cell, fills, drawn, taken):
                    name = KINDS[thing.kind].name
                    self.refuse(path, f"{name!r} fills 2 x 2 cells, so the cells right, above and right above must be {sign!r}")
                    continue
                things[cell] = thing
                taken.update(fills)
        return [sign != INACTIVE for sign in drawn], things

    @staticmethod
    def fits(anchor: int, fills: tuple[int, ...], drawn: str, taken: set[int]) -> bool:
        """§10.4 Whether a piece of size 2 has its four cells."""
        inside = anchor % WIDTH < WIDTH - 1 and anchor // WIDTH < HEIGHT - 1
        return inside and all(drawn[cell] == drawn[anchor] and cell not in taken for cell in fills)


def place(cell: int) -> Path:
    """The path of a cell."""
    return ("layout", HEIGHT - 1 - cell // WIDTH, cell % WIDTH)


def plain(given: Mapping[str, Any], lines: list[str]) -> dict[str, Any]:
    """The data of a level in one form, whatever it was read from; shares nothing with it."""
    data = {key: copied(given[key]) for key in KEYS if given.get(key)}
    return {**data, "layout": "\n".join(lines) + "\n"}


def copied(value: Any) -> Any:
    """Lists and dicts with text as keys, all the way down."""
    if isinstance(value, Mapping):
        return {str(key): copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list | tuple) else value
