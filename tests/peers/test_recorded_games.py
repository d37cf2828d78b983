"""Games recorded with the original, replayed move by move through the AEC API.

data/samegame.jsonl.gz and data/breakthrough.jsonl.gz: one game a line. `config` are the parameters, `initial_board` and
`first_agent` the start; each of `steps` has the agent, all its legal actions, the action played, and the board, rewards,
terminations, cumulative rewards and next agent after it. Numbers are rounded to 12 decimals.
"""

import numpy as np
import pytest

import momagames
from tests.peers.records import read_records, replay_all, replay_each

IDS = {"samegame": "mo-samegame-v0", "breakthrough": "mo-breakthrough-v0"}
SYMBOLS = np.array([*b".123456789a"])


def board_seen(env, agent):
    """The board as codes of symbols, from an agent's observation."""
    planes = env.observe(agent)["observation"].astype(int)
    if env.game.id == "mo-breakthrough-v0" and agent == "player_1":
        planes = planes[:, :, ::-1]
    return SYMBOLS[(planes * np.arange(1, planes.shape[2] + 1)).sum(axis=2)]


def legal_actions(env, agent):
    return np.flatnonzero(env.observe(agent)["action_mask"]).tolist()


def test_all_games_are_here():
    assert [len(read_records(name)) for name in IDS] == [48, 32]
    assert [sum(len(game["steps"]) for game in read_records(name)) for name in IDS] == [1262, 2790]


@pytest.mark.parametrize("name", IDS)
def test_replay(name):
    replay_all(name, replay)


def replay(game):
    env = momagames.make(IDS[game["game"]], **game["config"])
    env.reset(seed=0, options={"board": game["initial_board"], "first_agent": game["first_agent"]})
    returns = dict.fromkeys(env.possible_agents, 0.0)
    reward_spaces = {agent: env.reward_space(agent) for agent in env.possible_agents}
    for step in game["steps"]:
        mover = env.agent_selection
        assert mover == step["agent"]
        assert legal_actions(env, mover) == step["legal"]
        assert not any(legal_actions(env, agent) for agent in env.agents if agent != mover)
        env.step(step["action"])
        assert env.agent_selection == step["next_agent"]
        assert env.get_state()["board"] == step["board"]
        board = np.array([[*row.encode()] for row in step["board"]])
        for agent in env.agents:
            assert (board_seen(env, agent) == board).all()
            assert np.allclose(env.rewards[agent], step["rewards"][agent], atol=1e-6)
            assert reward_spaces[agent].contains(env.rewards[agent])
            assert np.allclose(env._cumulative_rewards[agent], step["cumulative"][agent], atol=1e-6)
            assert env.terminations[agent] == step["terminations"][agent]
            assert env.truncations[agent] == step["truncations"][agent]
            returns[agent] = returns[agent] + env.rewards[agent].astype(float)
    assert all(env.terminations.values())
    for agent, total in game["final"]["returns"].items():
        assert np.allclose(returns[agent], total, atol=1e-5)
    for _ in env.possible_agents:  # every agent takes its last, empty step
        env.step(None)
    assert env.agents == []


@pytest.mark.parametrize("name", IDS)
def test_a_recorded_step_is_a_position(name):
    """A step of a record loads as it stands, and the game goes on from there as it did."""
    replay_each(read_records(name)[::9], continue_steps)


def continue_steps(game):
    env = momagames.make(IDS[game["game"]], **game["config"])
    for before, after in list(zip(game["steps"], game["steps"][1:], strict=False))[::7]:
        env.reset(options={"state": before})
        assert env.agent_selection == after["agent"]
        assert legal_actions(env, after["agent"]) == after["legal"]
        env.step(after["action"])
        assert env.get_state()["board"] == after["board"]
