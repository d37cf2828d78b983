"""Running suites: equal rows wherever they run, finished runs skipped, failures recorded, the rest done."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import momagames
from momagames.engine.play import Play
from momagames.errors import BadParameter
from momagames.experiments import evaluate, runner
from momagames.experiments.runner import InProcess, Pool, execute, run_suite, spread
from momagames.experiments.store import Store
from tests.experiments.tiny import EXACT, GREEDY, POLICIES, RANDOM, broken, plans, suite, whole


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The whole tiny suite, run in this process."""
    folder = tmp_path_factory.mktemp("here")
    results = run_suite(whole(), folder)
    assert not results.failed
    return Store(folder)


def contents(store, tested):
    return {run.folder: (store.runs / run.folder / "rows.jsonl").read_bytes() for run in tested.runs()}


def test_a_pool_gives_the_same_rows(here, tmp_path):
    results = run_suite(whole(), tmp_path, workers=2)
    assert not results.failed
    assert contents(Store(tmp_path), whole()) == contents(here, whole())


def test_a_second_start_skips_what_is_finished(here, monkeypatch):
    monkeypatch.setattr(runner, "execute", lambda *_: pytest.fail("ran again"))
    results = run_suite(whole(), here.folder)
    assert results.finished == ()
    assert results.skipped == whole().runs()


def test_a_changed_suite_keeps_the_runs_that_it_shares(here):
    wider = suite(plans([RANDOM, GREEDY], seeds=[0, 1, 2]), POLICIES)
    results = run_suite(wider, here.folder)
    assert {run.seed for run in results.finished} == {2}
    assert len(results.skipped) == len(whole().runs())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_run_is_recorded_and_the_rest_goes_on(tmp_path, workers):
    told = []
    results = run_suite(broken(), tmp_path, workers, told.append)
    assert len(results.finished) == 1
    [failed] = results.failed
    assert failed.run.method.name == "exact"
    assert "\n" not in failed.error
    assert len(told) == 2
    assert "Traceback" in Store(tmp_path).error(failed.run)
    again = run_suite(broken(), tmp_path, workers)
    assert len(again.skipped) == 1  # the failed run is tried again
    assert len(again.failed) == 1


class Dying(Pool):
    """A pool in which the process of one run dies."""

    def _pooled(self, runs, folder, workers):
        from concurrent.futures.process import BrokenProcessPool

        for run in runs:
            if run.method.name == "greedy":
                raise BrokenProcessPool("killed")
            yield execute(run, folder)


def test_a_process_that_dies_takes_only_its_own_run(tmp_path):
    tested = suite(plans([RANDOM, GREEDY]))
    results = run_suite(tested, tmp_path, executor=Dying(2))
    assert {run.method.name for run in results.finished} == {"random"}
    assert {outcome.run.method.name for outcome in results.failed} == {"greedy"}
    assert len(results.finished) == len(results.failed) == 2
    assert "the process died" in Store(tmp_path).error(results.failed[0].run)


def test_spread_takes_one_of_each_game_first_and_keeps_all():
    runs = suite(plans([RANDOM, GREEDY, EXACT]), POLICIES).runs()
    order = spread(runs)
    assert sorted(run.digest for run in order) == sorted(run.digest for run in runs)
    assert [run.game.id for run in order[:2]] == ["mo-samegame-v0", "mo-breakthrough-v0"]
    assert {(run.game.id, run.method.name) for run in order[:5]} == {(run.game.id, run.method.name) for run in runs}


def test_no_workers():
    with pytest.raises(BadParameter, match="workers=0"):
        run_suite(whole(), "unused", workers=0)


def test_an_interrupted_program_ends_its_workers_and_can_go_on(tmp_path):
    """Ctrl-C in the middle of a suite that two processes run."""
    code = (
        "import sys\n"
        "from tests.experiments.tiny import *\n"
        "from momagames.experiments import run_suite\n"
        "if __name__ == '__main__':\n"
        "    big = suite({**plans([RANDOM], seeds=range(200)), 'budget': 300000})\n"
        "    run_suite(big, sys.argv[1], 2, lambda outcome: print('done', flush=True))\n"
    )
    script = tmp_path / "program.py"
    script.write_text(code)
    root = str(Path(__file__).parents[2])  # the folder of `tests`, behind the installed package
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, root])}
    arguments = [sys.executable, str(script), str(tmp_path / "out")]
    program = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True
    )
    assert program.stdout.readline() == b"done\n"
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    _, complaint = program.communicate(timeout=60)
    assert b"KeyboardInterrupt" in complaint
    assert b"SpawnProcess" not in complaint  # the workers keep quiet
    assert program.returncode != 0
    store = Store(tmp_path / "out")
    sealed = list(store.runs.iterdir())
    assert 1 <= len(sealed) < 200
    for folder in sealed:
        assert {path.name for path in folder.iterdir()} == {"config.json", "rows.jsonl", "metadata.json"}
        assert json.loads((folder / "metadata.json").read_text())["rows"] == len(
            (folder / "rows.jsonl").read_text().splitlines()
        )
    assert vanishes(program.pid)


def vanishes(group, seconds=20):
    """Whether no process of a group is left, soon."""
    for _ in range(10 * seconds):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


# ------------------------------------------------------------------------------------------------------------------ rows


def test_rows_say_what_they_are(here):
    for run in whole().runs():
        rows = list(here.rows(run))
        assert rows
        for row in rows:
            assert row["game"] == run.canonical
            assert row["method"] == run.method.name
            assert row["options"] == run.method.options
            assert row["seed"] == run.seed
            assert row["version"] == momagames.__version__
            assert {"episode", "policy", "return", "length"} <= set(row)


def test_plans_can_be_played_again(here):
    game = momagames.spec("mo-samegame-v0", board_width=4, board_height=4, num_colors=2)
    run = whole().runs()[0]
    for row in here.rows(run):
        one = Play(game)
        one.deal(run.seed)
        for action in row["actions"]:
            assert one.is_legal(0, action)
            one.turn(action)
        assert one.returns[0].tolist() == row["return"]
        assert one.state["ply"] == row["length"]


def test_policies_meet_every_opponent_from_every_seat_on_equal_terms(here):
    run = whole().runs()[-1]
    rows = list(here.rows(run))
    assert len(rows) == 4 * 2 * 2 * 8  # policies, opponents, seats, episodes
    keys = {(r["policy"], r["opponent"], r["seat"], r["episode"]) for r in rows}
    assert len(keys) == len(rows)
    assert {r["set"] for r in rows if r["episode"] < 3} == {"select"}
    assert {r["set"] for r in rows if r["episode"] >= 3} == {"report"}
    starts = {}
    for row in rows:
        starts.setdefault(row["episode"], set()).add(row["start"])
    assert all(len(found) == 1 for found in starts.values())
    assert len(set.union(*starts.values())) == 8
    wins = np.array([row["return"][0] for row in rows])
    assert set(wins.tolist()) == {-1.0, 1.0}


def test_an_error_in_a_run_is_one_line(tmp_path, monkeypatch):
    def fail(run, facts):
        raise RuntimeError("first\nsecond")
        yield

    monkeypatch.setattr(evaluate, "rows", fail)
    store = Store(tmp_path)
    store.open(whole())
    [outcome] = list(InProcess().outcomes(whole().runs()[:1], tmp_path))
    assert outcome.error == "RuntimeError: first"


def test_scripted_policies_play_in_suites(tmp_path):
    """Policies that are kernels, as methods and as opponents; one that is none cannot meet them."""
    experiment = {
        **POLICIES,
        "games": [{"id": "mo-pommerman-duel-v0", "params": {"max_steps": 60}}],
        "methods": [RANDOM, {"name": "static", "options": {}}],
        "opponents": [{"name": "static", "weights": []}, {"name": "random", "weights": []}],
        "seeds": [0],
    }
    results = run_suite(suite(experiment), tmp_path)
    assert not results.failed
    rows = [row for run in suite(experiment).runs() for row in Store(tmp_path).rows(run)]
    means = {}
    for row in rows:
        means.setdefault((row["method"], row["opponent"], row["seat"]), []).append(row["return"][0])
    assert {key: len(values) for key, values in means.items()} == {
        (mine, other, seat): 8
        for mine in ("random", "static")
        for other in ("static", "random")
        for seat in ("agent_0", "agent_1")
    }
    assert all(sum(means["static", "random", seat]) > sum(means["random", "static", seat]) for seat in ("agent_0", "agent_1"))
    assert set(means["static", "static", "agent_0"]) == {-1.0}  # nobody ever moves: a tie
