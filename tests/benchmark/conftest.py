"""Results directories and trainings that several tests use."""

import shutil

import pytest

import momagames
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.benchmark import run_suite
from momagames.benchmark.training import CHECKPOINT, Training, train
from tests.benchmark.tiny import whole

BOARD = {"board_width": 4, "board_height": 4, "num_colors": 2}


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """The checkpoints of two trainings on MO-SameGame that differ in the seed; not to be changed."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    folders = [tmp_path_factory.mktemp("training") for _ in range(2)]
    for seed, folder in enumerate(folders):
        train(Training(game, CrossEntropy(population=8, elites=2, episodes=2), seed, 20_000, ("agent_0",), ()), folder, 1, 4)
    return [folder / CHECKPOINT for folder in folders]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results of the tiny suite, finished; not to be changed."""
    folder = tmp_path_factory.mktemp("results") / "here"
    assert not run_suite(whole(), folder).failed
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of these results."""
    return shutil.copytree(finished, tmp_path / "copy")
