"""Results on disk: one folder for each run, written aside and put in place whole, so that no crash leaves half a result.

    FOLDER/suite.json              the suite that was started last
    FOLDER/runs/RUN/config.json    all that the result depends on
    FOLDER/runs/RUN/rows.jsonl     one row for each episode, see `experiments.evaluate`
    FOLDER/runs/RUN/metadata.json  versions, machine, times, counts
    FOLDER/failed/RUN/error.txt    the traceback of a run that failed, beside what it had written
    FOLDER/working/...             runs in hand; what a crash left there is removed at the next start

Nothing here is ever changed once it is in its place.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from momagames.errors import BadFile
from momagames.experiments.plan import Run, Suite, canonical_json
from momagames.experiments.provenance import provenance


class Store:
    """The folder of a benchmark's results."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.runs, self.failed, self.working = (self.folder / name for name in ("runs", "failed", "working"))

    # --------------------------------------------------------------------------------------------------------- writing

    def open(self, suite: Suite) -> None:
        """Make the folder ready for a suite; raises BadFile if it cannot be written or holds something else."""
        if self.folder.is_dir() and not self.has_suite() and any(self.folder.iterdir()):
            raise BadFile(f"{self.folder}: this folder holds other things; choose an empty or a new one")
        try:
            for folder in (self.runs, self.failed, self.working):
                folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / "suite.json", suite.model_dump_json(indent=1))
        except OSError as error:
            raise BadFile(f"{self.folder}: {error.strerror or error}") from None
        self._sweep()

    def _sweep(self) -> None:
        """Remove what dead processes of this machine left in hand."""
        for left in self.working.iterdir():
            *_, host, process = left.name.rsplit("@", 2)
            if host == socket.gethostname() and not _alive(int(process)):
                shutil.rmtree(left, ignore_errors=True)

    def has(self, run: Run) -> bool:
        return (self.runs / run.folder).is_dir()

    def record(self, run: Run, rows: Iterable[dict[str, Any]], facts: dict[str, Any]) -> None:
        """Write a run while it happens and seal it. `facts` is read when the rows have ended.

        If the rows raise an Exception, what there is goes to `failed`, and the exception goes on.
        """
        aside = self.working / f"{run.folder}@{socket.gethostname()}@{os.getpid()}"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        wall, cpu, started = time.time(), time.process_time(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        try:
            write_whole(aside / "config.json", json.dumps({"digest": run.digest, **run.content()}, indent=1))
            count = 0
            with (aside / "rows.jsonl").open("w", encoding="utf-8") as file:
                for row in rows:
                    file.write(canonical_json(row) + "\n")
                    count += 1
                _flush(file)
            metadata = {
                "started": started,
                "wall_s": time.time() - wall,
                "cpu_s": time.process_time() - cpu,
                "rows": count,
                "facts": facts,
                **provenance(),
            }
            write_whole(aside / "metadata.json", json.dumps(metadata, indent=1, allow_nan=False))
        except Exception:
            self._fail(run, aside)
            raise
        except BaseException:  # Ctrl-C: the run in hand is lost, and nothing else
            shutil.rmtree(aside, ignore_errors=True)
            raise
        self._seal(aside, self.runs / run.folder)
        shutil.rmtree(self.failed / run.folder, ignore_errors=True)

    def _seal(self, aside: Path, place: Path) -> None:
        """Put a written folder in its place, in one step."""
        _sync(aside)
        try:
            aside.rename(place)
        except OSError:
            if not place.is_dir():
                raise
            shutil.rmtree(aside)  # another process was faster; equal runs have equal rows
        _sync(place.parent)

    def _fail(self, run: Run, aside: Path) -> None:
        import traceback

        write_whole(aside / "error.txt", traceback.format_exc())
        place = self.failed / run.folder
        shutil.rmtree(place, ignore_errors=True)
        self._seal(aside, place)

    def lost(self, run: Run, reason: str) -> None:
        """Record a run whose process died."""
        place = self.failed / run.folder
        place.mkdir(parents=True, exist_ok=True)
        write_whole(place / "config.json", json.dumps({"digest": run.digest, **run.content()}, indent=1))
        write_whole(place / "error.txt", reason + "\n")

    # --------------------------------------------------------------------------------------------------------- reading

    def has_suite(self) -> bool:
        return (self.folder / "suite.json").is_file()

    def suite(self) -> Suite:
        """The suite that was started here last."""
        if not self.has_suite():
            raise BadFile(f"{self.folder}: no results here (suite.json is missing)")
        try:
            return Suite.model_validate_json((self.folder / "suite.json").read_text(encoding="utf-8"))
        except ValueError as error:
            raise BadFile(f"{self.folder / 'suite.json'}: {error}") from None

    def rows(self, run: Run) -> Iterator[dict[str, Any]]:
        """The rows of a sealed run."""
        path = self.runs / run.folder / "rows.jsonl"
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise BadFile(f"{path}: line {number}: {error}") from None

    def metadata(self, run: Run) -> dict[str, Any]:
        """Versions, machine, times and counts of a sealed run."""
        path = self.runs / run.folder / "metadata.json"
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError) as error:
            raise BadFile(f"{path}: {error}") from None
        return data

    def error(self, run: Run) -> str | None:
        """The traceback of a run that failed and has not succeeded since."""
        path = self.failed / run.folder / "error.txt"
        return path.read_text(encoding="utf-8") if path.is_file() and not self.has(run) else None


def write_whole(path: Path, text: str) -> None:
    """Write a file so that its name only ever stands for a whole text."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with aside.open("w", encoding="utf-8") as file:
        file.write(text)
        _flush(file)
    aside.replace(path)


def _flush(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Have the system write a folder's entries; not every system lets a folder be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
