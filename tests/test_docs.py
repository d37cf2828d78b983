"""The documentation says what is true: its examples run, its tables agree with the registry, its links lead somewhere."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import momagames
from momagames import registry
from momagames.contract import Game
from momagames.games import VERSIONS
from momagames.games.tileblast.levels import loader

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("docs", "docs/decisions", "docs/tutorials")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))])
LIBRARIES = {  # page in docs/tutorials -> the package that it is about, or a part of it that not every install has
    "momaland": "momaland.learning.cooperative_momappo.utils",
    "morl-baselines": "morl_baselines",
    "rllib": "ray.rllib.algorithms.ppo",
    "sb3": "sb3_contrib",
    "torchrl": "torchrl",
}
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r"^```\{image\} (\S+)$", re.MULTILINE)


def name(value: object) -> str:
    return value.relative_to(ROOT).as_posix() if isinstance(value, Path) else str(value)


# ------------------------------------------------------------------------------------------------------------ examples


def examples(page: Path) -> list[tuple[str, str]]:
    """The ```python blocks of a page, each with a name that has its line."""
    text = page.read_text()
    blocks = [(m.group(2), text[: m.start()].count("\n") + 2) for m in FENCE.finditer(text) if m.group(1) == "python"]
    return [(f"<{name(page)} line {line}>", "\n" * (line - 1) + code) for code, line in blocks]


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=name)
def test_examples_run(page, tmp_path, monkeypatch):
    """All blocks of a page one after the other, in one namespace, in an empty folder."""
    if page.parent.name == "tutorials":
        pytest.importorskip(LIBRARIES[page.stem], exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for where, code in examples(page):
        exec(compile(code, where, "exec"), namespace)


def test_every_tutorial_names_its_library():
    tutorials = {page.stem for page in PAGES if page.parent.name == "tutorials"} - {"index"}
    assert tutorials == set(LIBRARIES)


def test_every_block_has_a_language():
    wrong = [
        f"{name(page)}: a block without a language"
        for page in PAGES
        for language, _ in FENCE.findall(page.read_text())
        if not language
    ]
    assert not wrong


# --------------------------------------------------------------------------------------------------------------- links


def anchors(page: Path) -> set[str]:
    """What headings can be linked to, as MyST makes them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def dead_links(page: Path, text: str) -> list[str]:
    """Links of a page to files or headings that are not there. Pages of games are made by the build."""
    dead = []
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    for target in LINK.findall(prose) + IMAGE.findall(text):
        if re.match(r"https?://|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        made = file.parent == ROOT / "docs/games" and file.stem in {*VERSIONS, "index"}
        if not made and not file.exists():
            dead.append(f"{name(page)}: {target}")
        elif anchor and not made and anchor not in anchors(file):
            dead.append(f"{name(page)}: no heading {target}")
    return dead


def test_links_lead_somewhere():
    assert not [line for page in PAGES for line in dead_links(page, page.read_text())]


def test_a_planted_dead_link_is_found():
    page = ROOT / "docs/index.md"
    assert dead_links(page, "[x](nowhere.md)")
    assert dead_links(page, "[x](quickstart.md#no-such-heading)")
    assert dead_links(page, "```{image} nowhere.svg\n```")
    assert not dead_links(page, "[x](quickstart.md#positions) and [y](games/mo-samegame-v0.md)")


# --------------------------------------------------------------------------------------------------------------- words

SOURCES = sorted(
    file
    for pattern in ("*.md", "*.cff", "*.toml", "*.yaml", ".ci/*", "docs/**/*.md", "docs/*.py", "momagames/**/*.py",
                    "momagames/**/*.md", "tests/**/*.py", "benchmarks/**/*.py", "benchmarks/**/*.md", "configs/**/*.yaml")
    for file in ROOT.glob(pattern)
    if file.is_file()
)  # fmt: skip
FORBIDDEN = re.compile(
    r"(?<![\w.])/(?:work|home|root|Users|mnt)/\w|\.\./shared|(?<!\w)shared/|"  # places on one machine
    r"(?:pypi|pythonhosted|anaconda|npmjs)\.(?:org|com)|index-url|"  # hosts of package registries
    r"\b(?:TODO|FIXME|XXX)\b|\bissue #?\d"
)


def test_no_machine_no_registry_no_loose_ends():
    here = Path(__file__).resolve()
    found = [
        f"{name(file)}: {match.group()}" for file in SOURCES if file != here for match in FORBIDDEN.finditer(file.read_text())
    ]
    assert not found


@pytest.mark.parametrize("text", ["see /home/me/x", "../shared/a.md", "https://pypi.org/simple", "# TODO later", "issue 12"])
def test_a_planted_word_is_found(text):
    assert FORBIDDEN.search(text)


# ------------------------------------------------------------------------------------------------- SPEC.md and registry


def spec_text(id: str) -> str:
    module = import_module(registry.find_entry(id).factory.partition(":")[0])
    return (Path(str(module.__file__)).parent / "SPEC.md").read_text()


def named(text: str) -> list[str]:
    """The ids in the title of a SPEC.md."""
    return re.findall(r"`(mo-[^`]+)`", text.splitlines()[0])


def table(text: str, first_column: str) -> list[list[str]]:
    """The rows of the table whose head starts with this column, code marks removed."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")])
    return rows


def level_letters(game: Game, name: str) -> dict[str, float]:
    """G, A_k, M, V, F and T of a game with a level (MO-TileBlast, SPEC §5), for the objective of this name."""
    level, taps = loader.load(game.params["level"]), game.max_episode_steps
    valid = level.moves if game.params["strict_moves"] else taps
    amounts = loader.goal_bounds(level, valid)
    one = amounts[int(name[-1]) - 1] if name.startswith("goal_") else 0
    fed = sum(feed.total for feed in level.feeds)
    return {"G": sum(amounts), "A_k": one, "M": level.moves, "V": valid, "F": fed, "T": taps}


def value_of(text: str, game: Game, name: str = "") -> float:
    """A formula of SPEC.md, such as 2W(2H - 5) + 1, with the letters of the game's board; in the row of this objective."""
    letters = {letter: game.params.get(key, 0) for letter, key in
               (("W", "board_width"), ("H", "board_height"), ("C", "num_colors"), ("clear_bonus", "clear_bonus"),
                ("T", "max_steps"), ("I", "num_items"), ("n", "board_size"),
                ("R", "required_mail"), ("P", "num_players"))}  # fmt: skip
    letters |= {"W": letters["W"] or game.params.get("num_wood", 0), "T": letters["T"] or game.params.get("max_step", 0)}
    letters |= {"E": sum(team != game.teams[0] for team in game.teams)}
    letters |= level_letters(game, name) if "level" in game.params else {}
    formula = re.sub(r"(?<=[\d)WHC])\s*(?=[WHCTR(])", "*", text.strip().rstrip(".")).replace("^", "**")
    return float(eval(formula, {"floor": lambda x: x // 1, **letters}))


def shapes(id: str) -> list[Game]:
    """Boards that are square, wide and tall, and whatever else changes what SPEC.md declares."""
    known = {parameter.name for parameter in momagames.spec(id).parameters}
    wide = {"board_width": 9, "board_height": 6, "num_colors": 3, "clear_bonus": 7.0}
    tall = {"board_width": 4, "board_height": 11, "level": 5}
    return [momagames.spec(id, **{k: v for k, v in given.items() if k in known}) for given in ({}, wide, tall)]


SECTIONS = (
    "Name and source", "Start", "Actions and legality", "Step order", "Rewards by objective", "End and bounds",
    "Observation", "Parameters", "Positions as data and as text",
)  # fmt: skip


def spec_problems(text: str) -> list[str]:
    """Sentences that say which headings of a SPEC.md are missing or out of place, and what to write."""
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


@pytest.mark.parametrize("id", VERSIONS)
def test_spec_has_the_numbered_sections(id):
    assert not (problems := spec_problems(spec_text(id))), "\n".join(problems)


def test_a_specification_without_sections_gets_instructions():
    assert len(spec_problems("# Pebbles\n\n## 1 Name and source\n")) == len(SECTIONS)
    assert "'## 2 Start'" in spec_problems("# Pebbles\n\n## 1 Name and source\n")[0]


@pytest.mark.parametrize("id", VERSIONS)
def test_spec_names_the_id_and_its_version(id):
    text = spec_text(id)
    assert id in named(text)
    assert table(text, "version")[-1][0] == id.rpartition("-")[2]


@pytest.mark.parametrize("id", VERSIONS)
def test_spec_lists_the_parameters(id):
    game, text = momagames.spec(id), spec_text(id)
    rows = table(text, "name")
    assert [row[0] for row in rows] == [parameter.name for parameter in game.parameters]
    if id != named(text)[0]:  # the table has the defaults of the first id
        return
    for (_, default, allowed, *_), parameter in zip(rows, game.parameters, strict=True):
        if parameter.name == "objectives" and default == "by id":
            continue
        assert default == str(parameter.default)
        if parameter.low is not None and parameter.high is not None:
            numbers, optional, _ = allowed.partition(", or None")
            assert [float(end) for end in numbers.split("..")] == [parameter.low, parameter.high]
            assert parameter.optional == bool(optional)
        elif isinstance(parameter.default, bool):
            assert allowed == "True, False"
        else:
            assert allowed.startswith(str(parameter.default))


@pytest.mark.parametrize("id", VERSIONS)
def test_spec_lists_the_objectives(id):
    rows = table(spec_text(id), "objective")
    for game in shapes(id):
        for objective in game.objectives:
            family = objective.name.rpartition("_")[0] + "_" if objective.name[-1].isdigit() else objective.name
            row = next(row for row in rows if row[0].startswith(family))
            assert row[1] == objective.unit
            for cell, low, high in (
                (row[2], objective.low, objective.high),
                (row[3], objective.return_low, objective.return_high),
            ):
                assert [value_of(end, game, objective.name) for end in cell.split("..")] == [low, high]


@pytest.mark.parametrize("id", ["mo-samegame-v0", "mo-breakthrough-v0"])  # one table of cells to act on and to see
def test_spec_gives_actions_observation_and_bounds(id):
    text = spec_text(id)
    actions = re.search(r"`Discrete\(([^`]+)\)`", text)
    observation = re.search(r"Observation, int8\[([^\]]+)\]", text)
    plies = re.search(r"`max_episode_steps` = (.+?)(?:: |\. )", text)
    reference = re.search(r"\*\*6\.3 Reference point\*\*[^:]*: (.+)", text)
    assert actions
    assert observation
    assert plies
    assert reference
    for game in shapes(id):
        assert game.actions == (value_of(actions.group(1), game),)
        assert game.fields[0].shape == tuple(value_of(part, game) for part in observation.group(1).split(","))
        assert game.fields[0].dtype == "int8"
        assert game.max_episode_steps == value_of(plies.group(1), game)
        if "in every objective" in reference.group(1):
            points = [float(reference.group(1).split()[0])] * len(game.objectives)
        else:
            points = [float(point) for point in reference.group(1).partition("(")[0].split(",")]
        assert list(game.reference_point) == points


def test_the_readme_has_the_table_of_the_registry(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = (ROOT / "README.md").read_text()
    assert text == import_module("readme_table").update(text), "run python docs/readme_table.py"
    assert [row[0] for row in table(text, "id")] == list(VERSIONS)


def test_the_pictures_of_the_docs_are_those_that_are_listed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    listed = import_module("pictures").PICTURES
    assert {one.file for one in listed} == {file.name for file in (ROOT / "docs/_static").iterdir()}
    assert {id for one in listed for id in one.pages} <= set(VERSIONS)
    for one in listed:
        if hasattr(one, "render_options"):
            game = momagames.spec(one.id, **one.params)
            assert len(one.policies) == len(game.agents)
            assert set(one.render_options) <= {option.name for option in game.view.render_options}


@pytest.mark.parametrize("file", sorted((ROOT / "docs").glob("*.py")), ids=name)
def test_scripts_of_the_docs_say_what_they_do(file):
    assert ast.get_docstring(ast.parse(file.read_text()))
