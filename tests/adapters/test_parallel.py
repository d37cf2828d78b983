"""The parallel door."""

from __future__ import annotations

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.parallel import MultiObjectiveParallel
from tests import meteors

SMALL = {"board_width": 4, "board_height": 6}
CASES = [("mo-samegame-v0", {"num_agents": 3}), ("mo-samegame-v0", {}), ("mo-breakthrough-v0", {})]


@pytest.mark.parametrize(("id", "params"), CASES)
def test_like_pettingzoos_conversion(id: str, params: dict[str, int]) -> None:
    """Observations, rewards, ends and agents are those of PettingZoo's own conversion of the AEC door."""
    ours = momagames.make(id, api="parallel", **SMALL, **params)
    theirs = turn_based_aec_to_parallel(momagames.make(id, **SMALL, **params))
    seen, infos = ours.reset(seed=5)
    theirs.reset(seed=5)
    rng = np.random.default_rng(2)
    while ours.agents:
        mover = infos[ours.agents[0]]["active_agent"]
        assert mover == theirs.aec_env.agent_selection
        assert [a for a in ours.agents if seen[a]["action_mask"].any()] == [mover]
        action = {mover: int(rng.choice(np.flatnonzero(seen[mover]["action_mask"])))}
        everybody = {agent: action.get(agent) for agent in ours.agents}
        seen, rewards, terminations, truncations, infos = ours.step(action if rng.random() < 0.5 else everybody)
        other = theirs.step(everybody)
        assert ours.agents == theirs.agents
        assert terminations == other[2]
        assert truncations == other[3]
        for agent, reward in rewards.items():
            assert ours.reward_space(agent).contains(reward)
            assert np.array_equal(reward, other[1][agent])
            assert np.array_equal(seen[agent]["observation"], other[0][agent]["observation"])
    assert ours.step({}) == ({}, {}, {}, {}, {})


def test_simultaneous_games_step_once_a_round() -> None:
    game = meteors.game("meteors-v0")
    env = MultiObjectiveParallel(MultiObjectiveAEC(game))
    parallel_api_test(env, num_cycles=50)
    parallel_seed_test(lambda: MultiObjectiveParallel(MultiObjectiveAEC(game)), num_cycles=30)


def test_simultaneous_aec_and_parallel_agree() -> None:
    game = meteors.game("meteors-v0")
    parallel, aec = MultiObjectiveParallel(MultiObjectiveAEC(game)), MultiObjectiveAEC(game)
    rng = np.random.default_rng(3)
    early = 0
    for seed in range(10):
        seen, _ = parallel.reset(seed=seed)
        aec.reset(seed=seed)
        while parallel.agents:
            playing = parallel.agents[:]
            actions = {}
            for agent in playing:
                moves, words = seen[agent]["action_mask"]
                actions[agent] = np.array([rng.choice(np.flatnonzero(moves)), rng.choice(np.flatnonzero(words))])
            for agent in playing:
                assert aec.agent_selection == agent
                aec.step(actions[agent])
            seen, rewards, terminations, truncations, _ = parallel.step(actions)
            assert rewards.keys() == aec.rewards.keys()
            assert all(np.array_equal(rewards[a], aec.rewards[a]) for a in playing)
            assert terminations == aec.terminations
            assert truncations == aec.truncations
            while aec.agents and (aec.terminations[aec.agent_selection] or aec.truncations[aec.agent_selection]):
                aec.step(None)
            assert parallel.agents == aec.agents
            early += 0 < len(parallel.agents) < len(playing)
    assert early, "somebody left before the end"


def test_an_illegal_action_moves_nobody() -> None:
    env = MultiObjectiveParallel(MultiObjectiveAEC(meteors.game("meteors-v0")))
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(momagames.MomagamesError, match="rover_2 cannot play"):
        env.step({"rover_0": [0, 0], "rover_1": [0, 0], "rover_2": [3, 0]})
    with pytest.raises(momagames.MomagamesError, match="rover_1 cannot play None"):
        env.step({"rover_0": [0, 0]})
    assert env.get_state() == before
