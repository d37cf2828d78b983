"""MOPPO within suites and by commands: stored, replayed, met again, and the same on every executor."""

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
from momagames.benchmark import training as sessions
from momagames.benchmark.executors import Pool
from momagames.benchmark.plan import Opponent
from momagames.benchmark.replays import evaluate_again, points, replay
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.policy_files import LINKS, POLICIES, digest, packed, unpacked
from momagames.benchmark.store.store import Store
from momagames.engine.policies import Member
from momagames.errors import BadFile, MissingExtra, RemoteError
from tests.baselines.moppo.test_moppo import TINY
from tests.benchmark.tiny import POLICIES as SEATS
from tests.benchmark.tiny import RANDOM, plans, suite
from tests.cli.test_app import momagames_command

pytest.importorskip("torch", reason='needs PyTorch: pip install "momagames[learn]"')

MOPPO = {"name": "moppo", "options": TINY}
TRAINED = {**SEATS, "name": "trained", "methods": [RANDOM, MOPPO], "seeds": [3], "budget": 300}
BOARD = ("-p", "board_width=3", "-p", "board_height=5")
SMALL = [word for name, value in TINY.items() for word in ("-o", f"{name}={json.dumps(value)}")]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    tested = suite(TRAINED, plans([MOPPO], seeds=[0]))
    results = run_suite(tested, folder)
    assert not results.failed
    return folder, tested


def learned(tested):
    return [run for run in tested.runs() if run.method.name == "moppo"]


def test_what_was_learned_is_stored_and_plays_again(done):
    folder, tested = done
    policies, plan = learned(tested)
    place = Store(folder).place(policies)
    assert 300 <= Store(folder).metadata(policies)["facts"]["training_steps"] < 300 + 48
    with np.load(place / POLICIES, allow_pickle=False) as stored:
        assert [name for name in stored.files if name.endswith("/trunk")] == ["0/trunk"]  # one network for all points
        assert LINKS in stored.files or len(points(place)) == 1
    for point in range(len(points(place))):
        assert replay(place, point).record["actions"]
    again = evaluate_again(place, 0, policies.report_episodes, seed=9)
    assert all(len(returns) == policies.report_episodes for returns in again.values())
    front = json.loads((Store(folder).place(plan) / "front.json").read_text())
    assert front["points"]


def test_a_pool_learns_the_same(done, tmp_path):
    folder, tested = done
    assert not run_suite(tested, tmp_path, executor=Pool(2)).failed
    for run in tested.runs():
        one, other = Store(folder).place(run), Store(tmp_path).place(run)
        for name in ("rows.jsonl", "front.json"):
            assert (one / name).read_bytes() == (other / name).read_bytes()


def test_arrays_that_are_shared_are_stored_once(tmp_path):
    luck = np.random.default_rng(0)
    shared, own = luck.random(5000), [luck.random(3) for _ in range(4)]
    members = [Member(str(i), 0, (), arrays={"shared": shared.copy(), "own": own[i]}) for i in range(4)]
    content = packed(members)
    assert len(content) < 1.2 * len(packed(members[:1]))
    (tmp_path / POLICIES).write_bytes(content)
    for i in range(4):
        found = unpacked(tmp_path / POLICIES, digest(content), i)
        assert set(found) == {"shared", "own"}
        assert (found["shared"] == shared).all()
        assert (found["own"] == own[i]).all()
    with pytest.raises(BadFile, match="changed since"):
        unpacked(tmp_path / POLICIES, digest(b""), 0)


# ---------------------------------------------------------------------------------------------------------- commands


def test_train_eval_and_a_match(tmp_path):
    out = tmp_path / "mine"
    train = ("train", "mo-breakthrough-v0", *BOARD, *SMALL, "--budget", "96", "--out", str(out), "--evaluations", "1")
    first = momagames_command(*train, "--episodes", "2")
    assert first.returncode == 0, first.stderr
    assert "96 steps" in first.stdout
    again = momagames_command(*train, "--episodes", "2")  # nothing is left to be done
    assert again.returncode == 0, again.stderr
    shown = momagames_command("eval", str(out), "--episodes", "5", "--opponent", "greedy", "--divisions", "2")
    assert shown.returncode == 0, shown.stderr
    assert "w=(" in shown.stdout
    assert "hypervolume" in shown.stdout
    met = momagames_command(
        "match", "mo-breakthrough-v0", "mine/checkpoint.npz", "random", *BOARD, "--games", "4", cwd=tmp_path
    )
    assert met.returncode == 0, met.stderr
    assert "checkpoint.npz" in met.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("train", "mo-breakthrough-v0", "-o", "clipp=1"), "moppo has no option 'clipp'"),
        (("train", "mo-breakthrough-v0", "--agent", "player_2"), "has no agent 'player_2'"),
        (("train", "mo-breakthrough-v0", "--opponent", "gredy"), "no policy 'gredy'"),
        (("eval", "nothing-here"), "nothing-here: no checkpoint of training"),
        (("play", "mo-breakthrough-v0", "--against", "nothing.npz"), "nothing.npz: no checkpoint of training"),
    ],
)
def test_mistakes(arguments, told, tmp_path):
    wrong = momagames_command(*arguments, cwd=tmp_path)
    assert wrong.returncode == 2
    assert told in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert not list(tmp_path.iterdir())


def test_broken_off_it_goes_on(tmp_path):
    """Ctrl-C in the middle: what was kept is whole, and the end is that of training in one go."""
    budget = 48 * 150
    train = ["train", "mo-breakthrough-v0", *BOARD, *SMALL, "--budget", str(budget), "--evaluations", "30", "--episodes", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}

    def start(out):
        return subprocess.Popen(
            [sys.executable, "-m", "momagames", *train, "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip

    log = tmp_path / "parts" / "progress.jsonl"
    running = start(tmp_path / "parts")
    deadline = time.monotonic() + 200
    while not (log.exists() and log.read_text().count("\n") >= 2):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)
    assert running.returncode != 0, said
    assert b"Traceback" not in said[1], said
    for name in ("parts", "whole"):
        ended = start(tmp_path / name)
        assert ended.wait(timeout=200) == 0, ended.communicate()
    arrays = []
    for name in ("parts", "whole"):
        with np.load(tmp_path / name / "checkpoint.npz", allow_pickle=False) as data:
            arrays.append({key: data[key].tobytes() for key in data.files if key != "head"})
    assert arrays[0] == arrays[1]


# ------------------------------------------------------------------------------------------------------------- boards


class Runs:
    """In place of wandb: what was begun, logged and finished."""

    class Error(Exception):
        pass

    def __init__(self):
        self.begun, self.logged, self.finished, self.fails = [], [], 0, False

    def init(self, **given):
        if self.fails:
            raise self.Error("no key")
        self.begun.append(given)
        run = SimpleNamespace(id=given["id"] or f"run-{len(self.begun)}")
        run.log = lambda numbers, step: self.logged.append((run.id, step, numbers))
        run.finish = lambda: setattr(self, "finished", self.finished + 1)
        return run


def little(budget, **options):
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    return sessions.Training(
        game, Moppo(**{**TINY, **options}), 1, budget, ("player_0",), (Opponent(name="random", options={}),)
    )


@pytest.fixture
def runs(monkeypatch):
    told = Runs()
    monkeypatch.setitem(sys.modules, "wandb", told)
    return told


def test_weights_and_biases_shows_the_log(runs, tmp_path):
    wanted = little(96)
    sessions.train(wanted, tmp_path / "mine", evaluations=2, episodes=1, wandb="games")
    assert (runs.begun[0]["project"], runs.begun[0]["name"], runs.begun[0]["id"]) == ("games", "mine", None)
    assert runs.begun[0]["config"] == wanted.head()
    lines = [json.loads(line) for line in (tmp_path / "mine" / "progress.jsonl").read_text().splitlines()]
    assert [step for _, step, _ in runs.logged] == [line["steps"] for line in lines] == [48, 96]
    for (_, _, numbers), line in zip(runs.logged, lines, strict=True):
        assert numbers["hypervolume"] == line["evaluation"]["hypervolume"]
        assert numbers["seconds"] == line["seconds"]
    assert runs.finished == 1


def test_training_that_goes_on_is_the_same_run(runs, tmp_path):
    for _ in range(2):
        sessions.train(little(48), tmp_path, evaluations=1, episodes=1, wandb="games")
    assert [given["id"] for given in runs.begun] == [None, "run-1"]
    assert {given["resume"] for given in runs.begun} == {"allow"}


def test_weights_and_biases_only_if_asked_for(runs, tmp_path, monkeypatch):
    sessions.train(little(48), tmp_path / "quiet", evaluations=1, episodes=1)
    assert not runs.begun
    runs.fails = True
    with pytest.raises(RemoteError, match="no run for the project 'games': no key"):
        sessions.train(little(48), tmp_path / "refused", evaluations=1, episodes=1, wandb="games")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtra, match=r"momagames\[wandb\]"):
        sessions.train(little(48), tmp_path / "missing", evaluations=1, episodes=1, wandb="games")
    assert not (tmp_path / "missing").exists()


def test_tensorboard_shows_the_log(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    sessions.train(little(96), tmp_path, evaluations=2, episodes=1)
    shown = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [event.step for event in shown.Scalars("hypervolume")] == [48, 96]


def test_a_response_is_trained_against_what_stays_as_it_is(tmp_path):
    """A policy that has learned nothing is exploited from both sides; how far is told with the learner and its budget."""
    from dataclasses import replace

    from momagames.benchmark.exploitability import exploitability, lower_bound
    from momagames.errors import BadParameter

    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    keen = {"num_envs": 32, "rollout": 16, "epochs": 6, "learning_rate": 5e-3, "entropy": 0.0, "channels": 8, "hidden": 32}
    learner = {**TINY, **keen, "greedy": False}
    wanted = sessions.Training(game, Moppo(**learner), 1, 1, ("player_0",), (Opponent(name="random", options={}),))
    saved = sessions.train(wanted, tmp_path, evaluations=1, episodes=1)  # an update, that is
    gaps = exploitability(wanted, saved, [1, 0, 0, 0], 12_000, episodes=300)
    assert [gap.seat for gap in gaps] == ["player_0", "player_1"]
    assert all(gap.gain > 3 * (gap.own_error + gap.response_error) for gap in gaps)
    assert lower_bound(gaps) == pytest.approx(np.mean([gap.gain for gap in gaps]))
    assert lower_bound([replace(gap, response=gap.own - 1) for gap in gaps]) == 0
    with pytest.raises(BadParameter, match=r"weights=\[0, 0, 0, 0\] are not possible; needed: 4 numbers"):
        exploitability(wanted, saved, [0, 0, 0, 0], 100)
    shown = momagames_command("exploit", str(tmp_path), "--budget", "512", "--episodes", "4", "--weights", "1,0,0,0")
    assert shown.returncode == 0, shown.stderr
    assert "exploitability at least" in shown.stdout
    wrong = momagames_command("exploit", str(tmp_path), "--weights", "win")
    assert (wrong.returncode, "--weights 'win' is not possible" in wrong.stderr) == (2, True)


def test_ctrl_c_waits_for_a_file_that_is_being_written(tmp_path):
    from momagames.wrappers.recording import whole

    def write(aside):
        aside.write_text("half")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        aside.write_text("whole")

    with pytest.raises(KeyboardInterrupt):
        whole(tmp_path / "a.txt", write)
    assert (tmp_path / "a.txt").read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
