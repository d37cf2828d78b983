"""Scripted agents of MO-Beach."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import AgentPolicy, play_policies
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter
from momagames.kernels.rng import random_words

ID = "mo-beach-v0"


def play(name, episodes=20, seed=0, params=None, **options):
    """Return the mean return of all agents, float64[K]."""
    game = momagames.spec(ID, **(params or {}))
    starts, agents = generate_starts(game, random_words(seed, episodes)), len(game.agents)
    words = random_words(seed + 1, episodes * agents).reshape(episodes, agents)
    policy = batch_policy(name, game, **options)
    return play_policies(game, starts, [policy], np.zeros(agents, int), words).returns.mean(axis=(0, 1))


def act(name, position, params, agent=0, **options):
    game = momagames.spec(ID, num_agents=len(position["sections"]), **params)
    policy = AgentPolicy(batch_policy(name, game, **options), game, agent)
    return policy(load_state(game, position)[0], np.ones(3, np.int8), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("weights", "mode", "expected"),
    [([1, 0], "individual", 2), ([0, 1], "individual", 0), ([0, 1], "team", 0), ([0, 0], "individual", 1)],
)
def test_best_responses(weights, mode, expected):
    """Agent 0, of type 0, stands alone in the middle: on the left is another type, and too many agents; the right is free."""
    position = {"types": [0, 1, 1, 1, 0], "sections": [1, 0, 0, 0, 2]}
    params = {"sections": 3, "capacity": 2, "reward_mode": mode}
    assert act("best_response", position, params, weights=weights, revision=1) == expected


def test_best_responses_stay_within_reach():
    position = {"types": [0, 1, 0, 1], "sections": [0, 3, 3, 3]}
    params = {"sections": 4, "capacity": 4, "num_timesteps": 2}
    assert act("best_response", position, params, weights=[0, 1], revision=1) == 1
    assert act("best_response", position, {**params, "num_timesteps": 3}, weights=[0, 1], revision=1) == 2


def test_imitation_leaves_bad_sections_alone():
    """All agents but agent 0 are in section 1, with one of its type; it goes there, and they stay."""
    position = {"types": [0, 1, 0, 1], "sections": [0, 1, 1, 1]}
    params = {"sections": 2, "capacity": 3}
    chosen = [[act_once(position, params, agent, seed) for seed in range(60)] for agent in range(4)]
    assert set(chosen[0]) == {1, 2}
    assert all(set(actions) == {1} for actions in chosen[1:])


def act_once(position, params, agent, seed):
    game = momagames.spec(ID, num_agents=4, **params)
    policy = AgentPolicy(batch_policy("imitate", game, weights=[0, 1]), game, agent)
    return policy(load_state(game, position)[0], np.ones(3, np.int8), np.random.default_rng(seed))


PUBLISHED = {
    "num_agents": 100, "sections": 5, "capacity": 5, "type_counts": [70, 30], "num_timesteps": 4, "reward_mode": "team",
}  # fmt: skip


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([0.9, 0.1], (7.3576, 0.375)), ([0.1, 0.9], (7.1893, 0.4524)), ([0, 1], (5.3626, 0.4565))],
    ids=str,
)
def test_overflow_reaches_points_of_the_exact_front(weights, expected):
    assert np.round(play("overflow", 5, params=PUBLISHED, weights=weights), 4) == pytest.approx(expected)


def test_overflow_with_more_types():
    params = {**PUBLISHED, "type_counts": [40, 30, 30], "sections": 3}
    capacity, mixture = play("overflow", 2, params=params, weights=[0, 1])
    assert mixture == pytest.approx(1 / 3, abs=0.02)
    assert capacity > 0


def test_policies_beat_random_play(interpreted):
    if interpreted:
        pytest.skip("takes minutes without the compiler")
    rounds = {**PUBLISHED, "num_timesteps": 20}
    random, response = play("random", params=rounds), play("best_response", params=rounds, weights=[1, 0])
    assert response[0] > 2 * random[0]
    alone = {"num_agents": 20, "sections": 5, "capacity": 4, "num_timesteps": 10, "type_counts": [14, 6]}
    assert play("best_response", params=alone, weights=[1, 0])[0] > play("random", params=alone)[0]
    assert play("imitate", params=alone, weights=[1, 0])[0] > play("random", params=alone)[0]


def test_weights_by_name_and_errors():
    game = momagames.spec(ID)
    batch_policy("imitate", game, weights={"mixture": 1})
    with pytest.raises(InvalidParameter, match="best_response: invalid revision=0"):
        batch_policy("best_response", game, revision=0)
    with pytest.raises(InvalidParameter, match="overflow: invalid weights"):
        batch_policy("overflow", game, weights=[1, 2, 3])
