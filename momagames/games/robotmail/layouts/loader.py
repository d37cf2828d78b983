"""Layouts of MO-RoboticMail: packaged ones, files, texts, data and random boards (SPEC §10)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from momagames.contract import check_parameters
from momagames.errors import InvalidFile, InvalidLayout, first_of, nearest, one_of
from momagames.files.reading import is_directory, read_bytes
from momagames.games.robotmail.layouts import linter
from momagames.games.robotmail.layouts.generator import ARGUMENTS, generate
from momagames.games.robotmail.layouts.layout import Layout
from momagames.games.robotmail.layouts.map_parser import Map, are_swapped, compare_sizes, find_wrong_codes, find_wrong_numbers
from momagames.games.robotmail.layouts.problem import MAPS, Problem

__all__ = ["ACCEPTS", "NAMES", "RANDOM", "Layout", "check_robots", "list_problems", "load", "normalize_parameter"]

NAMES = ("documented", "rbgame", "ring", "mini6", "wide12", "tall", "tiny", "street", "depot")
RANDOM = "random"
ACCEPTS = (
    f"{one_of((*NAMES, RANDOM))}; arguments of the generator as a dict, such as {{'seed': 3, 'width': 12}}; "
    "STEM of two files STEM_colors.csv and STEM_targets.csv; a pair of paths or of CSV texts; {'colors': rows, 'targets': rows}"
)
ENDINGS = tuple(f"_{name}.csv" for name in MAPS)
MAX_BYTES = 256 << 10  # of a file


def load(source: Any) -> Layout:
    """Return a layout from any of the forms of §10.1, checked as a whole.

    Raises   InvalidLayout, which names what is wrong and where; InvalidParameter for arguments that the generator rejects
    """
    if isinstance(source, str) and source in NAMES:
        return load_packaged(source)
    found, wrong = read_source(source)
    if found is None:
        raise InvalidLayout(first_of(wrong))
    return found


def normalize_parameter(source: Any) -> str | dict[str, list[str]]:
    """Return the parameter value of a layout: the name of a packaged one, else its rows."""
    return source if isinstance(source, str) and source in NAMES else load(source).data


def list_problems(source: Any) -> list[str]:
    """Return all problems of a layout, each with its file and place. Raises InvalidLayout for an unknown form."""
    return read_source(source)[1]


def check_robots(layout: Layout, count: int) -> None:
    """Raise InvalidLayout if the layout has too few white cells for the robots."""
    places = len(layout.cells("w"))
    if count > places:
        raise InvalidLayout(
            f"{count} robots do not fit on this layout: robots start on white cells, of which it has {places}; "
            f"take at most {places} robot{'s' * (places != 1)}, or another layout"
        )


@cache
def load_packaged(name: str) -> Layout:
    """Return a packaged layout."""
    folder = resources.files(__package__).joinpath("data")
    texts = [folder.joinpath(name + ending).read_text(encoding="utf-8") for ending in ENDINGS]
    found, wrong = parse_texts(texts)
    assert found is not None, wrong
    return found


# -------------------------------------------------------------------------------------------------------------- reading


def read_source(source: Any) -> tuple[Layout | None, list[str]]:
    """Return a layout (None if it has problems) and its problems."""
    if isinstance(source, str) and source in NAMES:
        return load_packaged(source), []
    if source == RANDOM:
        return generate(), []
    if isinstance(source, Mapping) and not set(source) & set(MAPS):
        return generate(**check_parameters("layout", ARGUMENTS, source)), []
    texts, names, wrong = read_texts(source)
    found, more = parse_texts(texts) if not wrong else (None, wrong)
    return found, [f"{names[problem.map]}: {problem}" for problem in more]


def parse_texts(texts: list[str]) -> tuple[Layout | None, list[Problem]]:
    """Return the layout of two texts, colors and targets, or their problems."""
    colors, targets = Map(0, texts[0]), Map(1, texts[1])
    if colors.rows and targets.rows and are_swapped(colors, targets):
        return None, [Problem(0, "target numbers instead of colors: expected the colors first, then the targets")]
    wrong = [*colors.problems, *find_wrong_codes(colors), *targets.problems, *find_wrong_numbers(targets)]
    shaped = not colors.problems and not targets.problems
    if shaped:
        sizes = compare_sizes(colors, targets)
        wrong += sizes or linter.find_target_problems(colors, targets)
    if shaped and not any(problem.map == 0 for problem in wrong):
        wrong += linter.find_missing_colors(colors)
    if wrong:
        return None, sorted(wrong, key=lambda problem: (problem.map, problem.place or (0, 0)))
    layout = Layout(tuple(map(tuple, colors.rows)), tuple(tuple(map(int, row)) for row in targets.rows))
    wrong = [colors.problem_at(cell, text) for cell, text in linter.find_unreachable(layout)]
    return (None, wrong) if wrong else (layout, [])


def read_texts(source: Any) -> tuple[list[str], list[str], list[Problem]]:
    """Return the texts of colors and targets, their names, and the problems of reading them."""
    if isinstance(source, Layout):
        source = source.data
    if isinstance(source, Mapping):
        return [join_rows(source, name) for name in MAPS], list(MAPS), []
    if isinstance(source, str | os.PathLike):
        source = find_files(source)
    if isinstance(source, list | tuple) and len(source) == 2:
        if all(isinstance(part, str) and is_text(part) for part in source):
            return list(source), list(MAPS), []
        if all(isinstance(part, str | os.PathLike) for part in source):
            files = [read_file(k, Path(part)) for k, part in enumerate(source)]
            wrong = [each for each in files if isinstance(each, Problem)]
            return [each for each in files if isinstance(each, str)], [str(part) for part in source], wrong
    raise InvalidLayout(f"invalid layout={source!r}: expected {ACCEPTS}")


def is_text(part: str) -> bool:
    """Return whether a text is a map and not a path."""
    return "\n" in part or ("," in part and not any(sign in part for sign in "./\\"))


def join_rows(data: Mapping[Any, Any], name: str) -> str:
    """Return the text of one map of a layout given as data: lines, or lists of cells."""
    for key in data:
        if key not in MAPS:
            raise InvalidLayout(f"layout: invalid key {key!r}: expected {one_of(MAPS)}{nearest(key, MAPS)}")
    if name not in data:
        raise InvalidLayout(f"layout: missing key {name!r}: expected {one_of(MAPS)}")
    rows = data[name]
    if isinstance(rows, str):
        return rows
    if not isinstance(rows, Iterable):
        raise InvalidLayout(f"layout: invalid {name}={rows!r}: expected a list of rows")
    return "\n".join(row if isinstance(row, str) else ",".join(map(str, row)) for row in rows)


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return both files of a layout from the stem of their names, or from one of them."""
    name = os.fspath(path)
    stem = next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)
    pair = [stem + ending for ending in ENDINGS]
    if not any(os.path.exists(file) for file in pair):
        raise InvalidLayout(f"invalid layout={name!r}: expected {ACCEPTS}{nearest(name, (*NAMES, RANDOM))}")
    return pair


def read_file(map: int, path: Path) -> str | Problem:
    """Return the text of a file, or the problem that prevents reading it."""
    try:
        return read_bytes(path, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        return Problem(map, f"the byte 0x{error.object[error.start]:02x} is not UTF-8", (line, column))
    except InvalidFile as error:
        beside = [file.name for file in path.parent.glob("*.csv")] if is_directory(path.parent) else []
        return Problem(map, f"cannot be read ({str(error).removeprefix(f'{path}: ')}){nearest(path.name, beside)}")
