"""The loops of the quickstart and the options of every API, and makers of other libraries that take ids.

Each id is played in one API, and each family of ids in every API (`tests.cases.pick_pairs`).
"""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test.max_cycles_test import max_cycles_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

import momagames
from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import Scalarize
from tests.cases import ONE_OF_EACH, SMALL, pick_pairs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
DUEL = {"board_width": 3, "board_height": 5}


def play_aec(id: str) -> None:
    """An agent that is to act always has a legal action, and the space samples it by the mask."""
    for params in (SMALL[id][0], {}):
        env = momagames.make(id, max_cycles=150, **params)
        env.reset(seed=1)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            action = None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"])
            if action is not None and env.game.params.get("always_legal", True):
                parts = observation["action_mask"]
                assert all(part.any() for part in (parts if isinstance(parts, tuple) else (parts,)))
            env.step(action)
        assert not env.agents


def play_parallel(id: str) -> None:
    env = momagames.make(id, api="parallel", max_cycles=150)
    observations, _ = env.reset(seed=1)
    while env.agents:
        actions = {agent: env.action_space(agent).sample(observations[agent]["action_mask"]) for agent in env.agents}
        observations, _, _, _, _ = env.step(actions)


def play_gymnasium(id: str) -> None:
    env = momagames.make(id, api="gymnasium", max_cycles=150)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        over = terminated or truncated


def play_vector(id: str) -> None:
    first, second = (momagames.make_vec(id, 3) for _ in range(2))
    for envs in (first, second):
        envs.reset(seed=1)
    for _ in range(60):
        actions = first.sample_actions()
        assert actions.shape == first.action_space.shape
        assert (actions == second.sample_actions()).all()  # the seed of reset() decides
        for envs in (first, second):
            envs.step(actions)


PLAY = {"aec": play_aec, "parallel": play_parallel, "gymnasium": play_gymnasium, "vector": play_vector}


@pytest.mark.parametrize(("id", "api"), pick_pairs(SMALL, PLAY))
def test_loop(id: str, api: str) -> None:
    PLAY[api](id)


# ---------------------------------------------------------------------------------------------------------- max_cycles


class OldStyle:
    """The functions of a PettingZoo module, whose random actions need not be legal."""

    def __init__(self, id: str) -> None:
        self.id = id

    def env(self, **options: Any) -> Any:
        return momagames.make(self.id, illegal="random", **options)

    def parallel_env(self, **options: Any) -> Any:
        return momagames.make(self.id, api="parallel", illegal="random", **options)


@pytest.mark.parametrize("id", [id for id in ONE_OF_EACH if momagames.spec(id).max_episode_steps > 4])
def test_max_cycles_as_pettingzoo_tests_it(id: str) -> None:
    max_cycles_test(OldStyle(id))


def test_max_cycles_truncates_every_api() -> None:
    """And the position does not change: it can be continued from."""
    env = pettingzoo.make("aec", "momagames/mo-breakthrough-v0", max_cycles=2)
    for _ in range(2):
        env.reset(seed=1)
        steps = []
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            steps.append((agent, terminated, truncated))
            env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
        assert steps == [(f"player_{i % 2}", False, i >= 4) for i in range(6)]
    assert not env.unwrapped.record["over"]
    parallel = pettingzoo.make("parallel", "momagames/mo-breakthrough-v0", max_cycles=2)
    seen, _ = parallel.reset(seed=1)
    for left in (2, 0):
        legal = {agent: parallel.action_space(agent).sample(seen[agent]["action_mask"]) for agent in parallel.agents}
        seen, _, terminations, truncations, _ = parallel.step(legal)
        assert len(parallel.agents) == left
        assert set(truncations.values()) == {not left}
        assert not any(terminations.values())
    single = gymnasium.make("momagames/mo-samegame-v0", max_cycles=3).unwrapped
    _, info = single.reset(seed=1)
    for step in range(3):
        twin = copy.deepcopy(single)
        _, _, terminated, truncated, info = single.step(int(info["action_mask"].argmax()))
        assert (terminated, truncated) == (False, step == 2)
    with pytest.raises(InvalidCall, match="after the end"):
        single.step(0)
    assert twin.peek(int(twin.action_masks().argmax()))[3]
    twin.reset(seed=1)
    assert not twin.step(int(twin.action_masks().argmax()))[3]


@pytest.mark.parametrize("given", [0, -1, 1.5, "3", True])
def test_bad_max_cycles(given: Any) -> None:
    for api in ("aec", "parallel", "gymnasium"):
        with pytest.raises(InvalidParameter, match=r"invalid max_cycles=.*: expected an integer from 1, or None"):
            momagames.make("mo-samegame-v0", api, max_cycles=given)


# ------------------------------------------------------------------------------------------------- numbers in infos only


@pytest.mark.parametrize("id", ONE_OF_EACH)
def test_numeric_infos(id: str) -> None:
    for api in ("aec", "parallel", "gymnasium"):
        env = momagames.make(id, api=api, numeric_infos=True, **SMALL[id][0])
        given = env.reset(seed=1)
        infos = env.infos if api == "aec" else given[1]
        for info in [infos] if api == "gymnasium" else infos.values():
            assert all(np.asarray(value).dtype.kind in "iufb" for key, value in info.items() if key != "action_mask")
    plain = momagames.make("mo-breakthrough-v0", api="parallel")
    assert plain.reset(seed=1)[1]["player_0"]["active_agent"] == "player_0"


# ------------------------------------------------------------------------------------------------------ other libraries


@pytest.mark.parametrize(("id", "mode"), pick_pairs(SMALL, ["sync", "async", None]))
def test_gymnasium_makes_vectors(id: str, mode: Any) -> None:
    """Its synchronous vector stores scalar rewards only; the asynchronous one and our own store vectors."""
    objectives = len(momagames.spec(id).objectives)
    given = {"wrappers": [lambda env: Scalarize(env, [1.0] * objectives)]} if mode == "sync" else {}
    envs = gymnasium.make_vec(f"momagames/{id}", num_envs=2, vectorization_mode=mode, **given)
    try:
        _, infos = envs.reset(seed=0)
        if mode is None:
            actions = envs.sample_actions()
        else:
            space = momagames.make(id, api="gymnasium").action_space
            actions = np.stack([space.sample(infos["action_mask"][i]) for i in range(2)])
        _, rewards, *_ = envs.step(actions)
        shape = (2,) if mode == "sync" else (2, objectives)
        if mode is None and len(envs.agents) > 1:
            shape = (2, len(envs.agents), objectives)
        assert np.shape(rewards) == shape
    finally:
        envs.close()


@pytest.mark.parametrize(("id", "maker"), pick_pairs(SMALL, ["GymEnv", "MOGymEnv"]))
def test_torchrl_makes_environments_by_name(id: str, maker: str) -> None:
    torchrl = pytest.importorskip("torchrl.envs")
    import torch

    env = getattr(torchrl, maker)(f"momagames/{id}", illegal="random", max_cycles=5)
    torch.manual_seed(0)
    env.set_seed(0)
    played, game = env.rollout(4), momagames.spec(id)
    assert played["next", "reward"].shape == (min(4, game.max_episode_steps), len(game.objectives))


@pytest.mark.parametrize(
    ("id", "api"),
    [
        ("mo-samegame-v0", "aec"),
        ("mo-samegame-v0", "parallel"),
        ("mo-breakthrough-v0", "aec"),  # not parallel: it cannot sample from the empty masks of agents that wait
        ("mo-pommerman-ffa-v0", "aec"),
        ("mo-pommerman-ffa-v0", "parallel"),
        ("mo-robotmail-v0", "aec"),
    ],
)
def test_torchrl_wraps_scalar_environments(id: str, api: Any) -> None:
    """Without Flatten: its PettingZooWrapper cannot store strings."""
    torchrl = pytest.importorskip("torchrl.envs")
    objectives = len(momagames.spec(id).objectives)
    env = Scalarize(momagames.make(id, api=api, numeric_infos=True, max_cycles=10, illegal="random"), [1.0] * objectives)
    wrapped = torchrl.PettingZooWrapper(env, use_mask=True, seed=0)
    assert len(wrapped.rollout(4)) == 4


@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: Scalarize(env, [1, 0, 0, 0])], ids=["vectors", "scalars"])
def test_terminate_illegal_wrapper_says_what_to_do(wrap: Any) -> None:
    """It writes a scalar among the reward vectors, and Scalarize would not see it."""
    env = TerminateIllegalWrapper(wrap(momagames.make("mo-breakthrough-v0", **DUEL)), illegal_reward=-1)
    env.reset(seed=0)
    before = copy.deepcopy(env.unwrapped.__dict__)
    with pytest.raises(InvalidCall, match=r"TerminateIllegalWrapper.*expected make\(\.\.\., illegal=\"forfeit\"\)"):
        env.step(int(env.observe("player_0")["action_mask"].argmin()))
    assert not any(env.terminations.values())
    assert not any(env.truncations.values())
    for name in ("rewards", "_cumulative_rewards"):
        for agent, reward in before[name].items():
            assert np.array_equal(getattr(env.unwrapped, name)[agent], reward)
    env.step(int(env.observe("player_0")["action_mask"].argmax()))  # the episode goes on
    assert env.agent_selection == "player_1"
    right = wrap(momagames.make("mo-breakthrough-v0", illegal="forfeit", **DUEL))
    right.reset(seed=0)
    right.step(int(right.observe("player_0")["action_mask"].argmin()))
    assert np.ravel(right.rewards["player_0"])[0] == -1
    assert right.terminations == {"player_0": True, "player_1": True}
