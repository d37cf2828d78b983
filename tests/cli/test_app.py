"""The command: what it prints, its exit codes, and that errors are one line."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

import momagames
from momagames.cli.app import app, main


def momagames_command(*arguments, cwd=None, **environment):
    """Run `python -m momagames ...` in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "100", **environment}
    return subprocess.run(
        [sys.executable, "-m", "momagames", *arguments], capture_output=True, text=True, cwd=cwd, env=environment, timeout=300
    )


def momagames_here(*arguments, cwd=None, **environment):
    """Run `momagames ...` in this process, where libraries are imported and rules compiled; return what a process would.

    An error that is not ours is raised here.
    """
    output, errors = StringIO(), StringIO()
    imported = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        patch.setattr(sys, "argv", ["momagames", *arguments])
        patch.setattr(sys, "path", [*sys.path])
        for name, value in {"COLUMNS": "100", **environment}.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    if cwd is not None:  # other tests have modules of the same names in other folders
        for name in set(sys.modules) - imported:
            if Path(cwd).resolve() in Path(getattr(sys.modules[name], "__file__", None) or "/").resolve().parents:
                del sys.modules[name]
    return subprocess.CompletedProcess(["momagames", *arguments], code, output.getvalue(), errors.getvalue())


def test_version():
    done = momagames_command("--version")
    assert (done.returncode, done.stdout) == (0, f"momagames {momagames.__version__}\n")


def test_help_imports_no_heavy_module():
    code = (
        "import sys\n"
        "sys.argv = ['momagames', '--help']\n"
        "from momagames.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'plotly', 'pydantic', 'yaml', 'moocore'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in ("list", "info", "play", "match", "bench"):
        assert command in done.stdout


def test_help_shows_defaults_in_brackets():
    """They are no markup."""
    assert "[the first]" in CliRunner().invoke(app, ["play", "--help"], env={"COLUMNS": "100"}).output


@pytest.mark.long
def test_list_and_info():
    done = momagames_here("list")
    assert done.returncode == 0, done.stderr
    for id in momagames.ids():
        assert id in done.stdout
    assert "agent_0 .. agent_99 (teams: one)" in momagames_here("info", "mo-beach-v0", "-p", "reward_mode=team").stdout
    done = momagames_here("info", "mo-breakthrough-v0", "--param", "board_width=5", "-p", "objectives=[win, captures]")
    assert done.returncode == 0, done.stderr
    for expected in ("player_0", "Discrete(120)", "captures", "board_width", "int8", "momaland 0.2.0", "reference point"):
        assert expected in done.stdout
    assert "losses" not in done.stdout.split("parameter")[0]


@pytest.mark.long
def test_a_match(tmp_path):
    """A table, a file with everything, and a player from the current folder."""
    (tmp_path / "mine.py").write_text("def stand(seen, mask, rng):\n    return 0\n")
    done = momagames_here(
        "match", "mo-pommerman-duel-v0", "random", "mine:stand", "--games", "2", "--seed", "3", "--reruns", "1",
        "--time-limit", "1000", "--json", "match.json", "-p", "max_steps=30", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for expected in (
        "random",
        "mine:stand",
        "(tie)",
        "wins",
        "late",
        "outcome",
        "2 bouts",
        "seed 3",
        "1000 ms",
        "max_steps=30",
    ):
        assert expected in done.stdout
    data = json.loads((tmp_path / "match.json").read_text())
    assert data["players"] == ["random", "mine:stand"]
    assert (data["seed"], data["max_reruns"], len(data["bouts"])) == (3, 1, 2)
    done = momagames_command("match", "mo-pommerman-duel-v0", "random", "unknown")
    assert (done.returncode, done.stdout.strip()) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "invalid policy='unknown'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "mo-samgame-v0"], "did you mean 'mo-samegame-v0'"),
        (["info", "mo-samegame-v0", "-p", "board_with=3"], "did you mean 'board_width'"),
        (["info", "mo-samegame-v0", "-p", "board_width"], "is not of the form name=value"),
        (["info", "mo-samegame-v0", "-p", "board_width=[3"], "board_width=[3"),
        (["play", "mo-samegame-v1"], "did you mean 'mo-samegame-v0'"),
        (["play", "mo-samegame-v0", "--agent", "1"], "invalid --agent=1: expected 'agent_0', or an index 0..0"),
    ],
)
@pytest.mark.long
def test_invalid_calls_exit_with_2_and_one_line(arguments, said, tmp_path):
    done = momagames_here(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("momagames: ")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.long
def test_play_ends_with_the_input():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "momagames",
            "play",
            "mo-samegame-v0",
            "--seed",
            "1",
            "-p",
            "board_width=4",
            "-p",
            "board_height=4",
        ],
        input="q\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


OWN_CODE = """
import sys


def broken(observation, mask, generator):
    raise ValueError("boom")


def ends(observation, mask, generator):
    sys.exit(0)


def silent(observation, mask, generator):
    mask.argmax()


def first(observation, mask, generator):
    return 0


class Needs:
    def __init__(self, game, agent, weights):
        self.weights = weights

    def __call__(self, observation, mask, generator):
        return int(mask.argmax())
"""


@pytest.mark.parametrize(
    ("player", "expected"),
    [
        ("own:broken", "ValueError: boom (FOLDER/own.py, line 6)"),
        ("own:ends", "SystemExit: 0 (FOLDER/own.py, line 10)"),
        ("own:silent", "own:silent: illegal action=None of player_"),
        ("own:first", "own:first: illegal action=0 of player_"),
        ("own:Needs", "own:Needs: expected a value of 'weights', as in own:Needs(weights=...)"),
        ("syntax:first", "cannot load 'syntax:first': expected ':' (syntax.py, line 1)"),
        ("fails:first", "ZeroDivisionError: division by zero (FOLDER/fails.py, line 1)"),
    ],
)
def test_errors_of_own_code_in_a_match_name_the_place(tmp_path, player, expected):
    (tmp_path / "own.py").write_text(OWN_CODE)
    (tmp_path / "syntax.py").write_text("def first(observation, mask, generator) return 0")
    (tmp_path / "fails.py").write_text("1 / 0")
    sizes = ("-p", "board_width=3", "-p", "board_height=5")
    done = momagames_command("match", "mo-breakthrough-v0", player, "random", "--games", "2", *sizes, cwd=tmp_path)
    assert done.returncode == 2
    assert f"momagames: {expected.replace('FOLDER', str(tmp_path))}" in done.stderr
    assert "momagames/benchmark" not in done.stderr


@pytest.mark.long
def test_a_missing_extra_of_the_simulator_is_one_line():
    code = (
        "import sys\n"
        "sys.modules |= {'starlette': None, 'uvicorn': None}\n"
        "sys.argv = ['momagames', 'serve', 'tileblast']\n"
        "from momagames.cli.app import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith('needs starlette and uvicorn: pip install "momagames[serve]"\n')
    assert len(done.stderr.splitlines()) == 1
