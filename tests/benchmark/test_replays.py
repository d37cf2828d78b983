"""The policies behind the points of fronts: played again as stored, and in new games."""

import json
import shutil
import sys

import numpy as np
import pytest

from momagames.benchmark.replays import evaluate_again, find_typical_episode, load_points, replay
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store import packed_rows
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile, InvalidParameter
from momagames.reports.data.points import read_plan_points, read_policy_episodes
from momagames.wrappers.recording import replay_from_data
from tests.benchmark.tiny import POLICIES, RANDOM, seal, suite, whole

KERNELS = {
    **POLICIES,
    "name": "kernels",
    "games": [{"id": "mo-pommerman-duel-v0", "params": {"max_steps": 40}}],
    "methods": [RANDOM, {"name": "stationary", "options": {}}],
    "opponents": [{"name": "stationary", "options": {}}, {"name": "random", "options": {}}],
    "seeds": [0],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replays")
    tested = suite(*(one.model_dump(mode="json") for one in whole().experiments), KERNELS)
    assert not run_suite(tested, folder).failed
    return Store(folder)


def test_the_front_matches_the_rows(store):
    for run in store.finished_runs():
        known = load_points(store.run_directory(run))
        assert [one["point"] for one in known] == list(range(len(known)))
        if run.kind == "plans":
            found = read_plan_points(store.read_rows(run))
            assert [f"{one['policy']}: {' '.join(map(str, one['actions']))}" for one in known] == list(found.labels)
        else:
            labels = tuple(opponent.label for opponent in run.opponents)
            found = read_policy_episodes(store.read_rows(run), labels, run.seats).nondominated_points()
            assert [one["policy"] for one in known] == list(found.labels)
            assert {one["rule"] for one in known} <= {"random", "greedy", "stationary"}
            assert all(len(one["weights"]) == found.values.shape[1] for one in known)
        np.testing.assert_allclose([one["return"] for one in known], found.values, rtol=1e-12, atol=1e-12)


def test_every_stored_episode_of_the_front_replays(store):
    """By turns and all at once, by rules and by kernels, from each seat, against each opponent."""
    for run in store.finished_runs():
        for one in load_points(store.run_directory(run)):
            stored = (
                [row for row in store.read_rows(run) if row["policy"] == one["policy"]] if run.kind == "policies" else [one]
            )
            for row in stored[:: max(1, len(stored) // 8)]:
                asked = {name: row[name] for name in ("episode", "opponent", "seat") if name in row}
                again = replay(store.run_directory(run), one["point"], **asked)
                agent = again.record["agents"].index(row.get("seat", again.record["agents"][0]))
                assert again.record["returns"][agent] == row["return"]
                if "length" in row:
                    assert len(again.record["actions"]) == row["length"]
                *_, last = replay_from_data(again.record, "record", "ansi")  # through the environment API
                assert last.returns.tolist() == again.record["returns"]


def test_default_is_the_first_report_episode(store):
    run = next(run for run in store.finished_runs() if run.kind == "policies")
    again = replay(store.run_directory(run), 0)
    first = next(
        row
        for row in store.read_rows(run)
        if row["set"] == "report" and row["policy"] == load_points(store.run_directory(run))[0]["policy"]
    )
    assert again.title.endswith(f"as {first['seat']} against {first['opponent']}, episode {first['episode']}")


@pytest.mark.parametrize("kind", ["plans", "policies"])
def test_a_replay_with_other_returns_is_an_error(store, tmp_path, kind):
    run = next(run for run in store.finished_runs() if run.kind == kind and run.method.name == "greedy")
    for path in store.run_directory(run).iterdir():
        text = path.read_text()
        if path.name == ("front.json" if kind == "plans" else "rows.jsonl"):
            lines = text.splitlines() if kind == "policies" else [text]
            lines = [json.loads(line) for line in lines]
            for data in lines[0]["points"] if kind == "plans" else lines:
                data["return"][0] += 1
            text = "\n".join(json.dumps(data) for data in lines)
        (tmp_path / path.name).write_text(text)
    seal(tmp_path)
    with pytest.raises(InvalidFile, match=r"point 0: the returns are .*; stored: "):
        replay(tmp_path, 0)


def test_unknown_points_and_episodes(store, tmp_path):
    plan = store.run_directory(next(run for run in store.finished_runs() if run.kind == "plans"))
    policy = store.run_directory(next(run for run in store.finished_runs() if run.kind == "policies"))
    with pytest.raises(InvalidParameter, match=r"invalid point=99: expected 0\.\."):
        replay(plan, 99)
    with pytest.raises(InvalidParameter, match="a plan has no seat"):
        replay(plan, 0, seat="agent_0")
    with pytest.raises(InvalidParameter, match=r"invalid seat='player_2': expected .*did you mean 'player_"):
        replay(policy, 0, seat="player_2")
    with pytest.raises(InvalidParameter, match="no episode 99 in this run"):
        replay(policy, 0, episode=99)
    with pytest.raises(InvalidFile, match="not a finished run"):
        replay(tmp_path, 0)


def test_new_episodes(store):
    """Of a policy: the stored ones again if seed and number are those of the run, and others else."""
    run = next(run for run in store.finished_runs() if run.kind == "policies" and run.method.name == "greedy")
    place = store.run_directory(run)
    found = evaluate_again(place, 0, 50, seed=11)
    assert set(found) == {(one.label, seat) for one in run.opponents for seat in run.seats}
    assert all(returns.shape == (50, 4) for returns in found.values())
    same = evaluate_again(place, 0, 50, seed=11)
    assert all((found[match] == same[match]).all() for match in found)
    other = evaluate_again(place, 0, 50, seed=12)
    assert any((found[match] != other[match]).any() for match in found)
    plan = next(run for run in store.finished_runs() if run.kind == "plans")
    [(match, returns)] = evaluate_again(store.run_directory(plan), 0, 50, seed=1).items()
    assert match == ("none", "agent_0")
    assert returns.tolist() == [load_points(store.run_directory(plan))[0]["return"]]
    with pytest.raises(InvalidParameter, match="episodes=0"):
        evaluate_again(place, 0, 0, seed=1)


def test_packed_runs_replay_without_the_library_that_packed_them(store, tmp_path, monkeypatch):
    pytest.importorskip("polars")
    folder = shutil.copytree(store.folder, tmp_path / "packed")
    before = {
        (run.folder, one["point"]): replay(store.run_directory(run), one["point"]).record
        for run in store.finished_runs()
        for one in load_points(store.run_directory(run))[:3]
    }
    typical = {key: find_typical_episode(store.runs / key[0], key[1]) for key in before}
    pack(folder)
    packed_rows._read_tables.cache_clear()
    monkeypatch.setitem(sys.modules, "polars", None)
    for (name, point), record in before.items():
        assert replay(folder / "runs" / name, point).record == record
        assert find_typical_episode(folder / "runs" / name, point) == typical[name, point]


def test_a_missing_run_names_those_that_exist(store, tmp_path):
    known = [place.name for place in store.run_directories()]
    for given in (store.folder, store.runs, store.runs / known[0][:-3], store.runs / "nothing"):
        with pytest.raises(InvalidFile, match="not a finished run: expected a folder") as error:
            load_points(given)
        assert known[0] in str(error.value)
    with pytest.raises(InvalidFile, match=rf"did you mean '{known[0]}'"):
        replay(store.runs / known[0][:-3], 0)
    with pytest.raises(InvalidFile, match=r"expected a folder runs/RUN of a results directory"):
        replay(tmp_path, 0)


def test_a_damaged_run_is_not_replayed(store, tmp_path):
    place = shutil.copytree(store.run_directories()[0], tmp_path / "runs" / store.run_directories()[0].name)
    (place / "rows.jsonl").write_text("")
    with pytest.raises(InvalidFile, match=r"rows\.jsonl: changed since it was written"):
        replay(place, 0)
