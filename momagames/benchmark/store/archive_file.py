"""A results directory as one small file: NumPy's npz format, uncompressed, inside xz.

    numpy.load(io.BytesIO(lzma.open(FILE).read()))

Arrays by name:

    files               JSON as bytes: suite.json, and the config.json, metadata.json and front.json of each run, where
                        facts.dominated is replaced by its length
    policies/RUN        the bytes of policies.npz
    rows_sha256         uint8[runs, 32]: the checksum of the rows of each run, in the order of `files`
    rows/COLUMN/...     the columns of rows.parquet (see `store.packing`), sorted by game, method and seed
    dominated/N/...     item N of the entries of facts.dominated of all runs; null where an entry is shorter

Parts of a column. Integers are stored as byte planes, uint8[B, n]: the lowest bytes of all signed integers, then the next ones.

    null                mask of the null values, as bits; missing if there are none
    strings, floats     the distinct values: JSON as bytes, and the bits of float64 as integers; `data` are indices into them
    data                the values that are not null, as integers
    size                lengths of the lists in a column of lists; `data` are their elements
    from/COLUMN         int[n, 4], instead of `data`: a table from the game, the length and COLUMN to the value

`unpack_archive` restores every file byte for byte, but for policies if the archive is without them, and the rows as one
rows.parquet. Both directions need the extra `analysis`.
"""

from __future__ import annotations

import io
import json
import lzma
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.benchmark.runs import Run
from momagames.benchmark.store.checksums import CHECKSUMS, hash_files, read_checksums, write_checksums
from momagames.benchmark.store.packed_rows import PACKED, RETURN, import_polars, list_rows, read_packed_table
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.policy_files import POLICIES
from momagames.benchmark.store.store import FRONT, HASHED, ROWS, Store, check_schema, format_json, list_trained
from momagames.errors import InvalidFile
from momagames.files.json_data import parse_json, read_json
from momagames.files.npz_data import MAX_BYTES, Arrays, read_arrays
from momagames.files.reading import read_bytes, refuse_content
from momagames.files.writing import write_file_atomically

SUITE, TEXTS = "suite.json", ("config.json", "metadata.json", "front.json")
XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]
ROW_ORDER = ("game", "method", "seed")  # in the archive, where similar rows are adjacent; rows.parquet is sorted by run
KEYS = ("game", "length")  # determine some returns together with one more column: the seat or another return
MAX_TABLE_SHARE = 0.001  # length of a table that replaces a column, as a share of the rows
SHA256_DIGITS = 64
MISSING_POLARS = "archives need polars"


def pack_archive(folder: str | Path, file: str | Path, policies: bool = True) -> None:
    """Pack the rows of a results directory (see `store.packing`) and write the archive; equal results give equal bytes.

    policies    keep the parameters of trained policies, which can be much larger than all rows; a restored directory without
                them has all scores, but cannot replay these policies
    Raises     MissingExtra; InvalidFile if the directory cannot be read, or if the archive does not restore it
    """
    pack(folder)
    store, library = Store(folder), import_polars(MISSING_POLARS)
    runs: dict[str, dict[str, Any]] = {}
    dominated: list[list[float]] = []
    arrays: Arrays = {}
    for run in store.finished_runs():
        place = store.run_directory(run)
        names = [name for name in TEXTS if (place / name).is_file() and not _is_plan_front(run, name)]
        runs[place.name] = texts = {name: read_json(place / name) for name in names}
        facts = texts["metadata.json"]["facts"]
        if "dominated" in facts:
            dominated += facts["dominated"]
            facts["dominated"] = len(facts["dominated"])
        if policies and (place / POLICIES).is_file():
            arrays[f"policies/{place.name}"] = np.frombuffer((place / POLICIES).read_bytes(), np.uint8)
    width = max(map(len, dominated), default=0)
    items = {str(k): [entry[k] if k < len(entry) else None for entry in dominated] for k in range(width)}
    arrays["files"] = _json_bytes({SUITE: read_json(store.folder / SUITE), "runs": runs})
    sums = "".join(read_checksums(store.runs / name)[ROWS] for name in runs)
    arrays["rows_sha256"] = np.frombuffer(bytes.fromhex(sums), np.uint8).reshape(-1, 32)
    arrays |= _encode_table("dominated", library.DataFrame(items))
    rows = read_packed_table(store.folder / PACKED)
    arrays |= _encode_table("rows", rows.sort(ROW_ORDER, maintain_order=True))
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    write_file_atomically(Path(file), lzma.compress(content.getvalue(), filters=XZ_FILTERS))
    with tempfile.TemporaryDirectory() as restored:
        unpack_archive(file, restored)
        _check_restored(store, Path(restored), policies)


def unpack_archive(file: str | Path, folder: str | Path) -> None:
    """Restore the results directory of an archive in `folder`, which must be new or empty.

    Raises     MissingExtra; InvalidFile if the archive cannot be read or the folder is not empty
    """
    place = Path(folder)
    if place.exists() and any(place.iterdir()):
        raise InvalidFile(f"{folder}: the folder is not empty; choose an empty or a new one")
    texts, rows, arrays = _read_contents(file)
    with _refuse_damage(file):
        sums = [one.tobytes().hex() for one in arrays["rows_sha256"]]
        if any(len(one) != SHA256_DIGITS for one in sums):
            raise ValueError("a checksum of rows has another length")
        for (name, contents), rows_sum in zip(texts["runs"].items(), sums, strict=True):
            run = place / "runs" / name
            run.mkdir(parents=True)
            for text, data in contents.items():
                (run / text).write_text(format_json(data), encoding="utf-8", newline="\n")
            if (policies := arrays.get(f"policies/{name}")) is not None:
                (run / POLICIES).write_bytes(policies.tobytes())
            write_checksums(run, {ROWS: rows_sum, **hash_files(run, HASHED)})
        (place / SUITE).write_text(format_json(texts[SUITE]), encoding="utf-8", newline="\n")
        rows.write_parquet(place / PACKED)
    write_checksums(place, hash_files(place, [PACKED]))


class ArchivedStore(Store):
    """An archived results directory that is read without its files. Raises as `unpack_archive`."""

    def __init__(self, file: str | Path) -> None:
        super().__init__(file)
        texts, rows, _ = _read_contents(file)
        self._suite, self._texts = texts[SUITE], texts["runs"]
        self._objectives: dict[str, list[str]] = {}  # of each game, which is slow to make for each run
        with _refuse_damage(file):
            self._rows = {key[0]: part for key, part in rows.partition_by("run", as_dict=True, maintain_order=True).items()}

    def has_suite(self) -> bool:
        return True

    def _read_suite_file(self) -> dict[str, Any]:
        return check_schema(self.folder / SUITE, self._suite)

    def _find_trained(self, names: set[str]) -> frozenset[str]:
        return frozenset[str]().union(*(list_trained(one.get("config.json", {})) for one in self._texts.values()))

    def has_run(self, run: Run) -> bool:
        return run.folder in self._texts

    def read_metadata(self, run: Run) -> dict[str, Any]:
        return self._read_text(run, "metadata.json")

    def read_front(self, run: Run) -> list[dict[str, Any]]:
        with _refuse_damage(self.folder):
            return list(self._read_text(run, FRONT)["points"])

    def read_rows(self, run: Run) -> Iterator[dict[str, Any]]:
        if run.canonical not in self._objectives:
            self._objectives[run.canonical] = [objective.name for objective in run.game.make_game().objectives]
        with _refuse_damage(self.folder):
            return iter(list_rows(self._rows[run.folder], self._objectives[run.canonical]))

    def _read_text(self, run: Run, name: str) -> dict[str, Any]:
        with _refuse_damage(self.folder):
            return check_schema(self.folder / run.folder / name, self._texts[run.folder][name])


def _read_contents(file: str | Path) -> tuple[dict[str, Any], Any, Arrays]:
    """Return the texts of an archive, its rows sorted by run, and all of its arrays. Raises InvalidFile."""
    with _refuse_damage(file):
        arrays = read_arrays(read_bytes(file, MAX_BYTES), str(file))
        texts = _check_texts(parse_json(arrays["files"].tobytes(), f"{file}: files"), file)
        dominated = _decode_table("dominated", arrays).iter_rows()
        rows = _decode_table("rows", arrays).sort("run", maintain_order=True)
        if len(arrays["rows_sha256"]) != len(texts["runs"]):
            raise ValueError("expected a checksum for the rows of each run")
        for contents in texts["runs"].values():
            facts = contents["metadata.json"]["facts"]
            if "dominated" in facts:
                facts["dominated"] = [
                    [value for value in next(dominated) if value is not None] for _ in range(facts["dominated"])
                ]
    return texts, rows, arrays


@contextmanager
def _refuse_damage(file: str | Path) -> Iterator[None]:
    """Raise InvalidFile for errors of the block, of files and of the library too, some of which are no Exception."""
    library = import_polars(MISSING_POLARS)
    with refuse_content(file, "an archive of results"):
        try:
            yield
        except (library.exceptions.PolarsError, library.exceptions.PanicException, OSError) as error:
            raise ValueError(error) from None


def _check_texts(texts: Any, file: str | Path) -> dict[str, Any]:
    """Return the texts of an archive if they are those of a results directory. Raises InvalidFile."""
    is_valid = isinstance(texts, dict) and texts.keys() == {SUITE, "runs"} and isinstance(texts["runs"], dict)
    for name, contents in texts["runs"].items() if is_valid else ():
        is_name = Path(name).name == name and name not in (".", "..")
        is_valid &= is_name and isinstance(contents, dict) and contents.keys() <= set(TEXTS)
        is_valid = is_valid and isinstance(contents.get("metadata.json"), dict)
        is_valid = is_valid and isinstance(contents["metadata.json"].get("facts"), dict)
    if not is_valid:
        raise InvalidFile(f"{file}: 'files' is not the list of the files of a results directory")
    return dict(texts)


def _check_restored(store: Store, restored: Path, policies: bool) -> None:
    """Raise InvalidFile unless the restored directory equals that of the store, with or without its policies."""
    if not read_packed_table(store.folder / PACKED).equals(read_packed_table(restored / PACKED)):
        raise InvalidFile(f"{store.folder / PACKED}: the archive does not restore its rows")
    files = {store.folder / SUITE: True}
    for run in store.finished_runs():
        files |= {
            path: not _is_plan_front(run, path.name) and (policies or path.name != POLICIES)
            for path in store.run_directory(run).iterdir()
        }
    for path, is_stored in files.items():
        copy = restored / path.relative_to(store.folder)
        if is_stored and path.name != CHECKSUMS and (not copy.is_file() or copy.read_bytes() != path.read_bytes()):
            raise InvalidFile(f"{path}: the archive does not restore it")


def _is_plan_front(run: Run, name: str) -> bool:
    """Return whether a file is the front of plans, which an archive omits because it repeats their rows."""
    return run.kind == "plans" and name == FRONT


# --------------------------------------------------------------------------------------------------------------- columns


def _encode_table(prefix: str, table: Any) -> Arrays:
    """Return the columns of a table as arrays."""
    library = import_polars(MISSING_POLARS)
    values: dict[str, tuple[str, NDArray[Any]]] = {}
    codes = table
    for column in table:
        if column.dtype == library.Float64:  # distinguished by their bits: -0.0 is not 0.0
            bits = library.Series(column.name, column.fill_null(0.0).to_numpy().view(np.int64))
            column = table.select(library.when(column.is_not_null()).then(bits).alias(column.name)).to_series()
            values[column.name] = "floats", _split_bytes(column.drop_nulls().unique().sort())
        elif column.dtype == library.String:
            values[column.name] = "strings", _json_bytes(column.drop_nulls().unique().sort().to_list())
        else:
            continue
        codes = codes.with_columns(column.rank("dense").cast(library.Int64) - 1)
    return {
        f"{prefix}/{name}/{part}": array
        for name in table.columns
        for part, array in (*([values[name]] if name in values else []), *_encode_column(name, codes))
    }


def _encode_column(name: str, codes: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the parts of a column of a table of integers, except its distinct values."""
    column = codes[name]
    if column.null_count():
        yield "null", np.packbits(column.is_null().to_numpy())
        column = column.drop_nulls()
    if source := _find_source(name, codes):
        yield source
    elif column.dtype.is_nested():
        yield "size", _split_bytes(column.list.len())
        yield "data", _split_bytes(column.explode())
    else:
        yield "data", _split_bytes(column)


def _find_source(name: str, codes: Any) -> tuple[str, NDArray[Any]] | None:
    """Find a column that determines a return together with `KEYS`; return its part name and the table."""
    if not name.startswith(RETURN):
        return None
    rows = codes.drop_nulls(name)
    earlier = codes.columns[: codes.columns.index(name)]
    for other in ("seat", *(column for column in earlier if column.startswith(RETURN))):
        keys = [*KEYS, other]
        table = rows.select(*keys, name).unique().sort(keys)
        is_small = table.height <= MAX_TABLE_SHARE * rows.height
        if is_small and not any(table.null_count().row(0)) and table.n_unique(keys) == table.height:
            return f"from/{other}", table.to_numpy()
    return None


def _decode_table(prefix: str, arrays: Arrays) -> Any:
    """Return the table that `_encode_table` has encoded."""
    library = import_polars(MISSING_POLARS)
    columns: dict[str, dict[str, NDArray[Any]]] = {}
    for key, array in arrays.items():
        if key.startswith(f"{prefix}/"):
            _, name, part = key.split("/", 2)
            columns.setdefault(name, {})[part] = array
    codes: list[Any] = []
    for name, parts in columns.items():
        codes.append(_decode_column(name, parts, library.DataFrame(codes)))
    table = []
    for column, parts in zip(codes, columns.values(), strict=True):
        if "strings" in parts:
            values = library.Series(column.name, json.loads(parts["strings"].tobytes()), library.String)
        elif "floats" in parts:
            values = library.Series(column.name, _join_bytes(parts["floats"]).astype(np.int64).view(np.float64))
        table.append(values.gather(column) if {"strings", "floats"} & parts.keys() else column)
    return library.DataFrame(table)


def _decode_column(name: str, parts: dict[str, NDArray[Any]], codes: Any) -> Any:
    """Return a column of integers or lists; `codes` are the columns before it."""
    library = import_polars(MISSING_POLARS)
    null = np.unpackbits(parts["null"], count=codes.height).astype(np.bool_) if "null" in parts else None
    if "size" in parts:
        ends = np.cumsum(_join_bytes(parts["size"]), dtype=np.int64)
        lists = [part.tolist() for part in np.split(_join_bytes(parts["data"]), ends)[:-1]]
        column = library.Series(name, lists, library.List(library.Int64))
    elif "data" in parts:
        column = library.Series(name, _join_bytes(parts["data"]).astype(np.int64))
    else:
        source, table = next((part, table) for part, table in parts.items() if part.startswith("from/"))
        keys = [*KEYS, source.removeprefix("from/")]
        rows = codes if null is None else codes.filter(~null)
        lookup = library.DataFrame(table, schema=[*keys, name], orient="row")
        column = rows.join(lookup, on=keys, how="left", maintain_order="left")[name]
    if null is None:
        return column
    indices = library.Series(np.cumsum(~null) - 1)
    return column.gather(library.select(library.when(library.Series(~null)).then(indices)).to_series())


def _split_bytes(column: Any) -> NDArray[np.uint8]:
    """Return integers as byte planes, uint8[B, n]; B is 1, 2, 4 or 8, as many as the largest one needs."""
    values = column.to_numpy().astype(np.int64)
    low, high = values.min(initial=0), values.max(initial=0)
    kind = next(
        kind for kind in (np.int8, np.int16, np.int32, np.int64) if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max
    )
    return np.ascontiguousarray(values.astype(kind).view(np.uint8).reshape(-1, np.dtype(kind).itemsize).T)


def _join_bytes(planes: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the integers of `_split_bytes`."""
    return np.ascontiguousarray(planes.T).view(f"<i{len(planes)}").reshape(-1)


def _json_bytes(data: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(data, separators=(",", ":"), allow_nan=False).encode(), np.uint8)
