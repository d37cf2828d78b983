"""A results directory as one small file: NumPy's npz format, uncompressed, inside xz.

    numpy.load(io.BytesIO(lzma.open(FILE).read()))

Arrays by name, each the bytes of a file:

    files           JSON: suite.json, and the config.json, metadata.json and front.json of each run, where facts.dominated is
                    replaced by its length; the fronts of plans are omitted, because they repeat rows
    rows            Parquet: rows.parquet (see `store.packing`), sorted by game, method and seed, not compressed
    dominated       Parquet: the entries of facts.dominated of all runs; columns of their values, null where an entry is shorter
    policies/RUN    policies.npz

`unpack_archive` restores every other file byte for byte, and the rows as one rows.parquet. An archive may leave out parts of
runs, which their metadata.json lists (see `store.thinning`). Both directions need the extra `analysis`.
"""

from __future__ import annotations

import io
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.benchmark.runs import Run
from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.packed_rows import PACKED, import_polars, list_rows, parse_packed_table, read_packed_table
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.policy_files import POLICIES
from momagames.benchmark.store.store import (
    FRONT,
    HASHED,
    METADATA,
    ROWS,
    Store,
    check_schema,
    check_suite_file,
    find_damage,
    format_json,
    format_row,
    list_trained,
    read_run,
)
from momagames.benchmark.store.thinning import Texts, choose_policies, thin_rows, thin_texts
from momagames.errors import InvalidFile, first_of
from momagames.files.json_data import parse_json, read_json
from momagames.files.npz_data import MAX_BYTES, Arrays, read_arrays
from momagames.files.reading import hash_content, read_bytes, refuse_content
from momagames.files.writing import write_file_atomically

SUITE, CONFIG = "suite.json", "config.json"
TEXTS = (CONFIG, METADATA, FRONT)
PRESET = 9 | lzma.PRESET_EXTREME
ROW_ORDER = ("game", "method", "seed")  # in the archive, where similar rows are adjacent; rows.parquet is sorted by run
FORMER = "rows_sha256"  # an array of archives of another format
LAST_READER = "9276c87e"  # the last commit that reads them
MISSING_POLARS = "archives need polars"


def pack_archive(folder: str | Path, file: str | Path, thinned: bool = False) -> None:
    """Pack the rows of a results directory (see `store.packing`) and write the archive.

    Equal results give equal bytes with one version of polars.

    thinned    leave out what reports do not need (see `store.thinning`); a restored directory says what it is without
    Raises     MissingExtra; InvalidFile if the directory cannot be read or is damaged, or if the archive does not restore it
    """
    pack(folder)
    store = Store(folder)
    runs = list(store.finished_runs())
    if problems := [problem for run in runs for problem in find_damage(store.run_directory(run))]:
        raise InvalidFile(first_of(problems))
    rows = read_packed_table(store.folder / PACKED)
    places = {run.folder: store.run_directory(run) for run in runs}
    texts = {
        run.folder: {
            name: _read_text(places[run.folder] / name)
            for name in TEXTS
            if (places[run.folder] / name).is_file() and not (run.kind == "plans" and name == FRONT)
        }
        for run in runs
    }
    policies = {name: (place / POLICIES).read_bytes() for name, place in places.items() if (place / POLICIES).is_file()}
    if thinned:
        policies = choose_policies(runs, policies)
        texts, rows = thin_texts(runs, texts, rows, policies), thin_rows(runs, texts, rows)
    files = {SUITE: _read_text(store.folder / SUITE), "runs": texts}
    short, dominated = _split_dominated(texts)
    arrays = {
        "files": _as_array(json.dumps({**files, "runs": short}, separators=(",", ":"), allow_nan=False).encode()),
        "rows": _format_table(rows.sort(ROW_ORDER, maintain_order=True)),
        "dominated": _format_table(dominated),
        **{f"policies/{name}": _as_array(one) for name, one in policies.items()},
    }
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    write_file_atomically(Path(file), lzma.compress(content.getvalue(), preset=PRESET))
    restored, restored_rows, _ = _read_contents(file)
    if format_json(restored) != format_json(files) or not restored_rows.equals(rows):
        raise InvalidFile(f"{folder}: the archive does not restore it")


def unpack_archive(file: str | Path, folder: str | Path) -> None:
    """Restore the results directory of an archive in `folder`, which must be new or empty.

    Raises     MissingExtra; InvalidFile if the archive cannot be read or the folder is not empty
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InvalidFile(f"{folder}: expected an empty or a new folder")
    store = ArchivedStore(file)
    with _refuse_damage(file):
        for name, texts in store.texts.items():
            directory = place / "runs" / name
            directory.mkdir(parents=True)
            for text, data in texts.items():
                (directory / text).write_text(format_json(data), encoding="utf-8", newline="\n")
            if (policies := store.arrays.get(f"policies/{name}")) is not None:
                (directory / POLICIES).write_bytes(policies.tobytes())
            rows = "".join(map(format_row, store.read_rows(read_run(directory))))
            write_checksums(directory, {ROWS: hash_content(rows.encode()), **hash_files(directory, HASHED)})
        (place / SUITE).write_text(format_json(store.suite), encoding="utf-8", newline="\n")
        store.rows.write_parquet(place / PACKED)
    write_checksums(place, hash_files(place, [PACKED]))


class ArchivedStore(Store):
    """An archived results directory that is read without its files. Raises as `unpack_archive`."""

    def __init__(self, file: str | Path) -> None:
        super().__init__(file)
        files, self.rows, self.arrays = _read_contents(file)
        self.suite, self.texts = files[SUITE], files["runs"]
        self._objectives: dict[str, list[str]] = {}  # of each game, which is slow to make for each run
        with _refuse_damage(file):
            parts = self.rows.partition_by("run", as_dict=True, maintain_order=True)
            self._rows = {key[0]: part for key, part in parts.items()}

    def has_suite(self) -> bool:
        return True

    def _read_suite_file(self) -> dict[str, Any]:
        return check_suite_file(self.folder / SUITE, self.suite)

    def _find_trained(self, names: set[str]) -> frozenset[str]:
        return frozenset[str]().union(*(list_trained(one.get(CONFIG, {})) for one in self.texts.values()))

    def has_run(self, run: Run) -> bool:
        return run.folder in self.texts

    def read_metadata(self, run: Run) -> dict[str, Any]:
        return self._read_text(run, METADATA)

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
            return check_schema(self.folder / run.folder / name, self.texts[run.folder][name])


def _read_text(path: Path) -> dict[str, Any]:
    """Return the content of a file of JSON. Raises InvalidFile if it is not written as an archive restores it."""
    data = read_json(path)
    if format_json(data).encode() != path.read_bytes():
        raise InvalidFile(f"{path}: the archive does not restore it")
    return dict(data)


def _read_contents(file: str | Path) -> tuple[dict[str, Any], Any, Arrays]:
    """Return the texts of an archive, its rows sorted by run, and all of its arrays. Raises InvalidFile."""
    with _refuse_damage(file):
        arrays = read_arrays(read_bytes(file, MAX_BYTES), str(file))
        if FORMER in arrays:
            raise InvalidFile(f"{file}: in a format of archives that is not read any more: commit {LAST_READER} unpacks it")
        texts = _check_texts(parse_json(arrays["files"].tobytes(), f"{file}: files"), file)
        rows = _parse_table(arrays, "rows", file).sort("run", maintain_order=True)
        dominated = _parse_table(arrays, "dominated", file).drop("run").iter_rows()
        for contents in texts["runs"].values():
            facts = contents[METADATA]["facts"]
            if "dominated" in facts:
                entries = [next(dominated) for _ in range(facts["dominated"])]
                facts["dominated"] = [[value for value in entry if value is not None] for entry in entries]
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
        is_valid = is_valid and isinstance(contents.get(METADATA), dict)
        is_valid = is_valid and isinstance(contents[METADATA].get("facts"), dict)
    if not is_valid:
        raise InvalidFile(f"{file}: 'files' is not the list of the files of a results directory")
    return dict(texts)


def _split_dominated(texts: Texts) -> tuple[Texts, Any]:
    """Return the files of each run with lengths instead of facts.dominated, and a table of the entries."""
    short, entries, names = dict(texts), list[list[float]](), list[str]()
    for name, contents in texts.items():
        facts = contents[METADATA]["facts"]
        if "dominated" in facts:
            own = facts["dominated"]
            short[name] = {**contents, METADATA: {**contents[METADATA], "facts": {**facts, "dominated": len(own)}}}
            entries += own
            names += [name] * len(own)
    width = max(map(len, entries), default=0)
    columns = {str(k): [entry[k] if k < len(entry) else None for entry in entries] for k in range(width)}
    library = import_polars(MISSING_POLARS)
    return short, library.DataFrame({"run": library.Series(names, dtype=library.String), **columns})


def _format_table(table: Any) -> NDArray[np.uint8]:
    """Return the content of a Parquet file, not compressed, which xz does better; numbers have 32 bits if these suffice."""
    library, content = import_polars(MISSING_POLARS), io.BytesIO()
    short = [column.cast(library.Float32) for column in table if column.dtype == library.Float64]
    table = table.with_columns(one for one in short if one.cast(library.Float64).equals(table[one.name]))
    table.write_parquet(content, compression="uncompressed", statistics=False, row_group_size=max(1, table.height))
    return _as_array(content.getvalue())


def _parse_table(arrays: Arrays, name: str, file: str | Path) -> Any:
    """Return the table that `_format_table` has written. Raises InvalidFile."""
    library = import_polars(MISSING_POLARS)
    return parse_packed_table(arrays[name].tobytes(), f"{file}: {name}").cast({library.Float32: library.Float64})


def _as_array(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, np.uint8)
