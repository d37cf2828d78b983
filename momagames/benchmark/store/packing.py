"""Packing of the rows of all finished runs of a results directory into one Parquet file.

The Parquet file replaces the text file of each run. It is much smaller and quick to read. The file is read back and compared
line by line before a text file is removed. After an interruption every row is still readable, and the next call resumes. Runs
that finish later have text files until the next call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.export import make_table, order_columns, write_parquet
from momagames.benchmark.store.packed_rows import PACKED, import_polars, read_packed_rows, read_packed_table
from momagames.benchmark.store.store import ROWS, Store, read_run
from momagames.errors import InvalidFile
from momagames.files.json_data import canonical_json
from momagames.files.writing import atomic_path


@dataclass(frozen=True)
class Packing:
    """Number of packed runs, and bytes of all rows of the directory before and after."""

    runs: int
    before: int
    after: int


def pack(folder: str | Path) -> Packing:
    """Pack the rows of every finished run of a results directory (extra `analysis`).

    Raises     MissingExtra; InvalidFile if the directory cannot be read, or if a row would change
    """
    store = Store(folder)
    store.read_suite()
    runs = [run for run in store.finished_runs() if (store.run_directory(run) / ROWS).is_file()]
    texts = [store.run_directory(run) / ROWS for run in runs]
    packed = store.folder / PACKED
    before = _size([packed, *texts])
    if texts:
        add_packed_rows(store, make_table(store, runs))
        for path in texts:
            _check(path, packed)
        for path in texts:
            path.unlink()
    return Packing(len(texts), before, _size([packed]))


def add_packed_rows(store: Store, table: Any) -> None:
    """Add the rows of some runs, a table of polars, to the packed file; those of runs that are not finished are removed."""
    packed = store.folder / PACKED
    if packed.is_file():
        added = set(table["run"].unique())
        others = [name for name in (place.name for place in store.run_directories()) if name not in added]
        table = join_tables([select_runs(read_packed_table(packed), others), table])
    with atomic_path(packed) as temporary:
        write_parquet(temporary, table)
    write_checksums(store.folder, hash_files(store.folder, [PACKED]))


def select_runs(table: Any, names: Collection[str]) -> Any:
    """Return the rows of some runs, by the names of their directories."""
    return table.filter(import_polars("packed rows need polars").col("run").is_in(list(names)))


def join_tables(tables: Sequence[Any]) -> Any:
    """Return the rows of several tables of different runs, sorted by run."""
    table = import_polars("packed rows need polars").concat(tables, how="diagonal_relaxed")
    return table.select(order_columns(table.columns)).sort("run", maintain_order=True)


def _check(text: Path, packed: Path) -> None:
    objectives = [objective.name for objective in read_run(text.parent).game.make_game().objectives]
    with text.open(encoding="utf-8") as file:
        for number, (line, row) in enumerate(zip(file, read_packed_rows(text.parent, objectives), strict=True), 1):
            if line.rstrip("\n") != canonical_json(row):
                raise InvalidFile(f"{text}: line {number} does not come back from {packed} as it is; nothing was removed")


def _size(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files if path.is_file())
