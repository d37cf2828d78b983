"""PettingZoo Parallel environments."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.errors import IllegalAction
from tests import meteors

SMALL = {"board_width": 4, "board_height": 6}
CASES = [("mo-samegame-v0", {"num_agents": 3}), ("mo-samegame-v0", {}), ("mo-breakthrough-v0", {})]


@pytest.mark.parametrize(("id", "params"), CASES)
def test_like_pettingzoos_conversion(id: str, params: dict[str, int]) -> None:
    """Observations, rewards, ends and agents equal those of PettingZoo's conversion of the AEC environment."""
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
        joint = {agent: action.get(agent) for agent in ours.agents}
        seen, rewards, terminations, truncations, infos = ours.step(action if rng.random() < 0.5 else joint)
        other = theirs.step(joint)
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
    assert early, "an agent left before the end"


def test_an_illegal_action_steps_no_agent() -> None:
    env = MultiObjectiveParallel(MultiObjectiveAEC(meteors.game("meteors-v0")))
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(momagames.MomagamesError, match="of rover_2"):
        env.step({"rover_0": [0, 0], "rover_1": [0, 0], "rover_2": [3, 0]})
    with pytest.raises(momagames.MomagamesError, match="illegal action=None of rover_1, rover_2"):
        env.step({"rover_0": [0, 0]})
    assert env.get_state() == before


def test_infos_of_all_agents() -> None:
    """`Game.infos` is in the infos of every single environment, at the start and after every step."""
    aec = MultiObjectiveAEC(meteors.game("meteors-v0"))
    parallel, alone = (
        MultiObjectiveParallel(copy.deepcopy(aec)),
        SingleAgentEnv(meteors.game("meteors-v0"), "rover_0", "random"),
    )
    infos = parallel.reset(seed=1)[1]
    assert infos == {agent: {"left": 3} for agent in parallel.agents}
    assert alone.reset(seed=1)[1]["left"] == 3
    reported = []
    while parallel.agents:
        infos = parallel.step({agent: [1, 0] for agent in parallel.agents})[-1]
        reported += [info["left"] for info in infos.values()]
        assert reported[-1] == 3 - parallel.aec_env.episode.state["gone"].sum()
    assert reported[-1] < 3
    aec.reset(seed=1)
    assert aec.last()[-1] == {"left": 3}


DEAD = {  # agent_1 burnt before
    "board": "a00000d" + "0" * 41 + "c",
    "agents": [[1, 0, 0, 1, 2, 0], [0, 3, 3, 1, 2, 0], [1, 6, 6, 1, 2, 0], [1, 0, 6, 1, 2, 0]],
    "bombs": [],
    "flames": [],
    "items": [],
}


@pytest.mark.parametrize("said", [None, 5, "nothing", -3, 77])
def test_actions_of_agents_without_a_choice_are_ignored(said: object) -> None:
    """An agent whose mask leaves one action plays that one, whatever is given for it."""
    env = momagames.make("mo-pommerman-ffa-v0", api="parallel", board_size=7, num_rigid=0, num_wood=0, num_items=0)
    seen, _ = env.reset(options={"state": DEAD})
    assert seen["agent_1"]["action_mask"].tolist() == [1, 0, 0, 0, 0, 0]
    env.step({"agent_0": 4, "agent_1": said, "agent_2": 1, "agent_3": 2})
    assert env.aec_env.episode.pending[:, 0].tolist() == [4, 0, 1, 2]
    with pytest.raises(IllegalAction, match="agent_2"):
        env.step({"agent_0": 4, "agent_1": said, "agent_2": said, "agent_3": 2} | ({"agent_2": 6} if said == 5 else {}))


def test_actions_of_agents_without_a_choice_are_ignored_in_a_batch() -> None:
    env = momagames.make_vec("mo-pommerman-ffa-v0", num_envs=2, board_size=7, num_rigid=0, num_wood=0, num_items=0)
    env.reset(seed=1, options={"state": DEAD})
    env.step(np.array([[4, 5, 1, 2], [4, -9, 1, 2]]))
    with pytest.raises(IllegalAction, match="illegal action=6 of agent_2 in environment 1"):
        env.step(np.array([[4, 5, 1, 2], [4, 1, 6, 2]]))
