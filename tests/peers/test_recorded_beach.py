"""Episodes of MO-Beach recorded with the original, replayed through the Parallel API.

data/beach.jsonl.gz: one episode a line, with the parameters of the original. `start` and `state` have the types and sections
of all agents, and in small games their observations; rewards are by agent, and an end holds for all of them.
"""

import numpy as np

import momagames
from tests.peers.records import read_records


def test_replay():
    records = read_records("beach")
    assert len(records) == 84
    assert sum(len(record["steps"]) for record in records) == 514
    for record in records:
        replay(record)


def replay(record):
    env = momagames.make("mo-beach-v0", "parallel", **record["params"])
    start = record["start"]
    observations, _ = env.reset(options={"types": start["types"], "sections": start["sections"]})
    compare(env, observations, start)
    for step in record["steps"]:
        observations, rewards, terminations, truncations, _ = env.step(dict(zip(env.agents, step["actions"], strict=True)))
        np.testing.assert_allclose(list(rewards.values()), step["rewards"], rtol=1e-6)
        assert all(ended == step["terminations"] for ended in terminations.values())
        assert not any(truncations.values())
        compare(env, observations, step["state"])
    assert not env.agents


def compare(env, observations, state):
    assert env.get_state()["sections"] == state["sections"]
    if state.get("observations"):
        np.testing.assert_allclose([seen["observation"] for seen in observations.values()], state["observations"], rtol=1e-6)
