"""MOPPO in suites and commands: stored and replayed policies, equal results on every executor, logging."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import momagames
from momagames.baselines.moppo.method import Moppo
from momagames.benchmark import training as trainings
from momagames.benchmark.choices import Opponent
from momagames.benchmark.executors import ProcessPool
from momagames.benchmark.replays import evaluate_again, load_points, replay
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.policy_files import LINKS, POLICIES, pack_policies, unpack_policy
from momagames.benchmark.store.store import Store
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidFile, MissingExtra, RemoteError
from momagames.files.reading import hash_content
from tests.baselines.moppo.test_moppo import TINY
from tests.benchmark.tiny import POLICIES as SEATS
from tests.benchmark.tiny import RANDOM, plans, suite
from tests.cli.test_app import momagames_here

pytest.importorskip("torch", reason='needs PyTorch: pip install "momagames[learn]"')

MOPPO = {"name": "moppo", "options": TINY}
TRAINED = {**SEATS, "name": "trained", "methods": [RANDOM, MOPPO], "seeds": [3], "budget": 300}
BOARD = ("-p", "board_width=3", "-p", "board_height=5")
SMALL = ["--method", "moppo"] + [word for name, value in TINY.items() for word in ("-O", f"{name}={json.dumps(value)}")]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    tested = suite(TRAINED, plans([MOPPO], seeds=[0]))
    results = run_suite(tested, folder)
    assert not results.failed
    return folder, tested


def moppo_runs(tested):
    return [run for run in tested.list_runs() if run.method.name == "moppo"]


def test_trained_policies_are_stored_and_replayed(done):
    folder, tested = done
    policies, plan = moppo_runs(tested)
    place = Store(folder).run_directory(policies)
    assert 300 <= Store(folder).read_metadata(policies)["facts"]["training_steps"] < 300 + 48
    with np.load(place / POLICIES, allow_pickle=False) as stored:
        assert [name for name in stored.files if name.endswith("/fc1")] == ["0/fc1"]  # one network for all points
        assert LINKS in stored.files or len(load_points(place)) == 1
    for point in range(len(load_points(place))):
        assert replay(place, point).record["actions"]
    again = evaluate_again(place, 0, policies.report_episodes, seed=9)
    assert all(len(returns) == policies.report_episodes for returns in again.values())
    front = json.loads((Store(folder).run_directory(plan) / "front.json").read_text())
    assert front["points"]


@pytest.mark.long
def test_process_pool_gives_equal_results(done, tmp_path):
    folder, tested = done
    assert not run_suite(tested, tmp_path, executor=ProcessPool(2)).failed
    for run in tested.list_runs():
        one, other = Store(folder).run_directory(run), Store(tmp_path).run_directory(run)
        for name in ("rows.jsonl", "front.json"):
            assert (one / name).read_bytes() == (other / name).read_bytes()


def test_shared_arrays_are_stored_once(tmp_path):
    rng = np.random.default_rng(0)
    shared, own = rng.random(5000), [rng.random(3) for _ in range(4)]
    members = [CompiledPolicy(str(i), print, arrays={"shared": shared.copy(), "own": own[i]}) for i in range(4)]
    content = pack_policies(members)
    assert len(content) < 1.2 * len(pack_policies(members[:1]))
    (tmp_path / POLICIES).write_bytes(content)
    for i in range(4):
        found = unpack_policy(tmp_path / POLICIES, hash_content(content), i)
        assert set(found) == {"shared", "own"}
        assert (found["shared"] == shared).all()
        assert (found["own"] == own[i]).all()
    with pytest.raises(InvalidFile, match="changed since"):
        unpack_policy(tmp_path / POLICIES, hash_content(b""), 0)


# ---------------------------------------------------------------------------------------------------------- commands


@pytest.mark.long
def test_train_eval_and_a_match(tmp_path):
    out = tmp_path / "mine"
    train = ("train", "mo-breakthrough-v0", *BOARD, *SMALL, "--budget", "96", "--out", str(out), "--evaluations", "1")
    first = momagames_here(*train, "--episodes", "2")
    assert first.returncode == 0, first.stderr
    assert "96 steps" in first.stdout
    again = momagames_here(*train, "--episodes", "2")  # the budget is used up
    assert again.returncode == 0, again.stderr
    output = momagames_here("eval", str(out), "--episodes", "5", "--opponent", "greedy", "--divisions", "2")
    assert output.returncode == 0, output.stderr
    assert "w=(" in output.stdout
    assert "hypervolume" in output.stdout
    played = momagames_here(
        "match", "mo-breakthrough-v0", "mine/checkpoint.npz", "random", *BOARD, "--games", "4", cwd=tmp_path
    )
    assert played.returncode == 0, played.stderr
    assert "checkpoint.npz" in played.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "mo-breakthrough-v0", "--method", "moppo", "-O", "clipp=1"), "invalid option 'clipp' of moppo: expected"),
        (("train", "mo-breakthrough-v0", "--agent", "player_2"), "invalid agent='player_2'"),
        (("train", "mo-breakthrough-v0", "--opponent", "gredy"), "invalid policy='gredy'"),
        (("eval", "nothing-here"), "nothing-here: not a training checkpoint"),
        (("play", "mo-breakthrough-v0", "--against", "nothing.npz"), "nothing.npz: not a training checkpoint"),
    ],
)
@pytest.mark.long
def test_invalid_arguments(arguments, message, tmp_path):
    wrong = momagames_here(*arguments, cwd=tmp_path)
    assert wrong.returncode == 2
    assert message in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be interrupted alone on Windows")
def test_resumes_after_interruption(tmp_path):
    """After Ctrl-C the checkpoint is complete, and the resumed training ends like an uninterrupted one."""
    budget = 48 * 60
    train = ["train", "mo-breakthrough-v0", *BOARD, *SMALL, "--budget", str(budget), "--evaluations", "20", "--episodes", "1"]
    log = tmp_path / "parts" / "progress.jsonl"
    running = subprocess.Popen(
        [sys.executable, "-m", "momagames", *train, "--out", str(tmp_path / "parts")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    deadline = time.monotonic() + 200
    while not (log.exists() and log.read_text().count("\n") >= 2):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    output = running.communicate(timeout=60)
    assert running.returncode != 0, output
    assert b"Traceback" not in output[1], output
    arrays = []
    for name in ("parts", "whole"):
        done = momagames_here(*train, "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / name / "checkpoint.npz", allow_pickle=False) as data:
            arrays.append({key: data[key].tobytes() for key in data.files if key != "head"})
    assert arrays[0] == arrays[1]


# ------------------------------------------------------------------------------------------------------------ loggers


class FakeWandb:
    """A stand-in for wandb that records runs and metrics."""

    class Error(Exception):
        pass

    def __init__(self):
        self.runs, self.logged, self.finished, self.fails = [], [], 0, False

    def init(self, **given):
        if self.fails:
            raise self.Error("no key")
        self.runs.append(given)
        run = SimpleNamespace(id=given["id"] or f"run-{len(self.runs)}")
        run.log = lambda metrics, step: self.logged.append((run.id, step, metrics))
        run.finish = lambda: setattr(self, "finished", self.finished + 1)
        return run


def make_training(budget, **options):
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    return trainings.Training(
        game, Moppo(**{**TINY, **options}), 1, budget, ("player_0",), (Opponent(name="random", options={}),)
    )


@pytest.fixture
def wandb(monkeypatch):
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return fake


def test_weights_and_biases_receives_the_metrics(wandb, tmp_path):
    training = make_training(96)
    trainings.train(training, tmp_path / "mine", evaluations=2, episodes=1, wandb="games")
    assert (wandb.runs[0]["project"], wandb.runs[0]["name"], wandb.runs[0]["id"]) == ("games", "mine", None)
    assert wandb.runs[0]["config"] == training.describe()
    lines = [json.loads(line) for line in (tmp_path / "mine" / "progress.jsonl").read_text().splitlines()]
    assert [step for _, step, _ in wandb.logged] == [line["steps"] for line in lines] == [48, 96]
    for (_, _, metrics), line in zip(wandb.logged, lines, strict=True):
        assert metrics["hypervolume"] == line["evaluation"]["hypervolume"]
        assert metrics["seconds"] == line["seconds"]
        assert metrics["cpu_seconds"] == line["cpu_seconds"] > 0
    assert wandb.finished == 1


def test_resumed_training_continues_the_wandb_run(wandb, tmp_path):
    for _ in range(2):
        trainings.train(make_training(48), tmp_path, evaluations=1, episodes=1, wandb="games")
    assert [given["id"] for given in wandb.runs] == [None, "run-1"]
    assert {given["resume"] for given in wandb.runs} == {"allow"}


def test_weights_and_biases_is_optional(wandb, tmp_path, monkeypatch):
    trainings.train(make_training(48), tmp_path / "quiet", evaluations=1, episodes=1)
    assert not wandb.runs
    wandb.fails = True
    with pytest.raises(RemoteError, match="did not start a run in project 'games': no key"):
        trainings.train(make_training(48), tmp_path / "refused", evaluations=1, episodes=1, wandb="games")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtra, match=r"momagames\[wandb\]"):
        trainings.train(make_training(48), tmp_path / "missing", evaluations=1, episodes=1, wandb="games")
    assert not (tmp_path / "missing").exists()


@pytest.mark.long
def test_tensorboard_receives_the_metrics(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trainings.train(make_training(96), tmp_path, evaluations=2, episodes=1)
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("hypervolume")] == [48, 96]


@pytest.mark.long
def test_best_responses_exploit_an_untrained_policy(tmp_path):
    """The gain is significant for both players, and the command shows the bound."""
    from dataclasses import replace

    from momagames.benchmark.exploitability import bound_exploitability, train_best_responses
    from momagames.errors import InvalidParameter

    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    fast = {
        "num_envs": 32, "num_steps": 16, "update_epochs": 6, "learning_rate": 5e-3, "ent_coef": 0.0, "channels": 8,
        "hidden": 32, "greedy": False,
    }  # fmt: skip
    training = trainings.Training(game, Moppo(**{**TINY, **fast}), 1, 1, ("player_0",), (Opponent(name="random", options={}),))
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=1)  # one update
    responses = train_best_responses(training, checkpoint, [1, 0, 0, 0], 12_000, episodes=300)
    assert [one.seat for one in responses] == ["player_0", "player_1"]
    assert all(one.gain > 3 * (one.value_error + one.response_error) for one in responses)
    assert bound_exploitability(responses) == pytest.approx(np.mean([one.gain for one in responses]))
    assert bound_exploitability([replace(one, response_value=one.value - 1) for one in responses]) == 0
    with pytest.raises(InvalidParameter, match=r"invalid weights=\[0, 0, 0, 0\]: expected 4 non-negative numbers"):
        train_best_responses(training, checkpoint, [0, 0, 0, 0], 100)
    output = momagames_here("exploit", str(tmp_path), "--budget", "512", "--episodes", "4", "--weights", "1,0,0,0")
    assert output.returncode == 0, output.stderr
    assert "exploitability at least" in output.stdout
    wrong = momagames_here("exploit", str(tmp_path), "--weights", "win")
    assert (wrong.returncode, "invalid --weights='win': expected numbers such as 1,0, or by name" in wrong.stderr) == (2, True)
