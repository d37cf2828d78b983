"""Parser of levels of MO-TileBlast from plain data (SPEC §10.1 to §10.4). It collects all problems of a level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from momagames.errors import nearest, one_of
from momagames.games.tileblast.levels.level import NO_COUNTERS, Feed, Goal, Level, Piece
from momagames.games.tileblast.levels.problem import Path, Problem, cell_path
from momagames.games.tileblast.rules.pieces import BASIC, BIG, CODES, COLORED, COLORS, COUNTS, COVERS, KINDS, UNITS, Kind
from momagames.games.tileblast.rules.state import ALL, CELLS, FEEDS, GOALS, HEIGHT, WIDTH

LEVEL_KEYS = ("id", "title", "moves", "colors", "weights", "goals", "feed", "legend", "layout")
REQUIRED_KEYS = ("id", "title", "moves", "colors", "goals", "layout")
THING_KEYS = ("kind", "color", "colors", "hp", "cover")
# Values of missing parts; missing keys of REQUIRED_KEYS are reported separately
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
    ".": Piece(BASIC, 1),
    "-": Piece(CODES["rocket_h"], 1),
    "|": Piece(CODES["rocket_v"], 1),
    "*": Piece(CODES["bomb"], 1),
    **{sign: Piece(BASIC, 1, k + 1) for k, sign in enumerate("rbyopk")},
    **{sign: Piece(CODES["flask"], 1, k + 1) for k, sign in enumerate("RBYOPK")},
}
KNOWN_SIGNS = " ".join([INACTIVE, EMPTY, *SIGNS])
MAX_MOVES = 50_000
MAX_WEIGHT = 1_000_000
MAX_DIGITS = 9  # of hit points


class LevelParser:
    """Parser of the data of a level; `problems` collects the errors."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add_problem(self, path: Path, text: str) -> None:
        self.problems.append(Problem(path, text))

    def parse_integer(self, path: Path, value: Any, low: int, high: int, also: str = "") -> int:
        """Return a whole number from low to high; low for any other value."""
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self.add_problem(path, f"invalid value {value!r}: expected whole numbers {low}..{high}{also}")
        return low

    def parse_name(self, path: Path, value: Any, allowed: Iterable[str], what: str) -> str | None:
        """Return one of the allowed names, or None."""
        allowed = tuple(allowed)
        if isinstance(value, str) and value in allowed:
            return value
        self.add_problem(path, f"invalid {what} {value!r}: expected {one_of(allowed)}{nearest(value, allowed)}")
        return None

    def parse_mapping(self, path: Path, value: Any, allowed: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
        """Return a mapping without unknown keys; report unknown and missing keys."""
        if not isinstance(value, Mapping):
            self.add_problem(path, f"invalid value {value!r}: expected a mapping with {one_of(allowed)}")
            return {}
        for key in value:
            if key not in allowed:
                self.add_problem((*path, str(key)), f"unknown key {key!r}: expected {one_of(allowed)}{nearest(key, allowed)}")
        for key in needed:
            if key not in value:
                self.add_problem(path, f"missing key {key!r}")
        return {str(key): value[key] for key in value if key in allowed}

    def parse_list(self, path: Path, value: Any, low: int, high: int, what: str) -> list[Any]:
        """Return a list; report a length outside low..high."""
        if not isinstance(value, list | tuple):
            self.add_problem(path, f"invalid value {value!r}: expected a list of {what}")
            return []
        if not low <= len(value) <= high:
            self.add_problem(path, f"{len(value)} {what}: expected {low if low == high else f'{low} to {high}'}")
        return list(value)

    # ------------------------------------------------------------------------------------------------ parts of a level

    def parse_level(self, data: Any) -> Level | None:
        """§10.1 Return the level, or None if there are problems."""
        given = self.parse_mapping((), data, LEVEL_KEYS, REQUIRED_KEYS)
        if not given:
            return None
        parts = {**DEFAULTS, **{key: value for key, value in given.items() if key in REQUIRED_KEYS or value is not None}}
        if not isinstance(parts["title"], str):
            self.add_problem(("title",), f"invalid value {parts['title']!r}: expected text")
        names = self.parse_list(("colors",), parts["colors"], 2, len(COLORS), "colors")
        colors = self.parse_colors(names)
        weights = self.parse_weights(parts["weights"], len(names))
        goals = self.parse_list(("goals",), parts["goals"], 1, GOALS, "goals")
        feeds = self.parse_list(("feed",), parts["feed"], 0, FEEDS, "feeds")
        lines = self.parse_lines(parts["layout"])
        active, pieces = self.parse_cells(lines, self.parse_legend(parts["legend"]))
        level = Level(
            id=self.parse_integer(("id",), parts["id"], 0, 2**31 - 1),
            title=str(parts["title"]),
            moves=self.parse_integer(("moves",), parts["moves"], 1, MAX_MOVES),
            colors=tuple(colors),
            weights=tuple(weights),
            goals=tuple(goal for k, entry in enumerate(goals) if (goal := self.parse_goal(("goals", k), entry))),
            feeds=tuple(feed for k, entry in enumerate(feeds) if (feed := self.parse_feed(("feed", k), entry))),
            active=tuple(active),
            pieces=pieces,
            data=normalize_data(given, lines),
        )
        return None if self.problems else level

    def parse_colors(self, names: list[Any]) -> list[int]:
        """Return the codes of the colors."""
        codes, known = [], set()
        for k, name in enumerate(names):
            if self.parse_name(("colors", k), name, COLORS, "color"):
                codes.append(COLORS.index(name) + 1)
                if name in known:
                    self.add_problem(("colors", k), f"duplicate color {name!r}")
                known.add(name)
        return codes

    def parse_weights(self, value: Any, count: int) -> list[int]:
        """Return the weights of the colors, 1 each by default."""
        if value is None:
            return [1] * count
        weights = self.parse_list(("weights",), value, count, count, "weights, one for each color")
        return [self.parse_integer(("weights", k), weight, 1, MAX_WEIGHT) for k, weight in enumerate(weights)]

    def parse_goal(self, path: Path, value: Any) -> Goal | None:
        """§6.1 Return a goal, or None."""
        given = self.parse_mapping(path, value, ("collect", "amount"), ("collect", "amount"))
        if len(given) < 2:
            return None
        amount = given["amount"]
        amount = ALL if amount == "all" else self.parse_integer((*path, "amount"), amount, 1, 1_000_000, " and 'all'")
        at = (*path, "collect")
        unit, dot, color = str(given["collect"]).partition(".")
        if not self.parse_name(at, unit, UNITS, "unit"):
            return None
        if dot and unit not in COLORED:
            self.add_problem(at, f"{unit!r} has no color: expected {one_of(COLORED)}")
        elif dot and not self.parse_name(at, color, COLORS, "color"):
            return None
        return Goal(str(given["collect"]), UNITS[unit], COLORS.index(color) + 1 if color in COLORS else 0, amount)

    def parse_feed(self, path: Path, value: Any) -> Feed | None:
        """§4.8 Return a feed, or None."""
        names = ("piece", "per_mille", "max_on_board", "total")
        given = self.parse_mapping(path, value, names, names)
        if len(given) < len(names):
            return None
        at = (*path, "piece")
        piece = self.parse_piece(at, given["piece"])
        if piece and piece.cover:
            self.add_problem(at, "invalid cover: expected a feed without a cover")
        if piece and piece.attributes & BIG:
            self.add_problem(at, f"{KINDS[piece.kind].name!r} has size 2: expected size 1 in a feed")
        if piece and piece.kind == BASIC:
            self.add_problem(at, "invalid kind 'basic': expected another kind in a feed")
        most = [
            self.parse_integer((*path, name), given[name], 1, high)
            for name, high in (("per_mille", 1000), ("max_on_board", CELLS), ("total", 1_000_000))
        ]
        return Feed(piece, *most) if piece else None

    # ----------------------------------------------------------------------------------------------------- §10.3: pieces

    def parse_piece(self, path: Path, value: Any) -> Piece | None:
        """§10.3 Return the piece of `cover+kind.color:hp` or of a dict, or None."""
        given = self.parse_mapping(path, split_thing(value) if isinstance(value, str) else value, THING_KEYS, ("kind",))
        if "kind" not in given or not self.parse_name(path, given["kind"], CODES, "kind"):
            return None
        code = CODES[given["kind"]]
        counters = self.parse_counters(path, given.get("colors"), KINDS[code])
        return Piece(
            kind=code,
            hp=self.parse_hit_points(path, given.get("hp"), KINDS[code], counters),
            color=self.parse_color(path, given.get("color"), KINDS[code]),
            cover=self.parse_cover(path, given.get("cover"), KINDS[code]),
            counters=counters,
        )

    def parse_cover(self, path: Path, value: Any, kind: Kind) -> int:
        """Return the code of a cover, 0 for none."""
        if value is None or not self.parse_name(path, value, COVERS[1:], "cover"):
            return 0
        if kind.attributes & BIG:
            self.add_problem(path, f"{kind.name!r} has size 2: expected size 1 under a cover")
        return COVERS.index(value)

    def parse_color(self, path: Path, value: Any, kind: Kind) -> int:
        """Return the code of a color, 0 for none."""
        if value is None:
            if kind.color == "one" and kind.name != "basic":
                self.add_problem(path, f"{kind.name!r} needs a color: expected {one_of(COLORS)}")
            return 0
        if kind.color != "one":
            self.add_problem(path, f"{kind.name!r} has no 'color' at the start")
            return 0
        return COLORS.index(value) + 1 if self.parse_name(path, value, COLORS, "color") else 0

    def parse_hit_points(self, path: Path, value: Any, kind: Kind, counters: tuple[int, ...]) -> int:
        """§1.1 Return the hit points of a piece."""
        if kind.attributes & COUNTS:
            total = self.parse_integer(path, sum(counters), kind.low, kind.high, " as the sum of the colors")
            if value not in (None, total):
                self.add_problem(path, f"invalid hp={value!r}: expected the sum of the colors, {total}")
            return total
        if value is None:
            return kind.usual
        return self.parse_integer(path, value, kind.low, kind.high, f" as hit points of {kind.name!r}")

    def parse_counters(self, path: Path, value: Any, kind: Kind) -> tuple[int, ...]:
        """Return the hit points by color."""
        if not kind.attributes & COUNTS:
            if value is not None:
                self.add_problem(path, f"{kind.name!r} has no 'colors'")
            return NO_COUNTERS
        given = self.parse_mapping(path, value or {}, COLORS, ())
        return tuple(self.parse_integer((*path, name), given.get(name, 0), 0, kind.high) for name in COLORS)

    # --------------------------------------------------------------------------------------- §10.2, §10.4: legend, layout

    def parse_legend(self, value: Any) -> dict[str, Piece | None]:
        """Return the piece of every character; None for invalid entries."""
        signs: dict[str, Piece | None] = dict(SIGNS)
        if not isinstance(value, Mapping):
            self.add_problem(("legend",), f"invalid value {value!r}: expected a mapping from characters to pieces")
            return signs
        for key, piece in value.items():
            sign, path = str(key), ("legend", str(key))
            if len(sign) != 1 or sign.isspace():
                self.add_problem(path, f"invalid key {sign!r}: expected one character")
            elif sign in SIGNS or sign in (INACTIVE, EMPTY):
                self.add_problem(path, f"invalid character {sign!r}: its meaning is fixed")
            else:
                signs[sign] = self.parse_piece(path, piece)
        return signs

    def parse_lines(self, value: Any) -> list[str]:
        """Return the lines of the layout, cut or padded to the size of the board."""
        if not isinstance(value, str):
            self.add_problem(("layout",), f"invalid value {value!r}: expected text of {HEIGHT} lines")
            value = ""
        lines = [line.rstrip() for line in value.rstrip().splitlines()]
        if len(lines) != HEIGHT:
            self.add_problem(("layout",), f"{len(lines)} lines: expected {HEIGHT} lines of {WIDTH} characters")
        for k, line in enumerate(lines):
            if len(line) != WIDTH:
                self.add_problem(("layout", k), f"{len(line)} characters: expected {WIDTH}")
        lines += [""] * (HEIGHT - len(lines))
        return [line[:WIDTH].ljust(WIDTH, INACTIVE) for line in lines[:HEIGHT]]

    def parse_cells(self, lines: list[str], signs: dict[str, Piece | None]) -> tuple[list[bool], dict[int, Piece]]:
        """Return which cells are active, and the piece at each anchor."""
        layout = "".join(reversed(lines))
        pieces: dict[int, Piece] = {}
        filled: set[int] = set()
        reported: set[str] = set()
        for cell, sign in enumerate(layout):
            if sign in (INACTIVE, EMPTY) or cell in filled:
                continue
            piece = signs.get(sign)
            if sign not in signs:
                text = f"unknown character {sign!r}: expected a character of the legend, or one of {KNOWN_SIGNS}"
            elif piece and not self.has_room(cell, piece.cells(cell), layout, filled):
                text = f"{KINDS[piece.kind].name!r} fills 2 x 2 cells: expected {sign!r} to the right, above, and above right"
            else:
                if piece:
                    pieces[cell] = piece
                    filled.update(piece.cells(cell))
                continue
            if sign not in reported:  # report each character once
                self.add_problem(cell_path(cell), text)
                reported.add(sign)
        return [sign != INACTIVE for sign in layout], pieces

    @staticmethod
    def has_room(anchor: int, cells: tuple[int, ...], layout: str, filled: set[int]) -> bool:
        """§10.4 Return whether all cells of a piece are on the board, free and of its character."""
        inside = len(cells) == 1 or (anchor % WIDTH < WIDTH - 1 and anchor // WIDTH < HEIGHT - 1)
        return inside and all(layout[cell] == layout[anchor] and cell not in filled for cell in cells)


def split_thing(text: str) -> dict[str, Any]:
    """Return the parts of `cover+kind.color:hp`."""
    cover, _, rest = text.rpartition("+")
    rest, _, hp = rest.partition(":")
    kind, _, color = rest.partition(".")
    points = int(hp) if hp.isascii() and hp.isdecimal() and len(hp) <= MAX_DIGITS else hp
    return {"kind": kind} | {name: part for name, part in (("cover", cover), ("color", color), ("hp", points)) if part != ""}


def normalize_data(given: Mapping[str, Any], lines: list[str]) -> dict[str, Any]:
    """Return a copy of the data of a level in a single form, for any source."""
    data = {key: copy_plain(given[key]) for key in LEVEL_KEYS if key in given and (key in REQUIRED_KEYS or given[key])}
    return {**data, "layout": "\n".join(lines) + "\n"}


def copy_plain(value: Any) -> Any:
    """Return a deep copy of lists and dicts with text as keys."""
    if isinstance(value, Mapping):
        return {str(key): copy_plain(part) for key, part in value.items()}
    return [copy_plain(part) for part in value] if isinstance(value, list | tuple) else value
