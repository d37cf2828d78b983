"""docs/known-limits.md: each limit, with the version that the page names; another version may have none of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

import momagames
from momagames.errors import InvalidCall
from momagames.wrappers import Flatten, Scalarize

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.compiled]
PAGE = Path(__file__).resolve().parents[2] / "docs/known-limits.md"
NAMES = {"MO-Gymnasium": "mo-gymnasium", "Stable-Baselines3": "stable_baselines3", "RLlib": "ray"}
SAMEGAME, BREAKTHROUGH = "mo-samegame-v0", "mo-breakthrough-v0"
SMALL = {"board_width": 4, "board_height": 4, "num_colors": 2}


def read_lines() -> dict[str, tuple[str, str]]:
    """What is limited -> library and version, from the table of the page."""
    rows = [line.strip("|\n ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return {row[2]: (row[0], row[1]) for row in rows[1:]}


def step_synchronous_vector() -> None:
    envs = gymnasium.make_vec(f"momagames/{SAMEGAME}", num_envs=2, vectorization_mode="sync")
    _, infos = envs.reset(seed=0)
    envs.step(infos["action_mask"].argmax(axis=1))


def read_reward_space() -> None:
    _ = gymnasium.wrappers.TimeLimit(gymnasium.make(f"momagames/{SAMEGAME}"), 10).reward_space


def check_linear_reward() -> None:
    wrappers = importlib.import_module("mo_gymnasium.wrappers")
    check_env(wrappers.LinearReward(gymnasium.make(f"momagames/{SAMEGAME}", illegal="random"), weight=np.ones(5)))


def make_asynchronous_vector() -> None:
    mo_gymnasium = importlib.import_module("mo_gymnasium")
    vector = importlib.import_module("mo_gymnasium.wrappers.vector")
    vector.MOAsyncVectorEnv([lambda: mo_gymnasium.make("deep-sea-treasure-v0")])  # an environment of its own


def count_lengths() -> None:
    vector = importlib.import_module("mo_gymnasium.wrappers.vector")
    small = {"board_width": 4, "board_height": 4}
    envs = vector.MORecordEpisodeStatistics(momagames.make_vec(SAMEGAME, 1, autoreset="same_step", **small))
    envs.reset(seed=0)
    for _ in range(2):
        steps, infos = 0, dict[str, Any]()
        while "episode" not in infos:
            *_, infos = envs.step(envs.unwrapped.sample_actions())
            steps += 1
        assert infos["episode"]["l"][0] == steps, "another length"


def import_aec_wrappers() -> None:
    importlib.import_module("momaland.utils.aec_wrappers")


def make_ipro() -> None:
    ipro = importlib.import_module("morl_baselines.multi_policy.ipro.ipro")
    ipro.IPRO(importlib.import_module("mo_gymnasium").make("deep-sea-treasure-v0"), log=False)


def check_vectors() -> None:
    api_test(momagames.make(SAMEGAME), num_cycles=20)


def play_illegal_action() -> None:
    env = TerminateIllegalWrapper(momagames.make(BREAKTHROUGH), illegal_reward=-1)
    env.reset(seed=0)
    env.step(int(env.observe("player_0")["action_mask"].argmin()))


class Pictures(gymnasium.Env[Any, Any]):
    """Boards of 11x11 as images."""

    observation_space = gymnasium.spaces.Box(0, 255, (3, 11, 11), np.uint8)
    action_space = gymnasium.spaces.Discrete(2)


def make_cnn_policy() -> None:
    sb3 = importlib.import_module("stable_baselines3")
    sb3.PPO("CnnPolicy", Pictures())


def choose_filters() -> None:
    importlib.import_module("ray.rllib.models.utils").get_filter_config((11, 11, 3))


def roll_out_in_torchrl(env: Any) -> None:
    importlib.import_module("torchrl.envs").PettingZooWrapper(env, use_mask=True, seed=0).rollout(2)


def wrap_vectors() -> None:
    roll_out_in_torchrl(momagames.make(SAMEGAME, illegal="random"))


def wrap_waiting_agents() -> None:
    roll_out_in_torchrl(Scalarize(momagames.make(BREAKTHROUGH, api="parallel", numeric_infos=True), [1, 0, 0, 0]))


LIMITS: dict[str, tuple[Callable[[], None], type[Exception], str]] = {
    '`make_vec(id, vectorization_mode="sync")`': (step_synchronous_vector, ValueError, "with a sequence"),
    "attributes behind wrappers": (read_reward_space, AttributeError, "reward_space"),
    "`LinearReward` under `check_env`": (check_linear_reward, AssertionError, "share an object"),
    "`MOAsyncVectorEnv`": (make_asynchronous_vector, ValueError, "must accept 8 arguments"),
    '`MORecordEpisodeStatistics` around `make_vec(id, n, autoreset="same_step")`': (
        count_lengths,
        AssertionError,
        "another length",
    ),
    "`momaland.utils.aec_wrappers`": (import_aec_wrappers, ModuleNotFoundError, "gymnasium.wrappers.normalize"),
    "`IPRO`": (make_ipro, AttributeError, "reward_space"),
    "`api_test`": (check_vectors, ValueError, ""),
    "`TerminateIllegalWrapper`": (play_illegal_action, InvalidCall, "penalty would be lost"),
    "`CnnPolicy` on boards": (make_cnn_policy, RuntimeError, "Kernel size can't be greater"),
    "default CNN on 11x11 boards": (choose_filters, ValueError, "No default CNN configuration"),
    "`PettingZooWrapper` with vectors or strings": (wrap_vectors, RuntimeError, "size"),
    "`PettingZooWrapper` with turn-based games in the Parallel API": (wrap_waiting_agents, RuntimeError, "multinomial"),
}


def test_every_line_has_a_check() -> None:
    assert set(read_lines()) == set(LIMITS)


@pytest.mark.parametrize("what", LIMITS)
def test_limit(what: str) -> None:
    library, stated = read_lines()[what]
    try:
        installed = version(NAMES.get(library, library.lower()))
    except PackageNotFoundError:
        pytest.skip(f"{library} is not installed")
    if installed != stated:
        pytest.skip(f"the page is about {library} {stated}, installed is {installed}")
    call, error, message = LIMITS[what]
    with pytest.raises(error, match=message):
        call()


def train_multi_layer_policies() -> None:
    sb3 = importlib.import_module("stable_baselines3")
    policies: dict[str, Callable[[Any], Any]] = {"MlpPolicy": lambda env: env, "MultiInputPolicy": Flatten}
    for policy, wrap in policies.items():
        env = wrap(momagames.make(SAMEGAME, api="gymnasium", illegal="next", weights=[1, 2], **SMALL))
        sb3.PPO(policy, env, n_steps=16, batch_size=16, n_epochs=1).learn(16)


def make_ipro_of_vectors() -> None:
    mo_gymnasium = importlib.import_module("mo_gymnasium")
    ipro = importlib.import_module("morl_baselines.multi_policy.ipro.ipro")
    vector = importlib.import_module("mo_gymnasium.wrappers.vector")
    ipro.IPRO(vector.MOSyncVectorEnv([lambda: mo_gymnasium.make("deep-sea-treasure-v0")] * 2), log=False)


REMEDIES: dict[str, Callable[[], None]] = {  # what to use instead, by the limit
    "`CnnPolicy` on boards": train_multi_layer_policies,
    "`IPRO`": make_ipro_of_vectors,
}


@pytest.mark.long
@pytest.mark.parametrize("what", REMEDIES)
def test_remedy(what: str) -> None:
    library, _ = read_lines()[what]
    try:
        version(NAMES.get(library, library.lower()))
    except PackageNotFoundError:
        pytest.skip(f"{library} is not installed")
    REMEDIES[what]()
