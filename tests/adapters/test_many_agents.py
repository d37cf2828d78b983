"""What environments with many agents need: no call takes time for every agent, except those about all agents."""

import numpy as np
import pytest

import momagames

ID = "mo-pommerman-ffa-v0"
ENDS = ("agents", "terminations", "truncations", "rewards", "infos", "_cumulative_rewards", "agent_selection")


def test_rewards_are_cleared_once_in_a_round():
    env = momagames.make(ID)
    env.reset(seed=0)
    cleared = []
    for _ in env.agents[:-1]:
        env.step(0)
        cleared.append(env.rewards)
    assert all(rewards is cleared[0] for rewards in cleared)
    assert np.array_equal(list(cleared[0].values()), np.zeros((4, 5)))


@pytest.mark.parametrize("max_steps", [2, 3])
def test_finished_agents_leave_as_by_single_steps(max_steps):
    together, single = momagames.make(ID, "parallel", max_steps=max_steps), momagames.make(ID, max_steps=max_steps)
    together.reset(seed=0)
    single.reset(seed=0)
    for _ in range(max_steps):
        together.step(dict.fromkeys(together.agents, 0))
    while single.agents:
        single.step(None if any(single.last()[2:4]) else 0)
    assert not together.agents
    for name in ENDS:
        assert getattr(together.aec_env, name) == getattr(single, name), name
