"""Gymnasium and MO-Gymnasium environments, and the registries of the hosts."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pettingzoo
import pytest
from numpy.typing import NDArray

import momagames
from momagames.adapters.gymnasium import SingleAgentEnv
from tests import meteors
from tests.cases import ONE_OF_EACH, SMALL

BOARD = {"board_width": 5, "board_height": 6}


def first(state: object, mask: NDArray[np.int8], rng: np.random.Generator) -> int:
    return int(np.flatnonzero(mask)[0])


def test_one_agent_is_the_aec_game() -> None:
    env = momagames.make("mo-samegame-v0", api="gymnasium", **BOARD)
    twin = momagames.make("mo-samegame-v0", **BOARD)
    seen, info = env.reset(seed=4)
    twin.reset(seed=4)
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        assert np.array_equal(seen, twin.last()[0]["observation"])
        assert np.array_equal(info["action_mask"], twin.last()[0]["action_mask"])
        action = int(np.flatnonzero(info["action_mask"])[-1])
        seen, reward, over, truncated, info = env.step(action)
        twin.step(action)
        assert not truncated
        assert env.reward_space.contains(reward)
        assert np.array_equal(reward, twin.rewards["agent_0"])
    with pytest.raises(momagames.MomagamesError, match="after the end"):
        env.step(0)


@pytest.mark.parametrize("team", [0, 1])
def test_a_team_is_played(team: int) -> None:
    """The caller plays each robot of its team in turn; the reward is what the team gets until one of them is on again."""
    params = {"objectives": ["delivery", "charge", "balance", "rivalry", "outcome"], "required_mail": 2, "max_step": 400}
    env = momagames.make("mo-robotmail-4-v0", api="gymnasium", team=team, others="astar", **params)
    twin = momagames.make("mo-robotmail-4-v0", **params)
    decide, other = (momagames.registry.policy("astar", env.game) for _ in range(2))
    mates = [name for name, of in zip(env.game.agents, env.game.teams, strict=True) if of == team]
    rng = np.random.default_rng(0)
    received, played = np.zeros(5), set()

    def skip_others(env: SingleAgentEnv) -> None:
        """Play the other agents with the random numbers that the environment uses."""
        while twin.agent_selection not in mates and not any(twin.terminations.values()):
            index = twin.possible_agents.index(twin.agent_selection)
            twin.step(twin.episode.choose_action(index, other, chance_rng))

    for seed in range(3):
        seen, info = env.reset(seed=seed)
        twin.reset(seed=seed)
        chance_rng = np.random.default_rng()
        chance_rng.bit_generator.state = gymnasium.utils.seeding.np_random(seed)[0].bit_generator.state
        terminated = truncated = False
        while not (terminated or truncated):
            skip_others(env)
            assert info["agent"] == twin.agent_selection
            assert np.array_equal(seen, twin.last()[0]["observation"])
            assert np.array_equal(info["action_mask"], twin.last()[0]["action_mask"])
            played.add(info["agent"])
            action = twin.episode.choose_action(twin.possible_agents.index(info["agent"]), decide, rng)
            before = twin.returns[[twin.possible_agents.index(name) for name in mates]].sum(axis=0)
            seen, reward, terminated, truncated, info = env.step(action)
            twin.step(action)
            skip_others(env)
            after = twin.returns[[twin.possible_agents.index(name) for name in mates]].sum(axis=0)
            assert np.allclose(reward, after - before, atol=1e-5)
            assert env.reward_space.contains(reward)
            received += reward
    assert played == set(mates)
    assert received[0] > 0


def test_opponents_that_can_be_chosen() -> None:
    for params, message in (
        ({"agent": "robot_0", "team": 0}, "expected one of the two"),
        ({"team": 2}, "expected 0 or 1"),
        ({"team": True}, "expected 0 or 1"),
        ({"agent": "robot_7"}, "did you mean"),
    ):
        with pytest.raises(momagames.errors.InvalidParameter, match=message):
            momagames.make("mo-robotmail-4-v0", api="gymnasium", **params)
    with pytest.raises(momagames.errors.InvalidParameter, match="Centralize"):
        momagames.make("mo-pommerman-team-v0", api="gymnasium", team=0)


@pytest.mark.parametrize("agent", ["player_0", "player_1"])
def test_others_are_played(agent: str) -> None:
    """The reward of a step is what the agent gets until it is to move again, as last() gives it in the AEC game."""
    env = momagames.make("mo-breakthrough-v0", api="gymnasium", agent=agent, others=first, **BOARD)
    twin = momagames.make("mo-breakthrough-v0", **BOARD)
    rng = np.random.default_rng(0)
    for seed in range(5):
        seen, info = env.reset(seed=seed)
        twin.reset(seed=seed)
        over = False
        total = np.zeros(4)
        while not over:
            while twin.agent_selection != agent:
                twin.step(first(None, twin.last()[0]["action_mask"], rng))
            assert np.array_equal(seen, twin.last()[0]["observation"])
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            seen, reward, over, _, info = env.step(action)
            total += reward
            twin.step(action)
            if not any(twin.terminations.values()):
                twin.step(first(None, twin.last()[0]["action_mask"], rng))
            while over and twin.agent_selection != agent:
                twin.step(None)
            assert np.allclose(reward, twin.last()[1])
        assert np.allclose(total, twin.returns[env.game.agents.index(agent)])


def test_simultaneous_games_and_several_fields() -> None:
    env = SingleAgentEnv(meteors.game("meteors-v0"), agent="rover_1", others=lambda state, mask, rng: [1, 2])
    seen, info = env.reset(seed=2)
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    over = truncated = False
    while not (over or truncated):
        assert env.observation_space.contains(seen)
        assert np.hstack(info["action_mask"]).any()
        assert env.action_space.contains(env.action_space.sample(mask=info["action_mask"]))
        seen, reward, over, truncated, info = env.step([2, 1])
        assert env.reward_space.contains(reward)


@pytest.mark.parametrize("id", ONE_OF_EACH)
def test_mo_gymnasium(id: str) -> None:
    mo_gymnasium = pytest.importorskip("mo_gymnasium")
    env = mo_gymnasium.make(f"momagames/{id}", **SMALL[id][0])
    objectives = len(momagames.spec(id, **SMALL[id][0]).objectives)
    assert env.unwrapped.reward_dim == objectives
    assert env.unwrapped.reward_space.shape == (objectives,)
    weight = np.ones(objectives, np.float32) / objectives
    recorded = mo_gymnasium.wrappers.MORecordEpisodeStatistics(env, gamma=1.0)
    scalar = mo_gymnasium.wrappers.LinearReward(recorded, weight)
    _, info = scalar.reset(seed=1)
    over, total, parts = False, np.zeros(objectives), len(momagames.spec(id).actions)
    while not over:
        legal = [int(part.argmax()) for part in np.atleast_2d(info["action_mask"])] if parts == 1 else [0] * parts
        _, reward, lost, cut, info = scalar.step(legal[0] if parts == 1 else legal)
        over = lost or cut
        assert np.isclose(reward, weight @ info["vector_reward"])
        total += info["vector_reward"]
    assert np.allclose(info["episode"]["r"], total)


def test_gymnasium_and_pettingzoo_registries() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for id, (params, *_) in SMALL.items():
            assert isinstance(gymnasium.make(f"momagames/{id}", **params).unwrapped, SingleAgentEnv)
            vector = gymnasium.make_vec(f"momagames/{id}", num_envs=3, vectorization_mode="vector_entry_point", **params)
            assert vector.num_envs == 3
            for api in ("aec", "parallel"):
                assert str(pettingzoo.make(api, f"momagames/{id}", **params)) == id


@pytest.mark.long
@pytest.mark.parametrize(
    "order", ["import momagames, gymnasium", "import gymnasium, momagames", "import momagames, mo_gymnasium"]
)
def test_import_registers_the_ids_in_either_order(order: str) -> None:
    code = (
        f"{order}\nimport gymnasium\ngymnasium.spec('momagames/mo-samegame-v0')\nimport sys\nassert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], check=True)


@pytest.mark.long
def test_gymnasium_imports_momagames_by_name() -> None:
    code = "import gymnasium; gymnasium.make('momagames:momagames/mo-samegame-v0').reset(seed=1)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.long
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_gymnasium_makes_vectors_in_processes(context: str) -> None:
    kinds = {"vectorization_mode": "async", "vector_kwargs": {"context": context}}
    vector = gymnasium.make_vec("momagames/mo-samegame-v0", num_envs=2, **kinds, **BOARD)
    _, infos = vector.reset(seed=1)
    _, rewards, *_ = vector.step(infos["action_mask"].argmax(axis=1))
    vector.close()
    objectives = len(momagames.spec("mo-samegame-v0", **BOARD).objectives)
    assert np.asarray(rewards).shape == (2, objectives)


def test_ids_registered_later_reach_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(momagames.registry, "_entries", momagames.registry._entries.copy())
    momagames.register("mo-later-v0", "momagames.games.samegame:make")
    try:
        assert "momagames/mo-later-v0" in gymnasium.registry
        assert "momagames/mo-later-v0" in pettingzoo.aec_registry
    finally:
        del gymnasium.registry["momagames/mo-later-v0"]
        for hosted in (pettingzoo.aec_registry, pettingzoo.parallel_registry):
            del hosted["momagames/mo-later-v0"]


def test_illegal_actions() -> None:
    env = momagames.make("mo-breakthrough-v0", api="gymnasium", others=first, **BOARD)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(momagames.MomagamesError, match="illegal action=0 of player_0: expected one of 13 legal actions"):
        env.step(0)
    assert env.get_state() == before
    env = momagames.make("mo-breakthrough-v0", api="gymnasium", others=first, illegal="forfeit", **BOARD)
    env.reset(seed=1)
    _, reward, over, _, _ = env.step(0)
    assert over
    assert reward.tolist() == [-1, -1, 0, -1]
    env = momagames.make("mo-breakthrough-v0", api="gymnasium", others=first, illegal="random", **BOARD)
    env.reset(seed=1)
    env.step(0)
    assert env.episode.state["ply"] == 2


def test_positions_go_on() -> None:
    env = momagames.make("mo-samegame-v0", api="gymnasium", **BOARD)
    env.reset(seed=9)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    seen, info = env.reset(options={"state": env.get_state()})
    assert np.array_equal(seen, env.reset(options={"state": env.state})[0])
    assert info["action_mask"].any()
    with pytest.raises(momagames.MomagamesError, match="'state' or 'board'"):
        env.reset(options={"state": env.state, "board": []})


@pytest.mark.parametrize(("options", "said"), [({"agent": "player_2"}, "player_0"), ({"others": "randum"}, "random")])
def test_bad_players_are_rejected(options: dict[str, str], said: str) -> None:
    with pytest.raises(momagames.MomagamesError, match=said):
        momagames.make("mo-breakthrough-v0", api="gymnasium", **options)


def test_mo_gymnasiums_vector_statistics() -> None:
    vector = pytest.importorskip("mo_gymnasium.wrappers.vector")
    env = vector.MORecordEpisodeStatistics(momagames.make_vec("mo-samegame-v0", num_envs=3, **BOARD), gamma=1.0)
    _, infos = env.reset(seed=1)
    ends = 0
    for _ in range(40):
        _, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        if "_episode" in infos:
            ended = infos["_episode"]
            assert np.allclose(infos["episode"]["r"][ended], infos["final_return"][ended])
            assert np.array_equal(infos["episode"]["l"][ended], infos["final_length"][ended])
            ends += ended.sum()
    assert ends > 3
