"""Files that methods and opponents of a suite name: their content is part of a run, whichever option names them."""

import shutil
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

import momagames
from momagames.baselines import METHODS, method
from momagames.baselines.base import Method
from momagames.benchmark.choices import MethodChoice, Opponent
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import check_suite
from momagames.datasets import load_recipe
from momagames.datasets.manifest import MANIFEST
from momagames.errors import InvalidFile, InvalidParameter
from momagames.files.reading import hash_content
from tests.benchmark.conftest import BOARD
from tests.benchmark.test_trained_method import make_suite
from tests.datasets.small import SAMEGAME, part, recipe

NAMES_CHECKPOINT = [
    ("beam", "estimate"), ("hindsight_beam", "estimate"), ("nrpa", "bias"), ("iterated_nrpa", "bias"), ("pareto_nrpa", "bias"),
    ("hindsight_nrpa", "bias"), ("hindsight_pareto_nrpa", "bias"),
    ("uct", "value"), ("pareto_uct", "value"), ("nested_rollouts", "scorer"),
    ("trained", "checkpoint"), ("moppo", "expert"),
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """Two files of the same name in two folders."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.npz").write_bytes(name.encode())
    return tmp_path / "a" / "one.npz", tmp_path / "b" / "one.npz"


@pytest.mark.parametrize(("name", "option"), NAMES_CHECKPOINT)
def test_methods_declare_the_option_that_names_a_file(name, option, files):
    game = momagames.spec("mo-samegame-v0", **BOARD)
    path, other = files
    for value in (str(path), f"safe:{path}"):
        pinned = MethodChoice(name=name, options={option: value}).pin_file(game)
        assert pinned.options == {option: value, "sha256": hash_content(b"a")}
        assert pinned.pin_file(game) == pinned
    path.write_bytes(other.read_bytes())
    with pytest.raises(InvalidFile, match=rf"one.npz: has changed .*{hash_content(b'b')}, expected {hash_content(b'a')}"):
        pinned.pin_file(game)
    champion = MethodChoice(name=name, options={option: "champion"})
    assert champion.pin_file(game) == champion
    with pytest.raises(InvalidParameter, match="no option names a file"):
        MethodChoice(name=name, options={option: "champion", "sha256": "0"}).pin_file(game)


def test_the_declared_option_is_one_of_the_method():
    declared = set()
    for name in METHODS:
        kind = method(name)
        if kind.file_option:
            declared.add((name, kind.file_option))
            assert kind.file_option in [one.name for one in fields(kind)]
        else:
            assert kind.find_file.__func__ is Method.find_file.__func__
    assert declared == {*NAMES_CHECKPOINT, ("behavior_cloning", "data"), ("return_conditioned", "data")}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("{}", {}), ("safe:{}", {"caution": 2}), ("uct", {"weights": [], "value": "{}"}),
        ("pareto_uct", {"weights": [], "value": "{}"}), ("nested_rollouts", {"weights": [], "scorer": "{}"}),
    ],
)  # fmt: skip
def test_opponents_are_pinned_and_keep_their_labels(name, options, files):
    game, path = momagames.spec("mo-breakthrough-v0"), files[0]
    given = {key: str(path) if value == "{}" else value for key, value in options.items()}
    choice = Opponent(name=name.format(path), options=given)
    pinned = choice.pin_file(game)
    assert pinned.options == {**given, "sha256": hash_content(b"a")}
    assert pinned.label == choice.label
    path.write_bytes(b"c")
    with pytest.raises(InvalidFile, match=r"one\.npz: has changed"):
        pinned.make_policy(game)
    assert choice.pin_file(game).options["sha256"] == hash_content(b"c")


def test_data_of_learners_is_pinned(tmp_path):
    game = momagames.spec(SAMEGAME["id"], **SAMEGAME["params"])
    own = tmp_path / "own.yaml"
    own.write_text("a")
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / MANIFEST).write_text("b")
    for data, content in ((own, b"a"), (folder, b"b")):
        pinned = MethodChoice(name="behavior_cloning", options={"data": str(data)}).pin_file(game)
        assert pinned.options["sha256"] == hash_content(content)
    packaged = MethodChoice(name="return_conditioned", options={"data": "samegame-7x7"})
    assert packaged.pin_file(game) == packaged


@pytest.mark.compiled
def test_a_changed_file_stops_runs_and_their_resumption(checkpoints, tmp_path):
    path = Path(shutil.copy(checkpoints[0], tmp_path))
    suite = make_suite(path, divisions=2)
    assert suite.experiments[0].methods[1].options["sha256"] == hash_content(path.read_bytes())
    results = run_suite(suite, tmp_path / "first")
    assert (len(results.finished), results.failed) == (2, ())
    assert check_suite(Store(tmp_path / "first").read_suite(), "suite") == suite
    shutil.copy(checkpoints[1], path)
    with pytest.raises(InvalidFile, match=r"suite: experiments\[0\].methods\[1\]: .*has changed since"):
        check_suite(Store(tmp_path / "first").read_suite(), "suite")
    results = run_suite(suite, tmp_path / "second")
    assert [one.run.method.name for one in results.failed] == ["trained"]
    assert "has changed since the suite was read" in str(results.failed[0].error)


@pytest.mark.compiled
def test_recipes_pin_their_files(checkpoints, tmp_path):
    path = Path(shutil.copy(checkpoints[0], tmp_path))
    own = tmp_path / "own.yaml"
    trained = {"name": "trained", "options": {"checkpoint": str(path), "divisions": 1}}
    game = {"id": "mo-samegame-v0", "params": BOARD}
    own.write_text(yaml.safe_dump(recipe(part("mine", game, [trained]))))
    first = load_recipe(own)
    assert first.parts[0].methods[0].options["sha256"] == hash_content(path.read_bytes())
    shutil.copy(checkpoints[1], path)
    with pytest.raises(InvalidFile, match="has changed since"):
        first.parts[0].make_policies(momagames.spec("mo-samegame-v0", **BOARD))
    assert load_recipe(own).digest != first.digest
