"""SPEC.md of the built-in games: its tables and formulas, and sentences that say what is missing and what to write.

docs/add-a-game.md has a short SPEC.md to copy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import momagames
from momagames.contract import Game, Objective, Parameter
from tests.cases import SMALL, cases_of, folder_of

GAMES = Path(momagames.__file__).parent / "games"
SECTIONS = (
    "Name and source", "Start", "Actions and legality", "Step order", "Rewards by objective", "End and bounds",
    "Observation", "Parameters", "Positions as data and as text",
)  # fmt: skip


def read_spec(id: str) -> str:
    """Return the text of the SPEC.md of a game."""
    file = GAMES / folder_of(id) / "SPEC.md"
    assert file.exists(), f"momagames/games/{folder_of(id)}/SPEC.md is missing: docs/add-a-game.md has one to copy"
    return file.read_text(encoding="utf-8")


def ids_in_title(text: str) -> list[str]:
    """Return the ids in the first line."""
    return re.findall(r"`(mo-[^`]+)`", text.partition("\n")[0])


def find_table(text: str, first_column: str) -> list[list[str]]:
    """Return the rows of the table whose head starts with this column, code marks removed; none without such a table."""
    rows, lines = [], iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {first_column} |"):
            next(lines, None)
            break
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")])
    return rows


# ------------------------------------------------------------------------------------------------------------ formulas


def evaluate(formula: str, game: Game, objective: str = "") -> float:
    """Return the value of a formula such as 2W(2H - 5) + 1 or min(3, `pebbles`), in the row of this objective.

    Names are parameters of the game, floor, min and max, and the letters that its cases.py declares. Raises ValueError
    """
    module = cases_of(game.id)
    letters: Mapping[str, float] = module.letters(game, objective) if hasattr(module, "letters") else {}
    numbers = {name: value for name, value in game.params.items() if isinstance(value, (int, float))}
    names = {**numbers, **letters, "floor": math.floor, "min": min, "max": max}
    python = re.sub(r"(?<=[\d)A-Z])\s*(?=[A-Z(])", "*", formula.strip().rstrip(".").replace("`", "")).replace("^", "**")
    try:
        return float(eval(python, {"__builtins__": {}}, names))
    except (SyntaxError, NameError, TypeError) as error:
        known = ", ".join(sorted(names))
        raise ValueError(f"cannot read {formula!r} ({error}): write numbers, + - * / ^ ( ), or names of {known}") from None


def shapes(id: str) -> list[Game]:
    """Return the game with its defaults, wide and tall, and as in the tests of all games."""
    known = {parameter.name for parameter in momagames.spec(id).parameters}
    wide = {"board_width": 8, "board_height": 6, "num_colors": 3, "clear_bonus": 7.0}
    tall = {"board_width": 4, "board_height": 8, "level": 5}
    common = [{name: value for name, value in given.items() if name in known} for given in (wide, tall)]
    small = [given for given in SMALL.get(id, ()) if not given.get("normalize")]  # bounds of another unit: MO-TileBlast, §5.7
    return [momagames.spec(id, **given) for given in ({}, *common, *small)]


# ------------------------------------------------------------------------------------------------------------ problems


def section_problems(text: str) -> list[str]:
    """Return sentences about headings that are missing or out of place."""
    heads = re.findall(r"^## (\d+) (.+)$", text, re.MULTILINE)
    problems = [
        f"write the heading '## {number} {title}' (docs/add-a-game.md lists the sections)"
        for number, title in enumerate(SECTIONS, 1)
        if heads[number - 1 : number] != [(str(number), title)]
    ]
    if not any(title.startswith("Differences") for _, title in heads[len(SECTIONS) :]):
        problems.append(f"write a section '## {len(SECTIONS) + 1} Differences from the original' (or 'Differences: none')")
    if [int(number) for number, _ in heads] != list(range(1, len(heads) + 1)):
        problems.append("number the sections 1, 2, 3, ...")
    return problems


def version_problems(id: str, text: str) -> list[str]:
    """Return sentences about the title and the table of versions."""
    problems, version = [], id.rpartition("-")[2]
    if id not in ids_in_title(text):
        problems.append(f"write the id in the first line, in backticks: '# {momagames.spec(id).title} (`{id}`)'")
    rows = find_table(text, "version")
    if not rows:
        problems.append(
            f"section 8: write a table with the head '| version | change |' and the row '| {version} | first version |'"
        )
    elif rows[-1][0] != version:
        problems.append(f"section 8: the last row of the table of versions is {rows[-1][0]}: write the row of {version}")
    return problems


def parameter_problems(id: str, text: str) -> list[str]:
    """Return sentences about the table of parameters. Its defaults and ranges are those of the first id of the title."""
    declared, rows = momagames.spec(id).parameters, find_table(text, "name")
    names = [row[0] for row in rows]
    head = "section 8: write a table with the head '| name | default | allowed | effect |', in it "
    problems = [f"{head if not rows else 'section 8: '}write the row '{_parameter_row(one)}'"
                for one in declared if one.name not in names]  # fmt: skip
    expected = [one.name for one in declared]
    problems += [
        f"section 8: remove the row `{name}`: the game has no such parameter" for name in names if name not in expected
    ]
    if not problems and names != expected:
        problems.append(f"section 8: order the rows as the game declares its parameters: {', '.join(expected)}")
    if problems or id not in ids_in_title(text)[:1]:
        return problems
    return [
        f"section 8: the row `{one.name}` differs from the declared parameter: write '{_parameter_row(one)}'"
        for row, one in zip(rows, declared, strict=True)
        if not _describes_parameter(row, one)
    ]


def _parameter_row(one: Parameter) -> str:
    if one.low is not None and one.high is not None and not one.shape:
        allowed = f"{one.low:g}..{one.high:g}" + (", or None" if one.optional else "")
    else:
        allowed = "True, False" if isinstance(one.default, bool) else f"{one.default}, or ..."
    return f"| `{one.name}` | {one.default} | {allowed} | {one.doc} |"


def _describes_parameter(row: list[str], one: Parameter) -> bool:
    if len(row) < 4:
        return False
    _, default, allowed, *_ = row
    if one.name == "objectives" and default == "by id":
        return True
    if default != str(one.default):
        return False
    if one.low is None or one.high is None or one.shape:
        return allowed == "True, False" if isinstance(one.default, bool) else allowed.startswith(str(one.default))
    numbers, optional, _ = allowed.partition(", or None")
    try:
        return [float(end) for end in numbers.split("..")] == [one.low, one.high] and one.optional == bool(optional)
    except ValueError:
        return False


def objective_problems(id: str, text: str) -> list[str]:
    """Return sentences about the table of objectives, whose bounds hold for all parameters."""
    rows = find_table(text, "objective")
    head = "" if rows else "write a table with the head '| objective | unit | one step | episode |', in it "
    problems: dict[str, None] = {}  # in this order, each once
    absent = set()
    for game in shapes(id):
        for objective in game.objectives:
            family = objective.name.rpartition("_")[0] + "_" if objective.name[-1].isdigit() else objective.name
            row = next((row for row in rows if row[0].startswith(family)), None)
            if row is not None and len(row) >= 4:
                problems |= dict.fromkeys(_bound_problems(game, objective, row))
            elif objective.name not in absent:
                absent.add(objective.name)
                problems[f"{head}write the row '{_objective_row(objective)}', with formulas for bounds that vary"] = None
    return [f"section 5: {sentence}" for sentence in problems]


def _objective_row(one: Objective) -> str:
    return f"| `{one.name}` | {one.unit} | {one.low:g}..{one.high:g} | {one.return_low:g}..{one.return_high:g} |"


def _bound_problems(game: Game, one: Objective, row: list[str]) -> list[str]:
    problems = [] if row[1] == one.unit else [f"the row `{row[0]}` has the unit {row[1]!r}: write {one.unit!r}"]
    for column, cell, bounds in (
        ("one step", row[2], [one.low, one.high]),
        ("episode", row[3], [one.return_low, one.return_high]),
    ):
        try:
            values = [evaluate(end, game, one.name) for end in cell.split("..")]
        except ValueError as error:
            problems.append(f"the row `{row[0]}`, column {column}: {error}")
            continue
        if values != bounds:
            declared = "..".join(f"{value:g}" for value in bounds)
            call = momagames.registry.format_id(game.id, game.params)
            problems.append(
                f"the row `{row[0]}`, column {column}: '{cell}' is not {declared}, as {call} declares: write a formula"
            )
    return problems


def citation_problems(folder: Path) -> list[str]:
    """Return sentences about sections that the code or the SPEC.md of a game cites, and SPEC.md lacks."""
    text = (folder / "SPEC.md").read_text(encoding="utf-8")
    present = re.findall(r"^## (\d+) ", text, re.MULTILINE) + re.findall(r"^\*\*(\d+\.\d+)\b", text, re.MULTILINE)
    return [
        f"{file.relative_to(folder.parent)} cites §{number}: correct the number, or write in SPEC.md "
        + (f"a paragraph that starts with '**{number}**'" if "." in number else f"the heading '## {number} ...'")
        for file in sorted([*folder.rglob("*.py"), folder / "SPEC.md"])
        for number in dict.fromkeys(re.findall(r"§(\d+(?:\.\d+)?)", file.read_text(encoding="utf-8")))
        if number not in present
    ]
