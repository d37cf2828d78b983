"""Games whose agents have different numbers of actions: each agent has its own space; arrays of all agents have one size."""

from dataclasses import replace

import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiDiscrete
from pettingzoo.utils import aec_to_parallel

import momagames
from momagames import wrappers
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.adapters.text.environment import TextEnv
from momagames.adapters.vector import MultiObjectiveVectorEnv
from momagames.baselines.morl.training_env import StepBudget, TrainingEnv
from momagames.contract import Game
from momagames.errors import IllegalAction
from momagames.kernels.jit import kernel

COUNTS = 1, 2, 3, 2
OWN = "agent_1 has the actions 0..1"


@kernel
def legal(state, agent, mask):
    mask[:] = 0
    if not state["over"]:
        mask[: 1 + agent if agent < 3 else 2] = 1


@pytest.fixture(scope="module")
def game() -> Game:
    beach = momagames.spec("mo-beach-v0", num_agents=4, num_timesteps=3)
    kernels = replace(beach.kernels, legal=legal)
    return replace(beach, agent_actions=COUNTS, kernels=kernels, rules_key="tests.beach_by_agent")


def test_numbers_of_actions_are_checked(game: Game) -> None:
    assert [game.action_sizes(i) for i in range(4)] == [(1,), (2,), (3,), (2,)]
    assert game.action_sizes(None) == (3,)
    alike = replace(game, agent_actions=(3, 3, 3, 3))
    assert alike.agent_actions == ()
    assert alike.action_sizes(1) == (3,)
    for wrong in ((1, 2, 3), (0, 2, 3, 2), (1, 2, 4, 2)):
        with pytest.raises(ValueError, match=r"expected a number in 1\.\.3 for each"):
            replace(game, agent_actions=wrong)
    with pytest.raises(ValueError, match="one part"):
        replace(game, allows_illegal=True)
    with pytest.raises(ValueError, match="one part"):
        replace(game, actions=(3, 3))


def test_both_pettingzoo_apis_give_each_agent_its_own_space(game: Game) -> None:
    env = MultiObjectiveAEC(game)
    env.reset(seed=0)
    sizes = {agent: {len(env.observe(agent)["action_mask"])} for agent in env.agents}  # also of agents that wait
    while env.agents:
        agent = env.agent_selection
        seen, _, terminated, _, _ = env.last()
        sizes[agent].add(len(seen["action_mask"]))
        assert env.observation_space(agent).contains(seen)
        env.step(None if terminated else env.action_space(agent).sample(seen["action_mask"]))
    assert list(sizes.values()) == [{count} for count in COUNTS]
    for parallel in (MultiObjectiveParallel(MultiObjectiveAEC(game)), aec_to_parallel(MultiObjectiveAEC(game))):
        assert [parallel.action_space(agent) for agent in parallel.possible_agents] == [Discrete(n) for n in COUNTS]
        seen, _ = parallel.reset(seed=0)
        while parallel.agents:
            assert all(parallel.observation_space(agent).contains(seen[agent]) for agent in parallel.agents)
            seen, *_ = parallel.step({a: parallel.action_space(a).sample(seen[a]["action_mask"]) for a in parallel.agents})


def test_errors_name_the_number_of_the_agent(game: Game) -> None:
    aec, single = MultiObjectiveAEC(game), SingleAgentEnv(game, "agent_1")
    parallel, batch = MultiObjectiveParallel(MultiObjectiveAEC(game)), MultiObjectiveVectorEnv(game, 2)
    for env in (aec, single, parallel, batch):
        env.reset(seed=0)
    aec.step(2)  # an agent without a choice plays its only action, whatever is given
    for step in (
        lambda: aec.step(2),
        lambda: single.step(2),
        lambda: parallel.step(dict.fromkeys(parallel.agents, 2)),
        lambda: batch.step(np.full((2, 4), 2)),
    ):
        with pytest.raises(IllegalAction, match=OWN):
            step()
    for illegal in ("next", "random"):
        env = wrappers.HandleIllegal(SingleAgentEnv(game, 1), illegal)
        env.reset(seed=0)
        env.step(7)
        assert env.unwrapped.last_action[1, 0] in (0, 1)


def test_one_agent_has_its_own_space(game: Game) -> None:
    for agent, count in enumerate(COUNTS):
        env = SingleAgentEnv(game, agent)
        _, info = env.reset(seed=0)
        assert env.action_space == Discrete(count)
        assert info["action_mask"].tolist() == env.action_masks().tolist() == [1] * count
        env.step(env.action_space.sample(info["action_mask"]))
        flat = wrappers.Flatten(env)
        assert flat.observation_space.contains(flat.reset(seed=0)[0])


def test_a_learner_of_several_agents_has_one_space(game: Game) -> None:
    env = TrainingEnv(game, range(4), (), "next", StepBudget(None), np.random.default_rng(0))
    for _ in range(3):
        env.reset()
        assert env.action_space == Discrete(3)
        assert len(env.action_masks()) == 3
        env.step(2)


def test_wrappers_use_the_spaces_of_the_agents(game: Game) -> None:
    joint = wrappers.Centralize(MultiObjectiveParallel(MultiObjectiveAEC(game)), observation="agents")
    assert joint.action_space == MultiDiscrete(COUNTS)
    observation, info = joint.reset(seed=0)
    assert joint.observation_space.contains(observation)
    assert len(joint.action_masks()) == sum(COUNTS)
    assert not joint.step(joint.action_space.sample(mask=info["action_mask"]))[2]
    for make in (wrappers.Flatten, wrappers.FrameStack, wrappers.BlackDeath, wrappers.AgentIndicator):
        env = make(MultiObjectiveParallel(MultiObjectiveAEC(game)))
        seen, _ = env.reset(seed=0)
        while env.agents:
            assert all(env.observation_space(agent).contains(seen[agent]) for agent in env.agents)
            seen, *_ = env.step({a: env.action_space(a).sample(seen[a]["action_mask"]) for a in env.agents})
        assert all(env.observation_space(agent).contains(one) for agent, one in seen.items())


def test_texts_list_the_actions_of_the_agent(game: Game) -> None:
    env = TextEnv(game)
    env.reset(seed=0)
    assert env.observe("agent_1").endswith("2 legal actions: left stay")
    env.step("left")
    with pytest.raises(IllegalAction):
        env.step("right")


def test_arrays_of_all_agents_have_one_size(game: Game) -> None:
    env = MultiObjectiveVectorEnv(game, 3)
    _, infos = env.reset(seed=0)
    assert env.single_action_space == MultiDiscrete(COUNTS)
    assert infos["action_mask"].shape == (3, 4, 3)
    assert infos["action_mask"].sum(axis=2).tolist() == [list(COUNTS)] * 3
    for _ in range(5):
        assert (env.sample_actions() < COUNTS).all()
        env.step(env.action_space.sample())  # all actions of the space are legal here
