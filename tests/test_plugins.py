"""A third-party package, installed in a folder: its game, policies, estimates, move codes and commands work by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.benchmark.tiny import INDICATORS

SOURCES = {
    "mo_pebbles/__init__.py": """
        import momagames

        def register():
            momagames.register("mo-pebbles-v0", "mo_pebbles.game:game", players=2)
            momagames.register("mo-pebbles-solo-v0", "mo_pebbles.game:game", players=1)
            momagames.register_command("pebbles", "mo_pebbles.cli:app", "Commands of MO-Pebbles.")
    """,
    "mo_pebbles/game.py": """
        import numpy as np

        from momagames.contract import (
            Field, Game, Kernels, Objective, Parameter, SearchGuidance, SearchSupport, check_parameters
        )
        from momagames.kernels.jit import kernel
        from momagames.kernels.record import record

        state_dtype = record(2, heap=("i4",), start=("i4",), players=("i4",))
        PARAMETERS = (Parameter("pebbles", 9, "pebbles in the heap", 1, 100),)

        @kernel
        def generate(state):
            state["heap"] = state["start"]

        @kernel
        def legal(state, agent, mask):
            for k in range(3):
                mask[k] = not state["over"] and agent == state["to_move"] and k < np.int64(state["heap"])

        @kernel
        def step(state, actions, reward):
            mover = np.int64(state["to_move"])
            count = 1 + np.int64(actions[0, 0])
            state["heap"] -= count
            state["ply"] += 1
            state["over"] = state["heap"] == 0
            reward[:] = 0
            reward[mover, 0] = count
            if state["over"]:
                reward[:, 1] = -1
                reward[mover, 1] = 1
            state["to_move"] = (mover + 1) % np.int64(state["players"])

        @kernel
        def observe(state, agent, out):
            out[0] = state["heap"]

        @kernel
        def optimistic(state, out):
            out[0] = state["heap"]
            out[1] = 1

        @kernel
        def present(state, out):
            out[0] = state["heap"]
            out[1] = 0

        @kernel
        def move_codes(state, actions, count, codes):
            for i in range(count):
                codes[i] = np.uint64(1 + 4 * np.int64(state["heap"]) + actions[i])
            return count

        def game(id, players, **given):
            params = check_parameters(id, PARAMETERS, given)
            heap = params["pebbles"]
            blank = np.zeros(1, state_dtype)[0]
            blank["start"], blank["players"] = heap, players
            return Game(
                id=id,
                title="MO-Pebbles",
                agents=("player_0", "player_1")[:players],
                dynamics="sequential",
                chance="none",
                objectives=(
                    Objective("pebbles", "pebbles", 0, 3, 0, heap, "1"),
                    Objective("win", "last pebble", -1, 1, -1, 1, "2", zero_sum=True),
                ),
                actions=(3,),
                fields=(Field("observation", (1,), "int8", 0, 100),),
                max_episode_steps=heap,
                factory=game,
                blank_state=blank,
                kernels=Kernels(generate=generate, legal=legal, step=step, observe=observe),
                params=params,
                parameters=PARAMETERS,
                rules_key="pebbles",
                policies={
                    "cautious": "mo_pebbles.policies:CAUTIOUS",
                    "greatest": "mo_pebbles.policies:Greatest",
                    "at_most": "mo_pebbles.policies:AtMost",
                },
                search=SearchSupport(optimistic=optimistic, present=present, guidance=SearchGuidance(move_codes=move_codes)),
            )
    """,
    "mo_pebbles/policies.py": """
        from momagames.engine.policies import CompiledPolicy
        from momagames.kernels.jit import kernel

        @kernel
        def take_one(state, agent, mask, parts, memory, word, action):
            action[0] = 0
            return word

        CAUTIOUS = CompiledPolicy("cautious", take_one, rules=("pebbles",))

        class Greatest:
            def __init__(self, game, agent):
                assert agent in (0, 1)

            def __call__(self, observation, mask, rng):
                assert observation.shape == (1,)
                return int(mask.nonzero()[0][-1])

        class AtMost:
            def __init__(self, game, agent, pebbles=1):
                self.pebbles = pebbles

            def __call__(self, observation, mask, rng):
                return int(mask[: self.pebbles].nonzero()[0][-1])
    """,
    "mo_pebbles/cli.py": """
        import typer

        app = typer.Typer(no_args_is_help=True)

        @app.callback()
        def pebbles():
            pass

        @app.command()
        def count(heap: int):
            print(f"{heap} pebbles")
    """,
    "mo_pebbles-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mo-pebbles\nVersion: 1.0\n",
    "mo_pebbles-1.0.dist-info/entry_points.txt": "[momagames.games]\npebbles = mo_pebbles:register\n",
}
AT_MOST_TWO = {"name": "at_most", "options": {"pebbles": 2}}
CAUTIOUS, GREATEST, BY_PATH = "cautious", "greatest", "mo_pebbles.policies:Greatest"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the installed package."""
    folder = tmp_path_factory.mktemp("site")
    for name, source in SOURCES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(source))
    return folder


def python(site, *words, cwd=None, stdin=""):
    """Run Python with the package installed; without compiler, which makes it quick."""
    paths = os.pathsep.join([str(site), str(Path(__file__).parents[1])])
    return subprocess.run(
        [sys.executable, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd or site,
        env={**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )


def momagames(site, *words, cwd=None, stdin=""):
    done = python(site, "-m", "momagames", *words, cwd=cwd, stdin=stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def momagames_in_turn(site, commands, folder):
    """Run several commands in one process, which imports PyTorch once."""
    code = f"""
        import sys
        from momagames.cli.app import main
        for words in {commands}:
            sys.argv = ["momagames", *words]
            try:
                main()
            except SystemExit as end:
                assert not end.code, end.code
    """
    done = python(site, "-c", dedent(code), cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_gymnasium_opponents(site):
    code = f"""
        import momagames, numpy as np
        from momagames import registry
        def last(observation, mask, rng):
            return int(mask.nonzero()[0][-1])
        for others, reward in (({CAUTIOUS!r}, 0), ({GREATEST!r}, 0), ({BY_PATH!r}, 0)):
            env = momagames.make("mo-pebbles-v0", api="gymnasium", others=others, pebbles=9)
            env.reset(seed=0)
            env.step(0)
            print(others, int(env.unwrapped.get_state()["heap"]))
        game = momagames.spec("mo-pebbles-v0")
        state = game.make_state()
        state["heap"] = 2
        mask = np.array([1, 1, 0], np.int8)
        for name in ({CAUTIOUS!r}, {GREATEST!r}, {BY_PATH!r}):
            print(name, registry.policy(name, game, 0)(state[0], mask, np.random.default_rng(0)))
    """
    done = python(site, "-c", dedent(code))
    assert done.stdout.splitlines() == [
        f"{CAUTIOUS} 7", f"{GREATEST} 5", f"{BY_PATH} 5",
        f"{CAUTIOUS} 0", f"{GREATEST} 1", f"{BY_PATH} 1",
    ], done.stderr  # fmt: skip


@pytest.mark.long
def test_suite(site, tmp_path):
    experiment = {"ideal_point": "declared", "seeds": [0], "seconds": 300}
    policies = {
        "name": "policies",
        "kind": "policies",
        "games": [{"id": "mo-pebbles-v0", "params": {}}],
        "methods": [*({"name": name, "options": {}} for name in (CAUTIOUS, GREATEST)), AT_MOST_TWO],
        "opponents": [*({"name": name, "options": {}} for name in (CAUTIOUS, GREATEST, BY_PATH)), AT_MOST_TWO],
        "seats": [],
        "budget": 0,
        "select_episodes": 1,
        "report_episodes": 2,
    }
    nrpa = {"name": "nrpa", "options": {"divisions": 1, "levels": 1, "iterations": 3, "alpha": 1.0}}
    beams = [{"name": "beam", "options": {"width": 2, "estimate": estimate}} for estimate in ("present", "optimistic")]
    plans = {
        "name": "plans",
        "kind": "plans",
        "games": [{"id": "mo-pebbles-solo-v0", "params": {}}],
        "methods": [*beams, nrpa],
        "budget": 50,
    }
    suite = {"name": "pebbles", "description": "", "indicators": INDICATORS}
    suite["experiments"] = [{**experiment, **policies}, {**experiment, **plans}]
    (tmp_path / "pebbles.yaml").write_text(json.dumps(suite))
    momagames(site, "bench", "run", "pebbles.yaml", "--out", "out", cwd=tmp_path)
    configs = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("config.json")]
    assert sorted(run["method"]["name"] for run in configs) == ["at_most", "beam", "beam", CAUTIOUS, GREATEST, "nrpa"]
    rows = [json.loads(line) for path in (tmp_path / "out").rglob("rows.jsonl") for line in path.read_text().splitlines()]
    assert {row["opponent"] for row in rows if "opponent" in row} == {CAUTIOUS, GREATEST, BY_PATH, "at_most(pebbles=2)"}
    longest = max(row["length"] for row in rows if row["method"] == "at_most" and row["opponent"] == "at_most(pebbles=2)")
    assert longest == 5  # nine pebbles


@pytest.mark.long
def test_match(site):
    rendered = momagames(site, "match", "mo-pebbles-v0", CAUTIOUS, GREATEST, "--games", "2")
    assert CAUTIOUS in rendered
    momagames(site, "match", "mo-pebbles-v0", CAUTIOUS, BY_PATH, "--games", "2")


@pytest.mark.parametrize("opponent", [CAUTIOUS, GREATEST, BY_PATH])
@pytest.mark.long
def test_play(site, opponent):
    rendered = momagames(
        site, "play", "mo-pebbles-v0", "--opponent", opponent, "--terminal", "-p", "pebbles=5", stdin="0\n0\n0\n"
    )
    assert f"against {opponent}" in rendered
    assert "player_1" in rendered


@pytest.mark.long
def test_train(site, tmp_path):
    """Against each opponent, one after the other."""
    pytest.importorskip("torch")
    options = {"num_envs": 2, "num_steps": 4, "hidden": 4, "divisions": 1}
    words = [word for name, value in options.items() for word in ("-O", f"{name}={value}")]
    words = ["train", "mo-pebbles-v0", "--budget", "20", "--evaluations", "1", "--episodes", "1", *words]
    commands = [[*words, "--opponent", opponent, "--out", f"learned {opponent}"] for opponent in (CAUTIOUS, BY_PATH)]
    rendered = momagames_in_turn(site, commands, tmp_path)
    for opponent in (CAUTIOUS, BY_PATH):
        assert f"learned {opponent}/checkpoint.npz" in rendered.replace("\n", "")


@pytest.mark.long
def test_commands(site):
    assert momagames(site, "pebbles", "count", "3") == "3 pebbles\n"
    assert "Commands of MO-Pebbles." in momagames(site, "--help")
    assert "count" in momagames(site, "pebbles", "--help")
