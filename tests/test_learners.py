"""The learners of docs/examples learn: what they reach in the default settings, on episodes that chose nothing."""

from __future__ import annotations

import ast
import functools
import importlib
import json

import numpy as np
import pytest

from momagames.analysis.controllability import compute_controllability
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy
from momagames.benchmark import match
from momagames.engine.policies import SeatedPolicies
from tests.pages import ROOT
from tests.test_docs import list_documented_names

EXAMPLES = ROOT / "docs/examples"


@pytest.fixture
def load(monkeypatch):
    """Import an example, if PyTorch is here."""
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


def measure_hypervolume(learner, options, policies) -> float:
    """Return the hypervolume of compiled policies, in the episodes of the learner's evaluations."""
    points = []
    for policy in policies:
        envs = options.make_envs(options.eval_episodes, "disabled")
        envs.reset(seed=options.eval_seed)
        seated = SeatedPolicies(envs.batch, [policy], [0] * len(envs.agents))
        points.append(learner.play_episodes(envs, lambda *_, seated=seated: seated.act()[:, 0], options.eval_seed).mean((0, 1)))
    return hypervolume(points, [0.0, 0.0]).value


@pytest.mark.long
def test_the_learner_reaches_its_hypervolume(load, tmp_path):
    """Also more than untrained, random and greedy policies; and its weights steer, which the file of the curve shows."""
    learner = load("mo_ppo")
    options = learner.Options(out=str(tmp_path / "mine.pt"), num_evaluations=1)
    learner.train(options)
    untrained, *_, last = map(json.loads, (tmp_path / "mine.jsonl").read_text().splitlines())
    assert last["hypervolume"] == pytest.approx(hypervolume(np.array(last["returns"]), [0, 0]).value)
    assert last["hypervolume"] > 6800
    assert compute_controllability(np.array(last["weights"]), np.array(last["returns"])).min() > 0.85
    game = options.make_envs(1, "disabled").game
    greedy = [batch_policy("greedy", game, weights=row, estimate="both") for row in last["weights"]]
    others = [measure_hypervolume(learner, options, policies) for policies in ([batch_policy("random", game)], greedy)]
    assert max(others) < 6400
    assert untrained["hypervolume"] < 5500


@pytest.mark.long
def test_self_play_beats_greedy(load, tmp_path):
    """In nine of ten games at least, from start positions and with random numbers that chose nothing."""
    learner = load("self_play")
    options = learner.Options(out=str(tmp_path / "mine.pt"), num_evaluations=1)
    load("mo_ppo").train(options, learner.Pool(options))
    wins, losses = learner.play_matches(options, ["greedy"])["greedy"]
    assert wins + losses == options.match_games
    assert wins >= 0.9 * options.match_games


@pytest.mark.long
@pytest.mark.parametrize(
    ("id", "params"),
    [("mo-pommerman-duel-v0", {}), ("mo-robotmail-v0", {"always_legal": False}), ("mo-breakthrough-v0", {"board_width": 5})],
)
def test_the_learner_plays_every_kind_of_game(load, tmp_path, id, params):
    """Simultaneous moves, dicts as observations, masks without a legal action; and saved policies play matches."""
    learner = load("mo_ppo")
    options = learner.Options(
        id, json.dumps(params), str(tmp_path / "mine.pt"), total_steps=512, num_envs=8, num_steps=32, num_minibatches=2,
        num_evaluations=1, eval_episodes=2, divisions=1, hidden=16,
    )  # fmt: skip
    learner.train(options)
    mine = type("Mine", (learner.Player,), {"__init__": functools.partialmethod(learner.Player.__init__, file=options.out)})
    result = match(id, [mine, "random"], games=2, max_reruns=0, **params)
    assert sum(result.wins) + result.ties == 2


def test_the_learner_is_short():
    assert len((EXAMPLES / "mo_ppo.py").read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("file", ["mo_ppo.py", "self_play.py"])
def test_the_api_reference_has_what_learners_import(file):
    tree = ast.parse((EXAMPLES / file).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module.startswith("momagames")]
    assert {alias.name for node in imports for alias in node.names} <= list_documented_names()
