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
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.benchmark.runs import Run
from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.packed_rows import PACKED, import_polars, list_rows, parse_packed_table, read_packed_table
from momagames.benchmark.store.packing import add_packed_rows, join_tables, pack, select_runs
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
    parse_config,
)
from momagames.benchmark.store.thinning import Texts, choose_policies, thin_rows, thin_texts
from momagames.benchmark.store.unused_runs import count_unused_runs, describe_reasons
from momagames.benchmark.suites import Suite
from momagames.errors import InvalidFile, first_of
from momagames.files.json_data import parse_json, read_json
from momagames.files.npz_data import MAX_BYTES, Arrays, read_arrays
from momagames.files.reading import hash_content, is_file, read_bytes, refuse_content
from momagames.files.writing import atomic_path, write_file
from momagames.wording import count

SUITE, CONFIG = "suite.json", "config.json"
TEXTS = (CONFIG, METADATA, FRONT)
PRESET = 9 | lzma.PRESET_EXTREME
ROW_ORDER = ("game", "method", "seed")  # in the archive, where similar rows are adjacent; rows.parquet is sorted by run
FORMER = "rows_sha256"  # an array of archives of another format
LAST_READER = "9276c87e"  # the last commit that reads them
MISSING_POLARS = "archives need polars"


@dataclass(frozen=True)
class Content:
    """Runs as an archive has them.

    texts       run -> name of a file -> content, as JSON
    rows        the table of all rows, sorted by run
    policies    run -> content of its policies.npz
    """

    texts: Texts
    rows: Any
    policies: Mapping[str, bytes]

    def join(self, other: Content) -> Content:
        """Return the content with that of other runs, sorted by name."""
        texts, policies = {**self.texts, **other.texts}, {**self.policies, **other.policies}
        return Content(dict(sorted(texts.items())), join_tables([self.rows, other.rows]), dict(sorted(policies.items())))

    def leave_out_parts(self, runs: Sequence[Run]) -> Content:
        """Return what reports need, see `store.thinning`; `runs`: all of them."""
        policies = choose_policies(runs, self.policies)
        texts = thin_texts(runs, self.texts, self.rows, policies)
        return Content(dict(sorted(texts.items())), thin_rows(runs, self.texts, self.rows), policies)


@dataclass(frozen=True)
class ArchiveCounts:
    """What an archive has of a suite, and what was left out.

    runs          number of archived runs
    carried       number of those that were in the file before and are not in the results directory
    failed        runs of the suite that have failed, each with the first line of its error
    unfinished    experiment -> number of other runs that are missing
    unused        why runs that were in the file before are left out -> their number, see `count_unused_runs`
    foreign       number of finished runs of the results directory that are not of its suite, which are left out
    """

    runs: int
    carried: int
    failed: tuple[tuple[Run, str], ...]
    unfinished: Mapping[str, int]
    unused: Mapping[str, int]
    foreign: int

    def describe(self) -> list[str]:
        """Return the counts as lines of text."""
        before = f", {self.carried} of them from the former archive" if self.carried else ""
        lines = [f"{count(self.runs, 'run')} archived{before}"]
        lines += [f"left out, failed: {run.folder}: {error}" for run, error in self.failed]
        if self.unfinished:
            missing = ", ".join(f"{number:,} of {name!r}" for name, number in self.unfinished.items())
            lines.append(f"left out, not finished: {count(sum(self.unfinished.values()), 'run')}: {missing}")
        if self.foreign:
            lines.append(f"left out, not of the suite: {count(self.foreign, 'run')} of the directory")
        if self.unused:
            unused = count(sum(self.unused.values()), "run")
            lines.append(f"left out, not of the suite: {unused} of the former archive: {describe_reasons(self.unused)}")
        return lines


def pack_archive(folder: str | Path, file: str | Path, thinned: bool = False, new_suite: bool = False) -> ArchiveCounts:
    """Pack the rows of a results directory (see `store.packing`) and archive the finished runs of its suite.

    If the file is an archive of the suite already, the runs that it has and the directory lacks stay, so that a suite can be
    run in parts. It is replaced when the new one has been read back. Equal results give equal bytes with one version of polars.

    thinned    leave out what reports do not need (see `store.thinning`); a restored directory says what it is without
    new_suite  the suite of the directory is newer than that of the archive: drop archived runs that it no longer has
    Raises     MissingExtra; InvalidFile if the directory cannot be read, is damaged or has no finished run, if the file is an
               archive of another suite, has runs of its suite that the directory's suite lacks, without `new_suite`, or if the
               archive does not restore its content
    """
    store, before = Store(folder), ArchivedStore(file) if is_file(Path(file)) else None
    finished = [*store.finished_runs()]  # a suite may go on in the directory: runs that finish later may not be packed
    pack(folder)
    suite, versions = store.read_suite(), store.read_versions()
    if before and before.read_suite().name != suite.name:
        raise InvalidFile(f"{file}: an archive of the suite {before.read_suite().name!r}: expected one of {suite.name!r}")
    wanted = {run.folder: run for run in suite.list_runs(versions)}
    own = [run for run in finished if run.folder in wanted]
    if before and not new_suite:
        _refuse_loss(before, store, wanted)
    carried = [run for name, run in wanted.items() if before and before.has_run(run) and not store.has_run(run)]
    if not own + carried:
        raise InvalidFile(f"{folder}: no run of the suite {suite.name!r} is finished")
    if problems := [problem for run in own for problem in find_damage(store.run_directory(run))]:
        raise InvalidFile(first_of(problems))
    content = _read_directory(store, own)
    if before and carried:
        content = content.join(before.select_content([run.folder for run in carried]))
    if thinned:
        content = content.leave_out_parts([*own, *carried])
    files = {SUITE: _read_text(store.folder / SUITE), "runs": content.texts}
    with atomic_path(Path(file)) as temporary:
        write_file(temporary, lzma.compress(_format_arrays(files, content), preset=PRESET))
        restored, restored_rows, _ = _read_contents(temporary)
        if format_json(restored) != format_json(files) or not restored_rows.equals(content.rows):
            raise InvalidFile(f"{folder}: the archive does not restore it")
    return ArchiveCounts(
        runs=len(content.texts),
        carried=len(carried),
        failed=tuple(
            (run, error.partition("\n")[0])
            for run in wanted.values()
            if run.folder not in content.texts and (error := store.read_error(run)) is not None
        ),
        unfinished=_count_unfinished(store, suite, content.texts),
        unused=before.count_unused_runs(list(wanted.values())) if before else {},
        foreign=len(finished) - len(own),
    )


def _refuse_loss(before: ArchivedStore, store: Store, wanted: Container[str]) -> None:
    """Raise InvalidFile if the suite of a directory lacks archived runs: it may be older than that of the archive."""
    suite = before.read_suite()
    names = [run.folder for run in suite.list_runs(before.read_versions()) if before.has_run(run)]
    if lost := [name for name in names if name not in wanted]:
        raise InvalidFile(
            f"{before.folder}: the suite of {store.folder} lacks {count(len(lost), 'run')} of this archive, such as {lost[0]}. "
            f"If that suite is older: `momagames bench run SUITE --out {store.folder}` adopts the present one; "
            "if it is newer: --new-suite (new_suite=True) drops these runs"
        )


def _count_unfinished(store: Store, suite: Suite, finished: Container[str]) -> dict[str, int]:
    """Return the number of runs of each experiment that neither are finished nor have failed, where there are some."""
    found = {}
    for experiment in suite.experiments:
        missing = (run for run in experiment.list_runs(store.read_versions()) if run.folder not in finished)
        if number := sum(store.read_error(run) is None for run in missing):
            found[experiment.name] = number
    return found


def unpack_archive(file: str | Path, folder: str | Path) -> None:
    """Restore the results directory of an archive in `folder`, which must be new or empty.

    Raises     MissingExtra; InvalidFile if the archive cannot be read or the folder is not empty
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InvalidFile(f"{folder}: expected an empty or a new folder")
    store = ArchivedStore(file)
    with _refuse_damage(file):
        for name in store.texts:
            (place / "runs" / name).mkdir(parents=True)
            store.write_run_files(name, place / "runs" / name)
        (place / SUITE).write_text(format_json(store.suite), encoding="utf-8", newline="\n")
        store.rows.write_parquet(place / PACKED)
    write_checksums(place, hash_files(place, [PACKED]))


def restore_runs(archive: ArchivedStore, store: Store, runs: Sequence[Run]) -> None:
    """Add finished runs of an archive to a results directory. Raises MissingExtra, InvalidFile."""
    if not runs:
        return
    with _refuse_damage(archive.folder):
        add_packed_rows(store, select_runs(archive.rows, [run.folder for run in runs]))
        for run in runs:
            store.add_run(run, partial(archive.write_run_files, run.folder))


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

    def count_unused_runs(self, runs: Sequence[Run]) -> dict[str, int]:
        """Return how many archived runs are none of these runs, by reason, see `store.unused_runs`."""
        with _refuse_damage(self.folder):
            return count_unused_runs((one[CONFIG] for one in self.texts.values()), runs)

    def write_run_files(self, name: str, directory: Path) -> None:
        """Write the files of a run to a directory, but for its rows, and their checksums."""
        for text, data in self.texts[name].items():
            (directory / text).write_text(format_json(data), encoding="utf-8", newline="\n")
        if (policies := self.arrays.get(f"policies/{name}")) is not None:
            (directory / POLICIES).write_bytes(policies.tobytes())
        rows = "".join(map(format_row, self.read_rows(parse_config(directory / CONFIG, self.texts[name][CONFIG]))))
        write_checksums(directory, {ROWS: hash_content(rows.encode()), **hash_files(directory, HASHED)})

    def select_content(self, names: Sequence[str]) -> Content:
        """Return what the archive has of some runs."""
        policies = {name: one.tobytes() for name in names if (one := self.arrays.get(f"policies/{name}")) is not None}
        return Content({name: self.texts[name] for name in names}, select_runs(self.rows, names), policies)

    def _read_text(self, run: Run, name: str) -> dict[str, Any]:
        with _refuse_damage(self.folder):
            return check_schema(self.folder / run.folder / name, self.texts[run.folder][name])


def _read_directory(store: Store, runs: Sequence[Run]) -> Content:
    """Return what an archive has of finished runs of a results directory whose rows are packed."""
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
    return Content(texts, select_runs(read_packed_table(store.folder / PACKED), list(places)), policies)


def _format_arrays(files: Mapping[str, Any], content: Content) -> bytes:
    """Return the arrays of an archive as a file of NumPy."""
    short, dominated = _split_dominated(content.texts)
    arrays = {
        "files": _as_array(json.dumps({**files, "runs": short}, separators=(",", ":"), allow_nan=False).encode()),
        "rows": _format_table(content.rows.sort(ROW_ORDER, maintain_order=True)),
        "dominated": _format_table(dominated),
        **{f"policies/{name}": _as_array(one) for name, one in content.policies.items()},
    }
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    return written.getvalue()


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
