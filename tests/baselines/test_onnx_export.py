"""Trained policies as ONNX models, run by onnxruntime beside the compiled policies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import momagames
from momagames.baselines import onnx_export
from momagames.baselines.candidates.policy import CandidatePolicy
from momagames.baselines.checkpoint import Checkpoint
from momagames.baselines.checkpoint_policy import list_champions
from momagames.baselines.moppo.encoder import make_egocentric_encoder, make_encoder
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.network_policy import NetworkPolicy, array_shapes, modulation_shape
from momagames.engine.policies import AgentPolicy
from momagames.errors import InvalidParameter
from momagames.plugins import USER
from momagames.registry import format_id

onnxruntime = pytest.importorskip("onnxruntime")
for package in ("onnx", "onnxscript", "torch"):
    pytest.importorskip(package)

LOGITS = 8  # index among the buffers of a network


def random_checkpoint(id: str, make_encoder: Callable = make_encoder, **params: object) -> Checkpoint:
    """A network of random numbers whose units the weights multiply."""
    game = momagames.spec(id, **params)
    rng = np.random.default_rng(0)
    encoder = make_encoder(game)
    shapes = array_shapes(game, encoder, channels=6, hidden=10, layers=2)
    shapes |= {"modulation": modulation_shape(game, encoder, hidden=10)}
    arrays = {name: rng.normal(0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}
    facts = {"game": id, "params": dict(game.params), "canonical": format_id(id, game.params), "method": "moppo"}
    facts["options"] = Moppo.default_options(game)
    return Checkpoint(Path("random.npz"), facts, arrays, {}, USER)


def play_states(game, count: int) -> list:
    """States of random games."""
    env = momagames.make_vec(game.id, 4, **game.params)
    env.reset(seed=2)
    found, rng = [], np.random.default_rng(1)
    while len(found) < count:
        env.step(env.batch.sample_actions(rng.integers(2**63, size=4, dtype=np.uint64)))
        found += [state.copy() for state in env.batch.states if not state["over"]]
    return found


def run(model: bytes, inputs: dict) -> np.ndarray:
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, inputs)[0]


CASES = {
    "view": lambda: list_champions(momagames.spec("mo-pommerman-duel-v0"))[0],
    "turned": lambda: random_checkpoint("mo-breakthrough-v0", make_egocentric_encoder, board_height=5, board_width=4),
    "board": lambda: random_checkpoint("mo-samegame-v0", board_height=4, board_width=5, num_colors=3),
    "fields": lambda: random_checkpoint("mo-pommerman-radio-v0"),
    "fractions": lambda: random_checkpoint("mo-robotmail-2-v0", observation="dict"),
    "axes": lambda: random_checkpoint("mo-tileblast-v0", observation="dict"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_logits_are_those_of_the_compiled_policy(case: str, tmp_path: Path) -> None:
    checkpoint = CASES[case]()
    game, policies = checkpoint.make_game(), checkpoint.make_policies()
    assert isinstance(policies, NetworkPolicy)
    model = onnx_export.export_onnx(checkpoint, tmp_path / "policy.onnx")
    weights = np.random.default_rng(3).dirichlet(np.ones(len(game.objectives)))
    states = play_states(game, 24)
    agents = [int(state["to_move"]) if game.sequential else i % len(game.agents) for i, state in enumerate(states)]
    inputs = onnx_export.make_inputs(policies, game, states, agents, weights)
    assert sorted(inputs) == sorted(value.name for value in model.graph.input)
    assert b"onnx_modules.py" not in (tmp_path / "policy.onnx").read_bytes()  # no path of this machine
    logits = run((tmp_path / "policy.onnx").read_bytes(), inputs)
    for state, agent, row in zip(states, agents, logits, strict=True):
        compiled = AgentPolicy(policies.compile("network", weights.tolist(), greedy=True), game, agent)
        mask = np.ones(game.mask_size, np.int8)
        compiled(state, mask, np.random.default_rng(0))
        expected = compiled._scratch[5][LOGITS]
        assert np.abs(expected).max() > 0.01
        assert np.allclose(row, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("method", ["cross_entropy", "grpo", "moppo"])
def test_scores_are_those_of_the_scorer(method: str, tmp_path: Path) -> None:
    game = momagames.spec("mo-samegame-v0", board_height=4, board_width=4, num_colors=3)
    options: dict[str, dict] = {"cross_entropy": {}, "grpo": {"hidden": 7}, "moppo": Moppo.default_options(game)}
    policy, rng = CandidatePolicy(game, options[method].get("hidden", 0)), np.random.default_rng(0)
    facts = {"game": game.id, "params": dict(game.params), "canonical": format_id(game.id, game.params)}
    facts |= {"method": method, "options": options[method]}
    parameters = rng.normal(0, 0.3, policy.num_parameters)
    checkpoint = Checkpoint(Path("scorer.npz"), facts, {"parameters": parameters}, {}, USER)
    model = onnx_export.export_onnx(checkpoint, tmp_path / "scorer.onnx")
    rows, cursor = np.zeros((100, policy.features.count), np.float32), np.zeros(1, np.int64)
    compiled = policy.compile_with(parameters, [0.2, 0.8], "scorer")
    compiled = replace(compiled, scratch=lambda game: policy.make_scratch(game, (rows, cursor)))
    for state in play_states(game, 10):
        cursor[:] = 0
        player = AgentPolicy(compiled, game)
        player(state, np.ones(game.mask_size, np.int8), np.random.default_rng(0))
        candidates, scores = player._scratch[:2]
        found = run((tmp_path / "scorer.onnx").read_bytes(), {"features": rows[: cursor[0]].astype(np.float64)})
        assert cursor[0] > 1
        assert np.allclose(found, scores[candidates != 0], rtol=1e-5, atol=1e-5)
    facts = {one.key: one.value for one in model.metadata_props}
    assert json.loads(facts["features"]) == list(policy.features.names)
    assert json.loads(facts["objectives"]) == [one.name for one in game.objectives]
    assert onnx_export.describe_values(model) == [
        ("features", "input", "float64", f"[N, {policy.features.count}]"), ("scores", "output", "float64", "[N]"),
    ]  # fmt: skip


def test_tables_are_refused(tmp_path: Path) -> None:
    checkpoint = list_champions(momagames.spec("mo-breakthrough-v0"))[0]
    with pytest.raises(InvalidParameter, match="policies of ntuple are tables"):
        onnx_export.export_onnx(replace(checkpoint, path=Path("tables.npz")), tmp_path / "tables.onnx")
    assert not (tmp_path / "tables.onnx").exists()
