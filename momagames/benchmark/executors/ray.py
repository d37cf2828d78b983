"""The nodes of a Ray cluster (extra `ray`).

Nodes need momagames, in the same version, and no disk in common: a worker carries a run out in a temporary folder of its
node and sends back the content of the files, which this process seals in the folder of the results.
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

ASIDE = "momagames-ray"  # of temporary folders on nodes
BYTES = 512 * 2**20  # shared memory of a local cluster: results in transit


class RayCluster:
    """Runs on a Ray cluster, a core for each. Rows are equal, bit for bit, to those of InProcess.

    address    of a running cluster ("auto": the one on this machine; "HOST:PORT"; "ray://HOST:PORT"); None: a cluster for
               this call alone, on this machine. A Ray that this process has started already is used as it is
    workers    at most; None: as many as the cluster has cores, now and later

    A run whose worker or node dies is done elsewhere. Raises RemoteError if the cluster cannot be reached, or runs another
    momagames.
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
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
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
    """A run that was carried out elsewhere: how it ended, and the content of its files by name."""

    seconds: float
    error: str | None
    files: dict[str, bytes]


class Hand:
    """A worker on a node."""

    def about(self) -> tuple[str, int]:
        """The version of momagames there, and of its rows. What workers left there that were ended is removed."""
        import momagames

        for left in Path(tempfile.gettempdir()).glob(f"{ASIDE}@{here()}@*@*"):
            process = left.name.split("@")[2]
            if process.isdecimal() and not alive(int(process)):
                shutil.rmtree(left, ignore_errors=True)
        return momagames.__version__, ROWS_FORMAT

    def carry_out(self, content: dict[str, Any], seconds: float) -> Parcel:
        run = Run.of(content, seconds)
        with tempfile.TemporaryDirectory(prefix=f"{ASIDE}@{here()}@{os.getpid()}@") as folder:
            store = Store(folder)
            store.prepare()
            outcome = execute(run, store.folder)
            place = store.place(run) if outcome.error is None else store.failed / run.folder
            files = {path.name: path.read_bytes() for path in place.iterdir()}
        return Parcel(outcome.seconds, outcome.error, files)


class _Actors:
    """A crew of Ray actors. `_asked` has what each is doing: the promise of an answer, and its run (None: saying hello)."""

    def __init__(self, ray: Any, workers: int | None, folder: Path) -> None:
        self._ray, self._most, self._store = ray, workers, Store(folder)
        self._hand = ray.remote(Hand).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        self._actors: dict[Worker, Any] = {}
        self._asked: dict[Any, tuple[Worker, Run | None]] = {}
        self._free: list[Worker] = []

    def hire(self, most: int) -> None:
        there = int(self._ray.cluster_resources().get("CPU", 0))
        while len(self._actors) < min(most, there, self._most or there):
            actor = self._hand.remote()
            self._actors[actor._actor_id] = actor
            self._asked[actor.about.remote()] = actor._actor_id, None

    def free(self) -> Sequence[Worker]:
        return list(self._free)

    def give(self, worker: Worker, run: Run) -> None:
        self._free.remove(worker)
        promise = self._actors[worker].carry_out.remote(run.content(), run.seconds)
        self._asked[promise] = worker, run

    def news(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        kept, _ = self._ray.wait(list(self._asked), num_returns=1, timeout=seconds)
        return [told for promise in kept if (told := self._hear(promise))]

    def _hear(self, promise: Any) -> tuple[Worker, Outcome | None] | None:
        worker, run = self._asked.pop(promise)
        problems = self._ray.exceptions
        try:
            said = self._ray.get(promise)
        except (problems.RayTaskError, problems.ActorUnschedulableError, problems.RuntimeEnvSetupError) as error:
            reason = getattr(error, "cause", None) or error
            raise RemoteError(f"a node cannot carry out runs: {' '.join(str(reason).split())}") from None
        except problems.RayError:  # the worker or its node died, or what it sent was lost with it
            self.dismiss(worker)
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

    def dismiss(self, worker: Worker) -> None:
        self._ray.kill(self._actors.pop(worker))
        self._asked = {promise: task for promise, task in self._asked.items() if task[0] != worker}
        self._free = [one for one in self._free if one != worker]

    def close(self) -> None:
        for worker in list(self._actors):
            self.dismiss(worker)
