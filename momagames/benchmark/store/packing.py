"""The rows of all finished runs of a folder in one Parquet file, instead of a text file in each run's folder.

A folder of many runs gets much smaller by it, and other programs read its rows at once. The front.json of plans, which repeats
their rows, goes as well. Nothing is lost: the file is read
back and compared, line by line, before a text file is removed. Whatever stops it leaves every row readable; the next time
goes on. Runs that are finished later have text files again, until somebody packs the folder again.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momagames.benchmark.plan import canonical_json
from momagames.benchmark.store.export import RETURN, export, polars
from momagames.benchmark.store.store import PACKED, ROWS, Store, read_run
from momagames.errors import InvalidFile

Row = dict[str, Any]
OF_ROWS = ("game", "method", "seed", "version", "episode", "policy", "length", "set", "opponent", "seat", "found", "actions")


@dataclass(frozen=True)
class Packing:
    """What `pack` did: runs whose rows it took over, and the bytes of all rows of the folder before and after."""

    runs: int
    before: int
    after: int


def pack(folder: str | Path) -> Packing:
    """Pack the rows of every finished run of a folder; needs the extra `analysis`.

    Raises     MissingExtra; InvalidFile if the folder cannot be read, or if a row would not come back as it is
    """
    store = Store(folder)
    store.suite()
    texts = [path for run in store.sealed() if (path := store.place(run) / ROWS).is_file()]
    packed = store.folder / PACKED
    before = _size([packed, *texts])
    if texts:
        export(store.folder, packed, "parquet")
        for path in texts:
            _check(path, packed)
        for path in texts:
            path.unlink()
            if read_run(path.parent).kind == "plans":
                (path.parent / "front.json").unlink(missing_ok=True)
    return Packing(len(texts), before, _size([packed]))


def packed_rows(place: Path) -> Iterator[Row]:
    """The rows of the run whose folder this is, out of the packed file beside all runs; InvalidFile if they are not there."""
    packed = place.parent.parent / PACKED
    if not packed.is_file():
        raise InvalidFile(f"{place}: its rows are gone: neither {ROWS} nor {packed} is there")
    tables = _tables(packed, packed.stat().st_mtime_ns)
    if place.name not in tables:
        raise InvalidFile(f"{packed}: no rows of {place.name}")
    table = tables[place.name]
    returns = [f"{RETURN}{goal.name}" for goal in read_run(place).game.game().objectives]
    options = {text: json.loads(text) for text in table["options"].unique()}
    columns = {name: table[name].to_list() for name in OF_ROWS if table[name].null_count() < table.height}
    columns["start"] = [None if start is None else int(start) for start in table["start"]]
    columns["options"] = [options[text] for text in table["options"]]
    columns["return"] = [*zip(*(table[name].to_list() for name in returns), strict=True)]
    for values in zip(*columns.values(), strict=True):
        row = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        yield {**row, "return": list(row["return"])}


@functools.lru_cache(maxsize=2)
def _tables(packed: Path, changed: int) -> dict[str, Any]:
    """Run -> its table; read anew when the file has changed."""
    library = polars(f"{packed}: reading packed rows needs polars")
    try:
        table = library.read_parquet(packed)
        return {key[0]: part for key, part in table.partition_by("run", as_dict=True, maintain_order=True).items()}
    except (library.exceptions.PolarsError, OSError) as error:
        raise InvalidFile(f"{packed}: {' '.join(str(error).split())}") from None


def _check(text: Path, packed: Path) -> None:
    with text.open(encoding="utf-8") as file:
        for number, (line, row) in enumerate(zip(file, packed_rows(text.parent), strict=True), 1):
            if line.rstrip("\n") != canonical_json(row):
                raise InvalidFile(f"{text}: line {number} does not come back from {packed} as it is; nothing was removed")


def _size(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files if path.is_file())
