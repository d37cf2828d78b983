"""Executors: what dies is done again, what is late is ended, and whatever is killed, the store stays whole."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from multiprocessing import resource_tracker
from pathlib import Path
from types import SimpleNamespace

import pytest

from momagames.benchmark.executors import InProcess, Outcome, ProcessPool, execute_run, processes, worker_pool
from momagames.benchmark.executors.processes import order_runs
from momagames.benchmark.executors.ray import RayCluster
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.policy_files import POLICIES as POLICY_FILE
from momagames.benchmark.store.store import RUN_FILES, Store, read_run
from momagames.errors import InvalidCall, RemoteError
from tests.benchmark.tiny import EXACT, GREEDY, POLICIES, RANDOM, plans, suite, whole

ROOT = str(Path(__file__).parents[2])  # the folder of `tests`, behind the installed package
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, ROOT])}
PROGRAM = """
import sys
from tests.benchmark.tiny import *
from momagames.benchmark import run_suite
if __name__ == "__main__":
    tested = suite({**plans([RANDOM], seeds=range(%d)), "budget": %d})
    run_suite(tested, sys.argv[1], 2, lambda outcome: print("done", flush=True))
"""


def start(folder, seeds, budget):
    """A program, in a process group of its own, in which two processes run a suite into `folder`."""
    script = folder.parent / "program.py"
    script.write_text(PROGRAM % (seeds, budget))
    return subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def check_store(folder):
    """Everything that is in its place is whole. Returns the names of the finished runs."""
    store = Store(folder)
    if not store.has_suite():
        return set()
    store.read_suite()
    for place in store.runs.iterdir():
        run = read_run(place)
        assert place.name == run.folder
        assert {path.name for path in place.iterdir()} == set(RUN_FILES) - {POLICY_FILE}
        rows = list(store.read_rows(run))
        assert store.read_metadata(run)["rows"] == len(rows) > 0
        assert len(json.loads((place / "front.json").read_text())["points"]) == len(rows)
    return {place.name for place in store.runs.iterdir()}


def vanishes(group, seconds=20):
    """Whether no process of a group is left, soon."""
    for _ in range(20 * seconds):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def children(process):
    """The worker processes of a program."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == process and b"spawn_main" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")
@pytest.mark.long
def test_kills_at_random_times_lose_only_runs_in_progress(tmp_path):
    """kill -9, of the program and of its workers; what is finished stays, and in the end all is there."""
    folder, moments, before = tmp_path / "out", random.Random(5), set()
    seeds, budget = 100, 60_000
    for round_number in range(4):
        program = start(folder, seeds, budget)
        if round_number:  # the first is killed before or while it begins
            assert program.stdout.readline() == b"done\n"
        time.sleep(moments.random() * (0.3 if round_number else 1.0))
        if round_number % 2:
            for worker in children(program.pid):
                os.kill(worker, signal.SIGKILL)
            assert program.stdout.readline() == b"done\n"  # others do their work
        os.kill(program.pid, signal.SIGKILL)
        program.communicate(timeout=60)
        assert vanishes(program.pid)  # the workers do not outlive it
        after = check_store(folder)
        assert before <= after
        before = after
    assert 5 < len(before) < seeds
    tested = suite({**plans([RANDOM], seeds=range(seeds)), "budget": budget})
    results = run_suite(tested, folder)
    assert not results.failed
    assert len(check_store(folder)) == seeds
    assert len(results.skipped) == len(before)
    assert not list(Store(folder).working.iterdir())
    few = suite({**plans([RANDOM], seeds=range(20)), "budget": budget})
    run_suite(few, tmp_path / "clean")
    for run in few.list_runs():
        one, other = (Store(place).run_directory(run) / "rows.jsonl" for place in (folder, tmp_path / "clean"))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_an_interrupted_program_ends_its_workers_and_resumes(tmp_path):
    """Ctrl-C in the middle of a suite that two processes run."""
    program = start(tmp_path / "out", 200, 300_000)
    assert program.stdout.readline() == b"done\n"
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    _, complaint = program.communicate(timeout=60)
    assert b"KeyboardInterrupt" in complaint
    assert b"SpawnProcess" not in complaint  # the workers keep quiet
    assert program.returncode != 0
    assert 1 <= len(check_store(tmp_path / "out")) < 200
    assert not list(Store(tmp_path / "out").working.iterdir())
    assert vanishes(program.pid)


@pytest.mark.long
def test_a_run_beyond_its_time_limit_is_killed(tmp_path, monkeypatch):
    """The compiled run would take minutes; other runs finish meanwhile."""
    run_suite(suite(plans([RANDOM, GREEDY])), tmp_path / "compiled")
    monkeypatch.setattr(worker_pool, "GRACE_S", 0.2)
    endless = {**plans([RANDOM], seeds=[0]), "name": "endless", "budget": 10**12, "seconds": 1}
    tested = suite(endless, plans([GREEDY]))
    started = time.monotonic()
    results = run_suite(tested, tmp_path / "out", workers=2)
    assert time.monotonic() - started < 30
    [failed] = results.failed
    assert failed.error.startswith("time limit exceeded: 1.")
    assert len(results.finished) == 2
    store = Store(tmp_path / "out")
    assert store.read_error(failed.run) == failed.error + "\n"
    assert 1 < store.failed_seconds(failed.run) < 10
    assert not list(store.working.iterdir())


@pytest.mark.long
def test_a_script_without_a_main_guard(tmp_path):
    code = PROGRAM.replace('if __name__ == "__main__":', "if True:") % (4, 300)
    (tmp_path / "script.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "script.py", "out"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert InvalidCall.__name__ in done.stderr
    assert "__main__" in done.stderr


@pytest.mark.long
def test_a_worker_that_is_killed_while_it_starts_is_replaced(tmp_path):
    pool = processes._Processes(1, tmp_path)
    try:
        for _ in range(2):
            pool.start(1)
            (worker,) = pool._workers.values()
            worker.process.kill()
            assert pool.poll(10) == []
            assert not pool._workers
        pool.start(1)
        assert pool.poll(60) == []
        assert len(pool.list_idle()) == 1
    finally:
        pool.close()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="POSIX")
def test_a_worker_ignores_ctrl_c_from_its_first_instruction(tmp_path, monkeypatch):
    for name in ("_fd", "_pid"):  # as in a new process, whose first worker starts the resource tracker
        monkeypatch.setattr(resource_tracker._resource_tracker, name, None)
    pool = processes._Processes(1, tmp_path)
    try:
        pool.start(1)
        (worker,) = pool._workers.values()
        for _ in range(20):
            os.kill(worker.process.pid, signal.SIGINT)
            time.sleep(0.01)
        assert pool.poll(60) == []
        assert len(pool.list_idle()) == 1
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    finally:
        pool.close()


# ------------------------------------------------------------------------------------------------------------- dispatch


class FakePool:
    """Worker pool in this process in which some runs kill their workers a given number of times."""

    def __init__(self, folder, deadly):
        self.folder, self.deadly = folder, dict(deadly)
        self.idle, self.busy, self.log = [], {}, []
        self.closed = False

    def start(self, wanted):
        while len(self.idle) + len(self.busy) < min(2, wanted):
            self.idle.append(object())

    def list_idle(self):
        return list(self.idle)

    def submit(self, worker, run):
        self.idle.remove(worker)
        self.busy[worker] = run
        self.log.append(run.folder)

    def poll(self, seconds):
        worker, run = next(iter(self.busy.items()))
        del self.busy[worker]
        if self.deadly.get(run.folder, 0):
            self.deadly[run.folder] -= 1
            return [(worker, None)]
        self.idle.append(worker)
        return [(worker, execute_run(run, self.folder))]

    def stop(self, worker):
        raise AssertionError("no worker is late")

    def close(self):
        self.closed = True


@pytest.fixture
def opened(tmp_path):
    Store(tmp_path).open_suite(whole(), {})
    return tmp_path


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_run_whose_worker_died_is_given_to_another(opened, deaths):
    runs = whole().list_runs()
    pool = FakePool(opened, {runs[1].folder: deaths})
    outcomes = list(worker_pool.dispatch(pool, runs, opened))
    assert {outcome.run.digest for outcome in outcomes} == {run.digest for run in runs}
    assert not any(outcome.error for outcome in outcomes)
    assert pool.log.count(runs[1].folder) == deaths + 1
    assert len(pool.log) == len(runs) + deaths
    assert pool.closed


def test_a_run_that_kills_every_worker_has_failed(opened):
    runs = whole().list_runs()
    outcomes = list(worker_pool.dispatch(FakePool(opened, {runs[1].folder: 99}), runs, opened))
    [failed] = [outcome for outcome in outcomes if outcome.error]
    assert failed.run == runs[1]
    assert "the process died 3 times" in failed.error
    assert Store(opened).read_error(runs[1]) == failed.error + "\n"
    assert len(outcomes) == len(runs)


def test_a_pool_is_closed_when_its_outcomes_are_no_longer_read(opened):
    pool = FakePool(opened, {})
    outcomes = worker_pool.dispatch(pool, whole().list_runs(), opened)
    assert isinstance(next(outcomes), Outcome)
    outcomes.close()
    assert pool.closed


def test_runs_finished_by_another_process_are_skipped(opened):
    run = whole().list_runs()[0]
    Store(opened).write_run(run, [{"row": 1, "policy": "", "return": [0.0]}], {})
    assert [outcome.error for outcome in InProcess().execute_runs([run], opened)] == [None]
    assert [row["row"] for row in Store(opened).read_rows(run)] == [1]


@pytest.mark.long
def test_pools_start_no_more_workers_than_runs(tmp_path, monkeypatch):
    tested = suite(plans([RANDOM], seeds=[0, 1]))
    Store(tmp_path).open_suite(tested, {})
    assert len(list(ProcessPool(8).execute_runs(tested.list_runs(), tmp_path))) == 2


def test_spread_takes_one_of_each_game_first_and_keeps_all():
    runs = suite(plans([RANDOM, GREEDY, EXACT]), POLICIES).list_runs()
    order = order_runs(runs)
    assert sorted(run.digest for run in order) == sorted(run.digest for run in runs)
    assert [run.game.id for run in order[:2]] == ["mo-gemwalk-v0", "mo-breakthrough-v0"]
    assert {(run.game.id, run.method.name) for run in order[:5]} == {(run.game.id, run.method.name) for run in runs}


def test_a_ray_that_does_not_start_is_one_error(monkeypatch, tmp_path):
    """Whatever it raises, which is a bare Exception where a node times out; what has started of it is ended."""
    for error in (Exception("The current node timed out\nduring startup."), OSError("no port"), AssertionError()):
        ended = []

        def fail(error=error, **options):
            raise error

        fake = SimpleNamespace(init=fail, is_initialized=lambda: False, shutdown=lambda ended=ended: ended.append(True))
        monkeypatch.setitem(sys.modules, "ray", fake)
        reason = " ".join(str(error).split()) or "AssertionError"
        with pytest.raises(RemoteError, match=f"no Ray cluster at this machine: {reason}"):
            list(RayCluster(workers=1).execute_runs([], tmp_path))
        assert ended
