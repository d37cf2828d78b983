"""Reader of the Parquet file with the rows of all finished runs of a results directory, see `packing`."""

from __future__ import annotations

import functools
import mmap
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from momagames.benchmark.store.checksums import find_changed_files
from momagames.errors import InvalidFile, MissingExtra
from momagames.files.json_data import parse_json
from momagames.files.parquet_data import Content, measure_parquet
from momagames.files.reading import CONTENT_ERRORS, refuse_content

Row = dict[str, Any]
PACKED = "rows.parquet"
RETURN = "return_"  # prefix of the columns of returns
VECTORS = {RETURN: "return", "sum_": "sums", "square_": "squares"}  # prefix -> entry of a row with a number for each objective
ROW_COLUMNS = (
    "game", "method", "seed", "version", "episode", "policy", "length", "set", "opponent", "seat", "step", "actions",
    "episodes",
)  # fmt: skip
# Limits of a small file, and for each byte of a larger one; archived results have up to 22 values and 230 bytes of texts.
# Values include nulls: each objective of a suite has columns, which are empty in the rows of other games
LIMITS = {"values": (1 << 22, 48), "bytes before compression": (1 << 26, 64), "bytes of texts": (1 << 27, 512)}
MAX_OPTIONS = 1 << 20  # bytes of the different options of a run


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
    names = [name for name in ROW_COLUMNS if name != "episodes" or name in table.columns]
    columns = {name: table[name].to_list() for name in names if table[name].null_count() < table.height}
    columns["start"] = [None if start is None else int(start) for start in table["start"]]
    texts = table["options"].unique()
    if (texts.str.len_bytes().sum() or 0) > MAX_OPTIONS:
        raise ValueError(f"options of more than {MAX_OPTIONS:,} bytes")
    options = {text: parse_json(text, "options") for text in texts}
    columns["options"] = [options[text] for text in table["options"]]
    for prefix, key in VECTORS.items() if "episodes" in columns else [(RETURN, "return")]:
        vectors = zip(*(table[f"{prefix}{name}"].to_list() for name in objectives), strict=True)
        columns[key] = [None if values[0] is None else list(values) for values in vectors]
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
    table = read_packed_table(packed)
    with refuse_content(packed, "rows of runs"):
        return {key[0]: part for key, part in table.partition_by("run", as_dict=True, maintain_order=True).items()}


def read_packed_table(packed: Path) -> Any:
    """Return the table of a packed file. Raises InvalidFile, before it is decoded if it holds too much."""
    try:
        with packed.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _check_size(content, str(packed))
            length = len(content)
    except InvalidFile:
        raise
    except (OSError, ValueError) as error:  # an empty file
        raise InvalidFile(f"{packed}: {error}") from None
    return _decode(packed, length, str(packed))


def parse_packed_table(content: bytes, place: str) -> Any:
    """Return the table of the content of a packed file, as `read_packed_table`; `place` names it."""
    _check_size(content, place)
    return _decode(content, len(content), place)


def _decode(source: Path | bytes, length: int, place: str) -> Any:
    library = import_polars(f"{place}: reading packed rows needs polars")
    try:
        table = library.read_parquet(source)
    except (library.exceptions.PolarsError, library.exceptions.PanicException, OSError) as error:
        raise InvalidFile(f"{place}: {' '.join(str(error).split())}") from None
    expected = {library.String, library.Int64, library.Float64, library.Float32, library.List(library.Int64)}
    if others := [f"{column.name} of {column.dtype}" for column in table if column.dtype not in expected]:
        raise InvalidFile(f"{place}: column {others[0]}: expected texts, numbers and lists of integers")
    if "run" not in table.columns:
        raise InvalidFile(f"{place}: column 'run' is missing")
    texts = [column.str.len_bytes().sum() or 0 for column in table if column.dtype == library.String]
    _check_limit("bytes of texts", sum(texts), length, place)
    return table


def _check_size(content: Content, place: str) -> None:
    """Raise InvalidFile if the content of a packed file holds too much to decode it."""
    columns = measure_parquet(content, place).columns
    _check_limit("values", sum(column.values for column in columns), len(content), place)
    _check_limit("bytes before compression", sum(column.size for column in columns), len(content), place)


def _check_limit(what: str, given: int, length: int, place: str) -> None:
    least, share = LIMITS[what]
    if given > max(least, share * length):
        raise InvalidFile(f"{place}: {given:,} {what}: expected at most {max(least, share * length):,} in {length:,} bytes")


def import_polars(reason: str, alternative: str = "") -> Any:
    """Return the library polars, or raise MissingExtra with the reason and an alternative."""
    try:
        return import_module("polars")
    except ImportError:
        raise MissingExtra(f'{reason}: pip install "momagames[analysis]"{alternative}') from None
