"""Archives restore a results directory byte for byte."""

import io
import json
import lzma

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.replays import load_points, replay
from momagames.benchmark.runner import Shard, list_work
from momagames.benchmark.store import archive_file
from momagames.benchmark.store.archive_file import ArchivedStore, pack_archive, unpack_archive
from momagames.benchmark.store.checksums import hash_files, read_checksums, write_checksums
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import Store, find_damage
from momagames.benchmark.store.thinning import count_thinned
from momagames.benchmark.store.unused_runs import count_unused_runs
from momagames.errors import InvalidFile
from momagames.fronts.union import union_fronts
from momagames.reports.data.anytime_curves import compute_anytime_curves
from momagames.reports.data.report_data import collect_report_data
from tests.benchmark.tiny import EXACT, HOPELESS, POLICIES, RANDOM, plans, suite
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


PARTS = suite(plans([RANDOM, EXACT], seeds=[0]), POLICIES)


@pytest.fixture(scope="module")
def first_part(tmp_path_factory):
    """An archive with the policies of a suite, which lacks the plans."""
    folder = tmp_path_factory.mktemp("parts")
    assert not run_suite(PARTS, folder / "results", shard=Shard(1, 1, experiments=("seats",))).failed
    done = pack_archive(folder / "results", folder / "archive.npz.xz", thinned=True)
    assert (done.runs, done.carried, done.failed, done.unfinished) == (4, 0, (), {"boards 0": 2})
    return folder / "archive.npz.xz"


def test_a_suite_goes_on_from_an_archive(first_part, tmp_path):
    done = run_suite(PARTS, tmp_path / "there", archive=first_part)
    assert {run.kind for run in done.finished} == {"plans"}
    assert len(done.skipped) == 4
    assert all(not find_damage(Store(done.folder).run_directory(run)) for run in PARTS.list_runs())
    counts = pack_archive(done.folder, tmp_path / "all.npz.xz", thinned=True)
    assert (counts.runs, counts.unfinished, counts.foreign, counts.unused) == (6, {}, 0, {})
    run_suite(PARTS, tmp_path / "at once")
    expected, *others = (
        collect_report_data(store, PARTS).panels
        for store in (Store(tmp_path / "at once"), Store(done.folder), ArchivedStore(tmp_path / "all.npz.xz"))
    )
    assert all([panel.scores for panel in panels] == [panel.scores for panel in expected] for panels in others)


def test_archiving_again_loses_no_run(first_part, tmp_path, monkeypatch):
    """A directory that did not start from the archive adds to it; an interruption leaves the archive as it was."""
    file = tmp_path / "archive.npz.xz"
    file.write_bytes(first_part.read_bytes())
    run_suite(
        suite(plans([RANDOM, HOPELESS], seeds=[0]), POLICIES), tmp_path / "plans", shard=Shard(1, 1, experiments=("boards 0",))
    )

    def stop(path):
        if path != file:
            raise KeyboardInterrupt
        return read(path)

    read = archive_file._read_contents
    with monkeypatch.context() as patch:
        patch.setattr(archive_file, "_read_contents", stop)
        with pytest.raises(KeyboardInterrupt):
            pack_archive(tmp_path / "plans", file, thinned=True)
    assert file.read_bytes() == first_part.read_bytes()
    done = pack_archive(tmp_path / "plans", file, thinned=True)
    assert (done.runs, done.carried, done.unfinished, done.unused) == (5, 4, {}, {})
    assert [(run.method.name, error.partition(":")[0]) for run, error in done.failed] == [("exact", "TooLarge")]
    assert ArchivedStore(file).texts.items() >= ArchivedStore(first_part).texts.items()
    run_suite(PARTS.model_copy(update={"name": "other"}), tmp_path / "plans", shard=Shard(1, 1, methods=("random",)))
    with pytest.raises(InvalidFile, match="archive of the suite 'tiny': expected one of 'other'"):
        pack_archive(tmp_path / "plans", file)


def test_a_run_that_finishes_during_archiving_waits_for_the_next_time(tmp_path, monkeypatch):
    folder, file = tmp_path / "results", tmp_path / "archive.npz.xz"
    run_suite(suite(POLICIES), folder, shard=Shard(1, 1, methods=("random",)))

    def pack_and_go_on(place):
        pack(place)
        run_suite(suite(POLICIES), place, shard=Shard(1, 1, methods=("greedy",)))

    pack = archive_file.pack
    with monkeypatch.context() as patch:
        patch.setattr(archive_file, "pack", pack_and_go_on)
        assert pack_archive(folder, file).runs == 2
    assert pack_archive(folder, file).runs == 4
    archive = ArchivedStore(file)
    assert all(list(archive.read_rows(run)) for run in suite(POLICIES).list_runs())


def test_a_directory_of_an_older_suite_drops_no_archived_run(first_part, tmp_path):
    file = tmp_path / "archive.npz.xz"
    file.write_bytes(first_part.read_bytes())
    older = suite({**POLICIES, "report_episodes": 6})
    run_suite(older, tmp_path / "older", shard=Shard(1, 1, methods=("random",)))
    with pytest.raises(InvalidFile, match=r"older lacks 4 runs of this archive.*bench run SUITE --out.*--new-suite"):
        pack_archive(tmp_path / "older", file, thinned=True)
    assert file.read_bytes() == first_part.read_bytes()
    done = pack_archive(tmp_path / "older", file, thinned=True, new_suite=True)
    assert (done.runs, done.carried, sum(done.unused.values())) == (2, 0, 4)


def test_archived_runs_of_other_settings_do_not_count(first_part, tmp_path):
    changed = {**POLICIES, "report_episodes": 6, "methods": [RANDOM, {"name": "greedy", "options": {"divisions": 2}}]}
    wanted = suite({**changed, "seats": ["player_0"]})
    work = list_work(wanted, tmp_path, archive=first_part)
    assert (work.restored, len(work.due)) == ((), 4)
    assert work.archive.count_unused_runs(work.all_runs) == {
        "other report_episodes and seats": 2, "other options, report_episodes and seats": 2
    }  # fmt: skip
    larger = suite({**POLICIES, "games": [{"id": "mo-breakthrough-v0", "params": {}}], "methods": [RANDOM]})
    assert work.archive.count_unused_runs(larger.list_runs()) == {"other games or parameters": 4}
    config = {"canonical": "mo-breakthrough-v9", "game": {"id": "mo-breakthrough-v9"}, "method": RANDOM}
    assert count_unused_runs([config], work.all_runs) == {"other versions of the rules": 1}


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
