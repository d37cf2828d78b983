"""Results directory: one subdirectory for each run, written to a working directory and moved into place in one step.

    FOLDER/suite.json              the suite that was started last, the version of momagames, and revisions of methods above 1
    FOLDER/runs/RUN/config.json    everything that the result depends on
    FOLDER/runs/RUN/rows.jsonl     one row for each plan or episode, see `benchmark.evaluate`
    FOLDER/runs/RUN/front.json     the points of its front with the policies behind them, see `store.run_front`
    FOLDER/runs/RUN/policies.npz   parameters of those policies if they were trained in the run, see `store.policy_files`
    FOLDER/runs/RUN/metadata.json  versions, machine, times, counts, and what an archive left out (see `store.thinning`)
    FOLDER/runs/RUN/SHA256SUMS     checksums of these files, which are compared when they are read, see `store.checksums`
    FOLDER/rows.parquet            rows of packed runs, instead of their rows.jsonl, see `store.packing`
    FOLDER/SHA256SUMS              its checksum
    FOLDER/failed/RUN/error.txt    error of a run, as one line and as a traceback, beside its partial files
    FOLDER/working/...             runs in progress; leftovers of a crash are removed at the next start

A crash leaves no partial result. Files in `runs` never change, except that rows may be packed. Several processes, on one
machine or on many that share the directory, may write into it at the same time.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import momagames
from momagames.baselines import METHODS, method
from momagames.baselines.policy_names import strip_safe
from momagames.benchmark.runs import Run, Versions, parse_run
from momagames.benchmark.store.checksums import (
    CHECKSUMS,
    find_changed_files,
    hash_files,
    read_checksums,
    write_checksums,
)
from momagames.benchmark.store.packed_rows import PACKED, find_changed_table, read_packed_rows
from momagames.benchmark.store.policy_files import POLICIES, pack_policies
from momagames.benchmark.store.provenance import collect_env_info
from momagames.benchmark.store.run_front import FrontCollector
from momagames.benchmark.suites import Suite
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile, first_of
from momagames.files.json_data import canonical_json, read_json
from momagames.files.processes import is_stale, process_namespace
from momagames.files.reading import hash_content, is_directory, is_file, refuse_content
from momagames.files.writing import flush_file, is_temporary, sync_directory, write_file_atomically
from momagames.plugins import Origin, summary_line

RESULTS, RUN = "results of a suite", "the files of a run"  # names of valid content
SCHEMA = 2  # version of the file formats; version 1 was not written
ROWS, FRONT, METADATA, ERROR = "rows.jsonl", "front.json", "metadata.json", "error.txt"
HASHED = ("config.json", ROWS, FRONT, METADATA, POLICIES)  # files of a run with checksums
RUN_FILES = (*HASHED, CHECKSUMS)


class Store:
    """Results directory of a benchmark."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.runs, self.failed, self.working = (self.folder / name for name in ("runs", "failed", "working"))

    # --------------------------------------------------------------------------------------------------------- writing

    def open_suite(self, suite: Suite, revisions: Mapping[str, int]) -> None:
        """Prepare the directory for a suite. Raises InvalidFile if it cannot be written or holds other files.

        revisions    of its methods, by name where they are above 1
        """
        if is_directory(self.folder) and not self.has_suite() and any(self.folder.iterdir()) and not self._is_being_prepared():
            raise InvalidFile(f"{self.folder}: expected a results directory or an empty one; this one holds other files")
        if self.has_suite():
            self._read_suite_file()  # rejects another schema before any change
        try:
            self.prepare()
            versions = Versions(momagames.__version__, dict(revisions))
            data = {"schema": SCHEMA, **versions._asdict(), "suite": suite.model_dump(mode="json")}
            write_file_atomically(self.folder / "suite.json", json.dumps(data, indent=1))
        except OSError as error:
            raise InvalidFile(f"{self.folder}: {error.strerror or error}") from None
        self.remove_stale_runs()

    def prepare(self) -> None:
        """Create the directory and its subdirectories."""
        for folder in (self.runs, self.failed, self.working):
            folder.mkdir(parents=True, exist_ok=True)

    def _is_being_prepared(self) -> bool:
        """Return whether another process is preparing this directory, has prepared it by now, or died while it did."""
        own = {self.runs.name, self.failed.name, self.working.name}
        names = {path.name for path in self.folder.iterdir()}
        is_unfinished = self.runs.name in names and all(name in own or is_temporary(name) for name in names)
        return is_unfinished or self.has_suite()

    def remove_stale_runs(self) -> None:
        """Remove unfinished runs of dead processes. Those of other machines are removed after a week."""
        for left in self.working.iterdir():
            with contextlib.suppress(OSError):
                if is_stale(left):
                    shutil.rmtree(left, ignore_errors=True)

    def has_run(self, run: Run) -> bool:
        return (self.runs / run.folder).is_dir()

    def write_run(
        self, run: Run, rows: Iterable[dict[str, Any]], facts: dict[str, Any], policies: Sequence[BatchPolicy] = ()
    ) -> None:
        """Write the rows of a run as they arrive, then finish it. `facts` and `policies` are read after the last row.

        If the rows raise an Exception or SystemExit, the partial files move to `failed`, and the exception propagates.
        """
        scratch = self._make_scratch(run)
        wall, cpu, started = time.time(), time.process_time(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        count = 0

        def metadata() -> str:
            times = {"started": started, "wall_s": time.time() - wall, "cpu_s": time.process_time() - cpu}
            return format_json({**_describe_run(run), **times, "rows": count, "facts": facts, **collect_env_info()})

        try:
            write_file_atomically(scratch / "config.json", format_config(run))
            front = FrontCollector(run, policies)
            with (scratch / ROWS).open("w", encoding="utf-8", newline="\n") as file:
                for row in rows:
                    file.write(format_row(row))
                    front.add(row)
                    count += 1
                flush_file(file)
            known = {}
            if trained := front.select_trained_policies():
                content = pack_policies(trained)
                write_file_atomically(scratch / POLICIES, content)
                known = {"policies": hash_content(content)}
            write_file_atomically(scratch / FRONT, format_json({"schema": SCHEMA, "points": front.compute_points(), **known}))
            write_file_atomically(scratch / METADATA, metadata())
            write_checksums(scratch, hash_files(scratch, HASHED))
        except (Exception, SystemExit) as error:  # code of a user may call exit
            self._record_failure(run, scratch, summary_line(error), traceback.format_exc(), metadata)
            raise
        except BaseException:  # Ctrl-C: only this run is lost
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        self._finish_run(run, scratch)

    def import_run(self, run: Run, files: Mapping[str, bytes]) -> None:
        """Store a run from the content of its files, such as a remote run. A run with an error.txt has failed."""
        scratch = self._make_scratch(run)
        for name, content in files.items():
            write_file_atomically(scratch / name, content)
        if ERROR in files:
            self._move_to_failed(run, scratch)
        else:
            verify_run(scratch)
            self._finish_run(run, scratch)

    def add_run(self, run: Run, write: Callable[[Path], None]) -> None:
        """Store a finished run whose files `write` writes to a directory. Rows may be packed before."""
        scratch = self._make_scratch(run)
        write(scratch)
        verify_run(scratch)
        self._finish_run(run, scratch)

    def discard_run(self, place: Path, problems: Sequence[str]) -> None:
        """Move a damaged run to `failed`, so that it is run again."""
        write_file_atomically(place / ERROR, "\n".join((problems[0], "", *problems)))
        shutil.rmtree(self.failed / place.name, ignore_errors=True)
        self._move_into_place(place, self.failed / place.name)

    def record_crash(self, run: Run, reason: str, seconds: float) -> None:
        """Record a run whose process died or was killed."""
        facts = {**_describe_run(run), "wall_s": seconds, **collect_env_info()}
        self.import_run(
            run,
            {
                "config.json": format_config(run).encode(),
                ERROR: f"{reason}\n".encode(),
                METADATA: format_json(facts).encode(),
            },
        )

    def _make_scratch(self, run: Run) -> Path:
        scratch = self.working / f"{run.folder}@{process_namespace()}@{os.getpid()}@{uuid.uuid4().hex[:8]}"
        scratch.mkdir(parents=True)
        return scratch

    def _finish_run(self, run: Run, scratch: Path) -> None:
        self._move_into_place(scratch, self.runs / run.folder)
        shutil.rmtree(self.failed / run.folder, ignore_errors=True)

    def _move_into_place(self, scratch: Path, place: Path) -> None:
        """Move a written directory into place, in one step."""
        sync_directory(scratch)
        try:
            scratch.rename(place)
        except OSError:
            if not place.is_dir():
                raise
            shutil.rmtree(scratch)  # another process finished first; equal runs have equal rows
        sync_directory(place.parent)

    def _record_failure(self, run: Run, scratch: Path, line: str, trace: str, metadata: Callable[[], str]) -> None:
        write_file_atomically(scratch / ERROR, f"{line}\n\n{trace}")
        with contextlib.suppress(ValueError, OSError):  # facts that are not JSON do not fail again
            write_file_atomically(scratch / METADATA, metadata())
        self._move_to_failed(run, scratch)

    def _move_to_failed(self, run: Run, scratch: Path) -> None:
        place = self.failed / run.folder
        shutil.rmtree(place, ignore_errors=True)
        self._move_into_place(scratch, place)

    # --------------------------------------------------------------------------------------------------------- reading

    def has_suite(self) -> bool:
        return is_file(self.folder / "suite.json")

    def _read_suite_file(self) -> dict[str, Any]:
        path = self.folder / "suite.json"
        if not self.has_suite():
            raise InvalidFile(f"{self.folder}: no results here (suite.json is missing)")
        return check_suite_file(path, read_json(path))

    def read_suite(self) -> Suite:
        """Return the suite that was started last."""
        path, content = self.folder / "suite.json", json.dumps(self._read_suite_file()["suite"])
        try:
            suite = Suite.model_validate_json(content, context=Origin.of_file(path))
            if own := {one.name for part in suite.experiments for one in part.methods if ":" in strip_safe(one.name)}:
                suite = Suite.model_validate_json(content, context=Origin.of_file(path, self._find_trained(own)))
            return suite
        except ValidationError as error:
            raise InvalidFile(f"{path}: {error}") from None

    def _find_trained(self, names: set[str]) -> frozenset[str]:
        """Return those of the methods that have a run of policies with a budget: they train."""
        found = set[str]()
        for place in (*self.run_directories(), *(self.failed.iterdir() if self.failed.is_dir() else ())):
            if any(f".{name.replace(':', '-')}.seed" in place.name for name in names):
                with contextlib.suppress(InvalidFile):
                    found |= list_trained(read_json(place / "config.json"))
        return frozenset(found)

    def read_version(self) -> str:
        """Return the version of momagames that started it."""
        return self.read_versions().version

    def read_versions(self) -> Versions:
        """Return what started it."""
        data = self._read_suite_file()
        return Versions(str(data["version"]), data.get("revisions", {}))

    def describe_changed_methods(self, suite: Suite) -> str:
        """Return the methods of the suite that are gone or have another revision now, with both; "" if none has.

        Methods that are not of the package are left out: what a directory names is not loaded to read it.
        """
        before = self.read_versions().revisions
        names = {choice.name for experiment in suite.experiments for choice in (*experiment.methods, *experiment.responses)}
        pairs = {name: (before.get(name, 1), method(name).revision) for name in names & METHODS.keys()}
        changes = {name: f"revision {old}, now {new}" for name, (old, new) in pairs.items() if old != new}
        return ", ".join(f"{name} ({changes[name]})" for name in sorted(changes))

    def run_directory(self, run: Run) -> Path:
        """Return the directory of a finished run."""
        return self.runs / run.folder

    def finished_runs(self) -> Iterator[Run]:
        """Yield every finished run, of all suites and versions, sorted by name."""
        for place in self.run_directories():
            yield read_run(place)

    def run_directories(self) -> list[Path]:
        """Return the directories of the finished runs, sorted by name."""
        return sorted(self.runs.iterdir()) if is_directory(self.runs) else []

    def read_rows(self, run: Run) -> Iterator[dict[str, Any]]:
        """Return the rows of a finished run. Raises InvalidFile if any of its files was changed."""
        verify_run(self.run_directory(run))
        return read_rows(self.run_directory(run))

    def read_front(self, run: Run) -> list[dict[str, Any]]:
        """Return the points of the stored front of a finished run of policies. Raises InvalidFile if a file was changed."""
        verify_run(self.run_directory(run))
        return read_front(self.run_directory(run))

    def read_metadata(self, run: Run) -> dict[str, Any]:
        """Return versions, machine, times and counts of a finished run."""
        path = self.run_directory(run) / METADATA
        verify_run(path.parent, [METADATA])
        return check_schema(path, read_json(path))

    def read_error(self, run: Run) -> str | None:
        """Return the error of a run that has not succeeded since: one line, an empty line, and the traceback."""
        path = self.failed / run.folder / ERROR
        return path.read_text(encoding="utf-8") if path.is_file() and not self.has_run(run) else None

    def failed_seconds(self, run: Run) -> float:
        """Return the seconds that a failed run took."""
        path = self.failed / run.folder / METADATA
        with refuse_content(path, RUN):
            return float(read_json(path).get("wall_s", 0.0)) if path.is_file() else 0.0


def read_front(place: Path) -> list[dict[str, Any]]:
    """Return the points of the front of the run in this directory, see `store.run_front`. Raises InvalidFile."""
    path = place / FRONT
    found = check_schema(path, read_json(path)).get("points")
    if not isinstance(found, list):
        raise InvalidFile(f"{path}: 'points' is not a list")
    for number, point in enumerate(found):
        is_valid = isinstance(point, dict) and isinstance(point.get("policy"), str) and is_number_list(point.get("return"))
        if not is_valid or point.get("point") != number:
            raise InvalidFile(f"{path}: points[{number}]: expected an object with its number, policy and return")
    return found


def is_number_list(value: Any) -> bool:
    """Return whether this is a list of numbers."""
    return isinstance(value, list) and all(type(one) in (int, float) for one in value)


def format_config(run: Run) -> str:
    """Return the content of config.json: everything that the result depends on."""
    return format_json({"schema": SCHEMA, "digest": run.digest, **run.to_dict()})


def read_run(place: Path) -> Run:
    """Return the run stored in this directory. Raises InvalidFile."""
    path = place / "config.json"
    return parse_config(path, read_json(path))


def parse_config(path: Path, content: Any) -> Run:
    """Return the run with this content of its config.json. Raises InvalidFile."""
    data = dict(check_schema(path, content))
    digest = data.pop("digest", None)
    data.pop("schema")
    try:
        run = parse_run(data, origin=Origin.of_file(path, list_trained(data)))
    except ValidationError as error:
        raise InvalidFile(f"{path}: {error}") from None
    if run.digest != digest:
        raise InvalidFile(f"{path}: the digest is not that of the content")
    return run


def list_trained(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the name of the method of a config.json if it is trained in the run, which then has a budget."""
    is_trained = config.get("kind") == "policies" and config.get("budget") is not None and config.get("players") is None
    chosen = config.get("method")
    return frozenset([str(chosen["name"])]) if is_trained and isinstance(chosen, dict) and "name" in chosen else frozenset()


def verify_run(place: Path, names: Sequence[str] | None = None) -> None:
    """Raise InvalidFile if a file of a finished run is missing or differs from its checksum; `names` limits the check."""
    problems = find_changed_files(place, names, _packed_files(place))
    if names is None and not (place / ROWS).is_file():
        problems += find_changed_table(place)
    if problems:
        hint = f"`momagames bench check {place.parent.parent}` lists all damaged runs"
        raise InvalidFile(f"{first_of(problems)}; {hint}")


def _packed_files(place: Path) -> tuple[str, ...]:
    """Return the files of a run that may be missing because its rows are packed."""
    return (ROWS,) if (place.parent.parent / PACKED).is_file() else ()


def find_damage(place: Path) -> list[str]:
    """Return messages on a finished run: files that were changed, also if its rows are packed. An empty list: it is intact."""
    problems = find_changed_files(place, None, _packed_files(place))
    try:
        if not problems and read_run(place).folder != place.name:
            problems = [f"{place}: has the files of the run {read_run(place).folder}"]
        if not problems and not (place / ROWS).is_file():
            with refuse_content(place, RUN):
                text = "".join(map(format_row, read_rows(place)))
            if hash_content(text.encode()) != read_checksums(place).get(ROWS):
                problems = [f"{place}: its packed rows changed since they were written"]
    except InvalidFile as error:
        problems = [str(error)]
    return problems


def read_rows(place: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the run in this directory, from its own file or, if packed, from the file of all runs."""
    path = place / ROWS
    if not path.is_file():
        objectives = [objective.name for objective in read_run(place).game.make_game().objectives]
        yield from read_packed_rows(place, objectives)
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield dict(json.loads(line))
            except (TypeError, ValueError) as error:
                raise InvalidFile(f"{path}: line {number}: {error}") from None


def format_row(row: Mapping[str, Any]) -> str:
    """Return a row as a line of rows.jsonl."""
    return canonical_json(row) + "\n"


def read_run_files(place: Path) -> dict[str, bytes]:
    """Return the files of a finished or failed run, for `Store.import_run`; packed rows become text."""
    found = {name: (place / name).read_bytes() for name in (*RUN_FILES, ERROR) if (place / name).is_file()}
    if ERROR not in found and ROWS not in found:
        found[ROWS] = "".join(map(format_row, read_rows(place))).encode()
    return found


def check_suite_file(path: Path, content: Any) -> dict[str, Any]:
    """Return the content of a suite.json. Raises InvalidFile if it is another one."""
    data = check_schema(path, content)
    if not isinstance(data.get("suite"), dict) or not isinstance(data.get("version"), str):
        raise InvalidFile(f"{path}: 'suite' or 'version' is missing")
    revisions = data.get("revisions", {})
    if not isinstance(revisions, dict) or not all(isinstance(value, int) for value in revisions.values()):
        raise InvalidFile(f"{path}: invalid revisions={revisions!r}: expected a number for each method")
    return data


def check_schema(path: Path, data: Any) -> dict[str, Any]:
    """Return the content of a file if this version can read its schema. Raises InvalidFile."""
    if not isinstance(data, dict):
        raise InvalidFile(f"{path}: expected an object, got {type(data).__name__}")
    schema = data.get("schema", 1)
    if schema == SCHEMA:
        return data
    if isinstance(schema, int) and schema > SCHEMA:
        raise InvalidFile(
            f"{path}: written by a newer momagames (schema {schema}; this one, {momagames.__version__}, reads {SCHEMA}): "
            "update momagames"
        )
    raise InvalidFile(f"{path}: schema {schema!r} is not read any more (this momagames reads {SCHEMA}); use a new folder")


def format_json(data: Any) -> str:
    return json.dumps(data, indent=1, allow_nan=False)


def _describe_run(run: Run) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "digest": run.digest,
        "game": run.canonical,
        "method": run.method.name,
        "options": run.method.options,
        "seed": run.seed,
        "seconds_allowed": run.seconds,
    }
