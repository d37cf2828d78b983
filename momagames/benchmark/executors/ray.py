"""Executor on the nodes of a Ray cluster (extra `ray`).

Nodes need the same version of momagames but no shared disk. A worker executes a run in a temporary directory of its node and
sends back the content of the files, which this process stores in the results directory.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from momagames.benchmark.executors.executor import Outcome, execute_run
from momagames.benchmark.executors.processes import count_cores, order_runs
from momagames.benchmark.executors.worker_pool import Worker, dispatch
from momagames.benchmark.runs import ROWS_FORMAT, Run, parse_run
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidCall, MissingExtra, RemoteError
from momagames.files.processes import is_alive, process_namespace
from momagames.plugins import Origin

PREFIX = "momagames-ray"  # of temporary directories on nodes
OBJECT_STORE_BYTES = 512 * 2**20  # shared memory of a local cluster: results in transit
CONNECT_SECONDS = 10.0  # time limit for a connection to an address


class RayCluster:
    """Executor on a Ray cluster, one core for each run. Rows are equal, bit for bit, to those of InProcess.

    address    address of a running cluster ("auto": the one on this machine; "HOST:PORT"; "ray://HOST:PORT"); None: a cluster
               for this call alone, on this machine. A Ray runtime that this process has initialized is reused
    workers    maximum number; None: all cores of the cluster, also those added later

    A run whose worker or node dies is executed again on another worker. Raises RemoteError if the cluster cannot be reached;
    InvalidCall if a node has another version of momagames.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address, self.workers = address, workers
        self._ray = _import_ray()

    def execute_runs(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        is_own_cluster = not self._ray.is_initialized()
        if is_own_cluster:
            self._connect()
        try:
            yield from dispatch(_Actors(self._ray, self.workers, folder), order_runs(runs), folder)
        finally:
            if is_own_cluster:
                self._ray.shutdown()

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
        options: dict[str, Any] = {"address": self.address}
        if self.address is None:
            num_cpus = self.workers or count_cores()
            options = {
                "address": "local",
                "num_cpus": num_cpus,
                "object_store_memory": OBJECT_STORE_BYTES,
                "include_dashboard": False,
            }
        try:
            named = os.environ.get("RAY_ADDRESS") if self.address == "auto" else self.address  # as Ray reads it
            if at := re.fullmatch(r"(?:ray://)?(.+):(\d+)", named or ""):
                # Ray waits for minutes where nothing listens
                socket.create_connection((at[1].strip("[]"), int(at[2])), CONNECT_SECONDS).close()
            self._ray.init(**options, log_to_driver=False, configure_logging=False)
        except Exception as error:  # a node that does not start raises a bare Exception
            self._ray.shutdown()  # what has started of it
            reason = " ".join(str(error).split()) or type(error).__name__
            raise RemoteError(f"no Ray cluster at {self.address or 'this machine'}: {reason}") from None


def _import_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise MissingExtra('the executor "ray" needs Ray: pip install "momagames[ray]"') from None


@dataclass(frozen=True)
class RemoteResult:
    """Result of a remote run: time, error, and the content of its files by name."""

    seconds: float
    error: str | None
    files: dict[str, bytes]


class RemoteWorker:
    """A worker on a node."""

    def report_versions(self) -> tuple[str, int]:
        """Return the versions of momagames and of its rows on the node; remove temporary directories of dead workers."""
        import momagames

        for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}@{process_namespace()}@*@*"):
            process = left.name.split("@")[2]
            if process.isdecimal() and not is_alive(int(process)):
                shutil.rmtree(left, ignore_errors=True)
        return momagames.__version__, ROWS_FORMAT

    def execute_run(self, content: dict[str, Any], seconds: float, origin: Origin) -> RemoteResult:
        run = parse_run(content, seconds, origin)
        with tempfile.TemporaryDirectory(prefix=f"{PREFIX}@{process_namespace()}@{os.getpid()}@") as folder:
            store = Store(folder)
            store.prepare()
            outcome = execute_run(run, store.folder)
            place = store.run_directory(run) if outcome.error is None else store.failed / run.folder
            files = {path.name: path.read_bytes() for path in place.iterdir()}
        return RemoteResult(outcome.seconds, outcome.error, files)


class _Actors:
    """Worker pool of Ray actors. `_pending`: future -> worker and its run (None while it reports its version)."""

    def __init__(self, ray: Any, workers: int | None, folder: Path) -> None:
        self._ray, self._max_workers, self._store = ray, workers, Store(folder)
        self._worker_class = ray.remote(RemoteWorker).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        self._actors: dict[Worker, Any] = {}
        self._pending: dict[Any, tuple[Worker, Run | None]] = {}
        self._free: list[Worker] = []

    def start(self, wanted: int) -> None:
        num_cores = int(self._ray.cluster_resources().get("CPU", 0))
        while len(self._actors) < min(wanted, num_cores, self._max_workers or num_cores):
            actor = self._worker_class.remote()
            self._actors[actor._actor_id] = actor
            self._pending[actor.report_versions.remote()] = actor._actor_id, None

    def list_idle(self) -> Sequence[Worker]:
        return list(self._free)

    def submit(self, worker: Worker, run: Run) -> None:
        self._free.remove(worker)
        future = self._actors[worker].execute_run.remote(run.to_dict(), run.seconds, run.origin)
        self._pending[future] = worker, run

    def poll(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=seconds)
        return [event for future in ready if (event := self._receive(future))]

    def _receive(self, future: Any) -> tuple[Worker, Outcome | None] | None:
        worker, run = self._pending.pop(future)
        exceptions = self._ray.exceptions
        try:
            result = self._ray.get(future)
        except (exceptions.RayTaskError, exceptions.ActorUnschedulableError, exceptions.RuntimeEnvSetupError) as error:
            reason = getattr(error, "cause", None) or error
            raise RemoteError(f"a node cannot execute runs: {' '.join(str(reason).split())}") from None
        except exceptions.RayError:  # the worker or its node died, or its result was lost
            self.stop(worker)
            return None if run is None else (worker, None)
        self._free.append(worker)
        if run is None:
            self._check_versions(result)
            return None
        self._store.import_run(run, result.files)
        return worker, Outcome(run, result.seconds, result.error)

    def _check_versions(self, remote: tuple[str, int]) -> None:
        local = RemoteWorker().report_versions()
        if remote != local:
            given, expected = (f"momagames {version}, rows of format {form}" for version, form in (remote, local))
            raise InvalidCall(f"a node of the cluster has {given}; expected, as in this process: {expected}")

    def stop(self, worker: Worker) -> None:
        self._ray.kill(self._actors.pop(worker))
        self._pending = {future: task for future, task in self._pending.items() if task[0] != worker}
        self._free = [one for one in self._free if one != worker]

    def close(self) -> None:
        for worker in list(self._actors):
            self.stop(worker)
