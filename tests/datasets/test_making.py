"""Datasets are made, resumed and checked."""

import json
import shutil
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from momagames import datasets
from momagames.baselines.base import Method
from momagames.datasets import making, shards
from momagames.datasets.manifest import MANIFEST
from momagames.datasets.playing import play_shard
from momagames.engine.policy_sources import make_batch_policy
from momagames.errors import IllegalAction, InvalidCall, InvalidFile, InvalidParameter, MissingExtra
from momagames.files.processes import process_namespace
from momagames.files.writing import TEMPORARY, remove_stale_files
from tests.datasets.small import BREAKTHROUGH, GEMWALK, GREEDY, RANDOM, part, recipe

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "data"
    datasets.make(recipe(), folder)
    return folder


@pytest.fixture
def copied(made, tmp_path):
    return shutil.copytree(made, tmp_path / "data")


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_equal_recipes_give_equal_files(made, tmp_path):
    datasets.make(recipe(), tmp_path / "again")
    assert files(tmp_path / "again") == files(made)
    assert len(files(made)) == 8
    datasets.make(recipe(seed=8), tmp_path / "other")
    assert files(tmp_path / "other")["data/part-000/000000.parquet"] != files(made)["data/part-000/000000.parquet"]


@pytest.mark.long
def test_processes_give_equal_files(made, tmp_path):
    datasets.make(recipe(), tmp_path / "again", processes=2)
    assert files(tmp_path / "again") == files(made)


def test_episodes_do_not_depend_on_the_other_shards():
    loaded = datasets.load_recipe(recipe())
    alone = play_shard(loaded, 1, 2)
    assert len(alone) == 5
    assert alone.hash_content() == play_shard(loaded, 1, 2).hash_content() != play_shard(loaded, 1, 1).hash_content()


def test_making_resumes_after_an_interruption(made, tmp_path, monkeypatch):
    folder, play, played = tmp_path / "data", making.play_shard, []

    def interrupted(loaded, part, shard):
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append((part, shard))
        return play(loaded, part, shard)

    monkeypatch.setattr(making, "play_shard", interrupted)
    with pytest.raises(KeyboardInterrupt):
        datasets.make(recipe(), folder)
    with pytest.raises(InvalidFile, match="3 of 6 files of data are made: continue"):
        datasets.open_dataset(folder)
    assert datasets.verify(folder).problems == (f"{folder}: 3 files of data are not made yet",)
    monkeypatch.setattr(making, "play_shard", lambda *key: played.append(key[1:]) or play(*key))
    seen = []
    datasets.make(recipe(), folder, show_progress=lambda info, done, due: seen.append((done, due)))
    assert played == datasets.load_recipe(recipe()).list_shards()
    assert seen == [(4, 6), (5, 6), (6, 6)]
    assert files(folder) == files(made)


def test_making_replaces_damaged_files(made, copied):
    (copied / "data/part-000/000001.parquet").write_bytes(b"x")
    (copied / "data/part-001/000002.parquet").unlink()
    datasets.make(recipe(), copied)
    assert files(copied) == files(made)


@pytest.mark.skipif(sys.platform == "win32", reason="directories are not locked on Windows")
def test_a_second_process_in_the_folder_is_refused(made, tmp_path):
    def make_again(info, done, due):
        with pytest.raises(InvalidCall, match="another process is writing here"):
            datasets.make(recipe(), tmp_path / "data")

    datasets.make(recipe(), tmp_path / "data", show_progress=make_again)
    assert files(tmp_path / "data") == files(made)


def test_files_of_a_killed_process_are_removed(made, tmp_path):
    """Also where it was killed before there was a manifest."""
    name = f"{TEMPORARY}{process_namespace()}@{2**22 + 1}@x"  # no process has that number
    left = [tmp_path / "data" / f"{name}.json", tmp_path / "data" / "data" / "part-000" / f"{name}.parquet"]
    left[0].parent.mkdir()
    left[0].touch()
    datasets.make(recipe(), tmp_path / "data")
    assert files(tmp_path / "data") == files(made)
    left[1].touch()
    (tmp_path / "data" / "data" / "part-000" / "000001.parquet").unlink()
    remove_stale_files.cache_clear()  # as in another process
    datasets.make(recipe(), tmp_path / "data")
    assert files(tmp_path / "data") == files(made)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFile, match="file: "):
        datasets.make(recipe(), tmp_path / "file")


def test_a_folder_of_something_else_is_left_alone(copied, tmp_path):
    before = files(copied)
    with pytest.raises(InvalidCall, match=r"differ from .* expected another folder"):
        datasets.make(recipe(seed=8), copied)
    assert files(copied) == before
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "note.txt").write_text("mine")
    with pytest.raises(InvalidCall, match="expected an empty or new folder"):
        datasets.make(recipe(), tmp_path / "x")
    with pytest.raises(InvalidParameter, match="processes"):
        datasets.make(recipe(), tmp_path / "y", processes=0)


def test_verify_finds_what_was_changed(made, copied):
    assert datasets.verify(copied).problems == ()
    sound = datasets.verify(copied, regenerate=None)
    assert (sound.problems, sound.files, sound.regenerated, sound.episodes) == ((), 6, 6, 50)
    assert datasets.verify(copied, regenerate=2).regenerated == 2
    path = copied / "data/part-000/000000.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    (problem,) = datasets.verify(copied).problems
    assert "000000.parquet: changed since it was written" in problem
    with pytest.raises(InvalidFile, match="changed since it was written"):
        list(datasets.open_dataset(copied).episodes())
    path.unlink()
    assert "No such file" in datasets.verify(copied).problems[0]


def test_regeneration_finds_episodes_of_another_recipe(copied):
    """The checksums of these files are right: only playing again shows that the recipe gives other episodes."""
    data = json.loads((copied / MANIFEST).read_text())
    data["recipe"]["seed"] = 8
    (copied / MANIFEST).write_text(json.dumps(data))
    assert datasets.verify(copied).problems == ()
    problems = datasets.verify(copied, regenerate=None).problems
    assert len(problems) == 6
    assert "the recipe gives other episodes" in problems[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(format="other-1"), "not a dataset that this version can read"),
        (lambda data: data["shards"].append(data["shards"][0]), "expected distinct files"),
        (lambda data: data["shards"][0].update(part=9), "expected distinct files"),
        (lambda data: data["shards"][0].update(sha256="x"), r"shards\[0\].sha256"),
        (lambda data: data["policies"][1].pop(), "policies: expected those of the recipe"),
        (lambda data: data["recipe"].update(seed="x"), "recipe.seed"),
        (lambda data: data.pop("recipe"), "recipe: missing key"),
        (lambda data: data["policies"][1][0].update(preference=[1.0]), "expected 2 weights"),
    ],
)
def test_a_damaged_manifest_is_named(copied, change, message):
    data = json.loads((copied / MANIFEST).read_text())
    change(data)
    (copied / MANIFEST).write_text(json.dumps(data))
    with pytest.raises(InvalidFile, match=message):
        list(datasets.open_dataset(copied).episodes())


def test_no_dataset_is_named(tmp_path):
    with pytest.raises(InvalidFile, match=r"dataset.json: No such file"):
        datasets.open_dataset(tmp_path)


def test_teams_play_policies_of_their_own(tmp_path):
    parts = [part("mixed", BREAKTHROUGH, [RANDOM, GREEDY])]
    shard = play_shard(datasets.load_recipe(recipe(*parts, shard_episodes=25)), 0, 0)
    assert shard.policies.shape == (25, 2)
    assert {*shard.policies.ravel().tolist()} == set(range(5))
    assert (shard.policies[:, 0] != shard.policies[:, 1]).any()


@dataclass(frozen=True)
class Illegal(Method):
    name: ClassVar[str] = "illegal"

    def policies(self, game):
        return (make_batch_policy("illegal", play_illegal, game),)


def play_illegal(observation, mask, rng):
    return int(np.argmin(mask))


def test_an_illegal_action_of_a_policy_is_named(tmp_path):
    own = {"name": "tests.datasets.test_making:Illegal", "options": {}}
    with pytest.raises(IllegalAction, match="expected an action of its mask"):
        datasets.make(recipe(part("random", GEMWALK, [own])), tmp_path / "x")


def test_a_file_that_could_not_be_read_is_not_made(tmp_path, monkeypatch):
    """As one with millions of equal episodes, which is smaller than files of that many values may be."""
    monkeypatch.setattr(shards, "SMALL_VALUES", 10)
    monkeypatch.setattr(shards, "VALUES_PER_BYTE", 0)
    with pytest.raises(InvalidFile, match=r"values: expected at most 10; expected fewer episodes in a file \(shard_episodes\)"):
        datasets.make(recipe(part("random", GEMWALK)), tmp_path)
    assert not list(tmp_path.rglob("*.parquet"))


def test_pyarrow_is_named_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"momagames\[datasets\]"):
        datasets.make(recipe(), tmp_path / "x")
    assert not (tmp_path / "x").exists()
