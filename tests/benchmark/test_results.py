"""Processing of stored results: status, costs, merging, comparison, export."""

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import momagames
from momagames.benchmark.runner import Shard, run_suite
from momagames.benchmark.store import costs, packed_rows
from momagames.benchmark.store.costs import TimeLeft, Timings, describe_cost, format_duration
from momagames.benchmark.store.export import export
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.policy_files import POLICIES as POLICY_FILE
from momagames.benchmark.store.status import read_status
from momagames.benchmark.store.store import RUN_FILES, SCHEMA, Store
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra
from momagames.reports import report
from momagames.reports.data.results_comparison import compare_results
from tests.benchmark.tiny import GREEDY, HOPELESS, POLICIES, RANDOM, plans, seal, suite, whole

PAGE = Path(__file__).parents[2] / "docs" / "results-directory.md"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The whole tiny suite."""
    folder = tmp_path_factory.mktemp("results") / "here"
    assert not run_suite(whole(), folder).failed
    return Store(folder)


@pytest.fixture
def part(tmp_path):
    """A suite of which one run failed and some are due."""
    tested = suite(plans([RANDOM, GREEDY, HOPELESS], seeds=[0, 1]), POLICIES)
    few = suite(plans([RANDOM, HOPELESS], seeds=[0]))
    run_suite(few, tmp_path)
    store = Store(tmp_path)
    store.open_suite(tested, {})
    return store


# --------------------------------------------------------------------------------------------------------------- status


def test_status_by_experiment_and_method(part):
    found = read_status(part.folder)
    counts = {(line.experiment, line.method): (line.finished, line.failed, line.pending) for line in found.lines}
    assert counts == {
        ("boards 0", "random"): (1, 0, 1),
        ("boards 0", "greedy"): (0, 0, 2),
        ("boards 0", "exact"): (0, 1, 1),
        ("seats", "random"): (0, 0, 2),
        ("seats", "greedy"): (0, 0, 2),
    }
    [(run, error)] = found.errors
    assert run.method.name == "exact"
    assert error.startswith("TooLarge: ")
    assert "\n" not in error
    lines = {(line.experiment, line.method): line for line in found.lines}
    random = lines["boards 0", "random"]
    assert random.seconds == part.read_metadata(next(part.finished_runs()))["wall_s"] > 0
    assert random.remaining.seconds == pytest.approx(random.seconds)  # one finished, one of the same size left
    assert random.remaining.unknown_runs == 0
    assert lines["boards 0", "exact"].seconds > 0  # failures cost as well
    assert lines["boards 0", "greedy"].remaining.unknown_runs == 2
    assert found.running == 0
    (part.working / "run@elsewhere@1@1").mkdir()
    assert read_status(part.folder).running == 1


def test_costs_grow_with_the_work(here):
    timings = Timings([here])
    few = suite(plans([RANDOM, GREEDY, HOPELESS], seeds=[5]))
    more = suite({**plans([RANDOM, GREEDY, HOPELESS], seeds=[5]), "budget": 3000})
    known, tenfold = (timings.estimate(tested.list_runs()[:2]) for tested in (few, more))
    assert tenfold.seconds == pytest.approx(10 * known.seconds)
    assert 0 < known.steps <= 2 * 300
    assert timings.estimate(few.list_runs()).unknown_runs == 1
    assert timings.estimate(few.list_runs()).has_unknown_steps  # what a proof takes is not known
    nothing = Timings([]).estimate(few.list_runs()[:2])
    assert (nothing.seconds, nothing.steps, nothing.unknown_runs, nothing.has_unknown_steps) == (0.0, 600, 2, False)
    assert describe_cost(nothing, 2) == {"time": "unknown", "steps": "600"}
    assert describe_cost(timings.estimate(few.list_runs()), 3)["time"].endswith("and 1 run of unknown time")
    policies = suite(POLICIES).list_runs()[0]
    assert policies.count_units() == 8 * 2 * 2
    each = [
        here.read_metadata(run)["facts"]["steps"]
        for run in here.finished_runs()
        if run.method == policies.method and run.kind == "policies"
    ]
    assert timings.estimate([policies]).steps == pytest.approx(sum(each) / 2, abs=1)  # the median of two


def test_the_time_left_follows_from_runs_of_like_cost(here, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(costs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    few = suite(plans([RANDOM, GREEDY], seeds=range(10)))
    larger = suite({**plans([GREEDY], seeds=range(10), board_width=6)}).list_runs()
    random, greedy = ([run for run in few.list_runs() if run.method.name == name] for name in ("random", "greedy"))
    left = TimeLeft([*random, *greedy], workers=2)
    assert left.describe() == "-:--:--"
    left.end(random[0], 4.0)
    left.learn(random[0], 4.0)
    now[0] = 4.0
    assert left.describe() == "0:00:16+"  # ten runs of 4 s on two workers, since 4 s; the others are unknown
    left.learn(larger[0], 60.0)  # of the same method
    assert left.describe() == "0:05:16"
    now[0] = 6.0
    assert left.describe() == "0:05:14"
    left.learn(greedy[0], 20.0)  # of the same game, too
    left.end(greedy[1], 2.0)  # failed at once
    assert left.describe() == "0:01:45"
    stored = TimeLeft(here.finished_runs(), workers=1)
    stored.learn_stored(here, here.finished_runs())
    assert not stored.describe().endswith("+")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.9, "9.9 s"), (59, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations(seconds, text):
    assert format_duration(seconds) == text


# ---------------------------------------------------------------------------------------------------------------- merge


def test_shards_in_folders_of_their_own_are_merged(here, tmp_path):
    for number in (1, 2):
        run_suite(whole(), tmp_path / str(number), shard=Shard(number, 2))
    done = merge_results([tmp_path / "1", tmp_path / "2"], tmp_path / "out")
    assert (done.copied, done.equal, done.failed) == (len(whole().list_runs()), 0, 0)
    out = Store(tmp_path / "out")
    for run in whole().list_runs():
        assert (out.run_directory(run) / "rows.jsonl").read_bytes() == (here.run_directory(run) / "rows.jsonl").read_bytes()
        assert {path.name for path in out.run_directory(run).iterdir()} == set(RUN_FILES) - {POLICY_FILE}
    assert out.read_suite() == whole()
    assert report(out.folder).panels
    again = merge_results([tmp_path / "1", here.folder], tmp_path / "out")
    assert (again.copied, again.equal) == (0, len(whole().list_runs()) + len(list(Store(tmp_path / "1").finished_runs())))


def test_failures_are_merged_unless_a_finished_run_exists(part, tmp_path):
    done = merge_results([part.folder], tmp_path / "out")
    assert (done.copied, done.failed) == (1, 1)
    assert read_status(tmp_path / "out").errors == read_status(part.folder).errors


def test_merge_errors(here, part, tmp_path):
    with pytest.raises(InvalidFile, match="another suite"):
        merge_results([here.folder, part.folder], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    run_suite(whole(), tmp_path / "other")
    other = Store(tmp_path / "other")
    run = whole().list_runs()[0]
    rows = other.run_directory(run) / "rows.jsonl"
    rows.write_text(rows.read_text().replace('"length":', '"length":1'))
    seal(rows.parent)
    with pytest.raises(InvalidFile, match="something is not reproducible"):
        merge_results([here.folder, other.folder], tmp_path / "out")


# -------------------------------------------------------------------------------------------------------------- compare


def test_the_same_results_do_not_differ(here):
    found = compare_results([here.folder, here.folder])
    assert {(one.title.split(":")[0], one.method) for one in found} == {
        ("boards 0", "random"), ("boards 0", "greedy"), ("seats", "random"), ("seats", "greedy"),
    }  # fmt: skip
    for one in found:
        assert one.seeds == (0, 1)
        for difference in one.differences[0].values():
            assert (difference.value, difference.low, difference.high) == (0.0, 0.0, 0.0)


@pytest.mark.long
def test_results_of_another_version_are_found_and_measured_together(here, tmp_path, monkeypatch):
    """An old folder, written by another version, in which random search was worse: with less of a budget."""
    monkeypatch.setattr(momagames, "__version__", "0.0.9")
    run_suite(whole(), tmp_path)
    monkeypatch.undo()
    old = Store(tmp_path)
    run = next(run for run in old.finished_runs() if run.method.name == "greedy" and run.kind == "plans" and run.seed == 0)
    rows = [json.loads(line) for line in (old.run_directory(run) / "rows.jsonl").read_text().splitlines()]
    worse = [{**rows[0], "return": [value - 1 for value in rows[0]["return"]]}]
    (old.run_directory(run) / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in worse))
    seal(old.run_directory(run))
    assert report(tmp_path).panels  # a report of old results by this version
    found = {(one.title.split(":")[0], one.method): one for one in compare_results([tmp_path, here.folder])}
    gained = found["boards 0", "greedy"].differences[0]["hypervolume"]
    assert gained.value > 0
    assert found["boards 0", "random"].differences[0]["hypervolume"].value == 0
    back = {(one.title.split(":")[0], one.method): one for one in compare_results([here.folder, tmp_path])}
    assert back["boards 0", "greedy"].differences[0]["hypervolume"].value == -gained.value


def test_comparison_errors(here, tmp_path):
    with pytest.raises(InvalidParameter, match="invalid number of results directories 1"):
        compare_results([here.folder])
    run_suite(suite({**plans([RANDOM]), "budget": 77}), tmp_path / "budget")
    with pytest.raises(InvalidFile, match=r"with .*: budget of 'boards 0' is 77 in the former and 300 in the latter"):
        compare_results([here.folder, tmp_path / "budget"])
    run_suite(suite({**POLICIES, "opponents": POLICIES["opponents"][:1]}), tmp_path / "opponents")
    with pytest.raises(
        InvalidFile,
        match=r"opponents of 'seats' is \[random\] in the former and \[random, greedy\(weights=.*\)\] in the latter",
    ):
        compare_results([here.folder, tmp_path / "opponents"])
    run_suite(suite({**plans([RANDOM], board_width=5), "name": "boards 0"}), tmp_path / "game")
    with pytest.raises(InvalidFile, match="no finished run of one game, method and seed in common"):
        compare_results([here.folder, tmp_path / "game"])


# --------------------------------------------------------------------------------------------------------------- export


def flat(here):
    """What a table is to hold of every row, as text."""
    found = []
    for run in here.finished_runs():
        names = [goal.name for goal in run.game.make_game().objectives]
        for row in here.read_rows(run):
            found.append((run.folder, str(row["episode"]), row["policy"], dict(zip(names, row["return"], strict=True))))
    return found


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_every_row_is_exported(here, tmp_path, form):
    file = tmp_path / f"rows.{form}"
    count = export(here.folder, file, form)
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines)) if form == "csv" else [json.loads(line) for line in lines]
    expected = flat(here)
    assert len(rows) == count == len(expected)
    for row, (folder, episode, policy, returns) in zip(rows, expected, strict=True):
        assert (row["run"], str(row["episode"]), row["policy"]) == (folder, episode, policy)
        assert {name: float(row[f"return_{name}"]) for name in returns} == returns
        assert row["version"] == momagames.__version__
        assert row["experiment"] == ("boards 0" if row["kind"] == "plans" else "seats")
        empty = (None, "")
        assert all(row[name] not in empty for name in ("game", "id", "method", "options", "seed", "length"))
        assert (row["opponent"] in empty) == (row["seat"] in empty) == (row["kind"] == "plans")
    assert json.loads(rows[0]["options"]) is not None
    (tmp_path / "plain").touch()
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_parquet_holds_the_same(here, tmp_path):
    polars = pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
    count = export(here.folder, tmp_path / "rows.parquet", "parquet")
    export(here.folder, tmp_path / "rows.jsonl", "jsonl")
    table = polars.read_parquet(tmp_path / "rows.parquet")
    assert table.height == count
    assert [row["actions"] for row in table.to_dicts()] == [
        row.get("actions") for run in here.finished_runs() for row in here.read_rows(run)
    ]
    assert table.drop("actions").to_dicts() == [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]


def test_without_polars_the_extra_is_named(here, tmp_path, monkeypatch):
    def fail_import(name):
        raise ImportError(name)

    monkeypatch.setattr(packed_rows, "import_module", fail_import)
    with pytest.raises(MissingExtra, match=r"momagames\[analysis\].*--csv"):
        export(here.folder, tmp_path / "rows.parquet", "parquet")
    assert not list(tmp_path.iterdir())


ONE_LINERS = re.findall(r"^```\{code-block\} python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb"])
def test_documented_one_liners(here, tmp_path, monkeypatch, library):
    pytest.importorskip(library)
    if library != "pandas":
        pytest.importorskip("polars")
        export(here.folder, tmp_path / "rows.parquet", "parquet")
    export(here.folder, tmp_path / "rows.csv", "csv")
    [code] = [code for code in ONE_LINERS if code.startswith(f"import {library}\n")]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "momagames-results").mkdir()
    (tmp_path / "momagames-results" / "quick").symlink_to(here.folder)
    names: dict[str, object] = {}
    exec(code, names)
    assert len(names["rows"]) == len(flat(here))
    assert len(names["plans"]) == sum(1 for row in flat(here) if "gemwalk" in row[0])


# --------------------------------------------------------------------------------------------------------------- schema


def test_files_of_a_newer_schema_are_rejected(here, tmp_path):
    merge_results([here.folder], tmp_path / "new")
    new = Store(tmp_path / "new")
    run = whole().list_runs()[0]
    for path, use in (
        (new.run_directory(run) / "metadata.json", lambda: new.read_metadata(run)),
        (new.run_directory(run) / "config.json", lambda: list(new.finished_runs())),
        (new.folder / "suite.json", new.read_suite),
        (new.folder / "suite.json", lambda: run_suite(whole(), new.folder)),
    ):
        data = json.loads(path.read_text())
        assert data["schema"] == SCHEMA
        path.write_text(json.dumps({**data, "schema": SCHEMA + 1}))
        seal(new.run_directory(run))
        with pytest.raises(InvalidFile, match=rf"{path.name}: written by a newer momagames \(schema {SCHEMA + 1}; this one"):
            use()
        path.write_text(json.dumps({**data, "schema": 1}))
        seal(new.run_directory(run))
        with pytest.raises(InvalidFile, match="schema 1 is not read any more"):
            use()
        path.write_text(json.dumps(data))
        seal(new.run_directory(run))


def test_configs_match_their_digest(here, tmp_path):
    merge_results([here.folder], tmp_path / "out")
    out = Store(tmp_path / "out")
    path = out.run_directory(whole().list_runs()[0]) / "config.json"
    path.write_text(path.read_text().replace('"budget": 300', '"budget": 301'))
    with pytest.raises(InvalidFile, match="the digest is not that of the content"):
        list(out.finished_runs())


def test_metadata_is_complete(here):
    for run in here.finished_runs():
        data = here.read_metadata(run)
        assert (data["game"], data["method"], data["options"], data["seed"]) == (
            run.canonical, run.method.name, run.method.options, run.seed,
        )  # fmt: skip
        assert data["seconds_allowed"] == 300
        assert {"momagames", "commit", "python", "packages", "machine", "started", "wall_s", "cpu_s", "rows"} <= set(data)
