"""Games of Connect Four recorded with momaland 0.2.0, replayed move by move.

data/connect4.jsonl.gz: one game a line, with `params` and `start`. Each of `steps` has the mover and its action, and after it
the rewards of both players, the position (rows from the top, tokens `0` and `1`), the next mover, its legal columns, and
whether the game is over.
"""

import numpy as np

import momagames
from tests.peers.records import read_records, replay_all, replay_each

ID, NAME = "mo-connect4-v0", "connect4"
PLAYERS = ("player_0", "player_1")


def rows(state):
    """Return recorded rows as rows of the package."""
    return [row.translate(str.maketrans("01", "12")) for row in state["rows"]]


def check_position(env, state, mover, legal):
    assert env.get_state()["board"] == rows(state)
    assert env.get_state()["ply"] == state["tokens"]
    for i, player in enumerate(PLAYERS):
        observation = env.observe(player)
        assert np.flatnonzero(observation["action_mask"]).tolist() == (legal if i == mover else [])
        planes = np.array([[[s == str(side) for side in (i, 1 - i)] for s in row] for row in state["rows"]])
        assert np.array_equal(observation["observation"], planes)


def check_step(env, step):
    env.step(step["actions"])
    check_position(env, step["state"], step["next_mover"], step["legal"])
    for i, player in enumerate(PLAYERS):
        assert np.allclose(env.rewards[player], step["rewards"][i], rtol=1e-6)
        assert env.terminations[player] == step["terminations"]
        assert env.truncations[player] == step["truncations"]


def test_all_games_are_here():
    records = read_records(NAME)
    assert (len(records), sum(len(game["steps"]) for game in records)) == (92, 2549)


def test_replay():
    replay_all(NAME, replay)


def replay(game):
    env = momagames.make(ID, **game["params"])
    env.reset(seed=0)
    check_position(env, game["start"], game["start"]["mover"], game["start"]["legal"])
    for step in game["steps"]:
        assert env.agent_selection == PLAYERS[step["mover"]]
        check_step(env, step)
    assert all(env.terminations.values())


def test_a_recorded_position_is_a_start():
    replay_each(read_records(NAME)[::9], start_from_each_step)


def start_from_each_step(game):
    env = momagames.make(ID, **game["params"])
    for before, after in list(zip(game["steps"], game["steps"][1:], strict=False))[::5]:
        env.reset(options={"state": {"board": rows(before["state"]), "next_agent": PLAYERS[after["mover"]]}})
        check_step(env, after)
