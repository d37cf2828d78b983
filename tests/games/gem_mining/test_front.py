"""Exact fronts of expected gems: those that others computed, both ends of the chain, coverage sets, files and limits."""

import gzip
import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import momagames
from momagames import fronts
from momagames.baselines.archive import is_nondominated
from momagames.benchmark.choices import GameChoice
from momagames.errors import InvalidFile, InvalidParameter, InvalidState, TooLarge
from momagames.games.gem_mining.solver.elimination import Chain, solve_chain
from momagames.games.gem_mining.solver.fronts import find_coverage_set, read_chain

ID = "mo-gem-mining-v0"
DATA = Path(__file__).parents[2] / "peers/data/gem_mining_fronts.json.gz"
KNOWN = json.loads(gzip.decompress(DATA.read_bytes()))
LIMITS = fronts.SearchLimits(10**6, 2**30)


def make(**params):
    game = momagames.spec(ID, reward_mode="expected", **params)
    return game, game.codec.save(game.blank_state)


@pytest.mark.parametrize("exponent", ["all", "others"])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: str(known["instance"]["num_agents"]))
def test_known_fronts(known, exponent):
    instance = dict(known["instance"])
    longest = len(instance["probabilities"]) - len(instance["workers"]) + 1
    game, start = make(**instance, max_connectivity=longest, bonus_exponent=exponent)
    chain = read_chain(game, start)
    assert chain.joint_actions == known["joint_actions"]
    expected = sorted(known["front" if exponent == "all" else "front_exponent_minus_1"])
    for found in (solve_chain(chain), solve_chain(chain.mirror())):
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    found = solve_chain(chain)
    assert [chain.evaluate(actions).tolist() for actions in found.actions] == found.values.tolist()  # to the bit


@pytest.mark.parametrize("params", [{"num_objectives": 2, "max_connectivity": 5}, {"num_objectives": 3, "min_workers": 0}])
def test_all_joint_actions(params):
    sizes = []
    for seed in range(4):
        game, start = make(num_agents=5, w_bonus=1.4, instance_seed=seed, **params)
        chain = read_chain(game, start)
        values = np.array([chain.evaluate(actions) for actions in product(*map(range, chain.reach.tolist()))])
        front = np.array(sorted(values[is_nondominated(values)].tolist()))
        np.testing.assert_array_equal(solve_chain(chain).values, front)
        weights = np.random.default_rng(seed).dirichlet([1.0] * chain.chances.shape[1], 300)
        coverage = find_coverage_set(game, start)
        best = (coverage.values @ weights.T).max(axis=0)
        np.testing.assert_allclose(best, (values @ weights.T).max(axis=0), rtol=1e-12)
        sizes += len(front), len(coverage.values)
        assert {tuple(row) for row in coverage.values.tolist()} <= {tuple(row) for row in front.tolist()}
    assert sum(sizes[1::2]) < sum(sizes[::2])


def test_hundreds_of_villages():
    game, start = make(num_agents=200)
    chain = read_chain(game, start)
    found, coverage = solve_chain(chain), find_coverage_set(game, start)
    assert len(found.values) == 2788
    assert chain.joint_actions > 10**80
    for weights in ([1, 0], [0.5, 0.5], [0.2, 0.8]):
        assert (coverage.values @ weights).max() == pytest.approx((found.values @ weights).max(), rel=1e-12)


def test_front_files(tmp_path):
    choice = GameChoice(id=ID, params={"num_agents": 6, "reward_mode": "expected", "min_connectivity": 1})
    made = fronts.returns_front(choice, 0, LIMITS)
    assert made.statement == "The Pareto front of the returns that the team of all agents can attain from this start position."
    fronts.write_front(tmp_path / "front.json", made)
    read = fronts.read_front(tmp_path / "front.json")
    fronts.verify(read)
    fronts.prove(read)
    first, *rest = made.points
    wrong = [
        ("6 agents in each step", [first.model_copy(update={"actions": (0,)}), *rest]),
        ("action 5, 7, is not legal", [first.model_copy(update={"actions": (0, 0, 0, 0, 0, 7)}), *rest]),
        ("point 0: invalid value", [first.model_copy(update={"value": (0.5, 9.0)}), *rest]),
    ]
    for message, points in wrong:
        with pytest.raises(InvalidFile, match=message):
            fronts.verify(made.model_copy(update={"points": tuple(points)}))
    missing = made.model_copy(update={"points": tuple(rest)})
    fronts.verify(missing)
    with pytest.raises(InvalidFile, match="1 points of the front are missing"):
        fronts.prove(missing)


def test_what_has_no_front():
    sampled = momagames.spec(ID)
    with pytest.raises(InvalidParameter, match="invalid reward_mode='sampled': expected 'expected'"):
        read_chain(sampled, sampled.codec.save(sampled.blank_state))
    game, start = make(num_agents=2)
    with pytest.raises(InvalidState, match="one before the step"):
        read_chain(game, {"workers": start["workers"], "mines": [0, 1]})
    for limits in ({"max_states": 3}, {"max_bytes": 10}):
        with pytest.raises(TooLarge, match="of 2 villages"):
            solve_chain(read_chain(game, start), **limits)
    counted = []
    solve_chain(read_chain(game, start), progress=lambda states, size: counted.append(states))
    assert counted == sorted(counted)
    assert len(counted) == 2
    assert replace(Chain.from_state(game.blank_state), most=0.0).evaluate([0, 0]).tolist() == [0, 0]
