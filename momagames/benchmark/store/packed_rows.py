"""Reader of the Parquet file with the rows of all finished runs of a results directory, see `packing`."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from momagames.errors import InvalidFile, MissingExtra

Row = dict[str, Any]
PACKED = "rows.parquet"
RETURN = "return_"  # prefix of the columns of returns
ROW_COLUMNS = (
    "game", "method", "seed", "version", "episode", "policy", "length", "set", "opponent", "seat", "found", "actions",
)  # fmt: skip


def read_packed_rows(place: Path, objectives: Sequence[str]) -> Iterator[Row]:
    """Return the rows of the run in this directory from the packed file of all runs; InvalidFile if they are missing."""
    packed = place.parent.parent / PACKED
    if not packed.is_file():
        raise InvalidFile(f"{place}: its rows are missing, and there is no {packed}")
    tables = _read_tables(packed, packed.stat().st_mtime_ns)
    if place.name not in tables:
        raise InvalidFile(f"{packed}: no rows of {place.name}")
    returns = [f"{RETURN}{name}" for name in objectives]
    for record in tables[place.name].iter_rows(named=True):
        yield _make_row(record, returns)


@functools.lru_cache(maxsize=2)
def _read_tables(packed: Path, changed: int) -> dict[str, Any]:
    """Return the table of each run; read again when the file has changed."""
    library = import_polars(f"{packed}: reading packed rows needs polars")
    try:
        table = library.read_parquet(packed)
        return {key[0]: part for key, part in table.partition_by("run", as_dict=True, maintain_order=True).items()}
    except (library.exceptions.PolarsError, OSError) as error:
        raise InvalidFile(f"{packed}: {' '.join(str(error).split())}") from None


def _make_row(record: dict[str, Any], returns: list[str]) -> Row:
    row = {name: record[name] for name in ROW_COLUMNS if record[name] is not None}
    if record["start"] is not None:
        row["start"] = int(record["start"])
    return {**row, "return": [record[name] for name in returns], "options": json.loads(record["options"])}


def import_polars(reason: str, alternative: str = "") -> Any:
    """Return the library polars, or raise MissingExtra with the reason and an alternative."""
    try:
        return import_module("polars")
    except ImportError:
        raise MissingExtra(f'{reason}: pip install "momagames[analysis]"{alternative}') from None
