"""The command: what it prints, its exit codes, and that errors are one line."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import yaml

import momagames
from tests.experiments.tiny import EXACT, HOPELESS, INDICATORS, RANDOM, plans


def momagames_command(*arguments, cwd=None, **environment):
    """Run `python -m momagames ...` in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "100", **environment}
    return subprocess.run(
        [sys.executable, "-m", "momagames", *arguments], capture_output=True, text=True, cwd=cwd, env=environment, timeout=300
    )


def write_suite(folder, *methods):
    file = folder / "tiny.yaml"
    experiment = plans(list(methods), seeds=[0])
    file.write_text(yaml.safe_dump({"name": "tiny", "description": "d", "experiments": [experiment], "indicators": INDICATORS}))
    return file


def test_help_is_light():
    code = (
        "import sys\n"
        "sys.argv = ['momagames', '--help']\n"
        "from momagames.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'gymnasium', 'pettingzoo', 'plotly', 'pydantic', 'yaml', 'moocore'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in ("list", "info", "play", "match", "bench"):
        assert command in done.stdout


def test_list_and_info():
    done = momagames_command("list")
    assert done.returncode == 0, done.stderr
    for id in momagames.ids():
        assert id in done.stdout
    done = momagames_command("info", "mo-breakthrough-v0", "--param", "board_width=5", "-p", "objectives=[win, captures]")
    assert done.returncode == 0, done.stderr
    for told in ("player_0", "Discrete(120)", "captures", "board_width", "int8", "momaland 0.2.0", "reference point"):
        assert told in done.stdout
    assert "losses" not in done.stdout.split("parameter")[0]


def test_a_match(tmp_path):
    """A table, a file with everything, and a player from the current folder."""
    (tmp_path / "mine.py").write_text("def stand(seen, mask, rng):\n    return 0\n")
    done = momagames_command(
        "match", "mo-pommerman-duel-v0", "random", "mine:stand", "--games", "2", "--seed", "3", "--reruns", "1",
        "--time-limit", "1000", "--json", "match.json", "-p", "max_steps=30", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for told in ("random", "mine:stand", "(nobody)", "wins", "late", "outcome", "2 bouts", "seed 3", "1000 ms", "max_steps=30"):
        assert told in done.stdout
    data = json.loads((tmp_path / "match.json").read_text())
    assert data["players"] == ["random", "mine:stand"]
    assert (data["seed"], data["max_reruns"], len(data["bouts"])) == (3, 1, 2)
    done = momagames_command("match", "mo-pommerman-duel-v0", "random", "nobody")
    assert (done.returncode, done.stdout.strip()) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "no policy 'nobody'" in done.stderr


def test_a_bench_from_nothing_to_a_page(tmp_path):
    """In an empty folder: dry run, run, second start, report."""
    write_suite(tmp_path, RANDOM, EXACT)
    dry = momagames_command("bench", "run", "tiny.yaml", "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert "2 runs, 2 due" in dry.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]
    first = momagames_command("bench", "run", "tiny.yaml", "--workers", "1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "HV ratio" in first.stdout
    assert first.stdout.strip().endswith("page: momagames-results/tiny/report.html")
    page = tmp_path / "momagames-results" / "tiny" / "report.html"
    assert "bench run tiny.yaml --workers 1" in page.read_text(encoding="utf-8")
    second = momagames_command("bench", "run", "tiny.yaml", cwd=tmp_path)
    assert "2 finished before" in second.stdout
    assert "0 runs in" in second.stdout
    page.unlink()
    again = momagames_command("bench", "report", "momagames-results/tiny", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert page.is_file()


def test_a_failed_run_is_told_and_ends_with_1(tmp_path):
    write_suite(tmp_path, RANDOM, HOPELESS)
    done = momagames_command("bench", "run", "tiny.yaml", "-o", "out", "-w", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "failed: mo-samegame-v0.exact.seed0." in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_suites_that_come_along():
    done = momagames_command("bench", "list")
    assert done.returncode == 0, done.stderr
    assert "quick" in done.stdout
    assert "ten_seconds" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "mo-samgame-v0"], "did you mean 'mo-samegame-v0'"),
        (["info", "mo-samegame-v0", "-p", "board_with=3"], "did you mean 'board_width'"),
        (["info", "mo-samegame-v0", "-p", "board_width"], "is not of the form name=value"),
        (["info", "mo-samegame-v0", "-p", "board_width=[3"], "board_width=[3"),
        (["play", "mo-samegame-v1"], "did you mean 'mo-samegame-v0'"),
        (["bench", "run", "quik"], "did you mean 'quick'"),
        (["bench", "report", "nowhere"], "suite.json is missing"),
    ],
)
def test_mistakes_end_with_2_and_one_line(arguments, said, tmp_path):
    done = momagames_command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("momagames: ")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    write_suite(tmp_path, RANDOM)
    done = momagames_command("bench", "run", "tiny.yaml", "--out", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds other things" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]


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


def test_ctrl_c_is_one_line_and_the_next_start_goes_on(tmp_path):
    experiment = {**plans([RANDOM], seeds=range(8)), "budget": 1_000_000}
    suite = {"name": "long", "description": "d", "experiments": [experiment], "indicators": INDICATORS}
    (tmp_path / "long.yaml").write_text(yaml.safe_dump(suite))
    program = subprocess.Popen(
        [sys.executable, "-m", "momagames", "bench", "run", "long.yaml", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        start_new_session=True,
    )
    runs = tmp_path / "momagames-results" / "long" / "runs"
    deadline = time.monotonic() + 120
    while not (runs.is_dir() and list(runs.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(program.pid, signal.SIGINT)
    _, complaint = program.communicate(timeout=60)
    assert program.returncode == 130
    assert complaint.decode().strip() == "momagames: interrupted; the same command goes on where this one stopped"
    finished = len(list(runs.iterdir()))
    assert 1 <= finished < 8
    again = momagames_command("bench", "run", "long.yaml", cwd=tmp_path)
    assert again.returncode == 0
    assert f"{finished} finished before" in again.stdout
