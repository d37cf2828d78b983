"""Scripted agents of MO-GemMining beside the expected gems of the oracle's instances, and beside the exact front."""

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.policies import AgentPolicy
from momagames.games.gem_mining.policies import make_greedy_mine, make_village_response
from momagames.games.gem_mining.solver.elimination import solve_chain
from momagames.games.gem_mining.solver.fronts import read_chain

ID = "mo-gem-mining-v0"
WEIGHTS = [None, [1, 0], [0.3, 0.7]]


def plan(make, game, weights):
    """The joint action of a policy, and the chain of its instance."""
    states = game.make_state()
    actions = []
    for agent in range(len(game.agents)):
        mask = np.zeros(game.mask_size, np.int8)
        mask[: game.action_sizes(agent)[0]] = 1
        actions.append(int(AgentPolicy(make(game, weights), game, agent)(states[0], mask, np.random.default_rng(0))))
    return np.array(actions), read_chain(game, game.codec.save(states[0]))


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_greedy_mine_takes_the_best_mine_alone(weights):
    game = momagames.spec(ID, num_agents=12, reward_mode="expected", min_connectivity=1)
    actions, chain = plan(make_greedy_mine, game, weights)
    for village, action in enumerate(actions.tolist()):
        gems = [chain.expect_gems(village + a, int(chain.workers[village])) for a in chain.list_offsets(village)]
        assert action == int((np.array(gems) @ (weights or [1, 1])).argmax())


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_no_village_improves_the_plan_alone(weights):
    game = momagames.spec(ID, num_agents=15, num_objectives=2, reward_mode="expected", w_bonus=1.3)
    actions, chain = plan(make_village_response, game, weights)
    row = np.array(weights or [1, 1])
    planned = chain.evaluate(actions) @ row
    for village, count in enumerate(chain.reach.tolist()):
        for other in range(count):
            changed = actions.copy()
            changed[village] = other
            assert chain.evaluate(changed) @ row <= planned + 1e-9
    best = (solve_chain(chain).values @ row).max()
    greedy, _ = plan(make_greedy_mine, game, weights)
    assert chain.evaluate(greedy) @ row < planned <= best + 1e-9
    assert planned > 0.9 * best


def test_policies_play_in_every_api():
    returns = {}
    for name in ("random", "greedy_mine", "village_response"):
        env = momagames.make(ID, "gymnasium", num_agents=8, reward_mode="expected", others=name)
        env.reset(seed=1)
        returns[name] = env.step(0)[1].sum()
    assert returns["village_response"] > max(returns["random"], returns["greedy_mine"])
    large = momagames.make(ID, "gymnasium", num_agents=50, others="village_response")  # states of another size
    large.reset(seed=1)
    assert large.step(0)[2]
    assert Batch(momagames.spec(ID, num_agents=50), 2).states.dtype.itemsize > 4096
