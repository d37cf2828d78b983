"""The scripts under benchmarks/ run: they are measured by hand, and would break unnoticed."""

import importlib
import json
import os
import re
import runpy
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import yaml

import momagames
from momagames.baselines.archive import is_nondominated
from momagames.benchmark import load_suite, run_suite
from momagames.games.tileblast.serve import server
from tests.benchmark.tiny import POLICIES, RANDOM, suite

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))
PARTS = [  # those of a game apart
    ("throughput", "aec", "search", "c_loop", "cold_start", "memory", "threads"), ("pommerman",), ("tileblast", "http"),
    ("robotmail",), ("wrappers",), ("integrations",),
]  # fmt: skip
RUNS = [  # script, arguments, libraries of extras, parts of what is printed
    ("fronts/exact_sizes.py", ("4x4x3:2",), (), ("| 4x4x3 | 2 of 2 |",)),
    (
        "fronts/exact_tradeoffs.py",
        ("mo-beach-v0 num_agents=50", "mo-item-gathering-v0 initial_map=corners num_timesteps=7"), (),
        (
            "num_timesteps=2 reward_mode=team | 0.63 | 12 | 12 | 0.00 | a trade-off |",
            "num_timesteps=7 control=central | 0.20 | 8 | 8 | 0.71 | few points, simple policies are enough |",
        ),
    ),
    (
        "fronts/environments.py", ("treasure-v0-gamma-1", "--out", "."), ("mo_gymnasium",),
        ("10 points, 62 states, ",),
    ),
    (
        "fronts/environments.py", ("--compare",), ("mo_gymnasium",),
        ("| `fruit-tree-v0` | 0.99 |", "128 published points, 128 equal"),
    ),
    (
        "fronts/environments.py", ("--minecart",), ("mo_gymnasium",),
        ("10 points of convex_coverage_set()", "best for no weights"),
    ),
    ("fronts/minecart_bounds.py", (), ("mo_gymnasium",), ("| ore 1 | 1.250622 | 1.107854 | 1.130463 |",)),
    ("fronts/ship.py", ("5x5x2-0", "--out", "."), (), ("mo-samegame-v0-5x5x2-0: ",)),
    (
        "learning/baselines.py", ("--episodes", "1"), (),
        ("greedy(estimate=both): ", "one_step_lookahead: ", "safe:simple(caution=2): ", "safe:astar(caution=2): "),
    ),
    (
        "learning/find_tradeoffs.py",
        ("out.jsonl", "mo-robotmail-2-v0 delivery+energy vs", "--budget", "2e4", "--episodes", "2"), ("torch",),
        ("mo-robotmail-2-v0 delivery+energy vs astar: one policy ", " points, loss 1.00, simple "),
    ),
    (
        "learning/tune.py",
        ("policies", "trials.jsonl", "--experiment", "four colors", "--method", "cross_entropy", "--trials", "1"), (),
        ("four colors, cross_entropy, trial 0: ", " s"),
    ),
    (
        "learning/solved_positions.py", ("3x5", "--games", "2", "--budget", "1e5"), (),
        ("| policy | 3x5 random |", "| solved | 1.000 |", "| ntuple, depth 3 |", "| pareto_uct(1000) |"),
    ),
    (
        "agents/original.py", ("duel", "--games", "2", "--agent", "original:tests.games.pommerman.original_agents:Sampler"), (),
        ("| duel | 2 | ",),
    ),
    ("fronts/equilibria.py", ("3x5",), (), ("3x5: 606,105 positions", "subgame perfect   player_0 wins: 0:5 1:4")),
    ("fronts/pommerman_endgames.py", ("--steps", "2", "--seeds", "2"), (), ("| 2 | 2 | 13 / 13 | 0 | 2 | 0 | 0 | ",)),
    (
        "fronts/learned_points.py", ("deep", "--steps", "1000"), ("morl_baselines", "mo_gymnasium"),
        ("deep-sea-treasure-v0-gamma-0.99: GPI-LS attains ", " of the 10 exact ones; 1,000 steps"),
    ),
    (
        "learning/bandits.py", ("gems", "--agents", "3", "--pulls", "300", "--seeds", "2", "--figure", "regret.png"), (),
        ("| learner | w=(1, 0) |", "| `bandit_joint`, pareto | ", "| `bandit_ucb`, difference | "),
    ),
    (
        "learning/bandits.py", ("routes", "--agents", "8", "--pulls", "50", "--seeds", "1"), (),
        ("equilibria 1.188 to 1.333", "| `bandit_gradient`, difference | "),
    ),
    ("fronts/win_loss.py", ("3x5", "--bits", "12"), (), ("3x5  momagames  player_1 wins",)),
    (
        "learning/datasets.py", ("--recipe", "samegame-7x7", "--episodes", "200", "100"), ("pyarrow",),
        ("random: 200 episodes, ", "medium: 100 episodes, ", "  observations, masks ", "  read: "),
    ),
    (
        "learning/champions.py", ("pommerman-duel", "--out", "new.npz", "--budget", "2e4", "--episodes", "1"), ("torch",),
        ("mo-pommerman-duel-v0 {}: ['moppo', '1', ", "new.npz: "),
    ),
    (
        "learning/champions.py", ("breakthrough", "--out", "new.npz", "--budget", "1e5", "--episodes", "1"), (),
        ("mo-breakthrough-v0 {}: ['ntuple', '1', ", "new.npz: "),
    ),
    (
        "learning/published.py",
        ("pcn", "envelope", "--share", "0.02"),
        ("morl_baselines",),
        ("pcn, deep-sea", "expected utility", "envelope, fruit", " points"),
    ),
]  # fmt: skip
APART = {
    "leaderboard/first_submission.py",  # installs the package and takes minutes: a job of public CI, on schedule
    "fronts/policy_references.py",  # needs results: test_reference_sets_are_made_once
    "fronts/samegame_standard.py",  # needs boards that the package does not have: tests/games/samegame/test_standard_scores.py
}
NEEDED = {"torch", "mo_gymnasium", "morl_baselines", "sb3_contrib"}  # of extras


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_scripts_import(script, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    name = ".".join(script.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        pytest.skip(f"needs {error.name}")


def run_python(*words, cwd=ROOT):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def measure_speed(*words):
    return run_python("-m", "benchmarks.speed", "--rounds", "1", "--steps", "200", *words)


@pytest.mark.parametrize("parts", PARTS, ids=" ".join)
@pytest.mark.long
def test_every_part_of_speed_runs(parts, tmp_path):
    file = tmp_path / "speed.json"
    done = measure_speed("--json", file, "--only", *parts)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(file.read_text())
    assert set(found) == {"machine", "load after", *parts}
    for part in parts:
        values = [value for case in found[part].values() for value in case.values()]
        assert values
        assert all(value >= 0 for value in values)
    assert "throughput" not in parts or "Breakthrough 8x8" in done.stdout
    assert "Python" in done.stdout.splitlines()[0]


def name_run(script, words):
    """Return the script with some of its arguments, and the games that it plays."""
    games = {path.parent.name for path in (ROOT / "momagames" / "games").glob("*/SPEC.md")}
    source = (ROOT / "benchmarks" / script).read_text(encoding="utf-8")
    played = () if any(game in word for game in games for word in words) else sorted(game for game in games if game in source)
    return " ".join((script, *words[:3:2], *played))


@pytest.mark.parametrize(("script", "words", "needed", "printed"), RUNS, ids=[name_run(*run[:2]) for run in RUNS])
@pytest.mark.long
def test_scripts_run(script, words, needed, printed, tmp_path, monkeypatch, capsys):
    for name in needed:
        pytest.importorskip(name)
    run_here(ROOT / "benchmarks" / script, words, tmp_path, monkeypatch)
    output = capsys.readouterr().out
    for text in printed:
        assert text in output


def run_here(path, words, directory, monkeypatch):
    """Run a script in this process: libraries are imported once for all scripts."""
    monkeypatch.setattr(sys, "argv", [str(path), *words])
    monkeypatch.chdir(directory)
    for folder in (path.parent, ROOT):
        monkeypatch.syspath_prepend(str(folder))
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        if threads:
            torch.set_num_threads(threads)


def test_every_script_is_run():
    folders = {path.parent.name for path in SCRIPTS} - {"c_loop"}
    others = {"fronts", "learning", "agents", "leaderboard"}
    assert folders == {"speed", *others}
    scripts = {f"{path.parent.name}/{path.name}" for path in SCRIPTS if path.parent.name in others}
    assert scripts - APART == {run[0] for run in RUNS}
    modules = {path.stem for path in SCRIPTS if path.parent.name == "speed"} | {"c_loop", "threads"}
    assert modules - {"__init__", "__main__", "timing", "peers", "originals", "cuda"} == set().union(*PARTS)


def test_the_part_on_a_card_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["speed", "--rounds", "1", "--steps", "200", "--only", "cuda"])
    monkeypatch.syspath_prepend(str(ROOT))
    cuda = importlib.import_module("benchmarks.speed.cuda")
    monkeypatch.setattr(cuda, "random_steps", lambda batch, words, steps: batch.reset())  # the processor's part takes seconds
    failed = None
    try:
        importlib.import_module("benchmarks.speed.__main__").main()
    except SystemExit as end:
        failed = end.code
    output = capsys.readouterr().out
    if failed is None:
        assert "x one thread of the processor" in output
    else:
        assert failed == "failed: cuda"
        assert re.search(r"CUDA needs numba-cuda|CudaBatch needs a CUDA card", output)


@pytest.fixture
def http(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    module = importlib.import_module("benchmarks.speed.http")
    monkeypatch.setattr(module, "PAUSE", 0.01)
    return module


def test_http_reconnects_to_a_simulator_that_closes_connections(http, monkeypatch):
    monkeypatch.setattr(server, "KEEP_ALIVE", 0.05)
    with server.serve_in_background() as url:
        ask = http.keep_alive(url.removeprefix("http://"))
        for _ in range(3):
            assert ask("/sessions/list", {}) == {"sessionIds": []}
            time.sleep(0.3)


def test_http_measures_a_round_again_after_a_restart(http):
    """The simulator restarts at the second click: the connection is closed, and the session is lost."""
    played, clicks = http.games(1, 1), []
    with ExitStack() as first, ExitStack() as second:
        url = first.enter_context(server.serve_in_background())
        host, port = url.removeprefix("http://").split(":")
        send = http.keep_alive(f"{host}:{port}")

        def ask(path, data):
            clicks.append(path)
            if clicks.count("/session/click") == 2 and path == "/session/click":
                first.close()
                second.enter_context(server.serve_in_background(port=int(port)))
            return send(path, data)

        assert http.loop(ask, 1, played)() > 0
    assert clicks.count("/session/create") == 2
    assert clicks.count("/session/click") == 2 + len(played[0][1])


@pytest.mark.long
def test_a_part_that_fails_does_not_lose_the_others(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import benchmarks.speed.c_loop as part\ndel part.measure\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(ROOT), *sys.path])
    done = measure_speed("--only", "c_loop", "memory")
    assert done.returncode == 1
    assert "c_loop failed:" in done.stdout
    assert "AttributeError" in done.stdout
    assert "15x15" in done.stdout
    assert done.stderr.strip() == "failed: c_loop"


def test_tuning_chooses_the_best_options_of_each_method(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    tune = importlib.import_module("benchmarks.learning.tune")
    methods = {"a": {"weak": [[0, 1], [1, 0]], "strong": [[0, 4], [4, 0]]}, "b": {"first": [[3, 3]], "second": [[3, 2]]}}
    lines = [
        {"experiment": "e", "method": method, "trial": trial, "options": {"kind": kind}, "seed": seed, "returns": returns}
        for method, trials in methods.items()
        for trial, (kind, returns) in enumerate(trials.items())
        for seed in tune.SEEDS
    ]
    lines.append({"experiment": "e", "method": "a", "trial": 2, "options": {"kind": "wrong"}, "error": "too small a budget"})
    chosen = tune.choose_options(lines)["e"]
    assert {method: one["options"]["kind"] for method, one in chosen.items()} == {"a": "strong", "b": "first"}
    assert {method: one["trials"] for method, one in chosen.items()} == {"a": 3, "b": 2}
    assert chosen["a"]["before"] < chosen["a"]["expected_utility"]
    assert chosen["b"]["before"] == chosen["b"]["expected_utility"]


def test_trials_train_with_a_share_of_every_budget(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    tune = importlib.import_module("benchmarks.learning.tune")
    method = {"name": "nsga2", "options": {"population": 4, "episodes": 1, "shared": True}}
    (experiment,) = suite({**POLICIES, "methods": [method], "budget": 9000, "budgets": {"nsga2": 4000}}).experiments
    trial = list(tune.train_and_play(experiment, experiment.methods[0], 0.5))
    assert [line["seed"] for line in trial] == [*tune.SEEDS]
    assert {line["budget"] for line in trial} == {2000}


def test_the_suite_of_policies_has_the_options_that_were_chosen():
    tuned = yaml.safe_load((ROOT / "benchmarks" / "learning" / "tuned.yaml").read_text())
    experiments = {
        one.name: {method.name: method.options for method in one.methods} for one in load_suite("policies").experiments
    }
    for name, methods in tuned.items():
        assert {method: chosen["options"] for method, chosen in methods.items()}.items() <= experiments[name].items()


def test_reference_sets_are_made_once(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT))
    script = importlib.import_module("benchmarks.fronts.policy_references")
    monkeypatch.setattr(script, "find_suite_folder", lambda: tmp_path)
    games = [{"id": "mo-breakthrough-v0", "params": {"board_width": 4, "board_height": 5}}]
    other = {**POLICIES, "name": "larger", "games": games}
    assert not run_suite(suite(POLICIES, other), tmp_path / "results").failed
    monkeypatch.setattr(sys, "argv", ["policy_references.py", str(tmp_path / "results"), "best-1", "--experiment", "seats"])
    script.main()
    made = json.loads((tmp_path / "references" / "best-1.json").read_text())
    assert made["source"].endswith("seeds 0, 1")
    (front,) = made["fronts"]
    values = np.array(front["returns"])
    assert is_nondominated(values).all()
    assert front["methods"]
    assert set(front["methods"]) <= {"random", "greedy"}
    with pytest.raises(SystemExit):
        script.main()
    assert "a set is never changed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*sys.argv[:2], "best-2"])
    script.main()
    both = json.loads((tmp_path / "references" / "best-2.json").read_text())["fronts"]
    assert len(both) == 2
    assert front in both
    monkeypatch.setattr(sys, "argv", [*sys.argv[:2], "best-4", "--method", "random"])
    script.main()
    by_method = json.loads((tmp_path / "references" / "best-4.json").read_text())
    assert by_method["source"].endswith("seeds 0, 1, methods random")
    assert [one["methods"] for one in by_method["fronts"]] == [["random"]] * 2
    monkeypatch.setattr(sys, "argv", [*sys.argv[:2], "best-3", "--experiment", "plans"])
    with pytest.raises(SystemExit):
        script.main()
    assert "no experiment plans" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*sys.argv[:2], "best-3", "--method", "greedy", "--method", "moppo"])
    with pytest.raises(SystemExit):
        script.main()
    assert "no method moppo" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*sys.argv[:2], "best-3", "--method", "random", "--exact"])
    with pytest.raises(SystemExit):
        script.main()
    assert "--exact" in capsys.readouterr().err
    assert not (tmp_path / "references" / "best-3.json").exists()


def test_reference_sets_leave_out_settings_without_their_methods(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    script = importlib.import_module("benchmarks.fronts.policy_references")
    monkeypatch.setattr(script, "find_suite_folder", lambda: tmp_path)
    games = [{"id": "mo-breakthrough-v0", "params": {"board_width": 4, "board_height": 5}}]
    both = suite(POLICIES, {**POLICIES, "name": "larger", "games": games, "methods": [RANDOM]})
    assert not run_suite(both, tmp_path / "results").failed
    monkeypatch.setattr(sys, "argv", ["policy_references.py", str(tmp_path / "results"), "best-1", "--method", "greedy"])
    script.main()
    (front,) = json.loads((tmp_path / "references" / "best-1.json").read_text())["fronts"]
    assert front["methods"] == ["greedy"]


def test_a_reference_set_of_proven_fronts(tmp_path, monkeypatch):
    """A setting without a solver for its team is left out."""
    monkeypatch.syspath_prepend(str(ROOT))
    script = importlib.import_module("benchmarks.fronts.policy_references")
    monkeypatch.setattr(script, "find_suite_folder", lambda: tmp_path)
    params = {"reward_mode": "expected", "num_agents": 3}
    team = {"name": "team", "games": [{"id": "mo-gem-mining-v0", "params": params}], "seats": ["agent_0"]}
    both = suite({**POLICIES, **team, "methods": [RANDOM], "opponents": [RANDOM]}, POLICIES)
    assert not run_suite(both, tmp_path / "results").failed
    monkeypatch.setattr(sys, "argv", ["policy_references.py", str(tmp_path / "results"), "proven-1", "--exact"])
    script.main()
    (front,) = json.loads((tmp_path / "references" / "proven-1.json").read_text())["fronts"]
    assert front["game"] == momagames.canonical("mo-gem-mining-v0", **params)
    assert front["methods"] == ["exact"]
    assert len(front["returns"]) > 1
