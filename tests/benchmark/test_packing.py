"""Rows packed into Parquet come back as they were, whatever happens on the way."""

import json
import os
import sys

import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.replays import load_points, replay
from momagames.benchmark.store import packed_rows, packing
from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.export import export
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import ROWS, Store
from momagames.errors import InvalidFile, MissingExtra
from momagames.reports import report
from tests.benchmark.tiny import EXACT, POLICIES, RANDOM, plans, seal, suite

polars = pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')


def rows(folder):
    store = Store(folder)
    return {run.folder: list(store.read_rows(run)) for run in store.finished_runs()}


def texts(folder):
    return sorted((folder / "runs").glob(f"*/{ROWS}"))


def test_rows_come_back_as_they_were(folder):
    before, count = rows(folder), len(texts(folder))
    done = pack(folder)
    assert (done.runs, texts(folder)) == (count, [])
    assert done.after == (folder / PACKED).stat().st_size < done.before
    assert rows(folder) == before
    assert any("actions" in row for found in before.values() for row in found)


@pytest.mark.long
def test_every_reader_reads_packed_rows(folder, tmp_path):
    export(folder, tmp_path / "text.csv", "csv")
    table = report(folder).panels
    runs = {path.name: load_points(path) for path in (folder / "runs").iterdir()}
    pack(folder)
    export(folder, tmp_path / "packed.csv", "csv")
    assert (tmp_path / "packed.csv").read_bytes() == (tmp_path / "text.csv").read_bytes()
    assert [panel.scores for panel in report(folder).panels] == [panel.scores for panel in table]
    for run, before in runs.items():
        assert load_points(folder / "runs" / run) == before
        assert replay(folder / "runs" / run, 0).record["actions"]


def test_merge_writes_the_text_again(finished, folder, tmp_path):
    pack(folder)
    merge_results([folder], tmp_path / "merged")
    for path in texts(finished):
        assert (tmp_path / "merged" / "runs" / path.parent.name / ROWS).read_bytes() == path.read_bytes()
    assert merge_results([folder, finished], tmp_path / "merged").copied == 0  # packed or not, they are equal


def test_runs_finished_later_are_packed_by_the_next_call(tmp_path):
    few, more = suite(plans([RANDOM], seeds=[0]), POLICIES), suite(plans([RANDOM, EXACT], seeds=[0, 1]), POLICIES)
    run_suite(few, tmp_path)
    pack(tmp_path)
    first = rows(tmp_path)
    run_suite(more, tmp_path)
    assert len(texts(tmp_path)) == 3
    before = rows(tmp_path)
    assert pack(tmp_path).runs == 3
    assert rows(tmp_path) == before
    assert first.items() <= before.items()
    assert pack(tmp_path).runs == 0


def test_a_row_that_would_change_is_an_error(folder):
    path = texts(folder)[0]
    row = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps({**row, "mood": "good"}, sort_keys=True, separators=(",", ":")) + "\n")
    seal(path.parent)
    before = texts(folder)
    with pytest.raises(InvalidFile, match="line 1 does not come back"):
        pack(folder)
    assert texts(folder) == before


def test_interruption_before_the_text_files_are_removed(folder, monkeypatch):
    before = rows(folder)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(packing, "_check", stop)
        with pytest.raises(KeyboardInterrupt):
            pack(folder)
    assert rows(folder) == before
    pack(folder)
    assert rows(folder) == before
    assert not texts(folder)


def test_missing_or_damaged_files(folder, monkeypatch):
    pack(folder)
    run = next(Store(folder).finished_runs())
    packed_rows._read_tables.cache_clear()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "polars", None)
        with pytest.raises(MissingExtra, match=r"rows\.parquet.*momagames\[analysis\]"):
            list(Store(folder).read_rows(run))
    (folder / PACKED).write_bytes(b"PAR1 no")
    with pytest.raises(InvalidFile, match=r"rows\.parquet"):
        list(Store(folder).read_rows(run))
    (folder / PACKED).unlink()
    with pytest.raises(InvalidFile, match=r"rows\.jsonl: is missing"):
        list(Store(folder).read_rows(run))


@pytest.mark.long
def test_damaged_tables_with_the_right_checksum_are_invalid_files(folder):
    """polars ends the process when it decodes some of these."""
    pack(folder)
    path = folder / PACKED
    content, store = path.read_bytes(), Store(folder)
    run = next(iter(store.finished_runs()))
    length = int.from_bytes(content[-8:-4], "little")
    for number, place in enumerate([*range(0, 400, 3), *range(len(content) - 8 - length, len(content), 7)]):
        path.write_bytes(content[:place] + bytes([content[place] ^ (1 << number % 8)]) + content[place + 1 :])
        os.utime(path, ns=(0, number))  # so that it is read again
        write_checksums(folder, hash_files(folder, [PACKED]))
        try:
            list(store.read_rows(run))
        except InvalidFile as error:
            assert PACKED in str(error)  # noqa: PT017
