"""Results on disk: one folder for each run, written aside and put in place whole, so that no crash leaves half a result.

    FOLDER/suite.json              the suite that was started last, and the version of momagames that did it
    FOLDER/runs/RUN/config.json    all that the result depends on
    FOLDER/runs/RUN/rows.jsonl     one row for each episode, see `experiments.evaluate`
    FOLDER/runs/RUN/front.json     the points of its front with the policies behind them, see `experiments.results.run_front`
    FOLDER/runs/RUN/policies.npz   what those policies have learned, if they were found in the run, see `results.policies`
    FOLDER/runs/RUN/metadata.json  versions, machine, times, counts
    FOLDER/rows.parquet            the rows of runs that were packed, instead of their rows.jsonl, see `results.packing`
    FOLDER/failed/RUN/error.txt    what went wrong with a run, in one line and as a traceback, beside what it had written
    FOLDER/working/...             runs in hand; what a crash left there is removed at the next start

Nothing in `runs` is ever changed once it is in its place, but that rows may be packed. Several processes, on one machine or
on many that share the folder, may write into it at the same time.
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
from momagames.benchmark.plan import Run, Suite, canonical_json
from momagames.benchmark.store.files import alive, flush, here, read_json, sync
from momagames.benchmark.store.packed_rows import read_packed_rows
from momagames.benchmark.store.policy_files import POLICIES, digest, packed
from momagames.benchmark.store.provenance import provenance
from momagames.benchmark.store.run_front import Collector
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile
from momagames.files import write_file_atomically

SCHEMA = 2  # of the files here; 1 had no number
STALE_S = 7 * 24 * 3600  # a run in hand of a machine that we cannot ask is given up when it is that old
SEALED = ("config.json", "rows.jsonl", "front.json", "metadata.json")
ROWS, ERROR = "rows.jsonl", "error.txt"


class Store:
    """The folder of a benchmark's results."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.runs, self.failed, self.working = (self.folder / name for name in ("runs", "failed", "working"))

    # --------------------------------------------------------------------------------------------------------- writing

    def open(self, suite: Suite) -> None:
        """Make the folder ready for a suite; raises InvalidFile if it cannot be written or holds something else."""
        if self.folder.is_dir() and not self.has_suite() and any(self.folder.iterdir()) and not self._begun():
            raise InvalidFile(f"{self.folder}: this folder holds other things; choose an empty or a new one")
        if self.has_suite():
            self._suite_file()  # refuses what another schema wrote, before anything is changed
        try:
            self.prepare()
            data = {"schema": SCHEMA, "version": momagames.__version__, "suite": suite.model_dump(mode="json")}
            write_file_atomically(self.folder / "suite.json", json.dumps(data, indent=1))
        except OSError as error:
            raise InvalidFile(f"{self.folder}: {error.strerror or error}") from None
        self.sweep()

    def prepare(self) -> None:
        """Make the folder and those in it."""
        for folder in (self.runs, self.failed, self.working):
            folder.mkdir(parents=True, exist_ok=True)

    def _begun(self) -> bool:
        """Whether another process is making this folder ready, or died while it did."""
        own = {self.runs.name, self.failed.name, self.working.name}
        names = {path.name for path in self.folder.iterdir()}
        return self.runs.name in names and all(name in own or name.startswith(".suite.json.") for name in names)

    def sweep(self) -> None:
        """Remove what dead processes left in hand."""
        for left in self.working.iterdir():
            _, place, process, *_ = [*left.name.split("@"), "", ""]
            with contextlib.suppress(OSError):
                dead = place == here() and process.isdecimal() and not alive(int(process))
                if dead or time.time() - left.stat().st_mtime > STALE_S:
                    shutil.rmtree(left, ignore_errors=True)

    def has(self, run: Run) -> bool:
        return (self.runs / run.folder).is_dir()

    def record(
        self, run: Run, rows: Iterable[dict[str, Any]], facts: dict[str, Any], policies: Sequence[BatchPolicy] = ()
    ) -> None:
        """Write a run while it happens and seal it. `facts` and `policies` are read when the rows have ended.

        If the rows raise an Exception, what there is goes to `failed`, and the exception goes on.
        """
        aside = self._aside(run)
        wall, cpu, started = time.time(), time.process_time(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        count = 0

        def metadata() -> str:
            times = {"started": started, "wall_s": time.time() - wall, "cpu_s": time.process_time() - cpu}
            return spelled({**_head(run), **times, "rows": count, "facts": facts, **provenance()})

        try:
            write_file_atomically(aside / "config.json", config(run))
            front = Collector(run, policies)
            with (aside / ROWS).open("w", encoding="utf-8") as file:
                for row in rows:
                    file.write(line(row))
                    front.add(row)
                    count += 1
                flush(file)
            known = {}
            if trained := front.trained():
                content = packed(trained)
                write_file_atomically(aside / POLICIES, content)
                known = {"policies": digest(content)}
            write_file_atomically(aside / "front.json", spelled({"schema": SCHEMA, "points": front.points(), **known}))
            write_file_atomically(aside / "metadata.json", metadata())
        except Exception as error:
            self._fail(run, aside, headline(error), traceback.format_exc(), metadata)
            raise
        except BaseException:  # Ctrl-C: the run in hand is lost, and nothing else
            shutil.rmtree(aside, ignore_errors=True)
            raise
        self._keep(run, aside)

    def accept(self, run: Run, files: Mapping[str, bytes]) -> None:
        """Seal a run that was carried out elsewhere, from the content of its files; with an error.txt, it failed."""
        aside = self._aside(run)
        for name, content in files.items():
            write_file_atomically(aside / name, content)
        if ERROR in files:
            self._put_failed(run, aside)
        else:
            self._keep(run, aside)

    def lost(self, run: Run, reason: str, seconds: float) -> None:
        """Record a run whose process died, or was ended."""
        facts = {**_head(run), "wall_s": seconds, **provenance()}
        self.accept(
            run,
            {
                "config.json": config(run).encode(),
                ERROR: f"{reason}\n".encode(),
                "metadata.json": spelled(facts).encode(),
            },
        )

    def _aside(self, run: Run) -> Path:
        aside = self.working / f"{run.folder}@{here()}@{os.getpid()}@{uuid.uuid4().hex[:8]}"
        aside.mkdir(parents=True)
        return aside

    def _keep(self, run: Run, aside: Path) -> None:
        self._seal(aside, self.runs / run.folder)
        shutil.rmtree(self.failed / run.folder, ignore_errors=True)

    def _seal(self, aside: Path, place: Path) -> None:
        """Put a written folder in its place, in one step."""
        sync(aside)
        try:
            aside.rename(place)
        except OSError:
            if not place.is_dir():
                raise
            shutil.rmtree(aside)  # another process was faster; equal runs have equal rows
        sync(place.parent)

    def _fail(self, run: Run, aside: Path, line: str, trace: str, metadata: Callable[[], str]) -> None:
        write_file_atomically(aside / ERROR, f"{line}\n\n{trace}")
        with contextlib.suppress(ValueError, OSError):  # facts that are not JSON are no second failure
            write_file_atomically(aside / "metadata.json", metadata())
        self._put_failed(run, aside)

    def _put_failed(self, run: Run, aside: Path) -> None:
        place = self.failed / run.folder
        shutil.rmtree(place, ignore_errors=True)
        self._seal(aside, place)

    # --------------------------------------------------------------------------------------------------------- reading

    def has_suite(self) -> bool:
        return (self.folder / "suite.json").is_file()

    def _suite_file(self) -> dict[str, Any]:
        path = self.folder / "suite.json"
        if not self.has_suite():
            raise InvalidFile(f"{self.folder}: no results here (suite.json is missing)")
        data = checked(path, read_json(path))
        if not isinstance(data.get("suite"), dict) or not isinstance(data.get("version"), str):
            raise InvalidFile(f"{path}: 'suite' or 'version' is missing")
        return data

    def suite(self) -> Suite:
        """The suite that was started here last."""
        try:
            return Suite.model_validate_json(json.dumps(self._suite_file()["suite"]))
        except ValidationError as error:
            raise InvalidFile(f"{self.folder / 'suite.json'}: {error}") from None

    def version(self) -> str:
        """The version of momagames that started it."""
        return str(self._suite_file()["version"])

    def place(self, run: Run) -> Path:
        """The folder of a sealed run."""
        return self.runs / run.folder

    def sealed(self) -> Iterator[Run]:
        """Every run that is finished here, of whatever suite and version, in the order of their names."""
        for place in sorted(self.runs.iterdir()) if self.runs.is_dir() else ():
            yield read_run(place)

    def rows(self, run: Run) -> Iterator[dict[str, Any]]:
        """The rows of a sealed run."""
        return read_rows(self.place(run))

    def metadata(self, run: Run) -> dict[str, Any]:
        """Versions, machine, times and counts of a sealed run."""
        path = self.place(run) / "metadata.json"
        return checked(path, read_json(path))

    def error(self, run: Run) -> str | None:
        """What went wrong with a run that has not succeeded since: one line, an empty one, and the traceback."""
        path = self.failed / run.folder / ERROR
        return path.read_text(encoding="utf-8") if path.is_file() and not self.has(run) else None

    def wasted(self, run: Run) -> float:
        """Seconds that a failed run took."""
        path = self.failed / run.folder / "metadata.json"
        return float(read_json(path).get("wall_s", 0.0)) if path.is_file() else 0.0


def config(run: Run) -> str:
    """What is written about all that a result depends on."""
    return spelled({"schema": SCHEMA, "digest": run.digest, **run.content()})


def read_run(place: Path) -> Run:
    """The run whose folder this is; InvalidFile if it is none."""
    path = place / "config.json"
    data = checked(path, read_json(path))
    digest = data.pop("digest", None)
    data.pop("schema")
    try:
        run = Run.of(data)
    except ValidationError as error:
        raise InvalidFile(f"{path}: {error}") from None
    if run.digest != digest:
        raise InvalidFile(f"{path}: the digest is not that of the content")
    return run


def read_rows(place: Path) -> Iterator[dict[str, Any]]:
    """The rows of the run in this folder, from its own file or, if they were packed, from that of all runs."""
    path = place / ROWS
    if not path.is_file():
        objectives = [objective.name for objective in read_run(place).game.game().objectives]
        yield from read_packed_rows(place, objectives)
        return
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidFile(f"{path}: line {number}: {error}") from None


def line(row: Mapping[str, Any]) -> str:
    """A row as it stands in a file."""
    return canonical_json(row) + "\n"


def files(place: Path) -> dict[str, bytes]:
    """What there is in the folder of a run, sealed or failed, for `Store.accept`; packed rows as they were."""
    found = {name: (place / name).read_bytes() for name in (*SEALED, POLICIES, ERROR) if (place / name).is_file()}
    if ERROR not in found and ROWS not in found:
        found[ROWS] = "".join(map(line, read_rows(place))).encode()
    return found


def checked(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """The content of a file of ours, if this version can read it."""
    schema = data.get("schema", 1)
    if schema == SCHEMA:
        return data
    if isinstance(schema, int) and schema > SCHEMA:
        raise InvalidFile(
            f"{path}: written by a newer momagames (schema {schema}; this one, {momagames.__version__}, reads {SCHEMA}): "
            "update momagames"
        )
    raise InvalidFile(f"{path}: schema {schema!r} is not read any more (this momagames reads {SCHEMA}); use a new folder")


def headline(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def spelled(data: Any) -> str:
    return json.dumps(data, indent=1, allow_nan=False)


def _head(run: Run) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "digest": run.digest,
        "game": run.canonical,
        "method": run.method.name,
        "options": run.method.options,
        "seed": run.seed,
        "seconds_allowed": run.seconds,
    }
