"""Reader of the Parquet file with the rows of all finished runs of a results directory, see `packing`."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from momagames.benchmark.store.checksums import find_changed_files
from momagames.errors import InvalidFile, MissingExtra

Row = dict[str, Any]
PACKED = "rows.parquet"
RETURN = "return_"  # prefix of the columns of returns
ROW_COLUMNS = (
    "game", "method", "seed", "version", "episode", "policy", "length", "set", "opponent", "seat", "step", "actions",
)  # fmt: skip


def read_packed_rows(place: Path, objectives: Sequence[str]) -> Iterator[Row]:
    """Return the rows of the run in this directory from the packed file of all runs; InvalidFile if they are missing."""
    packed = place.parent.parent / PACKED
    if not packed.is_file():
        raise InvalidFile(f"{place}: its rows are missing, and there is no {packed}")
    tables = _read_tables(packed, packed.stat().st_mtime_ns)
    if place.name not in tables:
        raise InvalidFile(f"{packed}: no rows of {place.name}")
    library = import_polars(f"{packed}: reading packed rows needs polars")
    try:
        rows = list_rows(tables[place.name], objectives)
    except (library.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InvalidFile(f"{packed}: rows of {place.name}: {' '.join(str(error).split())}") from None
    yield from rows


def list_rows(table: Any, objectives: Sequence[str]) -> list[Row]:
    """Return the rows in the table of a run. Raises PolarsError, TypeError or ValueError for damaged ones."""
    columns = _list_columns(table, objectives)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    for name, values in columns.items():
        if None in values:
            for row in rows:
                if row[name] is None:
                    del row[name]
    return rows


def _list_columns(table: Any, objectives: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each entry of the rows."""
    columns = {name: table[name].to_list() for name in ROW_COLUMNS if table[name].null_count() < table.height}
    columns["start"] = [None if start is None else int(start) for start in table["start"]]
    options = {text: json.loads(text) for text in table["options"].unique()}
    columns["options"] = [options[text] for text in table["options"]]
    returns = [table[f"{RETURN}{name}"].to_list() for name in objectives]
    columns["return"] = [list(values) for values in zip(*returns, strict=True)]
    return columns


def find_changed_table(place: Path) -> list[str]:
    """Return a message if the packed file of all runs differs from its checksum."""
    packed = place.parent.parent / PACKED
    return _find_changes(packed, packed.stat().st_mtime_ns) if packed.is_file() else []


@functools.lru_cache(maxsize=2)
def _find_changes(packed: Path, changed: int) -> list[str]:
    return find_changed_files(packed.parent, [packed.name])


@functools.lru_cache(maxsize=2)
def _read_tables(packed: Path, changed: int) -> dict[str, Any]:
    """Return the table of each run; read again when the file has changed."""
    library = import_polars(f"{packed}: reading packed rows needs polars")
    try:
        table = library.read_parquet(packed)
        return {key[0]: part for key, part in table.partition_by("run", as_dict=True, maintain_order=True).items()}
    except (library.exceptions.PolarsError, library.exceptions.PanicException, OSError) as error:
        raise InvalidFile(f"{packed}: {' '.join(str(error).split())}") from None


def import_polars(reason: str, alternative: str = "") -> Any:
    """Return the library polars, or raise MissingExtra with the reason and an alternative."""
    try:
        return import_module("polars")
    except ImportError:
        raise MissingExtra(f'{reason}: pip install "momagames[analysis]"{alternative}') from None
