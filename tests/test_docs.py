"""The documentation says what is true: its examples run, its tables agree with the registry, its links lead somewhere."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
import typer

import momagames
from momagames.baselines import METHODS, method, policy
from momagames.benchmark import load_suite
from momagames.benchmark.matches import has_winners
from momagames.cli.app import app
from momagames.cli.bench import quick
from momagames.cli.console import parse_parameters
from momagames.errors import MissingExtra
from momagames.games import BENCHMARK, VERSIONS
from tests.cases import folder_of
from tests.pages import FENCE, ROOT, examples, name_of, run_examples
from tests.specifications import (
    SECTIONS,
    evaluate,
    find_table,
    objective_problems,
    parameter_problems,
    read_spec,
    section_problems,
    shapes,
    version_problems,
)

BREAKTHROUGH = "mo-breakthrough-v0"
MADE = ("index", "trained-policies")
MADE_PAGES = (ROOT / "docs/commands.md", ROOT / "docs/proven-fronts.md")
FAMILIES = {folder_of(id) for id in BENCHMARK}  # whose pages the build makes
FOLDERS = ("docs", "docs/api", "docs/decisions", "docs/leaderboard", "docs/tutorials")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))])
RUN_ELSEWHERE = {  # test_add_a_game.py, integrations/test_page.py, test_tutorials.py
    ROOT / "docs/add-a-game.md", ROOT / "docs/integrations.md", *(ROOT / "docs/tutorials").glob("*.md"),
}  # fmt: skip
EXTRAS = {"datasets": ("pyarrow", "torch"), "own-method": ("torch",)}  # page in docs -> packages that its examples need
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r"^```\{image\} (\S+)$", re.MULTILINE)
NAMED = re.compile(r"`([a-z_/]+\.py)`, `([\w.]+)`")  # a file of the package and what it defines


# -------------------------------------------------------------------------------------------------------------- length

MAX_WORDS, README_WORDS = 2500, 900


def list_long_pages(pages: dict[Path, int]) -> list[str]:
    """Return pages that have more words than allowed, counted between white space."""
    counts = {page: (len(page.read_text(encoding="utf-8").split()), most) for page, most in pages.items()}
    return [f"{page}: {words} words, expected at most {most}" for page, (words, most) in counts.items() if words > most]


def test_pages_are_short_enough_to_read(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    history = [ROOT / "docs/results" / name for name in import_module("make_results").HISTORY]
    folders = ("docs", "docs/api", "docs/decisions", "docs/notebooks", "docs/paper", "docs/tutorials")
    pages = [*(page for folder in folders for page in sorted((ROOT / folder).glob("*.md"))), *history]
    limits = {page: MAX_WORDS for page in pages if page not in MADE_PAGES} | {ROOT / "README.md": README_WORDS}
    assert not list_long_pages(limits), "shorten them, or split them where they serve two readers"


def test_a_planted_long_page_is_found(tmp_path):
    (page := tmp_path / "long.md").write_text("one two  three\n", encoding="utf-8")
    assert not list_long_pages({page: 3})
    assert len(list_long_pages({page: 2})) == 1


def test_the_first_benchmark_takes_one_time_everywhere():
    """And plays most families."""
    suite = load_suite("quick")
    played = {folder_of(game.id) for one in suite.experiments for game in one.games}
    assert played <= FAMILIES
    assert len(played) > len(FAMILIES) / 2
    pages = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("index", "quickstart", "benchmark", "suites"))]
    texts = {name_of(page): page.read_text(encoding="utf-8") for page in pages}
    texts |= {"quick.yaml": suite.description, "bench quick --help": quick.__doc__ or ""}
    assert not [name for name, text in texts.items() if "less than two minutes on two cores" not in " ".join(text.split())]
    assert not [name for name, text in texts.items() if "most families" not in text]


# ------------------------------------------------------------------------------------------------------------ examples


@pytest.mark.parametrize("page", [page for page in PAGES if page not in RUN_ELSEWHERE and examples(page)], ids=name_of)
def test_examples_run(page, tmp_path, monkeypatch):
    """In an empty folder."""
    for library in EXTRAS.get(page.stem, ()):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_ADDRESS", "local")  # not the cluster of a test that runs at the same time
    run_examples(page)


def test_every_block_has_a_language():
    wrong = [
        f"{name_of(page)}: a block without a language"
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
        made = file in MADE_PAGES
        made |= file.parent == ROOT / "docs/games" and file.stem.removesuffix("-specification") in {*FAMILIES, *MADE}
        if not made and not file.exists():
            dead.append(f"{name_of(page)}: {target}")
        elif anchor and not made and anchor not in anchors(file):
            dead.append(f"{name_of(page)}: no heading {target}")
    return dead


def test_links_lead_somewhere():
    assert not [line for page in PAGES for line in dead_links(page, page.read_text())]


def test_a_planted_dead_link_is_found():
    page = ROOT / "docs/index.md"
    assert dead_links(page, "[x](nowhere.md)")
    assert dead_links(page, "[x](quickstart.md#no-such-heading)")
    assert dead_links(page, "```{image} nowhere.svg\n```")
    assert not dead_links(page, "[x](quickstart.md#positions) and [y](games/samegame.md)")


TYPED = re.compile(r"(?<![\w@])\d[\d.,]*|\d{2,}")
QUOTED = re.compile(r"\{\{ *([^{} ]+) *\}\}|`[^`]*`|\[@[^\]]*\]|@\w+|\]\([^)]*\)")  # placeholders, code, citations, files


def find_typed_numbers(text: str) -> list[str]:
    return TYPED.findall(QUOTED.sub("", text))


def test_the_paper_has_the_numbers_of_the_results(monkeypatch):
    """No number is typed, and every placeholder has a text; those of costs, which read all archives, have a name."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    facts = import_module("paper_facts").FACTS
    text = (ROOT / "docs/paper/paper.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    assert find_typed_numbers(text) == []
    names = {found[1] for found in QUOTED.finditer(text) if found[1]}
    assert names <= {*facts}
    assert {*facts} <= names, "of no use"
    assert all(facts[name]().strip() for name in names if not name.startswith("compute."))


def test_a_planted_number_of_the_paper_is_found():
    assert find_typed_numbers("It wins 8 of {{ policies.settings }} `x 3` [@a2020b], @c2021d: 0.74.") == ["8", "0.74."]


# --------------------------------------------------------------------------------------------------------------- words

SOURCES = sorted(
    file
    for pattern in ("*.md", "*.cff", "*.toml", "*.yaml", ".ci/*", "docs/**/*.md", "docs/*.py", "momagames/**/*.py",
                    "momagames/**/*.md", "tests/**/*.py", "benchmarks/**/*.py", "benchmarks/**/*.md", "configs/**/*.yaml",
                    "benchmarks/leaderboard/**/*.yaml")
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
        f"{name_of(file)}: {match.group()}"
        for file in SOURCES
        if file != here
        for match in FORBIDDEN.finditer(file.read_text())
    ]
    assert not found


@pytest.mark.parametrize("text", ["see /home/me/x", "../shared/a.md", "https://pypi.org/simple", "# TODO later", "issue 12"])
def test_a_planted_word_is_found(text):
    assert FORBIDDEN.search(text)


# ------------------------------------------------------------------------------------------------- SPEC.md and registry


@pytest.mark.parametrize("id", VERSIONS)
def test_spec_agrees_with_the_registry(id):
    text = read_spec(id)
    problems = [line for find in (version_problems, parameter_problems, objective_problems) for line in find(id, text)]
    assert not (problems := problems + section_problems(text)), "\n".join(problems)


def test_a_specification_without_sections_gets_instructions():
    assert len(section_problems("# Pebbles\n\n## 1 Name and source\n")) == len(SECTIONS)
    assert "'## 2 Start'" in section_problems("# Pebbles\n\n## 1 Name and source\n")[0]


def test_a_specification_without_tables_gets_instructions():
    title, change = version_problems(BREAKTHROUGH, "# MO-Breakthrough")
    assert "in the first line, in backticks: '# MO-Breakthrough (`mo-breakthrough-v0`)'" in title
    assert "'| version | change |'" in change
    first, *_ = parameter_problems(BREAKTHROUGH, "")
    assert "'| name | default | allowed | effect |'" in first
    assert "'| `board_width` | 8 | 3..20 | number of columns |'" in first
    first, *_ = objective_problems(BREAKTHROUGH, "")
    assert "'| objective | unit | one step | episode |'" in first
    assert "'| `win` | game won (+1) or lost (-1) | -1..1 | -1..1 |'" in first


@pytest.mark.parametrize(
    ("old", "new", "find", "message"),
    [
        ("| v0 | first", "| v1 | first", version_problems, "table of versions is v1: write the row of v0"),
        ("| 3..20 |", "| 3..21 |", parameter_problems, r"write '\| `board_width` \| 8 \| 3\.\.20 \|"),
        ("| 3..20 |", "| any |", parameter_problems, r"the row `board_width` differs"),
        ("| `num_objectives` |", "| `objective_count` |", parameter_problems, "remove the row `objective_count`"),
        ("| `win` |", "| `victory` |", objective_problems, r"write the row '\| `win` \|"),
        ("| game won (+1)", "| game won", objective_problems, r"unit 'game won or lost \(-1\)': write 'game won"),
        ("0..1 | 0..1 |", "0..1 | 0..2 |", objective_problems, r"column episode: '0\.\.2' is not 0\.\.1, as mo-breakthrough"),
        ("0..1 | 0..1 |", "0..1 | 0..wins |", objective_problems, r"cannot read 'wins' .*names of .*board_height"),
        ("0..1 | 0..1 |", "0..1 |", objective_problems, r"write the row '\| `captures` \|"),
    ],
)
def test_a_planted_mistake_of_a_specification_is_found(old, new, find, message):
    text = read_spec(BREAKTHROUGH)
    assert old in text
    assert re.search(message, "\n".join(find(BREAKTHROUGH, text.replace(old, new, 1))))


def test_formulas_know_the_parameters():
    game = momagames.spec(BREAKTHROUGH, board_width=5)
    assert evaluate("2W(2H - 5) + 1", game) == 111
    assert evaluate("min(`board_width`, 3) + floor(board_height / 3)^2", game) == 7


@pytest.mark.parametrize("id", ["mo-samegame-v0", "mo-breakthrough-v0"])  # one table of cells to act on and to see
def test_spec_gives_actions_observation_and_bounds(id):
    text = read_spec(id)
    actions = re.search(r"`Discrete\(([^`]+)\)`", text)
    observation = re.search(r"Observation, int8\[([^\]]+)\]", text)
    plies = re.search(r"`max_episode_steps` = (.+?)(?:: |\. )", text)
    reference = re.search(r"\*\*6\.3 Reference point\*\*[^:]*: (.+)", text)
    assert actions
    assert observation
    assert plies
    assert reference
    for game in shapes(id):
        assert game.actions == (evaluate(actions.group(1), game),)
        assert game.fields[0].shape == tuple(evaluate(part, game) for part in observation.group(1).split(","))
        assert game.fields[0].dtype == "int8"
        assert game.max_episode_steps == evaluate(plies.group(1), game)
        if "in every objective" in reference.group(1):
            points = [float(reference.group(1).split()[0])] * len(game.objectives)
        else:
            points = [float(point) for point in reference.group(1).partition("(")[0].split(",")]
        lower = [f"for `{objective.name}` the lower bound" in reference.group(1) for objective in game.objectives]
        points = [o.return_low if is_low else point for o, is_low, point in zip(game.objectives, lower, points, strict=False)]
        assert list(game.reference_point) == points


def test_the_readme_has_the_table_of_the_registry(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = (ROOT / "README.md").read_text()
    assert text == import_module("readme_table").update(text), "run python docs/readme_table.py"


@pytest.mark.parametrize("name", ["settings.md", "settings-momaland.md"])
def test_the_pages_of_settings_have_the_tables_of_the_search(monkeypatch, name):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    page = ROOT / "docs" / name
    text = page.read_text()
    assert text == import_module("settings_table").update(page), "run python docs/settings_table.py"
    assert "| **a trade-off** |" in text
    assert ("| MO-Ingenious" in text) == (name == "settings-momaland.md")


def test_the_readme_has_a_row_for_every_family_of_the_benchmark():
    text = (ROOT / "README.md").read_text()
    assert len(find_table(text, "game")) == len(FAMILIES), "run python docs/readme_table.py"
    assert f"{len(BENCHMARK)} environments" in text


def test_the_pictures_of_the_docs_are_those_that_are_listed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pictures = import_module("pictures")
    listed = [*pictures.PICTURES, *chain(*pictures.ENDS)]
    assert {one.file for one in listed} == {file.name for file in (ROOT / "docs/_static").iterdir() if file.suffix != ".css"}
    assert {id for one in listed for id in one.pages} <= set(VERSIONS)
    for one in listed:
        if hasattr(one, "render_options"):
            game = momagames.spec(one.id, **one.params)
            assert len(one.policies) == len(game.agents)
            assert set(one.render_options) <= {option.name for option in game.view.render_options}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_page_of_a_family_has_every_variant(family, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pages = import_module("game_pages")
    ids = import_module("families").list_families()[family]
    text = pages.family_page(family, ids)
    assert ids == [id for id in BENCHMARK if folder_of(id) == family]
    for game in map(momagames.spec, ids):
        assert f'momagames.make("{game.id}")' in text
        for declared in [*game.objectives, *game.fields, *game.parameters]:
            assert f"| `{declared.name}` |" in text
    assert "| version | change |" in text
    assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == pages.HEADINGS
    own = pages.find_own_text(pages.page_file(ids[0]).read_text(encoding="utf-8"), "Policies")
    game = momagames.spec(ids[0])
    assert all(any(f"`{name}`" in line for line in own) for name in {**game.policies, **game.solvers.policies})
    assert read_spec(ids[0]).partition("## 2 ")[2] in pages.specification_page(family, ids)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_page_of_a_family_names_opponents_that_can_play(family, monkeypatch):
    """In its commands for matches and against people, with the parameters that they name."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = import_module("game_pages").family_page(family, import_module("families").list_families()[family])
    for command in re.findall(r"momagames (?:match|play) mo-[^`\n]+", text):
        _, verb, id, *words = shlex.split(command)
        options = [place for place, word in enumerate(words) if word == "-p"]
        game = momagames.spec(id, **parse_parameters([words[place + 1] for place in options]))
        words = [word for place, word in enumerate(words) if not {place, place - 1} & {*options}]
        if verb == "match":
            assert has_winners(game), command
            assert len(set(game.teams)) > 1, command
        names = words[:2] if verb == "match" else [words[words.index("--against") + 1]] if "--against" in words else []
        for name in names:
            policy(name, game, agent=0)


def test_commands_of_the_docs_name_experiments_that_exist():
    command = re.compile(r'bench (?:run|init \S+ --from) (\w+)\b[^`\n]*? --experiment "([^"]+)"')
    named = set()
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        named |= set(command.findall(page.read_text(encoding="utf-8").replace("\\\n", " ")))
    assert len(named) >= 3
    for suite, experiment in named:
        assert experiment in {one.name for one in load_suite(suite).experiments}, (suite, experiment)


@pytest.mark.parametrize("file", sorted((ROOT / "docs").glob("*.py")), ids=name_of)
def test_scripts_of_the_docs_say_what_they_do(file):
    assert ast.get_docstring(ast.parse(file.read_text()))


DIRECTIVE = re.compile(r"^\.\. auto(function|class|data|module):: ([\w.]+)\n((?:   :.*\n)*)", re.MULTILINE)


def read_reference():
    """Yield (kind, name, members) of each directive of the API reference; members are None without such an option."""
    for page in sorted((ROOT / "docs/api").glob("*.md")):
        for kind, name, options in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            found = re.search(r":members:(.*)", options)
            yield kind, name, None if found is None else [one for one in found[1].strip().split(", ") if one]


def find_object(name):
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def has_library(name):
    """Whether the library of an integration is installed; other parts of the package import without extras."""
    try:
        import_module(name if find_spec_of(name) else name.rpartition(".")[0])
    except MissingExtra:
        return False
    return True


def find_spec_of(name):
    """Return the spec of a module; None for another name."""
    try:
        return find_spec(name)
    except ModuleNotFoundError:  # of what is no package
        return None


def test_api_reference_names_what_exists():
    found = list(read_reference())
    assert len(found) > 60
    for kind, name, members in found:
        if not has_library(name):
            continue
        if kind == "module":
            known = set(dir(import_module(name)))
        else:
            known = {*dir(find_object(name)), *getattr(find_object(name), "__annotations__", {})}
        assert set(members or ()) <= known, f"docs/api: {name} has no {set(members) - known}"


def list_documented_names():
    names = set()
    for kind, name, members in read_reference():
        if kind == "module" and members == []:
            module = import_module(name)
            names |= {*getattr(module, "__all__", [one for one in vars(module) if not one.startswith("_")])}
        elif kind == "module":
            names |= {*(members or ())}
        else:
            names.add(name.rpartition(".")[2])
    return names


def list_imported_names():
    """Return page -> names that its examples take from the package."""
    found = {}
    for page in PAGES:
        for _, code in examples(page):
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("momagames"):
                    found.update({alias.name: name_of(page) for alias in node.names})
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "momagames":
                    found[node.attr] = name_of(page)
    return found


def test_api_reference_has_what_examples_import():
    modules = {"datasets", "fronts", "mosame_game_v0", "original"}  # modules themselves
    documented = list_documented_names() | modules
    missing = {one: page for one, page in list_imported_names().items() if one not in documented}
    assert not missing, f"add them to docs/api: {missing}"


COLUMN = re.compile(r"^ *(\S.*?) {2,}\S", re.MULTILINE)  # names at the start of a row of a docstring


@pytest.mark.parametrize("name", METHODS)
def test_api_reference_has_every_option_of_a_method(name):
    """The page of methods shows the class, and a docstring of a class of this page has a row for each option."""
    cls = method(name)
    classes = {f"{one.__module__}.{one.__qualname__}": one for one in cls.__mro__}
    listed = re.findall(r"autoclass:: ([\w.]+)", (ROOT / "docs/api/methods.md").read_text(encoding="utf-8"))
    assert f"{cls.__module__}.{cls.__qualname__}" in listed
    rows = [row for one in listed if one in classes for row in COLUMN.findall(classes[one].__doc__ or "")]
    assert {one.name for one in fields(cls)} <= {word for row in rows for word in row.split(", ")}


def test_the_page_of_commands_has_every_option(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import_module("command_page").write_command_page(tmp_path / "commands.md")
    text = (tmp_path / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^#+ momagames (.+?)\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL))
    main, found = typer.main.get_command(app), 0
    for name in main.list_commands(None):
        assert name in sections
    commands = {name: one for name, one in main.commands.items() if not hasattr(one, "commands")}
    for group, one in main.commands.items():
        commands |= {f"{group} {name}": part for name, part in getattr(one, "commands", {}).items()}
    for name, command in commands.items():
        for option in chain(*(one.opts for one in command.params if one.param_type_name == "option" and one.name != "help")):
            assert f"`{option}`" in sections[name]
            found += 1
    assert found > 100


def test_files_and_names_of_the_architecture_exist():
    """Also of a method by its class, and of a field or a variable."""
    pairs = NAMED.findall((ROOT / "docs/architecture.md").read_text(encoding="utf-8"))
    assert len(pairs) > 40
    trees = {file: ast.parse((ROOT / "momagames" / file).read_text(encoding="utf-8")) for file, _ in pairs}
    assert [f"{file}: {name}" for file, name in pairs if not defines(trees[file].body, name.split("."))] == []


def defines(body: list[ast.stmt], names: list[str]) -> bool:
    """Whether statements, or what stands in them, define the first of these names, and it the next."""
    for node in body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() if node.name == names[0]:
                return len(names) == 1 or defines(node.body, names[1:])
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if name == names[0]:
                return True
    return any(isinstance(node, ast.FunctionDef) and defines(node.body, names) for node in body)
