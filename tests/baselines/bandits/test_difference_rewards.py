"""Difference rewards are those of the game without the agent; local rewards add up to the reward."""

import math

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.kernels.jit import compile_entry_point
from tests.games.beach.naive import Beach
from tests.games.route_choice.cases import TOWN
from tests.games.route_choice.naive import RouteChoice

COUNT = 30
pytestmark = pytest.mark.long  # compiles kernels of several games


def make_loop(game):
    step, write_differences, factors = game.kernels.step, game.learning.write_differences, game.learning.reward_factors
    write_factors = factors.write if factors else write_differences

    def run(states, actions, rewards, out):
        for i in range(states.shape[0]):
            step(states[i], actions[i], rewards[i])
            write_differences(states[i], actions[i], out[i])

    def run_factors(states, actions, rewards, out):
        for i in range(states.shape[0]):
            step(states[i], actions[i], rewards[i])
            write_factors(states[i], out[i])

    return tuple(compile_entry_point(one, f"test.{game.rules_key}.{one.__name__}") for one in (run, run_factors))


def play(game, count=COUNT, actions=None):
    """Play random joint actions; return start positions, actions, rewards [n, A, K] and difference rewards [n, A, K]."""
    starts = generate_starts(game, np.arange(count, dtype=np.uint64))
    batch = Batch(game, count)
    batch.load(starts)
    chosen = batch.sample_actions(np.arange(count, dtype=np.uint64)).copy() if actions is None else actions
    shape = count, len(game.agents), len(game.objectives)
    rewards, differences = np.zeros(shape, np.float32), np.zeros(shape)
    make_loop(game)[0](starts.copy(), chosen, rewards, differences)
    return starts, chosen, rewards, differences


@pytest.mark.parametrize(
    "params", [{}, {"num_objectives": 3, "max_connectivity": 6, "min_workers": 0, "bonus_exponent": "all"}]
)
def test_gem_mining_without_a_village(params):
    """Without its workers a village changes nothing."""
    game = momagames.spec("mo-gem-mining-v0", num_agents=6, reward_mode="expected", **params)
    _, actions, rewards, differences = play(game)
    for agent in range(6):
        starts = generate_starts(game, np.arange(COUNT, dtype=np.uint64))
        starts["workers"][:, agent] = 0
        without = np.zeros_like(rewards)
        make_loop(game)[0](starts, actions, without, np.zeros_like(differences))
        assert np.allclose(differences[:, agent], rewards[:, agent] - without[:, agent], atol=1e-5)


def test_gem_mining_with_drawn_gems_is_right_on_average():
    params = {"num_agents": 5, "w_bonus": 1.3}
    game, expected = (momagames.spec("mo-gem-mining-v0", reward_mode=mode, **params) for mode in ("sampled", "expected"))
    actions = np.repeat(play(game, 1)[1], 20_000, axis=0)
    found, exact = play(game, 20_000, actions)[3], play(expected, 1, actions[:1])[3][0]
    error = found.std(axis=0) / math.sqrt(len(found))
    assert (abs(found.mean(axis=0) - exact) < 5 * error + 1e-9).all()
    assert exact.max() > 0.1


@pytest.mark.parametrize("mode", ["sampled", "expected"])
def test_local_rewards_add_up_to_the_reward(mode):
    game = momagames.spec("mo-gem-mining-v0", num_agents=6, num_objectives=3, min_connectivity=1, reward_mode=mode)
    starts, actions, rewards, _ = play(game)
    local = np.zeros((COUNT, len(game.learning.reward_factors.factors), 3))
    make_loop(game)[1](starts, actions, rewards, local)
    assert np.allclose(local.sum(axis=1), rewards[:, 0], atol=1e-5)


def compare_with_oracle(game, oracle, is_team):
    """Compare with the oracle of the game, from which the agent is removed."""
    starts, actions, _, differences = play(game)
    for i in range(COUNT):
        for agent in range(len(game.agents)):
            one, other = (oracle.given(game.codec.save(starts[i]), 0, **game.params) for _ in range(2))
            for name in ("agent_od", "sections", "types"):
                if hasattr(other, name):
                    getattr(other, name).pop(agent)
            if oracle is Beach:
                other.num_agents -= 1
            chosen = actions[i, :, 0].tolist()
            whole, rest = np.array(one.step(chosen)), np.array(other.step(chosen[:agent] + chosen[agent + 1 :]))
            expected = whole[0] - rest[0] if is_team else (whole.sum(axis=0) - rest.sum(axis=0)) / len(whole)
            assert np.allclose(differences[i, agent], expected, atol=1e-12)


@pytest.mark.parametrize(
    "params", [{"network": "Braess_2"}, {"network": TOWN, "toll_mode": "random", "random_toll_percentage": 0.6}]
)
def test_route_choice_without_an_agent(params):
    compare_with_oracle(momagames.spec("mo-route-choice-v0", num_agents=6, **params), RouteChoice, False)


@pytest.mark.parametrize("mode", ["individual", "team"])
def test_beach_without_an_agent(mode):
    game = momagames.spec("mo-beach-v0", num_agents=8, sections=3, capacity=2, reward_mode=mode)
    compare_with_oracle(game, Beach, mode == "team")
