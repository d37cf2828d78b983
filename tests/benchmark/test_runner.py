"""Running suites: equal rows wherever they run, finished runs skipped, failures recorded, the rest done."""

import re
import time

import numpy as np
import pytest

import momagames
from momagames.benchmark import evaluate
from momagames.benchmark.executors import InProcess, executor
from momagames.benchmark.runner import Shard, run_suite
from momagames.benchmark.store.store import Store
from momagames.engine.episode import Episode
from momagames.errors import InvalidParameter
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, broken, plans, suite, whole


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The whole tiny suite, run in this process."""
    folder = tmp_path_factory.mktemp("here")
    results = run_suite(whole(), folder)
    assert not results.failed
    return Store(folder)


def contents(store, tested):
    return {run.folder: (store.runs / run.folder / "rows.jsonl").read_bytes() for run in tested.list_runs()}


@pytest.mark.long
def test_a_pool_gives_the_same_rows(here, tmp_path):
    results = run_suite(whole(), tmp_path, workers=2)
    assert not results.failed
    assert contents(Store(tmp_path), whole()) == contents(here, whole())


def test_a_second_start_skips_what_is_finished(here, monkeypatch):
    monkeypatch.setattr(executor, "execute_run", lambda *_: pytest.fail("ran again"))
    results = run_suite(whole(), here.folder)
    assert results.finished == ()
    assert results.skipped == whole().list_runs()


def test_a_changed_suite_keeps_the_runs_that_it_shares(here):
    wider = suite(plans([RANDOM, GREEDY], seeds=[0, 1, 2]), POLICIES)
    results = run_suite(wider, here.folder)
    assert {run.seed for run in results.finished} == {2}
    assert len(results.skipped) == len(whole().list_runs())


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.long
def test_a_failing_run_is_recorded_and_the_others_continue(tmp_path, workers):
    outcomes = []
    results = run_suite(broken(), tmp_path, workers, outcomes.append)
    assert len(results.finished) == 1
    [failed] = results.failed
    assert failed.run.method.name == "exact"
    assert "\n" not in failed.error
    assert len(outcomes) == 2
    assert "Traceback" in Store(tmp_path).read_error(failed.run)
    again = run_suite(broken(), tmp_path, workers)
    assert len(again.skipped) == 1  # the failed run is tried again
    assert len(again.failed) == 1


def test_no_workers():
    with pytest.raises(InvalidParameter, match="workers=0"):
        run_suite(whole(), "unused", workers=0)


def test_a_run_beyond_its_time_limit_fails(tmp_path, monkeypatch):
    """A limit of time decides whether there is a result; it changes none, and is no part of what a run is."""
    rows = evaluate.evaluate_run

    def slow(run, facts, members):
        for row in rows(run, facts, members):
            yield row
            time.sleep(0.05 * (run.method.name == "random"))

    monkeypatch.setattr(evaluate, "evaluate_run", slow)
    tested = suite({**plans([RANDOM, GREEDY], seeds=[0]), "seconds": 0.04})
    patient = suite({**plans([RANDOM, GREEDY], seeds=[0]), "seconds": 100})
    run_suite(suite(plans([RANDOM, GREEDY], seeds=[0])), tmp_path / "compiled")
    results = run_suite(tested, tmp_path / "out")
    [failed] = results.failed
    assert failed.run.method.name == "random"
    assert failed.error.startswith("TooLarge: time limit exceeded: 0.")
    assert failed.error.endswith("s, and the suite allows 0.04 s")
    store = Store(tmp_path / "out")
    assert store.read_error(failed.run).startswith(failed.error + "\n\nTraceback")
    assert 0.04 < store.failed_seconds(failed.run) < 10
    assert [run.digest for run in patient.list_runs()] == [run.digest for run in tested.list_runs()]
    again = run_suite(patient, tmp_path / "out")
    assert len(again.skipped) == len(again.finished) == 1
    assert store.read_error(failed.run) is None


def test_the_longer_time_counts_where_two_experiments_share_a_run():
    first, second = {**plans([RANDOM]), "seconds": 10}, {**plans([RANDOM]), "seconds": 20, "name": "again"}
    assert (
        {run.seconds for run in suite(first, second).list_runs()}
        == {run.seconds for run in suite(second, first).list_runs()}
        == {20.0}
    )


# ---------------------------------------------------------------------------------------------------------------- shards


BOARDS = plans([RANDOM, GREEDY], seeds=range(10))


@pytest.mark.parametrize("of", [1, 2, 3, 7, 50])
def test_shards_are_a_deterministic_partition(of):
    parts = [suite(*one) for one in ((BOARDS, POLICIES), (POLICIES, BOARDS))]
    shards = [Shard(number, of).select(parts[0]) for number in range(1, of + 1)]
    assert sorted(run.digest for one in shards for run in one) == sorted(run.digest for run in parts[0].list_runs())
    assert {run.digest for run in Shard(1, of).select(parts[1])} == {run.digest for run in shards[0]}


def test_two_shards_fill_one_folder(here, tmp_path):
    first = run_suite(whole(), tmp_path, shard=Shard(1, 2))
    second = run_suite(whole(), tmp_path, shard=Shard.parse("2/2"))
    assert first.finished
    assert second.finished
    assert not first.skipped
    assert not second.skipped
    assert contents(Store(tmp_path), whole()) == contents(here, whole())


def test_shards_of_some_seeds():
    both = suite(BOARDS, POLICIES)
    parts = [Shard(number, 2, (1, 7)).select(both) for number in (1, 2)]
    expected = sorted(run.digest for run in both.list_runs() if run.seed in (1, 7))
    assert sorted(run.digest for part in parts for run in part) == expected
    assert str(Shard(1, 2, (1, 7))) == "shard 1/2, seeds 1, 7"
    with pytest.raises(InvalidParameter, match="invalid seed=10: expected 0, 1, "):
        Shard(1, 1, (10,)).select(both)


def test_shards_of_experiments_games_and_methods():
    both = suite(BOARDS, POLICIES)
    chosen = {
        "experiments": ("seats",), "games": ("MO-Breakthrough", "mo-gemwalk-v0"), "methods": ("greedy",)
    }  # fmt: skip
    shard = Shard.parse("1/1", **chosen)
    expected = [run for run in both.list_runs() if run.kind == "policies" and run.method.name == "greedy"]
    assert list(shard.select(both)) == expected
    assert str(shard) == "experiment seats, games MO-Breakthrough, mo-gemwalk-v0, method greedy"
    for kind, value in (("experiments", "seat"), ("games", "mo-breakthrough-v1"), ("methods", "greedi")):
        with pytest.raises(InvalidParameter, match=rf"invalid {kind[:-1]}='{value}': expected .*; did you mean '"):
            Shard(1, 1, **{kind: (value,)}).select(both)
    with pytest.raises(InvalidParameter, match="no run of the suite 'tiny' has experiment seats, game mo-gemwalk-v0"):
        Shard(1, 1, experiments=("seats",), games=("mo-gemwalk-v0",)).select(both)


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "a/b", "1/0", "-1/2", "1/2/3"])
def test_invalid_shards(text):
    with pytest.raises(InvalidParameter, match="shard"):
        Shard.parse(text)


# ------------------------------------------------------------------------------------------------------------------ rows


def test_rows_describe_their_run(here):
    for run in whole().list_runs():
        rows = list(here.read_rows(run))
        assert rows
        for row in rows:
            assert row["game"] == run.canonical
            assert row["method"] == run.method.name
            assert row["options"] == run.method.options
            assert row["seed"] == run.seed
            assert row["version"] == momagames.__version__
            assert {"episode", "policy", "return", "length"} <= set(row)


def test_plans_can_be_played_again(here):
    game = momagames.spec("mo-gemwalk-v0")
    run = whole().list_runs()[0]
    for row in here.read_rows(run):
        one = Episode(game)
        one.reset(run.seed)
        for action in row["actions"]:
            assert one.is_legal(0, action)
            one.step(action)
        assert one.returns[0].tolist() == row["return"]
        assert one.state["ply"] == row["length"]


def test_policies_play_every_opponent_from_every_seat_with_equal_starts(here):
    run = whole().list_runs()[-1]
    rows = list(here.read_rows(run))
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
    def fail(run, facts, members):
        raise RuntimeError("first\nsecond")
        yield

    monkeypatch.setattr(evaluate, "evaluate_run", fail)
    store = Store(tmp_path)
    store.open_suite(whole(), {})
    [outcome] = list(InProcess().execute_runs(whole().list_runs()[:1], tmp_path))
    assert re.fullmatch(r"RuntimeError: first \(.*test_runner\.py, line \d+\)", outcome.error)


def test_scripted_policies_play_in_suites(tmp_path):
    """Policies that are kernels, as methods and as opponents; one that is none cannot meet them."""
    experiment = {
        **POLICIES,
        "games": [{"id": "mo-pommerman-duel-v0", "params": {"max_steps": 60}}],
        "methods": [RANDOM, {"name": "stationary", "options": {}}],
        "opponents": [{"name": "stationary", "options": {}}, {"name": "random", "options": {}}],
        "seeds": [0],
    }
    results = run_suite(suite(experiment), tmp_path)
    assert not results.failed
    rows = [row for run in suite(experiment).list_runs() for row in Store(tmp_path).read_rows(run)]
    means = {}
    for row in rows:
        means.setdefault((row["method"], row["opponent"], row["seat"]), []).append(row["return"][0])
    assert {key: len(values) for key, values in means.items()} == {
        (mine, other, seat): 8
        for mine in ("random", "stationary")
        for other in ("stationary", "random")
        for seat in ("agent_0", "agent_1")
    }
    assert all(
        sum(means["stationary", "random", seat]) > sum(means["random", "stationary", seat]) for seat in ("agent_0", "agent_1")
    )
    assert set(means["stationary", "stationary", "agent_0"]) == {-1.0}  # no agent moves: a tie
