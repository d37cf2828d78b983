"""docs/known-limits.md: each limit, with the version that the page names; another version may have none of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, performance_benchmark
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

import momagames
from momagames.environments import make_scalar
from momagames.errors import InvalidCall
from momagames.wrappers import Flatten, Scalarize, TabularObservation

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


def act_in_agilerl(algorithm: str = "IPPO", **options: Any) -> None:
    env = make_scalar(options.pop("id", "mo-pommerman-duel-v0"), "parallel", **options)
    agents = env.possible_agents
    spaces = [env.observation_space(agent) for agent in agents], [env.action_space(agent) for agent in agents]
    learner = getattr(importlib.import_module("agilerl.algorithms"), algorithm)(*spaces, agent_ids=agents)
    observations, infos = env.reset(seed=0)
    env.step({agent: actions[0] for agent, actions in learner.get_action(observations, infos)[0].items()})


def read_final_observation() -> None:
    envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("MountainCar-v0", max_episode_steps=1)])
    envs.reset(seed=0)
    _ = envs.step(np.zeros(1, np.int64))[-1]["final_observation"]


def apply_linear_layer(dtype: Any = np.int8) -> None:
    torch = importlib.import_module("torch")
    torch.nn.Linear(4, 2)(torch.as_tensor(np.zeros((1, 4), dtype)))


def collect_with_infos(record: bool = True, **options: Any) -> None:
    env = momagames.make("mo-robotmail-v0", api="gymnasium", illegal="next", **options)
    collector = importlib.import_module("minari").DataCollector(env, record_infos=record)
    for seed in range(2):
        ended, _ = False, collector.reset(seed=seed)
        while not ended:
            *_, terminated, truncated, _ = collector.step(0)
            ended = terminated or truncated
    collector.close()


def play_momaland(module: str) -> None:
    env = importlib.import_module(f"momaland.envs.{module}").parallel_env()
    env.reset(seed=0)
    env.step({agent: env.action_space(agent).sample() for agent in env.agents})


def make_vectors(**options: Any) -> Any:
    return importlib.import_module("mo_gymnasium").make(f"momagames/{SAMEGAME}", illegal="next", **SMALL, **options)


def train_envelope(num_weights: int = 1) -> None:
    envelope = importlib.import_module("morl_baselines.multi_policy.envelope.envelope")
    env, test = (gymnasium.wrappers.FlattenObservation(make_vectors()) for _ in range(2))
    agent = envelope.Envelope(env, log=False, learning_starts=20, batch_size=8, net_arch=[8])
    agent.train(60, test, np.zeros(2), num_eval_weights_for_front=num_weights, num_eval_episodes_for_front=1, eval_freq=50)


def make_table(wrap: Callable[[Any], Any] = lambda env: env) -> None:
    pql = importlib.import_module("morl_baselines.multi_policy.pareto_q_learning.pql")
    pql.PQL(wrap(make_vectors()), ref_point=np.zeros(2), log=False)


def measure_radio() -> None:
    performance_benchmark(momagames.make("mo-pommerman-radio-v0"))


def wrap_for_skrl(wrap: Callable[[Any], Any] = Flatten) -> None:
    env = momagames.make("mo-pommerman-duel-v0", api="parallel", illegal="next", weights=[1, 0, 0, 0])
    importlib.import_module("skrl.envs.wrappers.torch").wrap_env(wrap(env), wrapper="pettingzoo").reset()


LIMITS: dict[str, tuple[Callable[[], None], type[Exception], str]] = {
    "`IPPO` with action masks": (act_in_agilerl, ValueError, "more than one element is ambiguous"),
    "`MADDPG` and `MATD3` with actions of several parts": (
        partial(act_in_agilerl, "MADDPG", id="mo-pommerman-radio-v0"),
        AssertionError,
        "require Box or Discrete",
    ),
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
    "`dqn.py` and `c51.py` with Gymnasium 1.x": (read_final_observation, KeyError, "final_observation"),
    "`dqn.py` and `c51.py` with integer observations": (apply_linear_layer, RuntimeError, "same dtype"),
    "`DataCollector(env, record_infos=True)` with lists in infos": (collect_with_infos, IndexError, "out of range"),
    "`mogem_mining_v0` with NumPy 2.4": (partial(play_momaland, "gem_mining.mogem_mining_v0"), ValueError, "with a sequence"),
    "`moroute_choice_v0` with NetworkX 3.6": (partial(play_momaland, "route_choice.moroute_choice_v0"), KeyError, "edges"),
    "`Envelope` with fewer weights than objectives": (train_envelope, AttributeError, "integers"),
    "`PQL` on boards": (make_table, MemoryError, ""),
    "`performance_benchmark` with masks of several parts": (measure_radio, ValueError, "with a sequence"),
    "integer observations": (apply_linear_layer, RuntimeError, "same dtype"),
    "`PettingZooWrapper` around observation wrappers": (wrap_for_skrl, KeyError, ""),
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


def train_in_rllib(env: Any, **model: Any) -> None:
    import_module = importlib.import_module
    import_module("ray").init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    import_module("ray.tune.registry").register_env("known-limits", lambda _: env)
    options = import_module("ray.rllib.core.rl_module.default_model_config").DefaultModelConfig(**model)
    config = import_module("ray.rllib.algorithms.ppo").PPOConfig().environment("known-limits").env_runners(num_env_runners=0)
    config.training(train_batch_size=32, minibatch_size=16, num_epochs=1).rl_module(model_config=options).build_algo().train()


def train_on_planes() -> None:
    env = momagames.make(
        "mo-pommerman-duel-v0", api="gymnasium", illegal="next", weights=[1, 0, 0, 0], observation="planes", others="simple"
    )
    filters = [[16, 3, 2], [32, 3, 2]]
    train_in_rllib(gymnasium.wrappers.DtypeObservation(env, np.float32), conv_filters=filters)


def train_by_scalar_id() -> None:
    env = gymnasium.make("momagames/mo-samegame-scalar-v0", **SMALL)
    apply_linear_layer(env.observation_space.dtype)
    train_in_rllib(env)


def step_vectors() -> None:
    options: dict[str, Any]
    for options in (
        {"vectorization_mode": "async"},
        {"vectorization_mode": "sync", "wrappers": [partial(Scalarize, weights=[1] * 5)]},
    ):
        envs = gymnasium.make_vec(f"momagames/{SAMEGAME}", num_envs=2, **options)
        _, infos = envs.reset(seed=0)
        envs.step(infos["action_mask"].argmax(axis=1))
        envs.close()


def roll_out_scalars() -> None:
    roll_out_in_torchrl(Scalarize(momagames.make(SAMEGAME, illegal="random", numeric_infos=True), [1] * 5))
    roll_out_in_torchrl(Scalarize(momagames.make(BREAKTHROUGH, illegal="random", numeric_infos=True), [1, 0, 0, 0]))


def collect_numbers() -> None:
    collect_with_infos(numeric_infos=True)
    collect_with_infos(record=False)


def sample_parts() -> None:
    env = momagames.make("mo-pommerman-radio-v0")
    env.reset(seed=0)
    agent = env.agent_selection
    env.step(env.action_space(agent).sample(env.observe(agent)["action_mask"]))


REMEDIES: dict[str, Callable[[], None]] = {  # what to use instead, by the limit
    "`IPPO` with action masks": partial(act_in_agilerl, mask=None),
    "`MADDPG` and `MATD3` with actions of several parts": partial(act_in_agilerl, id="mo-pommerman-radio-v0", mask=None),
    "`CnnPolicy` on boards": train_multi_layer_policies,
    "`IPRO`": make_ipro_of_vectors,
    '`make_vec(id, vectorization_mode="sync")`': step_vectors,
    "`LinearReward` under `check_env`": lambda: check_env(
        Scalarize(gymnasium.make(f"momagames/{SAMEGAME}", illegal="random"), [1] * 5)
    ),
    "`DataCollector(env, record_infos=True)` with lists in infos": collect_numbers,
    "`Envelope` with fewer weights than objectives": partial(train_envelope, 2),
    "`PQL` on boards": partial(make_table, lambda env: TabularObservation(env, 4096)),
    "`api_test`": lambda: api_test(Scalarize(momagames.make(SAMEGAME), [1] * 5), num_cycles=20),
    "`performance_benchmark` with masks of several parts": sample_parts,
    "default CNN on 11x11 boards": train_on_planes,
    "integer observations": train_by_scalar_id,
    "`PettingZooWrapper` around observation wrappers": partial(wrap_for_skrl, lambda env: env),
    "`PettingZooWrapper` with vectors or strings": roll_out_scalars,
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
