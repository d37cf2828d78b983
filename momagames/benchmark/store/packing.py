"""Packing of the rows of all finished runs of a results directory into one Parquet file.

The Parquet file replaces the text file of each run. It is much smaller and quick to read. The file is read back and compared
line by line before a text file is removed. After an interruption every row is still readable, and the next call resumes. Runs
that finish later have text files until the next call.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.export import export
from momagames.benchmark.store.packed_rows import PACKED, read_packed_rows
from momagames.benchmark.store.store import ROWS, Store, read_run
from momagames.errors import InvalidFile
from momagames.files.json_data import canonical_json


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
    texts = [path for run in store.finished_runs() if (path := store.run_directory(run) / ROWS).is_file()]
    packed = store.folder / PACKED
    before = _size([packed, *texts])
    if texts:
        export(store.folder, packed, "parquet")
        write_checksums(store.folder, hash_files(store.folder, [PACKED]))
        for path in texts:
            _check(path, packed)
        for path in texts:
            path.unlink()
    return Packing(len(texts), before, _size([packed]))


def _check(text: Path, packed: Path) -> None:
    objectives = [objective.name for objective in read_run(text.parent).game.make_game().objectives]
    with text.open(encoding="utf-8") as file:
        for number, (line, row) in enumerate(zip(file, read_packed_rows(text.parent, objectives), strict=True), 1):
            if line.rstrip("\n") != canonical_json(row):
                raise InvalidFile(f"{text}: line {number} does not come back from {packed} as it is; nothing was removed")


def _size(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files if path.is_file())
