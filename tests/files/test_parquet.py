"""Parquet: sizes that pages, row groups and footers state are compared before a library decodes them, and memory is limited."""

import io
import random
import subprocess
import sys

import numpy as np
import pytest

import momagames
from momagames.benchmark.store.packed_rows import LIMITS, PACKED, read_packed_rows, read_packed_table
from momagames.datasets.shards import Shard, action_dtype, write_shard
from momagames.errors import InvalidFile
from momagames.files.parquet_data import DOUBLE, INT64, measure_parquet

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
GIB = 1 << 30


def write(table, **options):
    file = io.BytesIO()
    parquet.write_table(arrow.table(table), file, **options)
    return file.getvalue()


def write_rows(path, count, text="text", **changes):
    """Write packed rows, with equal values in all of them: a file of some kB."""
    zeros, ones = np.zeros(count, np.int32), arrow.array(np.ones(count, np.int64))

    def repeat(one):
        return arrow.DictionaryArray.from_arrays(zeros, [one])

    names = ("game", "method", "version", "set", "policy", "opponent", "seat")
    table = {"run": repeat("run"), **dict.fromkeys(names, repeat(text)), "options": repeat("{}"), "start": repeat("5")}
    table |= dict.fromkeys(("seed", "episode", "length", "step"), ones)
    table["actions"] = arrow.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32), ones)
    table |= {f"return_{k}": arrow.array(np.full(count, 1.5)) for k in range(8)} | changes
    path.write_bytes(write(table, compression="zstd", store_schema=False, row_group_size=GIB))
    return len(table)


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": False}, {"row_group_size": 7}])
@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
def test_sizes_of_written_files(options, compression):
    table = {"a": list(range(100)), "b": [[1.5] * (k % 3) for k in range(100)], "c.d": [str(k) for k in range(100)]}
    found = measure_parquet(write(table, compression=compression, **options), "x")
    assert found.rows == 100
    lists = sum(max(1, k % 3) for k in range(100))  # an empty list has a value, too
    assert [(one.name, one.values) for one in found.columns] == [("a", 100), ("b", lists), ("c", 100)]
    assert [one.kinds for one in found.columns[:2]] == [{INT64}, {DOUBLE}]


def test_pages_that_state_other_sizes_are_refused():
    content = write({"a": np.arange(3000) % 7}, compression="zstd", use_dictionary=False)
    assert measure_parquet(content, "x").rows == 3000
    assert content[4:7] == b"\x15\x00\x15"  # a page of data; its bytes before compression follow as a number
    assert [byte >> 7 for byte in content[7:10]] == [1, 1, 0]
    forged = content[:9] + b"\x7f" + content[10:]
    with pytest.raises(InvalidFile, match=r"place: .*column a: pages of 3,000 values and .* bytes: expected .* at most"):
        measure_parquet(forged, "place")


def test_texts_that_repeat_parts_of_each_other_are_refused():
    content = write({"a": ["x" * k for k in range(100)]}, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    with pytest.raises(InvalidFile, match="encoding 7 that is not read"):
        measure_parquet(content, "x")


def test_damaged_files_are_typed_errors():
    content = write({"a": list(range(50)), "b": [[k] for k in range(50)]}, compression="zstd")
    rng = random.Random(0)
    for _ in range(3000):
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        for start in (bytes(damaged), bytes(damaged[: rng.randrange(len(damaged))])):
            try:
                measure_parquet(start, "x")
            except InvalidFile:
                continue


def test_packed_rows_of_too_many_values_are_refused(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    (place := tmp_path / "runs" / "run").mkdir(parents=True)
    columns = write_rows(tmp_path / PACKED, 2000)
    rows = list(read_packed_rows(place, [str(k) for k in range(8)]))
    assert len(rows) == 2000
    assert rows[0]["return"] == [1.5] * 8
    length = (tmp_path / PACKED).stat().st_size
    for what in LIMITS:
        with monkeypatch.context() as limits:
            limits.setitem(LIMITS, what, (0, 0))
            with pytest.raises(InvalidFile, match=rf"rows\.parquet: .* {what}: expected at most 0 in {length:,} bytes"):
                read_packed_table(tmp_path / PACKED)
    assert LIMITS["values"][0] > 2000 * columns
    for changes, message in (
        ({"seed": [True] * 2000}, "column seed of Boolean"),
        ({"run": [[["x"]]] * 2000}, r"column run of List"),
    ):
        write_rows(tmp_path / PACKED, 2000, **changes)
        with pytest.raises(InvalidFile, match=message):
            read_packed_table(tmp_path / PACKED)
    for text in ("{" * 3000, "[NaN]"):
        write_rows(tmp_path / PACKED, 2000, options=[text] * 2000)
        with pytest.raises(InvalidFile, match="rows of run: options: "):
            list(read_packed_rows(place, [str(k) for k in range(8)]))
    (tmp_path / PACKED).write_bytes(b"")
    with pytest.raises(InvalidFile, match=r"rows\.parquet: "):
        read_packed_table(tmp_path / PACKED)


READ_ROWS = """
from momagames.benchmark.store.packed_rows import read_packed_rows
read = lambda path: sum(1 for _ in read_packed_rows(path.parent / "runs" / "run", [str(k) for k in range(8)]))
"""
READ_SHARD = """
import momagames, pyarrow.parquet
from momagames.datasets.shards import parse_shard
game = momagames.spec("mo-robotmail-12-v0")
read = lambda path: len(parse_shard(path.read_bytes(), "x", game))
"""
MEASURE = """
import resource, sys
from pathlib import Path
from momagames.errors import InvalidFile
try:
    print(read(Path(sys.argv[1])))
except InvalidFile as error:
    print("refused", error)
status = Path("/proc/self/status")
if status.exists():  # what getrusage says includes the process that started this one
    print(status.read_text().split("VmHWM:")[1].split()[0])
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def read_alone(code, path):
    """Return what a process of its own prints, and the most memory that it took in bytes."""
    words = [sys.executable, "-c", code + MEASURE, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    *said, most = done.stdout.splitlines()
    return said[0], int(most) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.long
def test_memory_of_packed_rows(tmp_path):
    """The largest small files that are read, and files of some kB that are refused."""
    pytest.importorskip("polars")
    (tmp_path / "runs" / "run").mkdir(parents=True)
    path = tmp_path / PACKED
    for count, text, expected in (
        (182_000, "text", "182000"),
        (160_000, "x" * 115, "160000"),
        (160_000, "x" * 10**6, "refused"),
        (4_000_000, "text", "refused"),
    ):
        write_rows(path, count, text)
        assert path.stat().st_size < 400_000
        said, most = read_alone(READ_ROWS, path)
        assert said.startswith(expected)
        assert most < GIB, f"{most:,} bytes of memory for {path.stat().st_size:,} bytes"


@pytest.mark.long
def test_memory_of_files_of_datasets(tmp_path):
    game, path = momagames.spec("mo-robotmail-12-v0"), tmp_path / "x.parquet"
    agents, objectives = len(game.agents), len(game.objectives)
    for count, steps, expected in (
        (500_000, 2, "500000"),  # returns
        (30_000, game.max_episode_steps, "refused"),
        (30_000_000 // game.max_episode_steps, game.max_episode_steps, str(30_000_000 // game.max_episode_steps)),  # actions
    ):
        shard = Shard(
            np.zeros(count, np.uint64), np.zeros((count, agents), np.uint16), np.zeros((count, agents, objectives)),
            np.full(count, steps, np.int32), np.zeros((count * steps, 1, 1), action_dtype(game)),
        )  # fmt: skip
        write_shard(path, shard, 0, np.zeros((1, objectives), np.float32))
        said, most = read_alone(READ_SHARD, path)
        assert said.startswith(expected)
        assert most < GIB, f"{most:,} bytes of memory for {path.stat().st_size:,} bytes"
