"""A stored result that was changed is noticed before anything is made of it, is named, and can be run again."""

import json
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from momagames.benchmark.replays import replay
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.check import check_store
from momagames.benchmark.store.checksums import CHECKSUMS, find_changed_files
from momagames.benchmark.store.export import export
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.status import read_status
from momagames.benchmark.store.store import Store, find_damage
from momagames.cli.app import app
from momagames.errors import InvalidFile
from momagames.fronts.union import union_fronts
from momagames.reports import report
from tests.benchmark.tiny import seal, whole

BROKEN = {
    "a changed digit": ("rows.jsonl", lambda text: text.replace("0", "1", 1)),
    "a doubled row": ("rows.jsonl", lambda text: text.splitlines(keepends=True)[0] + text),
    "a row less": ("rows.jsonl", lambda text: "".join(text.splitlines(keepends=True)[1:])),
    "cut rows": ("rows.jsonl", lambda text: text[:-20]),
    "no rows": ("rows.jsonl", lambda text: ""),
    "other rows": ("rows.jsonl", lambda text: "[1]\n"),
    "a changed time": ("metadata.json", lambda text: text.replace('"wall_s": 0', '"wall_s": 1', 1)),
    "cut metadata": ("metadata.json", lambda text: text[:-20]),
    "no configuration": ("config.json", lambda text: ""),
    "another seed": ("config.json", lambda text: text.replace('"seed": 0', '"seed": 1', 1)),
    "a changed point": ("front.json", lambda text: text.replace("0", "1", 1)),
    "no checksums": ("SHA256SUMS", lambda text: ""),
    "a changed checksum": ("SHA256SUMS", lambda text: ("1" if text[0] == "0" else "0") + text[1:]),
}


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


def break_run(store, name):
    """Change a file of a run as BROKEN says; return the run and the path of the file."""
    file, change = BROKEN[name]
    run = next(run for run in store.finished_runs() if run.seed == 0)
    path = store.run_directory(run) / file
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before
    return run, path


def test_changed_files_are_noticed(folder):
    store = Store(folder)
    contents = {path: path.read_bytes() for path in store.runs.rglob("*") if path.is_file()}
    for name in BROKEN:
        run, path = break_run(store, name)
        with pytest.raises(InvalidFile, match=path.parent.name) as error:
            report(folder)
        assert "bench check" in str(error.value), name
        for use in (
            lambda: export(folder, folder.parent / "rows.csv", "csv"),
            lambda: merge_results([folder], folder.parent / "merged"),
            lambda run=run: list(store.read_rows(run)),
        ):
            with pytest.raises(InvalidFile, match=path.parent.name):
                use()
        assert check_store(store).damaged == (path.parent.name,), name
        path.write_bytes(contents[path])
    assert not check_store(store).problems


@pytest.mark.parametrize("name", ["cut rows", "cut metadata", "no configuration", "no checksums"])
def test_damaged_runs_are_discarded_and_run_again(folder, name):
    store = Store(folder)
    rows = (store.run_directory(next(run for run in store.finished_runs() if run.seed == 0)) / "rows.jsonl").read_bytes()
    run, path = break_run(store, name)
    found = invoke("bench", "check", folder)
    assert found.exit_code == 1
    assert f"{len(whole().list_runs())} runs checked, 1 damaged" in found.output
    assert str(path.parent) in found.output
    assert "--discard" in found.output
    assert path.exists()
    assert invoke("bench", "check", folder, "--discard").exit_code == 1
    assert not path.parent.exists()
    assert store.read_error(run)
    assert not run_suite(whole(), folder).failed
    assert (path.parent / "rows.jsonl").read_bytes() == rows
    assert invoke("bench", "check", folder).exit_code == 0
    assert store.read_error(run) is None


def test_missing_files_are_noticed(folder):
    store = Store(folder)
    place = store.run_directories()[0]
    for path in sorted(place.iterdir()):
        content = path.read_bytes()
        path.unlink()
        assert [path.name in problem for problem in find_damage(place)] == [True]
        path.write_bytes(content)
    assert not find_damage(place)


def test_a_run_in_the_place_of_another_is_noticed(folder):
    first, second, *_ = Store(folder).run_directories()
    shutil.rmtree(first)
    shutil.copytree(second, first)
    assert check_store(Store(folder)).damaged == (first.name,)


def test_the_usual_program_checks_them(folder):
    for place in Store(folder).run_directories():
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=place, check=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(data=st.data())
def test_any_flipped_bit_is_noticed(folder, data):
    files = sorted(path for path in (folder / "runs").rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    content = path.read_bytes()
    changed = bytearray(content)
    changed[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(changed)
    assert check_store(Store(folder)).damaged == (path.parent.name,)
    path.write_bytes(content)
    assert not check_store(Store(folder)).problems


def test_packed_rows_are_checked(folder):
    pytest.importorskip("polars")
    pack(folder)
    assert not check_store(Store(folder)).problems
    assert report(folder).panels
    packed = folder / PACKED
    content = packed.read_bytes()
    for place in range(200, len(content), len(content) // 20):
        packed.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(InvalidFile, match=rf"{PACKED}: changed since it was written"):
            report(folder)
        with pytest.raises(InvalidFile, match=PACKED):
            union_fronts([folder])
        found = check_store(Store(folder))
        assert f"{packed}: changed since it was written" in found.problems
    packed.write_bytes(content)
    assert not check_store(Store(folder)).problems


def test_damaged_packed_runs_are_run_again(folder):
    polars = pytest.importorskip("polars")
    pack(folder)
    table = polars.read_parquet(folder / PACKED)
    run = next(run for run in Store(folder).finished_runs() if run.kind == "policies")
    changed = polars.when(polars.col("run") == run.folder).then(polars.col("length") + 1).otherwise(polars.col("length"))
    table.with_columns(changed.alias("length")).write_parquet(folder / PACKED)
    assert invoke("bench", "check", folder, "--discard").exit_code == 1
    assert invoke("bench", "check", folder).exit_code == 0
    assert list(Store(folder).failed.iterdir()) == [Store(folder).failed / run.folder]
    assert not run_suite(whole(), folder).failed
    assert report(folder).panels


@pytest.mark.parametrize(("column", "text"), [("start", "12\0"), ("options", "{"), ("options", None)])
def test_packed_rows_that_cannot_be_read_are_named(folder, column, text):
    polars = pytest.importorskip("polars")
    pack(folder)
    table = polars.read_parquet(folder / PACKED)
    run = next(run for run in Store(folder).finished_runs() if run.kind == "policies")
    changed = polars.when(polars.col("run") == run.folder).then(polars.lit(text)).otherwise(polars.col(column))
    table.with_columns(changed.alias(column)).write_parquet(folder / PACKED)
    found = check_store(Store(folder))
    assert found.damaged == (run.folder,)
    assert any(run.folder in problem for problem in found.problems)


def test_damaged_runs_are_not_imported(folder, tmp_path):
    store, into = Store(folder), Store(tmp_path / "into")
    into.prepare()
    place = store.run_directories()[0]
    run = next(store.finished_runs())
    files = {path.name: path.read_bytes() for path in place.iterdir()}
    with pytest.raises(InvalidFile, match=r"rows\.jsonl: changed"):
        into.import_run(run, {**files, "rows.jsonl": files["rows.jsonl"] + b"\n"})
    assert not into.has_run(run)
    into.import_run(run, files)
    assert into.has_run(run)


def test_forged_rows_with_right_checksums_are_named(folder):
    store = Store(folder)
    run = next(store.finished_runs())
    place = store.run_directory(run)
    for text, why in [(b'{"a": 1}\n\xff', "line 2"), (b"3", "line 1"), (b'{"a"', "line 1")]:
        (place / "rows.jsonl").write_bytes(text)
        seal(place)
        with pytest.raises(InvalidFile, match=rf"rows\.jsonl: {why}"):
            list(store.read_rows(run))
    (place / "config.json").write_text(json.dumps([1]))
    seal(place)
    with pytest.raises(InvalidFile, match=r"config\.json: expected a JSON object"):
        list(store.finished_runs())


def change_rows(**changes):
    """Return a change of all rows; a value of None removes a key."""

    def change(text):
        rows = [json.loads(line) for line in text.splitlines()]
        rows = [{key: value for key, value in {**row, **changes}.items() if value is not None} for row in rows]
        return "".join(json.dumps(row) + "\n" for row in rows)

    return change


def change_json(**changes):
    return lambda text: json.dumps({**json.loads(text), **changes})


OTHER_CONTENT = {
    "rows without a policy": ("rows.jsonl", change_rows(policy=None)),
    "rows without a set": ("rows.jsonl", change_rows(set=None)),
    "returns that are no numbers": ("rows.jsonl", change_rows(**{"return": {"a": 1}})),
    "returns of two lengths": ("rows.jsonl", change_rows(**{"return": [[1], [1, 2]]})),
    "episodes that are lists": ("rows.jsonl", change_rows(episode=[1])),
    "an unknown seat": ("rows.jsonl", change_rows(seat="nowhere", opponent="nowhere")),
    "points that are no objects": ("front.json", change_json(points=[1])),
    "points without a policy": ("front.json", change_json(points=[{"point": 0, "return": [1]}])),
    "a time that is a text": ("metadata.json", change_json(wall_s={})),
    "no facts": ("metadata.json", change_json(facts=None)),
}


@pytest.mark.parametrize("case", OTHER_CONTENT)
def test_other_content_with_right_checksums_is_an_invalid_file(folder, case):
    """Whatever reads it: replays, status, report, export, check."""
    name, change = OTHER_CONTENT[case]
    store = Store(folder)
    for run in store.finished_runs():
        place = store.run_directory(run)
        (place / name).write_text(change((place / name).read_text()))
        seal(place)
    problems = []
    for read in (
        lambda: [replay(store.run_directory(run), 0) for run in store.finished_runs()],
        lambda: read_status(folder),
        lambda: report(folder, replays=False),
        lambda: export(folder, folder / "x.csv", "csv"),
        lambda: check_store(store),
    ):
        try:
            read()
        except InvalidFile as error:
            problems.append(str(error))
    assert problems
    assert all(folder.name in problem for problem in problems)


def test_plans_of_results_are_legal(folder):
    """The rules trust the actions that they are given."""
    store = Store(folder)
    place = next(store.run_directory(run) for run in store.finished_runs() if run.kind == "plans")
    content = json.loads((place / "front.json").read_text())
    for action in (10**6, -1, 2**40):
        content["points"][0]["actions"][0] = action
        (place / "front.json").write_text(json.dumps(content))
        seal(place)
        with pytest.raises(InvalidFile, match=f"the action {[action]} of a plan is not legal".replace("[", r"\[")):
            replay(place, 0)


def test_checksums_name_files_of_their_folder(folder, tmp_path):
    for name in ("../x", str(tmp_path / "x")):
        (folder / CHECKSUMS).write_text(f"{'0' * 64}  {name}\n")
        assert find_changed_files(folder) == [f"{folder / CHECKSUMS}: {name!r}: expected a file of this folder"]
