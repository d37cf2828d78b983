"""Rules and oracle of MO-GemMining play the same episodes."""

import numpy as np
import pytest

import momagames
from tests.games.gem_mining.naive import GemMining
from tests.games.joint import SEEDS, JointGame, equal

ID = "mo-gem-mining-v0"
CASES = {
    "default": {},
    "expected": {"reward_mode": "expected", "instance_seed": 7},
    "alone": {"num_agents": 1, "min_connectivity": 1, "max_connectivity": 1, "instance_seed": 2**32 - 1},
    "alone, 8 mines": {"num_agents": 1, "min_connectivity": 8, "max_connectivity": 8, "num_objectives": 8},
    "any connectivity": {"num_agents": 9, "min_connectivity": 1, "max_connectivity": 8, "num_objectives": 3},
    "not correlated": {"num_agents": 6, "correlated_objectives": False, "num_objectives": 4, "instance_seed": 3},
    "all workers": {"num_agents": 7, "bonus_exponent": "all", "w_bonus": 1.5, "instance_seed": 0},
    "all workers, expected": {"num_agents": 7, "bonus_exponent": "all", "w_bonus": 1.25, "reward_mode": "expected"},
    "malus": {"num_agents": 5, "w_bonus": 0.5, "max_workers": 100, "reward_mode": "expected", "min_prob": 0.05, "max_prob": 1},
    "no workers": {"num_agents": 8, "min_workers": 0, "max_workers": 1, "min_prob": 0, "max_prob": 1, "instance_seed": 5},
    "certain": {"num_agents": 4, "min_prob": 0.5, "max_prob": 1, "trunc_probability": 1, "w_bonus": 2},
    "never": {"num_agents": 4, "trunc_probability": 0},
    "crowd": {"num_agents": 60, "min_workers": 50, "max_workers": 100, "reward_mode": "expected", "num_objectives": 5},
    "many": {"num_agents": 500, "instance_seed": 11},
    "given": {
        "num_agents": 3,
        "max_connectivity": 3,
        "workers": [0, 2, 100],
        "connectivity": [3, 1, 2],
        "probabilities": [[0, 1], [0.25, 0.5], [1, 1], [0.125, 0.001], [0.5, 0]],
    },
    "given workers": {"num_agents": 4, "workers": [1, 0, 0, 9], "reward_mode": "expected", "instance_seed": 1},
    "given connectivity": {"num_agents": 4, "connectivity": [4, 3, 2, 1], "num_objectives": 3, "instance_seed": 1},
}
cases = pytest.mark.parametrize("params", CASES.values(), ids=list(CASES))


def position(chance, params, keys):
    """Return any position before the step, in the form of §9, with these of the keys that may be left out."""
    game = GemMining(**params)
    row = [0, 1, 0.5, 1 / 3, 0.01]
    values = {
        "workers": [chance.choice([0, 1, 2, 3, 30, 100]) for _ in game.villages],
        "connectivity": [chance.randint(1, size) for size in game.actions],
        "probabilities": [chance.choices(row, k=len(game.types)) for _ in game.mines],
        "mines": None,
        "workers_at_mine": [0 for _ in game.mines],
        "rng": chance.getrandbits(64),
    }
    return {key: values[key] for key in keys}


GAME = JointGame(ID, GemMining, position, {"observation": np.float32})


@pytest.mark.parametrize("seed", SEEDS)
@cases
def test_drawn_gems(params, seed):
    GAME.play_seeds(params, seed)


@pytest.mark.parametrize(
    "keys",
    [
        ("workers",),
        ("connectivity", "rng"),
        ("probabilities",),
        ("workers", "connectivity", "probabilities", "mines", "workers_at_mine", "rng"),
        ("workers", "probabilities", "rng"),
    ],
    ids=", ".join,
)
@cases
def test_given_positions(params, keys):
    GAME.play_positions(params, keys)


@cases
def test_positions_after_the_step(params):
    """They are over, with gems and without; the workers at the mines may be left out."""
    GAME.play_on(params, 1, without=("workers_at_mine", "gems"))


@pytest.mark.parametrize(
    ("exponent", "chances"), [("others", [0.1 * 2**2, 0.9, 0.5, 0.25]), ("all", [0.1 * 2**3, 0.9, 0.9, 0.5])]
)
def test_expected_rewards_by_hand(exponent, chances):
    """Three workers at mine 1, one at mine 3, none at the others, although a village without workers chose mine 2."""
    params = {
        "num_agents": 4,
        "min_connectivity": 1,
        "max_connectivity": 2,
        "workers": [1, 2, 0, 1],
        "connectivity": [2, 1, 2, 1],
        "probabilities": [[1, 1], [0.1, 0.9], [1, 1], [0.5, 0.25], [1, 1]],
        "w_bonus": 2,
        "bonus_exponent": exponent,
        "reward_mode": "expected",
    }
    env = momagames.make(ID, "parallel", **params)
    env.reset(seed=0)
    _, rewards, *_ = env.step(dict(zip(env.agents, [1, 0, 0, 0], strict=True)))
    assert env.get_state()["workers_at_mine"] == [0, 3, 0, 1, 0]
    expected = [chances[0] + chances[2], chances[1] + chances[3]]
    assert all(equal(reward, np.float32, expected) for reward in rewards.values())
    assert np.allclose(GemMining.generate(0, **params).step([1, 0, 0, 0])[0], expected, rtol=1e-12, atol=0)


def test_sampled_rewards_have_the_expected_mean():
    params, total = {"num_agents": 6, "num_objectives": 3, "instance_seed": 4}, np.zeros(3)
    for seed in range(2000):
        total += GemMining.generate(seed * 7919, **params).step([0, 1, 0, 1, 0, 1])[0]
    expected = GemMining.generate(0, reward_mode="expected", **params).step([0, 1, 0, 1, 0, 1])[0]
    assert np.allclose(total / 2000, expected, atol=0.08)
