"""The checkpoint of a training as a method of a suite."""

import shutil
from pathlib import Path

import pytest

import momagames
from momagames.baselines import method
from momagames.benchmark.choices import label_methods
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import load_suite
from momagames.errors import InvalidFile
from tests.benchmark.conftest import BOARD
from tests.benchmark.tiny import INDICATORS, RANDOM

pytestmark = pytest.mark.compiled  # trains


def make_suite(*checkpoints, **options):
    methods = [RANDOM, *({"name": "trained", "options": {"checkpoint": str(one), **options}} for one in checkpoints)]
    experiment = {
        "name": "boards", "kind": "policies", "ideal_point": "reference",
        "games": [{"id": "mo-samegame-v0", "params": BOARD}], "methods": methods, "opponents": [], "seats": [], "seeds": [0],
        "seconds": 60, "budget": 0, "select_episodes": 3, "report_episodes": 3,
    }  # fmt: skip
    return load_suite({"name": "mine", "description": "", "experiments": [experiment], "indicators": INDICATORS})


def test_runs_of_another_training_are_other_runs(checkpoints, tmp_path):
    path = Path(shutil.copy(checkpoints[0], tmp_path))
    first = make_suite(path, divisions=2)
    assert list(label_methods(first.experiments[0].methods).values()) == ["random", "trained"]
    results = run_suite(first, tmp_path / "results")
    assert (len(results.finished), results.failed) == (2, ())
    assert len(run_suite(make_suite(path, divisions=2), tmp_path / "results").finished) == 0
    shutil.copy(checkpoints[1], path)
    again = run_suite(make_suite(path, divisions=2), tmp_path / "again")
    digests = [{run.folder for run in Store(tmp_path / name).finished_runs()} for name in ("results", "again")]
    assert len(digests[0] & digests[1]) == 1  # random play
    assert not again.failed


def test_policies_are_those_of_the_training(checkpoints):
    game = momagames.spec("mo-samegame-v0", **BOARD)
    labels = [one.label for one in method("trained")(str(checkpoints[0]), 2).policies(game)]
    assert labels == ["w=(1, 0)", "w=(0.5, 0.5)", "w=(0, 1)"]


def test_labels_of_two_trainings_have_their_paths(checkpoints):
    names = list(label_methods(make_suite(*checkpoints).experiments[0].methods).values())
    assert names == ["random", *(f"trained(checkpoint={path})" for path in checkpoints)]


def test_errors_name_the_file(checkpoints, tmp_path):
    with pytest.raises(InvalidFile, match=r"experiments\[0\].methods\[1\]: .*nowhere.npz: No such file"):
        make_suite(tmp_path / "nowhere.npz")
    (tmp_path / "damaged.npz").write_bytes(b"no archive")
    with pytest.raises(InvalidFile, match=r"damaged.npz: .*not a training checkpoint"):
        make_suite(tmp_path / "damaged.npz")
    with pytest.raises(InvalidFile, match="has changed since the suite was read"):
        make_suite(checkpoints[0], sha256="0" * 64)
