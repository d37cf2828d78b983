"""Libraries that take an id alone train by the commands and the manifest of docs/integrations.md, where they are installed."""

import shlex
import subprocess
import sys

import numpy as np
import pytest
import yaml
from gymnasium.wrappers import FlattenObservation

from tests.pages import FENCE, ROOT

pytestmark = pytest.mark.long
TEXT = (ROOT / "docs/integrations.md").read_text(encoding="utf-8").partition("\n## By id alone\n")[2]
(COMMANDS,), (MANIFEST,) = ([code for name, code in FENCE.findall(TEXT) if name == language] for language in ("bash", "yaml"))


def run(command, folder):
    program, *arguments = shlex.split(command)
    assert program == "python"
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_rl_zoo_trains_and_plays(tmp_path):
    pytest.importorskip("rl_zoo3", exc_type=ImportError)
    printed = [run(command, tmp_path) for command in COMMANDS.splitlines()]
    assert "Saving to logs" in printed[0]
    assert "Mean reward" in printed[1]


@pytest.mark.parametrize("algorithm", ["MADDPG", "MATD3"])
@pytest.mark.parametrize("name", ["mo_pommerman_duel_scalar_v0", "mo_robotmail_2_scalar_v0"])
def test_agilerl_trains(algorithm, name, tmp_path):
    """With masks: an illegal action would raise."""
    pytest.importorskip("agilerl.algorithms", exc_type=ImportError)
    manifest = yaml.safe_load(MANIFEST)
    manifest["algorithm"]["name"] = algorithm
    manifest["environment"] |= {"name": f"momagames.envs.{name}", "env_config": {"illegal": "raise"}}
    (tmp_path / "manifest.yaml").write_text(yaml.safe_dump(manifest))
    assert "Training complete" in run("python -m agilerl.train manifest.yaml --device cpu", tmp_path)


def test_agilerl_trains_by_the_manifest_of_the_page(tmp_path):
    pytest.importorskip("agilerl.algorithms", exc_type=ImportError)
    (tmp_path / "manifest.yaml").write_text(MANIFEST)
    assert "Training complete" in run("python -m agilerl.train manifest.yaml", tmp_path)


def test_morl_baselines_train():
    gpi_pd = pytest.importorskip("morl_baselines.multi_policy.gpi_pd.gpi_pd", exc_type=ImportError)
    from mo_gymnasium import make
    from morl_baselines.common.evaluation import eval_mo

    small = {"board_width": 4, "board_height": 4, "num_colors": 2}
    env, test = (FlattenObservation(make("momagames:momagames/mo-samegame-v0", illegal="next", **small)) for _ in range(2))
    few = {"net_arch": [32, 32], "batch_size": 16, "learning_starts": 50, "gradient_updates": 1, "num_nets": 1}
    learner = gpi_pd.GPILS(env, log=False, drop_rate=0.0, seed=1, **few)
    rounds = {"timesteps_per_iter": 200, "num_eval_episodes_for_front": 1, "checkpoints": False}
    learner.train(400, eval_env=test, ref_point=np.zeros(2), **rounds)
    assert eval_mo(learner, test, np.array([0.5, 0.5]))[0] > 0
