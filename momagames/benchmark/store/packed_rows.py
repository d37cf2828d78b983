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
from momagames.files.parquet_data import read_sizes
from momagames.files.reading import CONTENT_ERRORS

Row = dict[str, Any]
PACKED = "rows.parquet"
MAX_VALUES, MAX_VALUES_OF_BYTE = 1 << 27, 64  # of a file: before they are decoded, as equal values take no space
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
    except (library.exceptions.PolarsError, library.exceptions.PanicException, *CONTENT_ERRORS) as error:
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
        table = library.from_arrow(_read_parquet(packed))
        return {key[0]: part for key, part in table.partition_by("run", as_dict=True, maintain_order=True).items()}
    except (library.exceptions.PolarsError, library.exceptions.PanicException, OSError, *CONTENT_ERRORS) as error:
        raise InvalidFile(f"{packed}: {' '.join(str(error).split())}") from None


def _read_parquet(path: Path) -> Any:
    """Return a table of pyarrow: polars ends the process for some damaged files. Raises ValueError or OSError for these."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(f'{path}: reading packed rows needs pyarrow: pip install "momagames[analysis]"') from None
    try:
        with path.open("rb") as file:
            _, groups = read_sizes(file)
        count, limit = sum(column.values for group in groups for column in group), path.stat().st_size * MAX_VALUES_OF_BYTE
        if count > max(MAX_VALUES, limit):
            raise ValueError(f"{count:,} values: expected at most {max(MAX_VALUES, limit):,}")
        with parquet.ParquetFile(path) as table:
            return table.read(use_threads=False)
    except arrow.ArrowException as error:
        raise ValueError(error) from None


def import_polars(reason: str, alternative: str = "") -> Any:
    """Return the library polars, or raise MissingExtra with the reason and an alternative."""
    try:
        return import_module("polars")
    except ImportError:
        raise MissingExtra(f'{reason}: pip install "momagames[analysis]"{alternative}') from None
