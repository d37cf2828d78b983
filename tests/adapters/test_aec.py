"""The AEC environments, as users of PettingZoo and MOMAland use them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.test import seed_test
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.envs import mobreakthrough_v0, mosame_game_v0
from momagames.errors import InvalidParameter
from tests import meteors
from tests.cases import ONE_OF_EACH, SMALL


def first_legal(env: AECEnv) -> int:
    """The first legal action; 0, a pass, for an agent without one."""
    return int(env.observe(env.agent_selection)["action_mask"].argmax())


@pytest.mark.parametrize("id", ONE_OF_EACH)
def test_seeds(id: str) -> None:
    seed_test(lambda: momagames.make(id, **SMALL[id][0]), num_cycles=20)


DISCRETE = [id for id in ONE_OF_EACH if len(momagames.spec(id).actions) == 1]


@pytest.mark.parametrize("id", DISCRETE)  # AssertOutOfBoundsWrapper knows no other action spaces
def test_pettingzoo_wrappers_accept_it(id: str) -> None:
    env = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(momagames.make(id, **SMALL[id][0])))
    env.reset(seed=1)
    while env.agents:
        _, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else first_legal(env))


def test_an_instance_of_momaland_environments() -> None:
    momaland = pytest.importorskip("momaland.utils.env")
    assert isinstance(momagames.make("mo-samegame-v0"), momaland.MOAECEnv)
    assert isinstance(momagames.make("mo-samegame-v0", api="parallel"), momaland.MOParallelEnv)


def test_spaces_are_the_documented_ones() -> None:
    env = mosame_game_v0.env()
    assert str(env.reward_space("agent_0")) == "Box(0.0, 50625.0, (5,), float32)"
    assert str(env.observation_space("agent_0")["observation"]) == "Box(0, 1, (15, 15, 5), int8)"
    assert str(env.observation_space("agent_0")["action_mask"]) == "Box(0, 1, (225,), int8)"
    assert env.observation_space("agent_0") is env.observation_space("agent_0")
    env = mobreakthrough_v0.env(board_width=5, board_height=6)
    assert str(env.observation_space("player_0")["observation"]) == "Box(0, 1, (6, 5, 2), int8)"
    assert str(env.observation_space("player_1")["action_mask"]) == "MultiBinary(90)"
    assert str(env.reward_space("player_1")) == "Box(-1.0, 1.0, (4,), float32)"
    assert set(env.reward_spaces) == {"player_0", "player_1"}


def test_what_last_hands_out_is_the_callers() -> None:
    env = momagames.make("mo-samegame-v0", num_agents=2)
    env.reset(seed=1)
    env.step(first_legal(env))
    env.step(first_legal(env))
    seen, reward, *_ = env.last()
    stored = seen["observation"].copy(), reward.copy(), {a: r.copy() for a, r in env.rewards.items()}
    old_rewards = dict(env.rewards)
    env.step(first_legal(env))
    assert np.array_equal(seen["observation"], stored[0])
    assert np.array_equal(reward, stored[1])
    assert all(np.array_equal(old_rewards[a], stored[2][a]) for a in env.possible_agents)
    seen["observation"][:] = 1
    seen["action_mask"][:] = 0
    reward[:] = 77
    assert not np.array_equal(env.last()[1], reward)
    assert env.last()[0]["action_mask"].any()


def test_dead_steps_in_turn_order() -> None:
    env = momagames.make("mo-samegame-v0", num_agents=3, board_width=3, board_height=3, num_colors=2)
    env.reset(options={"board": ["...", "...", "11."], "first_agent": "agent_1"})
    env.step(6)
    assert env.agent_selection == "agent_2"
    order = []
    while env.agents:
        order.append(env.agent_selection)
        with pytest.raises(ValueError, match="None"):
            env.step(0)
        env.step(None)
    assert order == ["agent_2", "agent_0", "agent_1"]


def test_state_is_the_planes() -> None:
    env = mobreakthrough_v0.env(board_width=5, board_height=6)
    env.reset()
    assert np.array_equal(env.state(), env.observe("player_0")["observation"])
    assert env.state_space.contains(env.state())


@pytest.mark.parametrize("seed", [-1, "x", 1.5, True])
def test_bad_seeds_are_rejected(seed: object) -> None:
    env = momagames.make("mo-samegame-v0")
    with pytest.raises(momagames.MomagamesError, match="seed"):
        env.reset(seed=seed)


def test_agents_that_had_left_before_the_given_position() -> None:
    """Agents that have left are not in the continued game."""
    played, env = (MultiObjectiveAEC(meteors.game("meteors-v0", cells=20, limit=6)) for _ in range(2))
    played.reset(seed=1)
    given = played.get_state() | {"gone": [1, 0, 0]}
    env.reset(options={"state": given})
    assert env.agents == list(env.infos) == list(env.rewards) == ["rover_1", "rover_2"]
    assert env.agent_selection == "rover_1"
    assert list(env.terminations.values()) == [False, False]
    for _ in range(2):
        assert env.observe(env.agent_selection)["action_mask"][0].any()
        env.step([1, 0])
    assert env.get_state()["ply"] == 1


def test_modules_take_the_argument_names_of_momaland() -> None:
    for path in ("gem_mining.mogem_mining_v0", "mogem_mining_v0"):
        module = importlib.import_module(f"momagames.envs.{path}")
        for make in (module.env, module.raw_env, module.parallel_env):
            assert make(num_agents=3, seed=5, num_timesteps=1).unwrapped.game.params["instance_seed"] == 5
    with pytest.raises(momagames.MomagamesError, match="seed"):
        importlib.import_module("momagames.envs.mo_gem_mining_v0").env(seed=5)


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("mogem_mining_v0", {"seed": 0, "instance_seed": 0}),
        ("moingenious_v0", {"fully_observable": True, "fully_obs": False}),
        ("moroute_choice_v0", {"problem_name": "OW", "network": "Braess_1"}),
    ],
)
def test_both_names_of_an_argument_are_refused(path: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"expected either .* same parameter, got both"):
        getattr(importlib.import_module("momagames.envs"), path).parallel_env(**given)


def test_networks_have_the_problem_names_of_momaland() -> None:
    module = importlib.import_module("momagames.envs.route_choice.moroute_choice_v0")
    for problem, name in (("Braess_3_4200_10_c1", "Braess_3"), ("BBraess_1_2100_10_c1_2100", "BBraess_1"), ("OW", "OW")):
        env = module.parallel_env(problem_name=problem, num_agents=30, toll_mode="mct", num_timesteps=1)
        same = momagames.make("mo-route-choice-v0", api="parallel", network=name, num_agents=30, slope=10 / 4200)
        rewards = []
        for one in (env, same):
            one.reset(seed=1)
            rewards.append(one.step(dict.fromkeys(one.agents, 0))[1]["agent_7"].tolist())
        assert rewards[0] == rewards[1]


def test_modules_have_the_paths_of_momaland() -> None:
    boards = (
        "samegame.mosame_game_v0",
        "breakthrough.mobreakthrough_v0",
        "connect4.moconnect4_v0",
        "beach.mobeach_v0",
        "gem_mining.mogem_mining_v0",
        "ingenious.moingenious_v0",
        "item_gathering.moitem_gathering_v0",
        "route_choice.moroute_choice_v0",
    )
    for path in (*boards, "mosame_game_v0", "mo_robotmail_12_v0"):
        module = importlib.import_module(f"momagames.envs.{path}")
        assert isinstance(module.env(), AECEnv)
        assert module.parallel_env().unwrapped.game.id == module.env().unwrapped.game.id
