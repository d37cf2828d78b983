"""Scripted agents of MO-RouteChoice."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.symmetric import find_counts_game
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import AgentPolicy, play_policies
from momagames.fronts.generation import make_start
from momagames.kernels.rng import random_words

ID = "mo-route-choice-v0"


def play(name, params, **options):
    """Return the mean return of all agents, float64[K]."""
    game = momagames.spec(ID, **params)
    agents = len(game.agents)
    policy = batch_policy(name, game, **options)
    words = random_words(1, agents).reshape(1, agents)
    return play_policies(game, generate_starts(game, random_words(0, 1)), [policy], np.zeros(agents, int), words).returns.mean(
        axis=(0, 1)
    )


def count_actions(name, params, **options):
    """Return the agents of each route of a network with one OD pair."""
    game = momagames.spec(ID, **params)
    state = generate_starts(game, random_words(0, 1))[0]
    policy = batch_policy(name, game, **options)
    mask, rng = np.ones(game.actions[0], np.int8), np.random.default_rng(0)
    actions = [int(np.ravel(AgentPolicy(policy, game, agent)(state, mask, rng))[0]) for agent in range(len(game.agents))]
    return np.bincount(actions, minlength=game.actions[0]).tolist()


def test_all_take_the_shortest_route():
    assert count_actions("shortest", {"num_agents": 10}) == [10, 0, 0]
    assert play("shortest", {"num_agents": 10})[0] == pytest.approx(-20 / 30)


@pytest.mark.parametrize("weights", [[1, 0], [0.4, 0.6], [0, 1]])
def test_best_responses_beside_the_agents_before(weights):
    """The choices of Braess_2 one after the other, from payoffs by counts."""
    params = {"network": "Braess_2", "num_agents": 12}
    game = momagames.spec(ID, **params)
    by_counts, counts = find_counts_game(game, make_start(game, 0).position), np.zeros((1, 5), np.int64)
    for _ in range(12):
        joined = counts + np.eye(5, dtype=np.int64)[:, None]
        values = (by_counts.rate(joined)[range(5), 0, range(5)] @ weights).round(9)
        counts = joined[values.argmax()]
    assert count_actions("best_response", params, weights=weights) == counts[0].tolist()


def test_marginal_costs_are_better_for_all():
    """With 100 agents on Braess_1: the worst equilibrium has a mean latency of 20, the best outcome of 15."""
    latency = {name: -30 * play(name, {"num_agents": 100}, weights=[1, 0])[0] for name in ("best_response", "marginal")}
    assert latency["best_response"] == pytest.approx(20)
    assert latency["marginal"] == pytest.approx(16.25)
