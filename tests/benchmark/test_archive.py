"""Archives restore a results directory byte for byte."""

import io
import json
import lzma

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.replays import load_points
from momagames.benchmark.store import archive_file
from momagames.benchmark.store.archive_file import ArchivedStore, pack_archive, unpack_archive
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import Store, find_damage
from momagames.errors import InvalidFile
from tests.benchmark.tiny import POLICIES, RANDOM, plans, suite

polars = pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')


def files(folder):
    """Return the files of finished runs, without the table of rows."""
    paths = [folder / "suite.json", *(folder / "runs").rglob("*.*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def test_unpacking_restores_every_file(folder, tmp_path):
    before = {run.folder: list(Store(folder).read_rows(run)) for run in Store(folder).finished_runs()}
    pack_archive(folder, tmp_path / "a.npz.xz")
    unpack_archive(tmp_path / "a.npz.xz", tmp_path / "restored")
    restored = Store(tmp_path / "restored")
    plan_fronts = {f"runs/{run.folder}/front.json" for run in restored.finished_runs() if run.kind == "plans"}
    expected = {name: content for name, content in files(folder).items() if name not in plan_fronts}
    assert plan_fronts
    assert files(restored.folder) == expected
    for run in restored.finished_runs():
        assert load_points(restored.run_directory(run)) == load_points(Store(folder).run_directory(run))
        assert not find_damage(restored.run_directory(run))
    assert {run.folder: list(restored.read_rows(run)) for run in restored.finished_runs()} == before
    assert any(row.get("actions") for rows in before.values() for row in rows)
    assert any(restored.read_metadata(run)["facts"].get("dominated") for run in restored.finished_runs())
    pack_archive(restored.folder, tmp_path / "b.npz.xz")
    assert (tmp_path / "a.npz.xz").read_bytes() == (tmp_path / "b.npz.xz").read_bytes()


def test_an_archive_is_read_as_its_results_directory(folder, tmp_path):
    pack_archive(folder, tmp_path / "a.npz.xz")
    expected, store = Store(folder), ArchivedStore(tmp_path / "a.npz.xz")
    assert (store.read_suite(), store.read_versions()) == (expected.read_suite(), expected.read_versions())
    finished = list(expected.finished_runs())
    assert [run for run in expected.read_suite().list_runs(expected.read_versions()) if store.has_run(run)] == [
        run for run in expected.read_suite().list_runs(expected.read_versions()) if expected.has_run(run)
    ]
    for run in finished:
        assert store.read_metadata(run) == expected.read_metadata(run)
        assert list(store.read_rows(run)) == list(expected.read_rows(run))
        if run.kind == "policies":
            assert store.read_front(run) == expected.read_front(run) == load_points(expected.run_directory(run))
    assert {run.kind for run in finished} == {"plans", "policies"}


def test_unpacking_restores_the_order_of_rows(tmp_path):
    """Runs are sorted by name in rows.parquet, where seed 10 precedes seed 2, and by number in the archive."""
    run_suite(suite(plans([RANDOM], seeds=[2, 10])), tmp_path / "here")
    pack_archive(tmp_path / "here", tmp_path / "a.npz.xz")
    unpack_archive(tmp_path / "a.npz.xz", tmp_path / "restored")
    before, after = (polars.read_parquet(tmp_path / name / PACKED) for name in ("here", "restored"))
    assert after.equals(before)
    assert before["seed"].unique(maintain_order=True).to_list() == [10, 2]


def test_encoding_restores_columns_of_every_type():
    table = polars.DataFrame(
        {
            "game": ["a", "a", "b", "b"] * 3000,
            "length": [1, 1, 1, 2] * 3000,
            "seat": ["x", "y", "x", "x"] * 3000,
            "return_win": [0.0, -0.0, None, 1e-300] * 3000,  # determined by the three columns above
            "return_other": [0.1 * k if k % 7 else -0.0 for k in range(12_000)],
            "start": [None, "18446744073709551615", "", "é"] * 3000,
            "step": [None, -(2**62), 300, 40_000] * 3000,
            "never": polars.Series([None] * 12_000, dtype=polars.Int64),
            "nothing": polars.Series([None] * 12_000, dtype=polars.String),
            "actions": [None, [], [1, 300], [2]] * 3000,
        }
    )
    arrays = archive_file._encode_table("t", table)
    assert "t/return_win/from/seat" in arrays
    assert "t/return_win/data" not in arrays
    assert "t/return_other/data" in arrays
    content = io.BytesIO()
    np.savez(content, **arrays)
    content.seek(0)
    decoded = archive_file._decode_table("t", dict(np.load(content)))
    assert decoded.schema == table.schema
    assert decoded.equals(table)
    for name in ("return_win", "return_other"):
        signs = [np.signbit(frame[name].drop_nulls().to_numpy()).tolist() for frame in (decoded, table)]
        assert signs[0] == signs[1]


def test_packing_fails_if_a_file_would_not_be_restored(folder, tmp_path):
    pack(folder)
    metadata = next((folder / "runs").glob("*/metadata.json"))
    metadata.write_text(metadata.read_text() + "\n")
    with pytest.raises(InvalidFile, match=r"metadata\.json: the archive does not restore it"):
        pack_archive(folder, tmp_path / "a.npz.xz")


def test_invalid_archives_and_nonempty_folders_raise(folder, tmp_path):
    broken = tmp_path / "broken.npz.xz"
    for content in (b"", b"no", lzma.compress(b"no")):
        broken.write_bytes(content)
        with pytest.raises(InvalidFile, match=r"broken\.npz\.xz"):
            unpack_archive(broken, tmp_path / "new")
    with pytest.raises(InvalidFile, match=r"missing\.npz\.xz: No such file"):
        unpack_archive(tmp_path / "missing.npz.xz", tmp_path / "new")
    with pytest.raises(InvalidFile, match="choose an empty or a new one"):
        unpack_archive(broken, folder)
    assert not (folder / PACKED).exists()


def test_an_archive_without_policies(tmp_path):
    trained = {"name": "nsga2", "options": {"population": 4, "episodes": 1, "shared": True}}
    whole = suite({**POLICIES, "methods": [trained], "seeds": [0], "budget": 20_000})
    assert not run_suite(whole, tmp_path / "results").failed
    for name, policies in (("with", True), ("without", False)):
        pack_archive(tmp_path / "results", tmp_path / f"{name}.xz", policies=policies)
        unpack_archive(tmp_path / f"{name}.xz", tmp_path / name)
        assert len(list((tmp_path / name).glob("runs/*/policies.npz"))) == policies
        assert [run.digest for run in Store(tmp_path / name).finished_runs()] == [run.digest for run in whole.list_runs()]
    pack_archive(tmp_path / "without", tmp_path / "again.xz")  # restored directories can be continued and archived
    assert (tmp_path / "again.xz").read_bytes() == (tmp_path / "without.xz").read_bytes()
    merge_results([tmp_path / "without"], tmp_path / "merged")


def replace_array(name, change):
    return lambda arrays: {**arrays, name: change(arrays[name])}


DAMAGED = {
    "a column without dimensions": replace_array("rows/seed/data", lambda array: np.array(1)),
    "numbers of 13 bytes": replace_array("rows/seed/data", lambda array: np.repeat(array, 13, axis=0)),
    "a shorter column": replace_array("rows/episode/data", lambda array: array[:, :-1]),
    "indices beyond the values": replace_array("rows/policy/data", lambda array: array + 100),
    "no part of a column": lambda arrays: {name: array for name, array in arrays.items() if name != "rows/policy/data"},
    "another type of bits": lambda arrays: {
        name: array.astype(float) if name.endswith("/null") else array for name, array in arrays.items()
    },
    "short checksums": replace_array("rows_sha256", lambda array: array[:, :3]),
    "texts of no schema": replace_array(
        "files", lambda array: write_files(array, lambda run: run | {"metadata.json": {**run["metadata.json"], "schema": "x"}})
    ),
    "a count of points": replace_array("files", lambda array: write_files(array, add_dominated)),
}


def write_files(array, change):
    """Return the array of the texts with a change of those of every run."""
    content = json.loads(array.tobytes())
    content["runs"] = {name: change(run) for name, run in content["runs"].items()}
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


def add_dominated(run):
    metadata = run["metadata.json"]
    return run | {"metadata.json": {**metadata, "facts": {**metadata["facts"], "dominated": 10**6}}}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_archives_are_invalid_files(folder, tmp_path, case):
    path = tmp_path / "a.npz.xz"
    pack_archive(folder, path)
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as arrays:
        changed = DAMAGED[case](dict(arrays))
    content = io.BytesIO()
    np.savez(content, **changed)
    path.write_bytes(lzma.compress(content.getvalue(), preset=0))

    def read():
        store = ArchivedStore(path)
        for run in filter(store.has_run, store.read_suite().list_runs(store.read_versions())):
            list(store.read_rows(run))
            store.read_metadata(run)
        unpack_archive(path, tmp_path / "restored")

    with pytest.raises(InvalidFile, match=r"a\.npz\.xz"):
        read()
