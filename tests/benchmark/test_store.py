"""Results survive what happens to processes: a kill at any moment leaves a folder that a second start completes."""

import os
import subprocess
import sys
import textwrap
import time

import pytest

from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store, read_run_files
from momagames.errors import InvalidFile
from momagames.files.processes import process_namespace
from tests.benchmark.tiny import seal, whole

ENDLESS = """
import itertools, sys, time
from momagames.benchmark.store.store import Store
from tests.benchmark.tiny import whole

suite = whole()
store = Store(sys.argv[1])
store.open_suite(suite, {})
first, second = suite.list_runs()[:2]
store.write_run(first, [{"row": 1}], {})

def rows():
    for i in itertools.count():
        yield {"row": i, "filling": "x" * 1000}
        if i == 2000:
            print("writing", flush=True)

store.write_run(second, rows(), {})
"""


@pytest.fixture
def killed(tmp_path):
    """A folder whose writer was killed in the middle of its second run."""
    program = subprocess.Popen([sys.executable, "-c", textwrap.dedent(ENDLESS), str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert program.stdout.readline() == b"writing\n"
    finally:
        program.kill()
        program.wait()
        program.stdout.close()
    return tmp_path


@pytest.mark.long
def test_a_kill_loses_only_the_run_in_progress(killed):
    suite, store = whole(), Store(killed)
    assert store.read_suite() == suite
    assert [store.has_run(run) for run in suite.list_runs()[:3]] == [True, False, False]
    assert list(store.read_rows(suite.list_runs()[0])) == [{"row": 1}]
    left = list(store.working.iterdir())
    assert len(left) == 1
    assert (left[0] / "rows.jsonl").stat().st_size > 1_000_000
    results = run_suite(suite, killed)
    assert not results.failed
    assert results.skipped == suite.list_runs()[:1]
    assert not list(store.working.iterdir())
    assert all(store.has_run(run) for run in suite.list_runs())


def test_a_run_in_progress_of_a_live_process_is_not_removed(tmp_path):
    store = Store(tmp_path)
    store.open_suite(whole(), {})
    busy = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        own = store.working / f"run@{process_namespace()}@{busy.pid}@1"
        elsewhere = store.working / f"run@elsewhere@{busy.pid}@1"
        old = store.working / "run@elsewhere@1@1"
        for folder in (own, elsewhere, old):
            folder.mkdir()
        os.utime(old, (0, 0))
        store.open_suite(whole(), {})
        assert own.is_dir()
    finally:
        busy.kill()
        busy.wait()
    store.open_suite(whole(), {})
    assert not own.exists()
    assert elsewhere.is_dir()
    assert not old.exists()


def test_a_failure_is_stored_with_its_partial_rows(tmp_path):
    def rows():
        yield {"row": 1}
        raise RuntimeError("no memory")

    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    run = suite.list_runs()[0]
    with pytest.raises(RuntimeError, match="no memory"):
        store.write_run(run, rows(), {})
    assert not store.has_run(run)
    assert "RuntimeError: no memory" in store.read_error(run)
    assert (store.failed / run.folder / "rows.jsonl").read_text() == '{"row":1}\n'
    store.write_run(run, [{"row": 2}], {})  # a second start that succeeds
    assert store.read_error(run) is None
    assert list(store.read_rows(run)) == [{"row": 2}]


def test_a_crash_has_no_rows(tmp_path):
    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    run = suite.list_runs()[0]
    store.record_crash(run, "killed", 1.0)
    assert set(read_run_files(store.failed / run.folder)) == {"config.json", "error.txt", "metadata.json"}


def test_ctrl_c_leaves_no_partial_result(tmp_path):
    def rows():
        yield {"row": 1}
        raise KeyboardInterrupt

    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    with pytest.raises(KeyboardInterrupt):
        store.write_run(suite.list_runs()[0], rows(), {})
    assert not store.has_run(suite.list_runs()[0])
    assert not list(store.working.iterdir())
    assert not list(store.failed.iterdir())


def test_finished_runs_are_not_written_again(tmp_path):
    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    run = suite.list_runs()[0]
    store.write_run(run, [{"row": 1}], {})
    store.write_run(run, [{"row": 2}], {})  # as another process that was slower
    assert list(store.read_rows(run)) == [{"row": 1}]


def test_nan_never_reaches_a_file(tmp_path):
    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.write_run(suite.list_runs()[0], [{"return": [float("nan")]}], {})
    assert not store.has_run(suite.list_runs()[0])


def test_metadata_has_the_provenance(tmp_path):
    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    run = suite.list_runs()[0]
    before = time.time()
    store.write_run(run, [{"row": 1}], {"steps": 7})
    data = store.read_metadata(run)
    assert {"momagames", "commit", "python", "packages", "machine", "started", "wall_s", "cpu_s"} <= set(data)
    assert data["facts"] == {"steps": 7}
    assert data["rows"] == 1
    assert data["packages"]["numpy"]
    assert 0 <= data["wall_s"] <= time.time() - before + 1


def test_invalid_directories(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InvalidFile, match="holds other files"):
        Store(tmp_path).open_suite(whole(), {})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InvalidFile, match=r"thesis\.tex"):
        Store(tmp_path / "thesis.tex" / "results").open_suite(whole(), {})
    with pytest.raises(InvalidFile, match=r"suite\.json is missing"):
        Store(tmp_path).read_suite()


def test_a_directory_that_another_process_prepares_meanwhile_is_accepted(tmp_path, monkeypatch):
    """Shards start so: the other process finishes suite.json between two looks at the directory."""
    suite, looks = whole(), []
    Store(tmp_path).open_suite(suite, {})
    has_suite = Store.has_suite
    monkeypatch.setattr(Store, "has_suite", lambda store: looks.append(1) or (len(looks) > 1 and has_suite(store)))
    Store(tmp_path).open_suite(suite, {})
    assert len(looks) > 1


def test_an_old_run_of_a_living_process_stays(tmp_path):
    store = Store(tmp_path)
    store.open_suite(whole(), {})
    ours, foreign = (store._make_scratch(run) for run in whole().list_runs()[:2])
    foreign = foreign.rename(foreign.with_name(foreign.name.replace(f"@{process_namespace()}@", "@elsewhere@")))
    for scratch in (ours, foreign):
        os.utime(scratch, (0, 0))
    store.remove_stale_runs()
    assert ours.is_dir()
    assert not foreign.exists()


def test_damaged_files_are_named(tmp_path):
    suite, store = whole(), Store(tmp_path)
    store.open_suite(suite, {})
    run = suite.list_runs()[0]
    store.write_run(run, [{"row": 1}], {})
    (store.runs / run.folder / "rows.jsonl").write_text('{"row": 1}\n{"row"')
    seal(store.run_directory(run))
    with pytest.raises(InvalidFile, match=r"rows\.jsonl: line 2"):
        list(store.read_rows(run))
    (store.runs / run.folder / "metadata.json").write_text("{")
    seal(store.run_directory(run))
    with pytest.raises(InvalidFile, match=r"metadata\.json: line 1, column 2"):
        store.read_metadata(run)
    (tmp_path / "suite.json").write_text("{}")
    with pytest.raises(InvalidFile, match=r"suite\.json"):
        store.read_suite()
