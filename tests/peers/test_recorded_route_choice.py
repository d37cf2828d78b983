"""Joint actions of MO-RouteChoice recorded with the original, replayed through the Parallel API.

data/route_choice.jsonl.gz: one instance a line, with the parameters of the original, and independent joint actions in it.
`by_route` has reward and infos for each route that was taken; rewards by agent follow from it.
"""

import numpy as np
import pytest

import momagames
from tests.peers.records import read_records

RECORDS = read_records("route_choice")
FILE_SLOPE = 0.00238095238095  # 10 / 4200, as the files of the original have it


def test_counts():
    assert (len(RECORDS), sum(len(record["steps"]) for record in RECORDS)) == (33, 87)


@pytest.mark.parametrize("by_name", [True, False], ids=["by name", "as data"])
def test_replay(by_name):
    """Each network by its name with the instance as a given position, and as data with its instance."""
    for record in RECORDS:
        replay(record, by_name)


def replay(record, by_name):
    given = {name: value for name, value in record["params"].items() if value is not None}
    start = record["start"]
    if not by_name or given["network"] == "BBraess_1":  # the pairs of its agents decide the numbers of their actions
        given["network"] = start
    env = momagames.make("mo-route-choice-v0", "parallel", slope=FILE_SLOPE, **given)
    for step in record["steps"]:
        env.reset(options={"state": start})
        _, rewards, terminations, truncations, _ = env.step(dict(zip(env.agents, step["actions"], strict=True)))
        found = {(one["od"], one["route"]): one for one in step["by_route"]}
        pairs = start["agent_od"]
        expected = [found[pair, action]["reward"] for pair, action in zip(pairs, step["actions"], strict=True)]
        np.testing.assert_allclose(list(rewards.values()), expected, rtol=1e-6, atol=1e-9)
        state = env.get_state()
        assert state["flows"] == step["state"]["flows"]
        for (pair, route), one in found.items():
            assert state["latency"][pair][route] == pytest.approx(one["latency"], rel=1e-9)
            assert state["cost"][pair][route] == pytest.approx(one["cost"], rel=1e-9)
        assert all(terminations.values()) == step["terminations"]
        assert not any(truncations.values())
        assert not env.agents
