"""Executor on the nodes of a Ray cluster (extra `ray`).

Nodes need the same version of momagames but no shared disk. A worker executes a run in a temporary directory of its node and
sends back the content of the files, which this process stores in the results directory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from momagames.benchmark.executors.executor import Outcome, execute
from momagames.benchmark.executors.processes import cores, spread
from momagames.benchmark.executors.worker_pool import Worker, dispatch
from momagames.benchmark.plan import ROWS_FORMAT, Run
from momagames.benchmark.store.files import alive, here
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidCall, MissingExtra, RemoteError

PREFIX = "momagames-ray"  # of temporary directories on nodes
BYTES = 512 * 2**20  # shared memory of a local cluster: results in transit


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
        self._ray = _module()

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        ours = not self._ray.is_initialized()
        if ours:
            self._connect()
        try:
            yield from dispatch(_Actors(self._ray, self.workers, folder), spread(runs), folder)
        finally:
            if ours:
                self._ray.shutdown()

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
        chosen: dict[str, Any] = {"address": self.address}
        if self.address is None:
            many = self.workers or cores()
            chosen = {"address": "local", "num_cpus": many, "object_store_memory": BYTES, "include_dashboard": False}
        try:
            self._ray.init(**chosen, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            said = " ".join(str(error).split())
            raise RemoteError(f"no Ray cluster at {self.address or 'this machine'}: {said}") from None


def _module() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise MissingExtra('the executor "ray" needs Ray: pip install "momagames[ray]"') from None


@dataclass(frozen=True)
class Parcel:
    """Result of a remote run: time, error, and the content of its files by name."""

    seconds: float
    error: str | None
    files: dict[str, bytes]


class Hand:
    """A worker on a node."""

    def about(self) -> tuple[str, int]:
        """Return the versions of momagames and of its rows on the node; remove temporary directories of dead workers."""
        import momagames

        for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}@{here()}@*@*"):
            process = left.name.split("@")[2]
            if process.isdecimal() and not alive(int(process)):
                shutil.rmtree(left, ignore_errors=True)
        return momagames.__version__, ROWS_FORMAT

    def carry_out(self, content: dict[str, Any], seconds: float) -> Parcel:
        run = Run.of(content, seconds)
        with tempfile.TemporaryDirectory(prefix=f"{PREFIX}@{here()}@{os.getpid()}@") as folder:
            store = Store(folder)
            store.prepare()
            outcome = execute(run, store.folder)
            place = store.place(run) if outcome.error is None else store.failed / run.folder
            files = {path.name: path.read_bytes() for path in place.iterdir()}
        return Parcel(outcome.seconds, outcome.error, files)


class _Actors:
    """Worker pool of Ray actors. `_pending`: future -> worker and its run (None while it reports its version)."""

    def __init__(self, ray: Any, workers: int | None, folder: Path) -> None:
        self._ray, self._most, self._store = ray, workers, Store(folder)
        self._hand = ray.remote(Hand).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        self._actors: dict[Worker, Any] = {}
        self._pending: dict[Any, tuple[Worker, Run | None]] = {}
        self._free: list[Worker] = []

    def start(self, most: int) -> None:
        there = int(self._ray.cluster_resources().get("CPU", 0))
        while len(self._actors) < min(most, there, self._most or there):
            actor = self._hand.remote()
            self._actors[actor._actor_id] = actor
            self._pending[actor.about.remote()] = actor._actor_id, None

    def free(self) -> Sequence[Worker]:
        return list(self._free)

    def submit(self, worker: Worker, run: Run) -> None:
        self._free.remove(worker)
        future = self._actors[worker].carry_out.remote(run.content(), run.seconds)
        self._pending[future] = worker, run

    def poll(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=seconds)
        return [event for future in ready if (event := self._receive(future))]

    def _receive(self, future: Any) -> tuple[Worker, Outcome | None] | None:
        worker, run = self._pending.pop(future)
        problems = self._ray.exceptions
        try:
            said = self._ray.get(future)
        except (problems.RayTaskError, problems.ActorUnschedulableError, problems.RuntimeEnvSetupError) as error:
            reason = getattr(error, "cause", None) or error
            raise RemoteError(f"a node cannot carry out runs: {' '.join(str(reason).split())}") from None
        except problems.RayError:  # the worker or its node died, or its result was lost
            self.stop(worker)
            return None if run is None else (worker, None)
        self._free.append(worker)
        if run is None:
            self._check(said)
            return None
        self._store.accept(run, said.files)
        return worker, Outcome(run, said.seconds, said.error)

    def _check(self, about: tuple[str, int]) -> None:
        ours = Hand().about()
        if about != ours:
            given, wanted = (f"momagames {version}, rows of format {form}" for version, form in (about, ours))
            raise InvalidCall(f"a node of the cluster has {given}; needed, as here: {wanted}")

    def stop(self, worker: Worker) -> None:
        self._ray.kill(self._actors.pop(worker))
        self._pending = {future: task for future, task in self._pending.items() if task[0] != worker}
        self._free = [one for one in self._free if one != worker]

    def close(self) -> None:
        for worker in list(self._actors):
            self.stop(worker)
