"""Runs on a Ray cluster: the same rows, and a node that is killed in the middle has its runs done elsewhere."""

import os
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from momagames.benchmark.executors import ray as executor
from momagames.benchmark.executors.ray import RayCluster
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidCall, MissingExtra, RemoteError
from momagames.files import processes
from tests.benchmark.tiny import HOPELESS, POLICIES, RANDOM, broken, plans, suite

pytestmark = pytest.mark.long  # starts a cluster

STORE_BYTES = 80 * 2**20


def many(seeds=6, budget=200_000):
    return suite({**plans([RANDOM], seeds=range(seeds)), "budget": budget}, {**POLICIES, "seeds": [0]})


@pytest.fixture(scope="module")
def two_nodes():
    """Two nodes with a core each, on this machine, and this process connected to the first."""
    pytest.importorskip("ray", reason='needs Ray: pip install "momagames[ray]"')
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": STORE_BYTES})
    cluster.second = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    executor.RemoteWorker().report_versions()  # tidies up


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    assert not run_suite(many(), folder).failed
    return Store(folder)


def make_folder(process):
    """Create a temporary directory like a worker."""
    return Path(tempfile.mkdtemp(prefix=f"{executor.PREFIX}@{processes.process_namespace()}@{process.pid}@"))


def contents(store, tested):
    return {
        run.folder: [(store.run_directory(run) / name).read_bytes() for name in ("config.json", "rows.jsonl", "front.json")]
        for run in tested.list_runs()
    }


@pytest.mark.parametrize("address", ["127.0.0.1:PORT", "ray://127.0.0.1:PORT", "auto", "nowhere"])
def test_no_such_cluster(address, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason='needs Ray: pip install "momagames[ray]"')
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and does not listen
        port = str(unused.getsockname()[1])
        address = address.replace("PORT", port)
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")  # "auto", not the cluster of a test that runs at the same time
        with pytest.raises(RemoteError, match=f"no Ray cluster at {address}: "):
            next(RayCluster(address).execute_runs([], tmp_path))


def test_failed_runs_are_reported(two_nodes, tmp_path):
    """Failures come back with their tracebacks; runs over their time are ended."""
    endless = {**plans([RANDOM], seeds=[0]), "name": "endless", "budget": 10**12, "seconds": 1}
    tested = suite(endless, plans([RANDOM, HOPELESS], seeds=[0]))
    results = run_suite(tested, tmp_path, executor=RayCluster())
    assert len(results.finished) == 1
    assert {outcome.run.method.name: outcome.error[:10] for outcome in results.failed} == {
        "random": "time limit",
        "exact": "TooLarge: ",
    }
    store = Store(tmp_path)
    errors = {outcome.run.method.name: store.read_error(outcome.run) for outcome in results.failed}
    assert "Traceback" in errors["exact"]
    assert not list(store.working.iterdir())


def test_a_worker_removes_directories_of_dead_workers(two_nodes, tmp_path):
    with subprocess.Popen(["sleep", "60"]) as living:
        ended = subprocess.Popen(["true"])
        ended.wait()
        left, in_use = make_folder(ended), make_folder(living)
        try:
            run_suite(suite(plans([RANDOM], seeds=[7])), tmp_path, executor=RayCluster())
            assert not left.exists()
            assert in_use.exists()
        finally:
            living.kill()
            in_use.rmdir()


def test_a_node_with_another_version_is_rejected(two_nodes, tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "ROWS_FORMAT", 99)  # here, not there
    with pytest.raises(InvalidCall, match=r"a node of the cluster has momagames .*; expected, as in this process: .*format 99"):
        run_suite(broken(), tmp_path, executor=RayCluster())


def locate_worker(worker):
    """Return the IDs of the node and of the process of a worker, which runs this."""
    import ray

    return ray.get_runtime_context().get_node_id(), os.getpid()


def test_runs_of_a_dead_node_run_elsewhere(two_nodes, here, tmp_path, monkeypatch):
    """Killed with a run in hand: every run ends finished, with the rows of a run in one process."""
    import ray

    given, second = [], two_nodes.second
    submit, list_idle = executor._Actors.submit, executor._Actors.list_idle

    def submit_and_kill(pool, worker, run):
        node, process = ray.get(pool._actors[worker].__ray_call__.remote(locate_worker))
        if node == second.node_id:
            os.kill(process, signal.SIGSTOP)  # else it might be faster than what kills it
        given.append(run.digest)
        submit(pool, worker, run)
        if node == second.node_id:
            two_nodes.remove_node(second, allow_graceful=False)

    monkeypatch.setattr(executor._Actors, "submit", submit_and_kill)
    # nothing is given out before the workers of both nodes have started
    monkeypatch.setattr(executor._Actors, "list_idle", lambda pool: list_idle(pool) if given or len(pool._free) == 2 else [])
    results = run_suite(many(), tmp_path, executor=RayCluster())
    assert not results.failed
    assert len(results.finished) == len(many().list_runs())
    assert len(given) == len(set(given)) + 1  # what was in hand there was given out once more
    assert contents(Store(tmp_path), many()) == contents(here, many())


def test_without_ray_the_extra_is_named(monkeypatch):
    def fail_import(name, *arguments, **options):
        raise ImportError(name)

    monkeypatch.setattr(executor, "import_module", fail_import)
    with pytest.raises(MissingExtra, match=r"momagames\[ray\]"):
        RayCluster()
