"""What other libraries read: Croissant and Minari."""

import json

import numpy as np
import pytest

from momagames import datasets
from momagames.errors import InvalidParameter
from tests.datasets.small import BREAKTHROUGH, GEMWALK, GREEDY, part, recipe

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return datasets.make(
        recipe(part("medium", GEMWALK, [GREEDY]), part("random", BREAKTHROUGH, episodes=3)),
        tmp_path_factory.mktemp("data") / "x",
    )


def test_croissant_names_every_file_with_its_checksum(data):
    metadata = json.loads((data.folder / "croissant.json").read_text())
    files = {one["contentUrl"]: one["sha256"] for one in metadata["distribution"] if one["@type"] == "cr:FileObject"}
    assert files == {one.file: one.sha256 for one in data.manifest.shards}
    responsible = {key for key in metadata if key.startswith("rai:")}
    assert {"rai:dataCollection", "rai:dataBiases", "rai:dataLimitations", "rai:personalSensitiveInformation"} <= responsible


@pytest.mark.long
def test_mlcroissant_accepts_the_metadata_and_reads_the_records(data):
    mlcroissant = pytest.importorskip("mlcroissant")
    read = mlcroissant.Dataset(jsonld=data.folder / "croissant.json")
    assert not read.metadata.ctx.issues.errors
    assert read.metadata.data_biases
    name = "0-mo-gemwalk-v0-medium-episodes"
    rows = list(read.records(name))
    assert len(rows) == 25
    first = next(data.episodes())
    row = next(one for one in rows if one[f"{name}/episode"] == 0)
    assert row[f"{name}/seed"] == first.seed
    assert np.array_equal(row[f"{name}/actions"], first.actions.ravel())


@pytest.mark.long
def test_minari_opens_what_is_exported(data, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    monkeypatch.setattr("momagames.datasets.minari_export.CHUNK", 10)
    datasets.export_minari(data, "momagames/small-v0", tier="medium")
    opened = minari.load_dataset("momagames/small-v0")
    assert opened.total_episodes == 25
    assert opened.recover_environment().observation_space == opened.observation_space
    for episode, own in zip(opened.iterate_episodes(), data.episodes(tier="medium"), strict=True):
        (observations,) = own.observations.values()
        assert np.array_equal(episode.observations, observations[:, 0])
        assert np.array_equal(episode.actions, own.actions[:, 0, 0])
        assert np.array_equal(episode.rewards, own.rewards[:, 0])
        assert np.array_equal(episode.infos["action_mask"], own.masks[:, 0])
        assert episode.terminations.tolist() == own.terminated[:, 0].tolist()
    metadata = list(opened.storage.get_episode_metadata(range(2)))
    assert np.array_equal(metadata[1]["options"]["preference"], list(data.episodes())[1].preferences[0])


@pytest.mark.long
def test_minari_has_no_place_for_several_agents(data):
    pytest.importorskip("minari")
    pytest.importorskip("h5py")
    with pytest.raises(InvalidParameter, match="mo-breakthrough-v0 with 2 agents"):
        datasets.export_minari(data, "momagames/small-v0", tier="random")
