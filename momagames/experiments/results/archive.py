"""A results directory as one small file: NumPy's npz format, uncompressed, inside xz.

    numpy.load(io.BytesIO(lzma.open(FILE).read()))

Arrays, by name:

    files               JSON, as bytes: suite.json, and the config.json, metadata.json and front.json of each run; instead of
                        facts.passed in metadata.json, its length
    policies/RUN        the bytes of policies.npz
    rows/COLUMN/...     the columns of rows.parquet (see `results.packing`), its runs sorted by game, method and seed
    passed/N/...        place N of the entries of facts.passed of all runs; null where an entry is shorter

The parts of a column. Integers are uint8[B, n], the bytes of signed integers: first all lowest bytes, then the next ones.

    null                where it is null, as bits; missing if it never is, as in the first column
    strings, floats     the different values: JSON as bytes, and the bits of float64 as integers; `data` are indices into them
    data                what is not null, as integers
    size                of a column of lists: their lengths; `data` are the elements
    from/COLUMN         instead of `data`, where the game, the length and COLUMN determine the values: int[n, 4], a table

`unpack_archive` restores every file byte for byte, and the rows as one rows.parquet. Both directions need the extra `analysis`.
"""

from __future__ import annotations

import io
import json
import lzma
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import BadFile
from momagames.experiments.results.export import RETURN, polars
from momagames.experiments.results.files import read_json, write_whole
from momagames.experiments.results.packing import pack
from momagames.experiments.results.policies import POLICIES
from momagames.experiments.results.store import PACKED, Store, spelled

Arrays = dict[str, NDArray[Any]]
SUITE, TEXTS = "suite.json", ("config.json", "metadata.json", "front.json")
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]
ORDER = ("game", "method", "seed")  # of the rows in the archive: similar ones together; in rows.parquet they are sorted by run
KEYS = ("game", "length")  # of the columns that may determine a return, with one more: the seat or another return
MOST = 0.001  # lines of a table that stands for a column, as a share of its rows
NEEDED = "archives need polars"


def pack_archive(folder: str | Path, file: str | Path) -> None:
    """Pack the rows of a results directory (see `results.packing`) and write the archive; equal results give an equal file.

    Raises     MissingExtra; BadFile if the directory cannot be read, or if the archive would not restore it
    """
    pack(folder)
    store, library = Store(folder), polars(NEEDED)
    runs: dict[str, dict[str, Any]] = {}
    passed: list[list[float]] = []
    arrays: Arrays = {}
    for run in store.sealed():
        place = store.place(run)
        runs[place.name] = texts = {name: read_json(place / name) for name in TEXTS if (place / name).is_file()}
        facts = texts["metadata.json"]["facts"]
        if "passed" in facts:
            passed += facts["passed"]
            facts["passed"] = len(facts["passed"])
        if (place / POLICIES).is_file():
            arrays[f"policies/{place.name}"] = np.frombuffer((place / POLICIES).read_bytes(), np.uint8)
    places = {
        str(k): [entry[k] if k < len(entry) else None for entry in passed] for k in range(max(map(len, passed), default=0))
    }
    arrays["files"] = _bytes({SUITE: read_json(store.folder / SUITE), "runs": runs})
    arrays |= _coded("passed", library.DataFrame(places))
    rows = library.read_parquet(store.folder / PACKED)
    arrays |= _coded("rows", rows.sort(ORDER, maintain_order=True))
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    write_whole(Path(file), lzma.compress(content.getvalue(), filters=FILTERS))
    with tempfile.TemporaryDirectory() as restored:
        unpack_archive(file, restored)
        _compare(store, Path(restored))


def unpack_archive(file: str | Path, folder: str | Path) -> None:
    """Restore the results directory of an archive in `folder`, which must be new or empty.

    Raises     MissingExtra; BadFile if the archive cannot be read or the folder holds something
    """
    place = Path(folder)
    if place.exists() and any(place.iterdir()):
        raise BadFile(f"{folder}: this folder holds other things; choose an empty or a new one")
    try:
        with np.load(io.BytesIO(lzma.decompress(Path(file).read_bytes())), allow_pickle=False) as stored:
            arrays = dict(stored)
        texts = json.loads(arrays["files"].tobytes())
        passed, rows = _decoded("passed", arrays).iter_rows(), _decoded("rows", arrays).sort("run", maintain_order=True)
    except (OSError, ValueError, KeyError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise BadFile(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    for name, found in texts["runs"].items():
        run = place / "runs" / name
        run.mkdir(parents=True)
        facts = found["metadata.json"]["facts"]
        if "passed" in facts:
            facts["passed"] = [[value for value in next(passed) if value is not None] for _ in range(facts["passed"])]
        for text, data in found.items():
            (run / text).write_text(spelled(data), encoding="utf-8")
        if (policies := arrays.get(f"policies/{name}")) is not None:
            (run / POLICIES).write_bytes(policies.tobytes())
    (place / SUITE).write_text(spelled(texts[SUITE]), encoding="utf-8")
    rows.write_parquet(place / PACKED)


def _compare(store: Store, restored: Path) -> None:
    """Raise BadFile unless the restored directory equals that of the store."""
    read = polars(NEEDED).read_parquet
    if not read(store.folder / PACKED).equals(read(restored / PACKED)):
        raise BadFile(f"{store.folder / PACKED}: the archive does not restore its rows")
    runs = [path for path in store.runs.rglob("*") if path.is_file()]
    for path in (store.folder / SUITE, *runs):
        copy = restored / path.relative_to(store.folder)
        if not copy.is_file() or copy.read_bytes() != path.read_bytes():
            raise BadFile(f"{path}: the archive does not restore it")


# --------------------------------------------------------------------------------------------------------------- columns


def _coded(prefix: str, table: Any) -> Arrays:
    """The columns of a table as arrays."""
    library = polars(NEEDED)
    values: dict[str, tuple[str, NDArray[Any]]] = {}
    codes = table
    for column in table:
        if column.dtype == library.Float64:  # told apart by their bits: -0.0 is not 0.0
            bits = library.Series(column.name, column.fill_null(0.0).to_numpy().view(np.int64))
            column = table.select(library.when(column.is_not_null()).then(bits).alias(column.name)).to_series()
            values[column.name] = "floats", _planes(column.drop_nulls().unique().sort())
        elif column.dtype == library.String:
            values[column.name] = "strings", _bytes(column.drop_nulls().unique().sort().to_list())
        else:
            continue
        codes = codes.with_columns(column.rank("dense").cast(library.Int64) - 1)
    return {
        f"{prefix}/{name}/{part}": array
        for name in table.columns
        for part, array in (*([values[name]] if name in values else []), *_parts(name, codes))
    }


def _parts(name: str, codes: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """What is stored of a column of a table of integers, beside its values."""
    column = codes[name]
    if column.null_count():
        yield "null", np.packbits(column.is_null().to_numpy())
        column = column.drop_nulls()
    if found := _source(name, codes):
        yield found
    elif column.dtype.is_nested():
        yield "size", _planes(column.list.len())
        yield "data", _planes(column.explode())
    else:
        yield "data", _planes(column)


def _source(name: str, codes: Any) -> tuple[str, NDArray[Any]] | None:
    """A column that determines a return together with `KEYS`, and the table by which it does."""
    if not name.startswith(RETURN):
        return None
    there = codes.drop_nulls(name)
    earlier = codes.columns[: codes.columns.index(name)]
    for other in ("seat", *(one for one in earlier if one.startswith(RETURN))):
        keys = [*KEYS, other]
        table = there.select(*keys, name).unique().sort(keys)
        if table.height <= MOST * there.height and not any(table.null_count().row(0)) and table.n_unique(keys) == table.height:
            return f"from/{other}", table.to_numpy()
    return None


def _decoded(prefix: str, arrays: Arrays) -> Any:
    """The table of which these are the columns."""
    library = polars(NEEDED)
    columns: dict[str, dict[str, NDArray[Any]]] = {}
    for key, array in arrays.items():
        if key.startswith(f"{prefix}/"):
            _, name, part = key.split("/", 2)
            columns.setdefault(name, {})[part] = array
    codes: list[Any] = []
    for name, parts in columns.items():
        codes.append(_column(name, parts, library.DataFrame(codes)))
    table = []
    for column, parts in zip(codes, columns.values(), strict=True):
        if "strings" in parts:
            values = library.Series(column.name, json.loads(parts["strings"].tobytes()), library.String)
        elif "floats" in parts:
            bits = _integers(parts["floats"]).astype(np.int64)
            values = library.Series(column.name, bits.view(np.float64))
        table.append(values.gather(column) if {"strings", "floats"} & parts.keys() else column)
    return library.DataFrame(table)


def _column(name: str, parts: dict[str, NDArray[Any]], codes: Any) -> Any:
    """A column of integers or lists; `codes` are the columns before it."""
    library = polars(NEEDED)
    null = np.unpackbits(parts["null"], count=codes.height).astype(np.bool_) if "null" in parts else None
    if "size" in parts:
        ends = np.cumsum(_integers(parts["size"]), dtype=np.int64)
        lists = [part.tolist() for part in np.split(_integers(parts["data"]), ends)[:-1]]
        column = library.Series(name, lists, library.List(library.Int64))
    elif "data" in parts:
        column = library.Series(name, _integers(parts["data"]).astype(np.int64))
    else:
        source, table = next((part, table) for part, table in parts.items() if part.startswith("from/"))
        keys = [*KEYS, source.removeprefix("from/")]
        there = codes if null is None else codes.filter(~null)
        known = library.DataFrame(table, schema=[*keys, name], orient="row")
        column = there.join(known, on=keys, how="left", maintain_order="left")[name]
    if null is None:
        return column
    places = library.Series(np.cumsum(~null) - 1)
    return column.gather(library.select(library.when(library.Series(~null)).then(places)).to_series())


def _planes(column: Any) -> NDArray[np.uint8]:
    """Integers as bytes, uint8[B, n]; B is 1, 2, 4 or 8, as many as the largest needs."""
    values = column.to_numpy().astype(np.int64)
    low, high = values.min(initial=0), values.max(initial=0)
    kind = next(
        kind for kind in (np.int8, np.int16, np.int32, np.int64) if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max
    )
    return np.ascontiguousarray(values.astype(kind).view(np.uint8).reshape(-1, np.dtype(kind).itemsize).T)


def _integers(planes: NDArray[np.uint8]) -> NDArray[Any]:
    """The integers of `_planes`."""
    return np.ascontiguousarray(planes.T).view(f"<i{len(planes)}").reshape(-1)


def _bytes(data: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(data, separators=(",", ":"), allow_nan=False).encode(), np.uint8)
