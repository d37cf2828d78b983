"""TextArena plays the text environments."""

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def arena():
    pytest.importorskip("textarena", exc_type=ImportError)
    return pytest.importorskip("momagames.integrations.textarena")


@pytest.mark.parametrize(
    ("id", "weights", "params"),
    [
        ("mo-breakthrough-v0", {"win": 1}, {"board_width": 3, "board_height": 5}),
        ("mo-samegame-v0", [1, 2], {"board_width": 4, "board_height": 4, "num_colors": 2}),
        ("mo-pommerman-duel-v0", {"outcome": 1}, {"max_steps": 10}),
    ],
)
def test_games_end_with_rewards(arena, id, weights, params):
    env = arena.TextArenaEnv(id, weights, legal_actions="numbers", **params)
    players = len(momagames.spec(id, **params).agents)
    env.reset(num_players=players, seed=0)
    seen, done, turns = set(), False, 0
    while not done:
        player, observation = env.get_observation()
        assert (env.env.instructions(f"{env.env.possible_agents[player]}") in observation) == (player not in seen)
        seen.add(player)
        done, _ = env.step("<action>1</action>")
        turns += 1
    rewards, infos = env.close()
    assert set(rewards) == set(infos) == set(range(players))
    for player, reward in rewards.items():
        assert reward == pytest.approx(np.array(list(infos[player]["returns"].values())) @ env.weights)
    assert sum(info["turn_count"] for info in infos.values()) == turns


def test_an_answer_without_an_action_forfeits(arena):
    env = arena.TextArenaEnv("mo-breakthrough-v0", {"win": 1})
    env.reset(num_players=2, seed=0)
    assert env.step("I pass.")[0]
    assert env.close()[0] == {0: -1.0, 1: 1.0}


def test_a_game_has_its_number_of_players(arena):
    with pytest.raises(InvalidParameter, match="invalid num_players=3: expected 2, the agents of mo-breakthrough-v0"):
        arena.TextArenaEnv("mo-breakthrough-v0", {"win": 1}).reset(num_players=3)
