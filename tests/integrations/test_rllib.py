"""RLlib by name: environments of one agent and of all, with and without masks, train for an iteration."""

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
SMALL = {"id": "mo-samegame-v0", "weights": {"color_1": 1}, "board_width": 4, "board_height": 4, "num_colors": 2}
TURNS = {"id": "mo-breakthrough-v0", "weights": {"win": 1}, "board_width": 3, "board_height": 5}
TOGETHER = {"id": "mo-pommerman-duel-v0", "weights": {"outcome": 1}, "max_steps": 30}


@pytest.fixture(scope="module")
def rllib():
    pytest.importorskip("ray.rllib.algorithms.ppo", exc_type=ImportError)
    return pytest.importorskip("momagames.integrations.rllib")


@pytest.fixture
def cluster(monkeypatch):
    import ray

    monkeypatch.setenv("RAY_ADDRESS", "local")  # not the cluster of a test that runs at the same time
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)


def configure(config, name, options):
    return (
        config.environment(name, env_config=options, disable_env_checking=True).env_runners(num_env_runners=0).debugging(seed=0)
    )


def train(config):
    algorithm = config.training(train_batch_size=64).build_algo()
    metrics = algorithm.train()["env_runners"]
    algorithm.stop()
    return metrics


def test_learners_train_by_name(rllib, cluster):
    rllib.register_environments()  # with this cluster: an earlier one may have had them
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    small = {"minibatch_size": 32, "num_epochs": 1}
    plain = configure(PPOConfig().training(**small), "momagames", SMALL)
    assert train(plain)["episode_return_mean"] > 0
    masked = configure(PPOConfig().training(**small), "momagames", {**TURNS, "mask": "observation", "others": "greedy"})
    assert (
        -1
        <= train(masked.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule)))["episode_return_mean"]
        <= 1
    )
    for options in (TURNS, TOGETHER):
        shared = configure(PPOConfig().training(**small), "momagames-multi-agent", options).multi_agent(
            policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared"
        )
        assert set(train(shared)["agent_episode_returns_mean"]) <= set(momagames.spec(options["id"]).agents)


def test_environments_have_vectors_and_scalar_rewards(rllib):
    env = rllib.make_single_agent_env(SMALL)
    observation, _ = env.reset(seed=0)
    assert observation.dtype == np.float32
    assert env.observation_space.contains(observation)
    assert np.isscalar(env.step(0)[1])
    masked = rllib.make_single_agent_env({**SMALL, "mask": "observation"})
    assert set(masked.reset(seed=0)[0]) == {"observations", "action_mask"}
    together = rllib.make_multi_agent_env(TOGETHER)
    assert set(together.reset(seed=0)[0]) == {"agent_0", "agent_1"}
    turns = rllib.make_multi_agent_env(TURNS)
    assert set(turns.reset(seed=0)[0]) == {"player_0"}


def test_configurations_are_checked(rllib):
    with pytest.raises(InvalidParameter, match=r"invalid env_config=\{\}: expected a dict with 'id'"):
        rllib.make_single_agent_env({})
    with pytest.raises(InvalidParameter, match="needs 'weights' or 'utility'"):
        rllib.make_multi_agent_env({"id": "mo-breakthrough-v0"})
