"""An archive restores a directory of results as it was, byte for byte."""

import io
import lzma
import shutil

import numpy as np
import pytest

from momagames.errors import BadFile
from momagames.experiments import run_suite
from momagames.experiments.results import archive
from momagames.experiments.results.archive import pack_archive, unpack_archive
from momagames.experiments.results.packing import pack
from momagames.experiments.results.store import PACKED, Store
from tests.experiments.tiny import RANDOM, plans, suite, whole

polars = pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "here"
    assert not run_suite(whole(), folder).failed
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def files(folder):
    """What is finished in a directory, without the table of its rows."""
    paths = [folder / "suite.json", *(folder / "runs").rglob("*.*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def test_everything_comes_back(folder, tmp_path):
    before = {run.folder: list(Store(folder).rows(run)) for run in Store(folder).sealed()}
    pack_archive(folder, tmp_path / "a.npz.xz")
    unpack_archive(tmp_path / "a.npz.xz", tmp_path / "restored")
    restored = Store(tmp_path / "restored")
    assert files(restored.folder) == files(folder)
    assert {run.folder: list(restored.rows(run)) for run in restored.sealed()} == before
    assert any(row.get("actions") for rows in before.values() for row in rows)
    assert any(restored.metadata(run)["facts"].get("passed") for run in restored.sealed())
    pack_archive(restored.folder, tmp_path / "b.npz.xz")
    assert (tmp_path / "a.npz.xz").read_bytes() == (tmp_path / "b.npz.xz").read_bytes()


def test_rows_come_back_in_their_order(tmp_path):
    """Runs are sorted by name in rows.parquet, so that seed 10 stands before seed 2, and by number in the archive."""
    run_suite(suite(plans([RANDOM], seeds=[2, 10])), tmp_path / "here")
    pack_archive(tmp_path / "here", tmp_path / "a.npz.xz")
    unpack_archive(tmp_path / "a.npz.xz", tmp_path / "restored")
    before, after = (polars.read_parquet(tmp_path / name / PACKED) for name in ("here", "restored"))
    assert after.equals(before)
    assert before["seed"].unique(maintain_order=True).to_list() == [10, 2]


def test_every_kind_of_column_comes_back():
    table = polars.DataFrame(
        {
            "game": ["a", "a", "b", "b"] * 3000,
            "length": [1, 1, 1, 2] * 3000,
            "seat": ["x", "y", "x", "x"] * 3000,
            "return_win": [0.0, -0.0, None, 1e-300] * 3000,  # follows from the three above
            "return_other": [0.1 * k if k % 7 else -0.0 for k in range(12_000)],
            "start": [None, "18446744073709551615", "", "é"] * 3000,
            "found": [None, -(2**62), 300, 40_000] * 3000,
            "never": polars.Series([None] * 12_000, dtype=polars.Int64),
            "nothing": polars.Series([None] * 12_000, dtype=polars.String),
            "actions": [None, [], [1, 300], [2]] * 3000,
        }
    )
    arrays = archive._coded("t", table)
    assert "t/return_win/from/seat" in arrays
    assert "t/return_win/data" not in arrays
    assert "t/return_other/data" in arrays
    content = io.BytesIO()
    np.savez(content, **arrays)
    content.seek(0)
    back = archive._decoded("t", dict(np.load(content)))
    assert back.schema == table.schema
    assert back.equals(table)
    for name in ("return_win", "return_other"):
        signs = [np.signbit(one[name].drop_nulls().to_numpy()).tolist() for one in (back, table)]
        assert signs[0] == signs[1]


def test_what_would_not_come_back_stops_it(folder, tmp_path):
    pack(folder)
    text = next((folder / "runs").glob("*/metadata.json"))
    text.write_text(text.read_text() + "\n")
    with pytest.raises(BadFile, match=r"metadata\.json: the archive does not restore it"):
        pack_archive(folder, tmp_path / "a.npz.xz")


def test_broken_archives_and_full_folders_are_refused(folder, tmp_path):
    broken = tmp_path / "broken.npz.xz"
    for content in (b"", b"no", lzma.compress(b"no")):
        broken.write_bytes(content)
        with pytest.raises(BadFile, match=r"broken\.npz\.xz"):
            unpack_archive(broken, tmp_path / "new")
    with pytest.raises(BadFile, match=r"missing\.npz\.xz: No such file"):
        unpack_archive(tmp_path / "missing.npz.xz", tmp_path / "new")
    with pytest.raises(BadFile, match="choose an empty or a new one"):
        unpack_archive(broken, folder)
    assert not (folder / PACKED).exists()
