"""Tables of the command: at every width, and in a pipe, each cell is printed whole."""

import json
import os
import re
import struct
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from rich.table import Table
from rich.text import Text

import momagames
from momagames import benchmark, fronts
from momagames.benchmark import exploitability
from momagames.benchmark.exploitability import BestResponse
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store
from momagames.cli import app
from momagames.cli.tables import TableConsole, format_facts, make_table
from momagames.cli.train import _list_next_commands
from momagames.games.robotmail.layouts import loader
from tests.benchmark.tiny import HOPELESS, RANDOM, plans, suite, whole
from tests.cli.test_app import momagames_here

PIPE = None  # a width
WIDTHS = (60, 80, 140, PIPE)  # of every table; the commands themselves are given in 80 columns
FAMILIES = ("mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-radio-v0", "mo-tileblast-v0", "mo-robotmail-v0")
BOARD = ("-p", "board_width=3", "-p", "board_height=5")
SMALL = ("num_envs=8", "num_steps=8", "channels=4", "layers=1", "hidden=8", "divisions=2")


@pytest.fixture
def ask(monkeypatch, capsys):
    """Run a command with an output of a width; return what it prints, and the tables in it."""
    tables = []
    render = TableConsole.render

    def record(self, renderable, options=None):
        if isinstance(renderable, Table):
            tables.append(renderable)
        return render(self, renderable, options)

    def command(width, *arguments):
        tables.clear()
        monkeypatch.setattr(TableConsole, "render", record)
        monkeypatch.setattr(sys, "argv", ["momagames", *map(str, arguments)])
        set_width(monkeypatch, width)
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            app.main()
        assert not end.value.code, capsys.readouterr().err
        return capsys.readouterr().out, list(tables)

    return command


def set_width(monkeypatch, width):
    if width is PIPE:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))


@pytest.fixture
def print_at(monkeypatch, capsys):
    """Print objects at a width; return the lines."""

    def printed(width, *objects):
        set_width(monkeypatch, width)
        capsys.readouterr()
        TableConsole().print(*objects)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return printed


def test_pipes_get_lines_without_spaces_around(ask):
    printed, _ = ask(PIPE, "list")
    assert printed.splitlines()[0].split()[0] == "id"
    assert not any(line.endswith(" ") for line in printed.splitlines())


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results directory of a finished suite."""
    folder = tmp_path_factory.mktemp("tables") / "results"
    assert not run_suite(whole(), folder).failed
    return folder


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """Results directory with a failed run."""
    folder = tmp_path_factory.mktemp("tables") / "unfinished"
    assert run_suite(suite(plans([RANDOM, HOPELESS], seeds=[0])), folder).failed
    return folder


def train(folder):
    """The command of a short training with four evaluations."""
    pytest.importorskip("torch", reason='needs torch: pip install "momagames[learn]"')
    small = [word for option in SMALL for word in ("-O", option)]
    budget = ("--budget", "256", "--evaluations", "4", "--episodes", "2")
    return ("train", "mo-breakthrough-v0", "--method", "moppo", *BOARD, *small, *budget, "--out", folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "trained"
    words = [sys.executable, "-m", "momagames", *map(str, train(folder))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(words, check=True, capture_output=True, env=environment)
    return folder


def read_rows(table):
    """The cells of a table as text, row by row."""
    return list(zip(*([str(cell) for cell in column.cells] for column in table.columns), strict=True))


def assert_whole(output, tables, width):
    """Each word of each cell is in the output; rows of one line are lines in a pipe."""
    assert "…" not in output
    rows = [row for table in tables for row in read_rows(table)]
    missing = Counter(word for row in rows for cell in row for word in cell.split()) - Counter(output.split())
    assert not missing, missing
    if width is PIPE:
        lines = {" ".join(line.split()) for line in output.splitlines()}
        assert {" ".join(" ".join(row).split()) for row in rows if not any("\n" in cell for cell in row)} <= lines


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        *(("info", id) for id in FAMILIES),
        ("front", "list"),
        ("front", "show", "mo-samegame-v0-7x7x3-0"),
        ("bench", "list"),
        ("layout", "show"),
        ("match", "mo-breakthrough-v0", "random", "greedy", *BOARD, "--games", "2"),
        ("bench", "status", "RESULTS"),
        ("bench", "status", "UNFINISHED"),
        ("bench", "resume", "RESULTS"),
        ("bench", "report", "RESULTS", "--every", "--no-replays"),
        ("bench", "compare", "RESULTS", "RESULTS", "RESULTS"),
        ("replay", "RUN"),
        ("replay", "RUN", "--point", "0", "--again", "3"),
        ("eval", "TRAINED", "--episodes", "3"),
    ],
    ids=lambda words: " ".join(words[:4]),
)  # fmt: skip
def test_cells_are_whole(ask, print_at, arguments, request, monkeypatch):
    """Of the lists of fronts and of suites a part: `test_front_list_has_every_number` reads all fronts."""
    if arguments[-1] == "list" and arguments != ("list",):
        module, name = {"front": (fronts, "packaged_fronts"), "bench": (benchmark, "list_suites")}[arguments[0]]
        part = dict(list(getattr(module, name)().items())[::8])
        monkeypatch.setattr(module, name, lambda: part)

    def find(word):
        if word == "RUN":
            store = Store(request.getfixturevalue("results"))
            return store.run_directory(next(run for run in store.finished_runs() if run.kind == "policies"))
        return request.getfixturevalue(word.lower()) if word.isupper() else word

    if "TRAINED" in arguments:
        pytest.importorskip("torch", reason='needs torch: pip install "momagames[learn]"')
    assert_whole_at_every_width(print_at, *ask(80, *map(find, arguments)))


def assert_whole_at_every_width(print_at, output, tables):
    """In the output of a command of 80 columns, and where its tables are printed again."""
    assert tables
    assert_whole(output, tables, 80)
    for width in set(WIDTHS) - {80}:
        for table in tables:
            assert_whole("\n".join(print_at(width, table)), [table], width)


@pytest.mark.parametrize("width", WIDTHS)
def test_commands_print_at_the_width_of_the_output(ask, width):
    output, tables = ask(width, "info", "mo-breakthrough-v0")
    assert tables
    assert_whole(output, tables, width)
    assert width is PIPE or max(map(len, output.splitlines())) <= width


def test_cells_of_exploit_are_whole(ask, print_at, trained, monkeypatch):
    """With known responses: to train them takes a while."""
    responses = [BestResponse(f"player_{seat}", 0.123, 0.01, 0.456, 0.02) for seat in (0, 1)]
    monkeypatch.setattr(exploitability, "train_best_responses", lambda *arguments: responses)
    assert_whole_at_every_width(print_at, *ask(80, "exploit", trained))


@pytest.mark.long
def test_front_list_has_every_number(ask, print_at):
    printed, (table,) = ask(80, "front", "list")
    known = [(name, fronts.read_front(path)) for name, path in fronts.packaged_fronts().items()]
    for width in WIDTHS:
        assert_front_list(printed if width == 80 else "\n".join(print_at(width, table)), known)


def assert_front_list(output, known):
    for name, one in known:
        after = output[re.search(rf"(?<!\S){re.escape(name)}(?!\S)", output).end() :].split()
        values = [word for word in after[:14] if not word.endswith(":")]  # without the names of blocks
        expected = [
            *one.kind.split(),
            one.claim,
            *getattr(one, "agent", "-").split(),
            str(len(one.objectives)),
            str(len(one.points)),
        ]
        expected += [f"{one.method.states:,}"] if one.method else []
        assert values[: len(expected)] == expected


def test_list_has_one_line_for_each_id_in_80_columns(ask):
    lines = [line.split() for line in ask(80, "list")[0].splitlines()]
    for id in momagames.ids():
        game = momagames.spec(id)
        assert [id, str(len(game.agents)), str(len(game.objectives)), game.dynamics, game.chance] in lines


def test_a_narrow_terminal():
    """A real one, of 60 columns, without COLUMNS."""
    columns = 60
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    words = [sys.executable, "-m", "momagames", "layout", "show"]
    program = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    output = b""
    try:
        while part := os.read(ours, 65536):
            output += part
    except OSError:  # the end, on Linux
        pass
    os.close(ours)
    assert program.wait(60) == 0
    text = re.sub(r"\x1b\[[\d;]*m", "", output.decode())
    assert max(map(len, text.splitlines())) <= columns
    assert all(f"{each.width} x {each.height}" in text for each in map(loader.load, loader.NAMES))


# -------------------------------------------------------------------------------------------------------------- layout


def example():
    table = make_table("id", "number", "a text")
    table.add_row("x" * 20, "0.123456789", "words of a text that is longer than a column")
    table.add_row("[bold]", "", "short text")
    return table


def test_text_is_wrapped_between_words(print_at):
    wide, narrow = print_at(100, example()), print_at(65, example())
    assert len(narrow) == len(wide) + 1
    assert f" {'x' * 20}  0.123456789  words of a text that is" in narrow
    assert f" {'':20}  {'':11}  longer than a column" in narrow
    assert f" {'[bold]':20}  {'':11}  short text" in narrow


def test_a_table_that_does_not_fit_is_printed_as_blocks(print_at):
    assert print_at(40, example()) == [
        f"id:     {'x' * 20}",
        "number: 0.123456789",
        "a text: words of a text that is longer",
        "        than a column",
        "",
        "id:     [bold]",
        "a text: short text",
        "",
    ]


def test_title_and_caption_of_blocks(print_at):
    table = Table(title="a [title]", caption="a [caption]", box=None)
    for name in ("first", "second"):
        table.add_column(name, no_wrap=True)
    table.add_row(Text("some words\nin two lines"), "x")
    assert print_at(12, table) == [
        "a [title]",
        "",
        "first:  some words in",
        "        two lines",
        "second: x",
        "",
        "a [caption]",
    ]


def test_words_of_facts_stay_whole():
    text = format_facts([("one", "a" * 30), ("", "b c"), ("three", "")], 20)
    assert str(text).splitlines() == [f"one:   {'a' * 30}", "       b c", "three: "]


# ---------------------------------------------------------------------------------------------------------------- JSON


def read_json(ask, *arguments):
    output, tables = ask(60, *arguments, "--json")
    assert not tables
    return json.loads(output)


def test_list_as_json(ask):
    found = read_json(ask, "list")
    assert [one["id"] for one in found] == list(momagames.ids())
    for one in found:
        game = momagames.spec(one["id"])
        assert one["agents"] == list(game.agents)
        assert one["objectives"] == [objective.name for objective in game.objectives]
        assert (one["dynamics"], one["chance"], one["utility"]) == (game.dynamics, game.chance, game.utility)


@pytest.mark.parametrize("id", FAMILIES)
def test_info_as_json(ask, id):
    found, game = read_json(ask, "info", id), momagames.spec(id)
    assert (found["id"], found["actions"], found["teams"]) == (id, list(game.actions), list(game.teams))
    assert found["reference_point"] == list(game.reference_point)
    assert [(one["name"], one["return_high"]) for one in found["objectives"]] == [
        (objective.name, objective.return_high) for objective in game.objectives
    ]
    assert [tuple(one["shape"]) for one in found["observation"]] == [field.shape for field in game.fields]
    assert [one["name"] for one in found["parameters"]] == [parameter.name for parameter in game.parameters]


def test_info_as_json_has_the_given_parameters(ask):
    found = read_json(ask, "info", "mo-breakthrough-v0", *BOARD)
    values = {one["name"]: (one["value"], one["default"]) for one in found["parameters"]}
    assert values["board_width"] == (3, 8)
    assert "board_width=3" in found["canonical"]


def test_status_as_json(ask, unfinished, results):
    found = read_json(ask, "bench", "status", unfinished)
    counts = {one["method"]: (one["finished"], one["failed"], one["pending"]) for one in found["methods"]}
    assert counts == {"random": (1, 0, 0), "exact": (0, 1, 0)}
    assert "TooLarge" in found["failed"][0]["error"]
    assert (found["suite"], found["version"], found["running"]) == ("tiny", momagames.__version__, 0)
    assert not read_json(ask, "bench", "status", results)["failed"]


def test_eval_as_json(ask, trained):
    found = read_json(ask, "eval", trained, "--episodes", "3")
    output, (table, sets) = ask(PIPE, "eval", trained, "--episodes", "3")
    assert [[one["policy"], *(f"{value:.4g}" for value in one["return"])] for one in found["front"]] == [
        list(row) for row in read_rows(table)
    ]
    assert f"hypervolume {found['hypervolume']:,.6g}" in output
    assert found["objectives"] == [column.header for column in table.columns[1:]]
    assert (found["opponents"], found["episodes"], found["seed"]) == (["random"], 3, 0)
    assert found["verdict"] in output
    rows = read_rows(sets)
    assert [row[0] for row in rows] == [one["name"] for one in found["sets"]]
    assert {"moppo", "greedy", "random"} <= {row[0] for row in rows}
    assert [row[2] for row in rows] == [f"{one['normalized_hypervolume']:.3g}" for one in found["sets"]]
    own, *others = found["sets"]
    assert own["lead"] is None
    assert all(set(one["lead"]) == {"mean", "standard_error"} for one in others)
    assert rows[-1][0] == "random"
    assert rows[-1][3] == "-"  # random play is not conditioned on weights


# --------------------------------------------------------------------------------------------------------------- train


@pytest.mark.long
def test_training_prints_a_line_for_each_evaluation(ask, tmp_path):
    output, _ = ask(PIPE, *train(tmp_path / "new"), "-p", 'objectives=["win", "captures"]')
    logged = [json.loads(line) for line in (tmp_path / "new" / "progress.jsonl").read_text().splitlines()]
    assert len(logged) == 4
    assert output.splitlines()[:4] == [_expected_line(one) for one in logged]
    *_, verdict, page, evaluation, play, match = output.splitlines()
    checkpoint = tmp_path / "new" / "checkpoint.npz"
    params = f"""{" ".join(BOARD)} -p num_objectives=2 -p 'objectives=["win", "captures"]'"""
    assert re.fullmatch(r"moppo (beats|does not clearly beat|loses to) .* in delivered utility \(0\.\d+\)\.", verdict)
    assert page == f"curves: {tmp_path / 'new' / 'report.html'}"
    assert evaluation == f"next: momagames eval {tmp_path / 'new'}"
    assert play == f"next: momagames play mo-breakthrough-v0 --against {checkpoint} {params}"
    assert match == f"next: momagames match mo-breakthrough-v0 {checkpoint} greedy {params}"


@pytest.mark.parametrize(
    ("id", "offered"),
    [
        ("mo-breakthrough-v0", ["eval", "play", "match"]),
        ("mo-route-choice-v0", ["eval", "play"]),  # without winners
        ("mo-gem-mining-v0", ["eval"]),  # one team
    ],
)
def test_training_offers_the_commands_that_the_game_has(id, offered, tmp_path):
    commands = _list_next_commands(SimpleNamespace(game=momagames.spec(id)), tmp_path)
    assert [one.split()[2] for one in commands] == offered


def _expected_line(logged):
    evaluation = logged["evaluation"]
    return (
        f"{logged['steps']:,} steps, hypervolume {evaluation['hypervolume']:.5g}, controllability "
        f"{np.mean(list(evaluation['controllability'].values())):.2f}, {logged['seconds']:.1f} s, "
        f"{logged['decisions'] / logged['seconds']:,.0f} decisions/s"
    )


def test_objectives_that_there_are_not_are_refused_before_the_tables(results, tmp_path):
    pytest.importorskip("matplotlib")
    done = momagames_here("bench", "report", str(results), "--figures", str(tmp_path), "--objective", "nope")
    assert done.returncode == 2
    assert "invalid objective='nope'" in done.stderr
    assert "Overview" not in done.stdout
    assert not list(tmp_path.iterdir())
