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
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from momagames.baselines.archive import is_nondominated
from momagames.benchmark import run_suite
from momagames.games.tileblast.serve import server
from tests.benchmark.tiny import POLICIES, suite

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))
PARTS = [  # those of a game apart
    ("throughput", "aec", "search", "c_loop", "cold_start", "memory", "threads"), ("pommerman",), ("tileblast", "http"),
    ("robotmail",),
]  # fmt: skip
RUNS = [  # script, arguments, libraries of extras, parts of what is printed
    ("fronts/exact_sizes.py", ("4x4x3:2",), (), ("| 4x4x3 | 2 of 2 |",)),
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
        "learning/solved_positions.py", ("3x5", "--games", "2", "--budget", "1e5"), (),
        ("| policy | 3x5 random |", "| solved | 1.000 |", "| ntuple, depth 3 |", "| pareto_uct(1000) |"),
    ),
    (
        "agents/original.py", ("duel", "--games", "2", "--agent", "original:tests.games.pommerman.original_agents:Sampler"), (),
        ("| duel | 2 | ",),
    ),
    (
        "learning/solved_positions.py", ("3x5", "--games", "2", "--self-play", "0.1"), (),
        ("3x5, seed 0, 0.1 s each: plain ", " positions, uct: plain, depth 1 ", "search from the start, depth 3 "),
    ),
    ("fronts/equilibria.py", ("3x5",), (), ("3x5: 606,105 positions", "subgame perfect   player_0 wins: 0:5 1:4")),
    ("fronts/pommerman_endgames.py", ("--steps", "2", "--seeds", "2"), (), ("| 2 | 2 | 13 / 13 | 0 | 2 | 0 | 0 | ",)),
    (
        "fronts/learned_points.py", ("deep", "--steps", "1000"), ("morl_baselines", "mo_gymnasium"),
        ("deep-sea-treasure-v0-gamma-0.99: GPI-LS attains ", " of the 10 exact ones; 1,000 steps"),
    ),
    ("fronts/win_loss.py", ("3x5", "--bits", "12"), (), ("3x5  momagames  player_1 wins",)),
    (
        "learning/search.py", ("--board", "4", "4", "3", "--seconds", "0.02", "--instances", "1"), (),
        ("greedy: ", "beam(champion): ", "nrpa(champion): ", "pareto_nrpa(champion): ",
         " times the hypervolume of beam ("),
    ),
    (
        "learning/datasets.py", ("--recipe", "samegame-7x7", "--episodes", "200", "100"), ("pyarrow",),
        ("random: 200 episodes, ", "medium: 100 episodes, ", "  Parquet, zstd: ", "  NumPy, deflate: ", "  read: "),
    ),
    ("learning/rates.py", ("breakthrough", "--seconds", "0.1"), (), ("| breakthrough | ntuple | ",)),
    (
        "learning/tables.py",
        ("--board", "4", "5", "--seconds", "0.2", "0.4", "--front-seconds", "0.1", "--divisions", "1", "--games", "4",
         "--uct", "5:2"),
        (),
        ("moves/s", "against uct(5): ", "0.4 s against 0.2 s: ", "depth 3: ", "search from the start, ",
         "| `uct`, champion's values, ", "  w=(0, 0, 1): ", "non-dominated"),
    ),
    (
        "learning/pommerman.py",
        ("--game", "duel", "--seconds", "0.1", "--updates", "1", "--num-envs", "8", "--games", "2", "--kills", "0.5"),
        ("torch",),
        ("decisions/s with updates", "against simple: MOPPO greedy: ", "against safe:simple: MOPPO sampled: ", "safe:random: "),
    ),
    (
        "learning/pommerman.py", ("--game", "radio", "--champion", "--games", "2"), ("torch",),
        ("mo-pommerman-radio-v0, 2 games against simple: champion greedy: ", "champion sampled: ", "sampled, silent: ",
         "sampled, random words: ", "safe:random: "),
    ),
    (
        "learning/champions.py", ("pommerman-duel", "--out", "new.npz", "--budget", "2e4", "--episodes", "1"), ("torch",),
        ("mo-pommerman-duel-v0 {}: ['moppo', '1', ", "new.npz: "),
    ),
    (
        "learning/champions.py", ("breakthrough", "--out", "new.npz", "--budget", "1e5", "--episodes", "1"), (),
        ("mo-breakthrough-v0 {}: ['ntuple', '1', ", "new.npz: "),
    ),
    *(
        (
            "learning/targets.py", (name, "--budget", "2e4", "--out", ".", "--episodes", "2"), ("torch",),
            (f"{name}, moppo, seed 10: ", printed),
        )
        for name, printed in (
            ("pommerman-duel", "won by safe:simple, safe:simple "),
            ("robotmail-2", "share of energy_saver's points dominated "),
        )
    ),
    (
        "learning/targets.py",
        ("samegame", "--learner", "cross_entropy", "--budget", "2e6", "--out", ".", "--episodes", "2"), ("torch",),
        ("over greedy(estimate=both) ",),
    ),
    *(
        (
            "learning/targets.py",
            ("samegame7", "--learner", learner, "--budget", "5e5", "--out", ".", "--episodes", "2"), ("torch",), (printed,),
        )
        for learner, printed in (("cross_entropy", "share of exact "), ("beam_estimate", "beam(estimate=trained), "))
    ),
    (
        "learning/targets.py",
        ("tileblast", "--learner", "cross_entropy", "--budget", "6e5", "--out", ".", "--episodes", "2"), ("torch",),
        ("tileblast, cross_entropy, seed 10: ", "one_step_lookahead, unseen levels "),
    ),
    *(
        (
            "learning/targets.py",
            (name, "--learner", "maskable_ppo", "--seconds", "0.1", "--budget", "1e5", "--out", ".", "--episodes", "2"),
            ("torch", "sb3_contrib"), (f"{name}, maskable_ppo, seed 10: ", printed),
        )
        for name, printed in (("breakthrough", "won against uct(10000) "), ("tileblast", "unseen levels "))
    ),
    (
        "learning/targets.py", ("breakthrough-3x5", "--budget", "1e6", "--out", ".", "--episodes", "2"), ("torch",),
        ("breakthrough-3x5, ntuple, seed 10: ", "kept at depth 3, own play ", "uct(1000), random play "),
    ),
    (
        "learning/throughput.py",
        ("--num-envs", "16", "--updates", "1", "--frames", "0", "--threads", "1"),
        ("torch",),
        ("| update |", "decisions per second"),
    ),
    (
        "learning/scalar.py",
        ("--only", "maskable-ppo", "torchrl", "moppo", "rllib", "--budget", "128", "--board", "3x3x2", "--rllib-batch", "128",
         "--episodes", "2"),
        ("torch", "sb3_contrib", "torchrl", "ray.rllib"),
        ("maskable-ppo seed 0: ", "torchrl      seed 0: ", "moppo        seed 0: ", "rllib        seed 0: "),
    ),
    (
        "learning/morl.py",
        ("pcn", "pql", "--budget", "50", "--board", "3x3x2"),
        ("torch", "morl_baselines"),
        ("random play: ", "pcn        seed 0: ", "pql        seed 0: "),
    ),
    # the test of docs/tutorials trains momaland's MOMAPPO: its compilation takes half a minute
    ("learning/momappo.py", ("--weights", "0", "--episodes", "2"), ("momaland", "supersuit"), ("random play: ",)),
    (
        "learning/fishwood.py",
        ("--steps", "400", "--seeds", "1", "--episodes", "2"),
        ("morl_baselines",),
        ("optimum 16.207, random play 9.950, ", "probability 0.78 14.973", "eupg, seed 0: "),
    ),
    (
        "learning/published.py",
        ("pql", "lcn", "--share", "0.02"),
        ("morl_baselines",),
        ("pql, deep-sea", "expected utility", "lcn, fruit", " fair points"),
    ),
]  # fmt: skip
MODULES = {"learning/evaluations.py", "learning/maskable_ppo.py"}  # of other scripts
APART = {
    "fronts/policy_references.py",  # needs results: test_reference_sets_are_made_once
    "fronts/samegame_standard.py",  # needs boards that the package does not have: tests/games/samegame/test_standard_scores.py
}
SMALLER: dict[str, dict[str, object]] = {  # constants of scripts, of which only more or longer measurements depend
    "learning/tables.py": {"DEPTHS": (1, 2), "SPEED_GAMES": 2},
}
NEEDED = {"torch", "mo_gymnasium", "momaland", "morl_baselines", "sb3_contrib", "torchrl", "ray", "supersuit"}  # of extras


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
    path = ROOT / "benchmarks" / script
    if "ray.rllib" in needed:  # starts processes
        done = run_python(path, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        output = done.stdout
    else:
        run_here(path, words, tmp_path, monkeypatch, SMALLER.get(script, {}))
        output = capsys.readouterr().out
    for text in printed:
        assert text in output


def run_here(path, words, directory, monkeypatch, constants):
    """Run a script in this process: libraries are imported once for all scripts. Other constants need its module."""
    monkeypatch.setattr(sys, "argv", [str(path), *words])
    monkeypatch.chdir(directory)
    for folder in (path.parent, ROOT):
        monkeypatch.syspath_prepend(str(folder))
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    try:
        if not constants:
            runpy.run_path(str(path), run_name="__main__")
            return
        assert path.read_text(encoding="utf-8").endswith('\n\nif __name__ == "__main__":\n    main()\n')
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, value in constants.items():
            monkeypatch.setattr(module, name, value)
        module.main()
    finally:
        if threads:
            torch.set_num_threads(threads)


def test_maskable_ppo_learns_from_scaled_rewards_of_the_games_in_turn(monkeypatch):
    pytest.importorskip("sb3_contrib")
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.learning.maskable_ppo import make_env
    from benchmarks.learning.targets import COMPONENTS, LEVELS, TARGETS

    training = replace(TARGETS["tileblast"].make_training("maskable_ppo", 1, None), weights=(1.0,) * len(COMPONENTS))

    def play(scale, number):
        """Return the levels of two episodes and their first utilities."""
        env = make_env(training, np.full(len(COMPONENTS), scale), number)
        levels, utilities = [], []
        for _ in range(2):
            env.reset()
            levels.append(env.unwrapped.game.params["level"])
            utilities.append(env.step(int(env.action_masks().argmax()))[1])
        return levels, utilities

    levels, utilities = play(1.0, 0)
    assert levels == list(LEVELS[:2])
    assert all(utilities)
    assert play(4.0, 0) == (levels, [utility / 4 for utility in utilities])
    assert play(1.0, 1)[0] == list(LEVELS[1:3])


def test_every_script_is_run():
    folders = {path.parent.name for path in SCRIPTS} - {"c_loop"}
    assert folders == {"speed", "fronts", "learning", "agents"}
    scripts = {f"{path.parent.name}/{path.name}" for path in SCRIPTS if path.parent.name in ("fronts", "learning", "agents")}
    assert scripts - MODULES - APART == {run[0] for run in RUNS}
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


def test_archived_reports_gain_seeds(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT))
    targets = importlib.import_module("benchmarks.learning.targets")

    def make_report(seed, budget, minutes):
        head = {"seed": seed, "budget": budget}
        times = {"minutes": 9, "CPU-minutes": minutes} if seed > 10 else {"minutes": minutes}  # older reports lack the second
        return {"learner": "grpo", "head": head, "version": "1", "results": {"share": 1}, **times}

    monkeypatch.setattr(targets, "ARCHIVE", tmp_path / "results.json")
    fewer = make_report(14, 5, 1) | {"episodes": 20}
    archived = {"samegame": {"runs": [make_report(10, 5, 1), make_report(11, 5, 1), make_report(12, 9, 1), fewer]}}
    targets.ARCHIVE.write_text(json.dumps(archived))
    targets.archive_reports(tmp_path)
    assert json.loads(targets.ARCHIVE.read_text())["samegame"]["runs"] == archived["samegame"]["runs"]
    for seed in (11, 13):
        (tmp_path / f"samegame-grpo-{seed}").mkdir()
        (tmp_path / f"samegame-grpo-{seed}" / "report.json").write_text(json.dumps(make_report(seed, 5, 4)))
    assert targets.find_seconds(tmp_path, "samegame", "grpo") == 60 * 3
    targets.archive_reports(tmp_path)
    runs = json.loads(targets.ARCHIVE.read_text())["samegame"]["runs"]
    found = [(one["head"]["seed"], one.get("CPU-minutes")) for one in runs]
    assert found == [(10, None), (11, 4), (13, 4)]  # 12 had another budget, 14 fewer episodes of evaluation


def test_reports_before_an_option_are_those_with_its_default(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT))
    targets = importlib.import_module("benchmarks.learning.targets")

    def make_report(**options):
        head = {"seed": 1, "method": "moppo", "options": {"gamma": 1.0, **options}}
        return {"head": head, "version": "1", "results": {"share": 1}}

    older = make_report()
    assert targets.are_seeds_of_one(older, make_report(league_size=0))
    assert not targets.are_seeds_of_one(older, make_report(league_size=2))
    assert not targets.are_seeds_of_one(older, make_report(gamma=0.9))


def test_reference_sets_are_made_once(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT))
    script = importlib.import_module("benchmarks.fronts.policy_references")
    monkeypatch.setattr(script, "find_suite_folder", lambda: tmp_path)
    assert not run_suite(suite(POLICIES), tmp_path / "results").failed
    monkeypatch.setattr(sys, "argv", ["policy_references.py", str(tmp_path / "results"), "best-1"])
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
