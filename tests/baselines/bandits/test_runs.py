"""Bandits from the command line: in a suite, and as a training whose checkpoint plays."""

import json

import pytest
import yaml

from momagames.benchmark.replays import replay
from momagames.benchmark.store.store import Store
from tests.benchmark.tiny import INDICATORS, POLICIES
from tests.cli.test_app import momagames_here

pytestmark = pytest.mark.long  # compiles methods
GEMS = {"id": "mo-gem-mining-v0", "params": {"num_agents": 3}}
METHODS = [
    {"name": "random", "options": {}},
    {"name": "bandit_ucb", "options": {"divisions": 1, "greedy": True, "signal": "difference", "exploration": 1.0,
                                       "radius": "tuned", "inertia": 0.5}},
    {"name": "bandit_gradient", "options": {"divisions": 1, "greedy": False, "signal": "local", "alpha": 0.05}},
    {"name": "bandit_joint", "options": {"divisions": 1, "greedy": True, "exploration": 0.3, "rule": "confidence"}},
]  # fmt: skip


def test_suite(tmp_path):
    """`bench run` stores the rows of all policies, and a replay makes a trained policy again."""
    experiment = {**POLICIES, "games": [GEMS], "methods": METHODS, "opponents": [], "seeds": [0], "budget": 3_000}
    content = {"name": "tiny", "description": "gems", "experiments": [experiment], "indicators": INDICATORS}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(content))
    done = momagames_here("bench", "run", "suite.yaml", "--out", "results", "--executor", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    facts = {one["method"]: one["facts"] for one in map(read_json, (tmp_path / "results").rglob("metadata.json"))}
    assert set(facts) == {one["name"] for one in METHODS}
    assert {facts[name]["training_steps"] for name in facts if name != "random"} == {3_000}
    assert {facts[name]["policies"] for name in facts if name != "random"} == {2}
    store = Store(tmp_path / "results")
    for run in store.finished_runs():
        assert replay(store.run_directory(run), 0).record["returns"]


def read_json(path):
    return json.loads(path.read_text())


def test_training(tmp_path):
    small = ("-p", "num_agents=3", "--budget", "3000", "--evaluations", "1", "--episodes", "2", "--threads", "1")
    done = momagames_here("train", "mo-gem-mining-v0", *small, "--method", "bandit_gradient", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bandit_gradient: 3,000 steps, 9,000 decisions" in done.stdout
    done = momagames_here("eval", str(tmp_path), "--episodes", "2", "--json")
    assert len(json.loads(done.stdout)["front"]) >= 1


def test_training_of_a_game_of_several_steps_says_what_is_expected(tmp_path):
    done = momagames_here("train", "mo-samegame-v0", "--method", "bandit_ucb", "--out", str(tmp_path))
    assert done.returncode
    assert "needs a game whose episodes have one step" in " ".join(done.stderr.split())
