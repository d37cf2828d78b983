"""Pattern tables in a suite: trained within a run, stored, and replayed without training."""

import pytest

from momagames.baselines.ntuple.method import Ntuple
from momagames.benchmark.replays import evaluate_again, load_points, replay
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store
from tests.benchmark.tiny import POLICIES, RANDOM, suite

OPTIONS = {
    "divisions": 1, "depth": 2, "short": 2, "long": 3, "alpha": 2.0, "td_lambda": 0.9, "epsilon": 0.05, "opening": 2,
}  # fmt: skip
SUITE = {
    **POLICIES,
    "methods": [RANDOM, {"name": "ntuple", "options": OPTIONS}],
    "opponents": [{"name": "random", "options": {}}],
    "seeds": [3],
    "budget": 20_000,
}


@pytest.mark.long
def test_points_replay_without_training(tmp_path, monkeypatch):
    tested = suite(SUITE)
    assert not run_suite(tested, tmp_path).failed
    (run,) = (run for run in tested.list_runs() if run.method.name == "ntuple")
    facts = Store(tmp_path).read_metadata(run)["facts"]
    assert 19_000 < facts["training_steps"] <= 20_000
    assert facts["games"] > 100
    monkeypatch.setattr(Ntuple, "train", None)
    place = Store(tmp_path).run_directory(run)
    for point in load_points(place):
        assert point["rule"] == "ntuple"
        assert "against random" in replay(place, point["point"], seat=1).title
    again = evaluate_again(place, 0, 4, seed=9)
    assert set(again) == {("random", "player_0"), ("random", "player_1")}
