"""Archives restore a results directory byte for byte."""

import io
import json
import lzma

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.replays import load_points, replay
from momagames.benchmark.store.archive_file import ArchivedStore, pack_archive, unpack_archive
from momagames.benchmark.store.checksums import hash_files, read_checksums, write_checksums
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import Store, find_damage
from momagames.benchmark.store.thinning import count_thinned
from momagames.errors import InvalidFile
from momagames.fronts.union import union_fronts
from momagames.reports.data.anytime_curves import compute_anytime_curves
from momagames.reports.data.report_data import collect_report_data
from tests.benchmark.tiny import EXACT, POLICIES, RANDOM, plans, suite
from tests.cli.test_app import momagames_here

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


def test_packing_fails_if_a_file_would_not_be_restored(folder, tmp_path):
    pack(folder)
    metadata = next((folder / "runs").glob("*/metadata.json"))
    metadata.write_text(metadata.read_text() + "\n")
    with pytest.raises(InvalidFile, match=r"metadata\.json: changed since it was written"):
        pack_archive(folder, tmp_path / "a.npz.xz")
    write_checksums(metadata.parent, read_checksums(metadata.parent) | hash_files(metadata.parent, [metadata.name]))
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
    with pytest.raises(InvalidFile, match="copy: expected an empty or a new folder"):
        unpack_archive(broken, folder)
    assert not (folder / PACKED).exists()


def test_archives_of_a_former_format_are_refused(tmp_path):
    content = io.BytesIO()
    np.savez(content, files=np.frombuffer(b"{}", np.uint8), rows_sha256=np.zeros((0, 32), np.uint8))
    (tmp_path / "a.npz.xz").write_bytes(lzma.compress(content.getvalue()))
    with pytest.raises(
        InvalidFile, match=r"a\.npz\.xz: in a format of archives that is not read any more: commit \w+ unpacks it"
    ):
        ArchivedStore(tmp_path / "a.npz.xz")


TRAINED = {"name": "nsga2", "options": {"population": 4, "episodes": 1, "shared": True}}


@pytest.fixture(scope="module")
def thinned(tmp_path_factory):
    """Return a results directory of plans, and of policies with trained ones, and what a smaller archive of it restores."""
    folder = tmp_path_factory.mktemp("thinned")
    parts = (
        plans([RANDOM, EXACT], id="mo-samegame-v0", board_width=4, board_height=4, num_colors=3),
        {**POLICIES, "methods": [RANDOM, TRAINED], "budget": 20_000},
    )
    assert not run_suite(suite(*parts), folder / "results").failed
    pack_archive(folder / "results", folder / "thin.npz.xz", thinned=True)
    unpack_archive(folder / "thin.npz.xz", folder / "smaller")
    return Store(folder / "results"), Store(folder / "smaller")


def test_reports_of_thinned_results_are_those_of_whole_ones(thinned):
    whole, smaller = (collect_report_data(store, store.read_suite()) for store in thinned)
    assert [panel.scores for panel in smaller.panels] == [panel.scores for panel in whole.panels]
    before, after = (compute_anytime_curves(data.panels[0], data.settings) for data in (whole, smaller))
    assert str(after) == str(before)
    assert after.runs == {"random": 2}


def test_thinned_runs_say_what_they_are_without(thinned):
    whole, smaller = thinned
    assert not count_thinned(whole)
    assert [run.digest for run in smaller.finished_runs()] == [run.digest for run in whole.finished_runs()]
    trained = [run for run in smaller.finished_runs() if run.method.name == "nsga2"]
    assert sum((smaller.run_directory(run) / "policies.npz").is_file() for run in trained) == 1 < len(trained)
    for run in smaller.finished_runs():
        place, rows, all_rows = smaller.run_directory(run), list(smaller.read_rows(run)), list(whole.read_rows(run))
        assert not find_damage(place)
        assert [row["return"] for row in rows] == [row["return"] for row in all_rows]
        assert not any("length" in row for row in rows)
        lost = {"lengths"}
        if run.kind == "plans":
            lost |= {"actions", "history"} if len(rows) > 1 else {"history"}
            assert ["actions" in row for row in rows] == [False] * (len(rows) - 1) + [True]
            replay(place, len(rows) - 1)
        elif run in trained and not (place / "policies.npz").is_file():
            lost.add("policies")
        if lost & {"actions", "policies"}:
            with pytest.raises(
                InvalidFile, match=rf"{run.folder}: restored from an archive that leaves out the (actions|parameters)"
            ):
                replay(place, 0)
        else:
            replay(place, 0)
        assert smaller.read_metadata(run)["thinned"] == sorted(lost)
    counts = count_thinned(smaller)
    assert counts == {"actions": 2, "history": 4, "lengths": 8, "policies": 1}
    with pytest.raises(InvalidFile, match="leaves out the actions"):
        union_fronts([smaller.folder])
    said = momagames_here("bench", "status", str(smaller.folder)).stderr
    assert f"{smaller.folder}: restored from an archive that leaves out the lengths of episodes: 8 runs" in said


def test_thinned_results_are_archived_and_merged_again(thinned, tmp_path):
    whole, smaller = thinned
    pack_archive(smaller.folder, tmp_path / "again.npz.xz")
    assert (tmp_path / "again.npz.xz").read_bytes() == (smaller.folder.parent / "thin.npz.xz").read_bytes()
    assert merge_results([smaller.folder], tmp_path / "merged").copied == 8
    assert merge_results([smaller.folder], tmp_path / "merged").equal == 8
    with pytest.raises(InvalidFile, match="one of them from an archive that leaves out parts of it"):
        merge_results([whole.folder], tmp_path / "merged")


DAMAGED = {
    "no rows": lambda arrays: {name: array for name, array in arrays.items() if name != "rows"},
    "rows that are no Parquet file": lambda arrays: {**arrays, "rows": arrays["rows"][:-9]},
    "rows of another table": lambda arrays: {**arrays, "rows": arrays["dominated"]},
    "texts of no schema": lambda arrays: write_files(arrays, {"schema": "x"}),
    "a count of points": lambda arrays: write_files(arrays, {"facts": {"dominated": 10**6}}),
}


def write_files(arrays, changed):
    """Return arrays with a change of the metadata of every run."""
    content = json.loads(arrays["files"].tobytes())
    for run in content["runs"].values():
        run["metadata.json"] |= changed
    return {**arrays, "files": np.frombuffer(json.dumps(content).encode(), np.uint8)}


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
