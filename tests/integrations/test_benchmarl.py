"""BenchMARL trains on tasks by id."""

import pytest

from momagames.errors import InvalidParameter

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def benchmarl():
    pytest.importorskip("benchmarl", exc_type=ImportError)
    return pytest.importorskip("momagames.integrations.benchmarl")


def train(task, algorithm, folder):
    from benchmarl import algorithms
    from benchmarl.experiment import Experiment, ExperimentConfig
    from benchmarl.models.mlp import MlpConfig

    config = ExperimentConfig.get_from_yaml()
    config.max_n_iters, config.max_n_frames = 2, None
    config.on_policy_collected_frames_per_batch = config.off_policy_collected_frames_per_batch = 60
    config.on_policy_n_envs_per_worker = config.off_policy_n_envs_per_worker = 3
    config.on_policy_n_minibatch_iters, config.on_policy_minibatch_size = 1, 30
    config.off_policy_n_optimizer_steps, config.off_policy_train_batch_size, config.off_policy_memory_size = 2, 16, 500
    config.evaluation, config.evaluation_interval, config.evaluation_episodes = True, 60, 2
    config.render, config.loggers, config.create_json = False, [], False
    config.prefer_continuous_actions, config.save_folder = False, str(folder)
    Experiment(
        task=task,
        algorithm_config=getattr(algorithms, f"{algorithm}Config").get_from_yaml(),
        model_config=MlpConfig.get_from_yaml(),
        critic_model_config=MlpConfig.get_from_yaml(),
        seed=0,
        config=config,
    ).run()


FFA = "mo-pommerman-ffa-v0", {"weights": {"outcome": 1}}
TEAMS = {"us": ["agent_0", "agent_2"], "them": ["agent_1", "agent_3"]}
SMALL = {"weights": [1, 2], "board_width": 4, "board_height": 4, "num_colors": 2}


@pytest.mark.parametrize(
    ("algorithm", "id", "options"),
    [
        ("Ippo", *FFA),
        ("Iql", *FFA),
        ("Qmix", *FFA),
        ("Vdn", *FFA),
        ("Mappo", "mo-pommerman-team-v0", {"weights": {"outcome": 1, "wood": 0.1}, "group_map": TEAMS}),
        ("Mappo", "mo-robotmail-v0", {"weights": {"delivery": 1}}),  # in turns
        ("Ippo", "mo-samegame-v0", SMALL),  # alone
    ],
)
def test_algorithms_train(benchmarl, algorithm, id, options, tmp_path):
    """With evaluations; an illegal action would raise."""
    train(benchmarl.MomagamesTask(id, max_steps=20, **options), algorithm, tmp_path)


def test_tasks_need_scalar_rewards(benchmarl):
    with pytest.raises(InvalidParameter, match=r"the task of mo-samegame-v0 needs weights=\.\.\. or utility"):
        benchmarl.MomagamesTask("mo-samegame-v0")
