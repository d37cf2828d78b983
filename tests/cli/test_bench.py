"""The commands `momagames bench` and `momagames replay`: what they print, what they leave, how they end."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import yaml

from momagames.benchmark import load_suite, run_suite
from momagames.benchmark.store.store import Store
from momagames.cli import app
from tests.benchmark.tiny import EXACT, GREEDY, HOPELESS, INDICATORS, POLICIES, RANDOM, plans
from tests.cli.test_app import momagames_command, momagames_here


def write_suite(folder, *methods):
    file = folder / "tiny.yaml"
    experiment = plans(list(methods), seeds=[0])
    file.write_text(yaml.safe_dump({"name": "tiny", "description": "d", "experiments": [experiment], "indicators": INDICATORS}))
    return file


@pytest.mark.long
def test_a_bench_from_nothing_to_a_page(tmp_path):
    """In an empty folder: dry run, run, second start, report."""
    write_suite(tmp_path, RANDOM, EXACT)
    dry = momagames_here("bench", "run", "tiny.yaml", "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert "2 runs, 2 due" in dry.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]
    first = momagames_command("bench", "run", "tiny.yaml", "--workers", "1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "Mean hypervolume" in first.stdout
    assert first.stdout.strip().endswith("page: momagames-results/tiny/report.html")
    page = tmp_path / "momagames-results" / "tiny" / "report.html"
    assert "bench run tiny.yaml --workers 1" in page.read_text(encoding="utf-8")
    second = momagames_here("bench", "run", "tiny.yaml", cwd=tmp_path)
    assert "2 finished before" in second.stdout
    assert "0 runs in" in second.stdout
    page.unlink()
    again = momagames_here("bench", "report", "momagames-results/tiny", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert page.is_file()


@pytest.mark.long
def test_a_suite_in_two_parts(tmp_path):
    write_suite(tmp_path, RANDOM, EXACT)
    first = momagames_here("bench", "run", "tiny.yaml", "-o", "one", "-w", "1", "--method", "exact", cwd=tmp_path)
    assert "1 run, 0 finished before, 1 worker, into one, method exact" in first.stdout
    made = momagames_here("bench", "archive", "one", "-o", "a.npz.xz", "--thinned", cwd=tmp_path)
    assert made.stdout.startswith("1 run archived\nleft out, not finished: 1 run: 1 of 'boards 0'\na.npz.xz: ")
    second = momagames_here("bench", "run", "tiny.yaml", "-o", "two", "-w", "1", "--archive", "a.npz.xz", cwd=tmp_path)
    assert second.stdout.startswith("from a.npz.xz: 1 finished run\n")
    assert "2 runs, 1 finished before" in second.stdout
    assert "not of this suite" not in second.stderr
    write_suite(tmp_path, RANDOM)
    other = momagames_here("bench", "run", "tiny.yaml", "-o", "three", "--archive", "a.npz.xz", "--dry-run", cwd=tmp_path)
    assert "momagames: a.npz.xz: not of this suite: 1 archived run: 1 with other methods\n" in other.stderr
    assert not (tmp_path / "three").exists()
    wrong = momagames_here("bench", "run", "tiny.yaml", "--game", "MO-Gemwalks", cwd=tmp_path)
    assert "invalid game='MO-Gemwalks': expected " in wrong.stderr
    assert wrong.returncode == 2


@pytest.mark.long
def test_a_failed_run_is_reported_with_exit_code_1(tmp_path):
    write_suite(tmp_path, RANDOM, HOPELESS)
    done = momagames_here("bench", "run", "tiny.yaml", "-o", "out", "-w", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "failed: mo-gemwalk-v0.exact.seed0." in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.long
def test_names_are_no_markup(tmp_path):
    """Those of the suite's experiments, and of the results directory, which the next commands name so that a shell reads it."""
    experiment = {**plans([RANDOM], seeds=[0]), "name": "a [/x] \x1b[31m"}
    content = {"name": "tiny", "description": "[/d]", "experiments": [experiment], "indicators": INDICATORS}
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(content))
    done = momagames_here("bench", "run", "tiny.yaml", "-o", "out [/old]", "-w", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "into out [/old]" in done.stdout
    assert "momagames bench report 'out [/old]' --every" in done.stdout
    for words in (
        ["show", "tiny.yaml"],
        ["status", "out [/old]"],
        ["report", "out [/old]"],
        ["report", "out [/old]", "--every"],
    ):
        printed = momagames_here("bench", *words, cwd=tmp_path)
        assert printed.returncode == 0, printed.stderr
        assert "\x1b" not in printed.stdout
        assert words[-1] == "out [/old]" or r"a [/x] \x1b[31m" in printed.stdout


@pytest.mark.long
def test_packaged_suites():
    done = momagames_here("bench", "list")
    assert done.returncode == 0, done.stderr
    assert "quick" in done.stdout
    assert "ten_seconds" in done.stdout


@pytest.mark.long
def test_a_directory_with_other_files_is_rejected(tmp_path):
    write_suite(tmp_path, RANDOM)
    done = momagames_here("bench", "run", "tiny.yaml", "--out", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds other files" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_resumes_after_ctrl_c(tmp_path):
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
    assert complaint.decode().strip() == "momagames: interrupted; the same command resumes the suite"
    finished = len(list(runs.iterdir()))
    assert 1 <= finished < 8
    again = momagames_command("bench", "run", "long.yaml", cwd=tmp_path)
    assert again.returncode == 0
    assert f"{finished} finished before" in again.stdout


# ------------------------------------------------------------------------------------ the other commands, in this process


@pytest.fixture
def ask(monkeypatch, capsys):
    """Give a command; returns its exit code and what it printed."""

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["momagames", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "120")
        capsys.readouterr()
        try:
            app.main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        return code, " ".join((out + err).split())

    return command


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder with a finished suite of both kinds, and a file of that suite."""
    folder = tmp_path_factory.mktemp("bench")
    experiments = [plans([RANDOM, GREEDY], seeds=[0, 1]), {**POLICIES, "seeds": [0]}]
    data = {"name": "tiny", "description": "d", "experiments": experiments, "indicators": INDICATORS}
    (folder / "tiny.yaml").write_text(json.dumps(data))
    assert not run_suite(load_suite(folder / "tiny.yaml"), folder / "out").failed
    return folder


@pytest.mark.long
def test_show_prints_the_whole_suite(ask, done):
    code, said = ask("bench", "show", done / "tiny.yaml")
    assert code == 0
    for expected in (
        "tiny 6 runs", "boards 0 4 runs", "mo-gemwalk-v0", "greedy(divisions=2)",
        "300 environment steps", "seats 2 runs", "greedy(weights=(0, 0, 1, 0))", "every agent",
        "3 to select policies, 5 to report",
        "seeds: 0, 1", "at most 300 s a run", "hypervolume_ratio", "95% intervals",
    ):  # fmt: skip
        assert expected in said, expected


@pytest.mark.long
def test_a_dry_run_estimates_the_cost(ask, done, tmp_path):
    code, said = ask("bench", "run", done / "tiny.yaml", "--dry-run", "-o", tmp_path / "new")
    assert code == 0
    assert "6 runs, 6 due time on one core: unknown; environment steps: at least 1,200" in said
    data = yaml.safe_load((done / "tiny.yaml").read_text())
    data["experiments"][0]["seeds"] = [0, 1, 2]
    (tmp_path / "more.yaml").write_text(json.dumps(data))
    code, said = ask("bench", "run", tmp_path / "more.yaml", "--dry-run", "-o", done / "out")
    assert "8 runs, 2 due" in said
    assert re.search(r"due mo-gemwalk-v0 random seed 2 \(time: about [\d.]+ s, steps: \d+\)", said)
    assert re.search(r"time on one core: about [\d.]+ s; environment steps: \d+", said)
    assert not (tmp_path / "new").exists()


@pytest.mark.long
def test_estimate_runs_samples(ask, done):
    code, said = ask("bench", "estimate", done / "tiny.yaml", "--seconds", "0.01")
    assert code == 0
    assert re.search(r"greedy\(divisions=2\) +2 +[\d.]+ s +[\d.]+ s", said)
    assert re.search(r"6 runs: about [\d.]+ s of CPU time, without compilation", said)
    code, said = ask("bench", "estimate", done / "tiny.yaml", "--seconds", "0.01", "--shard", "1/2", "--json")
    found = json.loads(said)
    assert found["runs"] == sum(group["runs"] for group in found["groups"]) < 6
    assert found["cpu_hours"] > 0


def test_status_and_resume_of_an_unfinished_suite(ask, tmp_path):
    data = {"name": "tiny", "description": "d", "experiments": [plans([RANDOM, HOPELESS], seeds=[0])], "indicators": INDICATORS}
    (tmp_path / "tiny.yaml").write_text(json.dumps(data))
    out = tmp_path / "out"
    code, said = ask("bench", "run", tmp_path / "tiny.yaml", "-o", out, "--executor", "here", "--shard", "1/1")
    assert code == 1
    code, said = ask("bench", "status", out)
    assert code == 0
    assert re.search(r"boards 0 random 1 [\d.]+ s", said)
    assert re.search(r"exact 0 1 [\d.]+ s unknown", said)
    assert "failed: mo-gemwalk-v0.exact.seed0." in said
    assert "TooLarge: " in said
    assert "Traceback" not in said
    code, said = ask("bench", "resume", out, "--executor", "here")
    assert code == 1  # tried again
    assert "2 runs, 1 finished before" in said
    assert "1 failed" in said
    path = out / "suite.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.0.1"}))
    code, said = ask("bench", "resume", out, "--dry-run")
    assert "2 runs, 1 due" in said  # results of another version count


def test_shards_are_merged_compared_and_reported(ask, done, tmp_path):
    for number in (1, 2):
        out = tmp_path / str(number)
        code, said = ask("bench", "run", done / "tiny.yaml", "--executor", "here", "--shard", f"{number}/2", "-o", out)
        assert code == 0
        assert f"shard {number}/2" in said
        assert "runs of the suite are not finished here" in said
        assert not (out / "report.html").exists()
    code, said = ask("bench", "merge", tmp_path / "1", tmp_path / "2", "-o", tmp_path / "whole")
    assert (code, said.partition(";")[0]) == (0, "6 runs copied, 0 already there, 0 failed")
    code, said = ask("bench", "compare", done / "out", tmp_path / "whole")
    assert code == 0
    for expected in ("B - A", "HV ratio ↑", "+0", "2 seeds in common"):
        assert expected in said
    code, said = ask("bench", "report", tmp_path / "whole")
    assert (code, "page: " in said) == (0, True)


def test_seeds_are_run_one_after_the_other(ask, done, tmp_path):
    for seed, runs, before in ((1, 2, 0), (0, 4, 0), (0, 4, 4)):
        given = ["bench", "run", done / "tiny.yaml", "--executor", "here", "--seed", str(seed), "-o", tmp_path / "out"]
        code, said = ask(*given)
        assert code == 0
        assert f"{runs} runs, {before} finished before" in said
    code, said = ask("bench", "estimate", done / "tiny.yaml", "--seconds", "0.01", "--seed", "0", "--json")
    assert json.loads(said)["runs"] == 4
    code, said = ask("bench", "run", done / "tiny.yaml", "--seed", "7", "-o", tmp_path / "out")
    assert code == 2


@pytest.mark.long
def test_figures_for_papers(ask, done, tmp_path):
    pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "momagames[figures]"')
    code, said = ask("bench", "report", done / "out", "--figures", tmp_path / "figures")
    written = list((tmp_path / "figures").iterdir())
    assert code == 0
    assert f"figures: {len(written)} files in " in said
    assert {path.suffix for path in written} == {".svg", ".png"}


@pytest.mark.long
def test_tables_in_latex(ask, done, tmp_path):
    code, said = ask("bench", "report", done / "out", "--latex", tmp_path / "tables.tex")
    assert (code, "LaTeX tables: " in said) == (0, True)
    assert (tmp_path / "tables.tex").read_text().count("\\toprule") == 4  # overview, two games, control
    ask("bench", "report", done / "out", "--every", "--latex", tmp_path / "every.tex")
    assert (tmp_path / "every.tex").read_text().count("\\toprule") > 4
    code, said = ask("bench", "report", done / "out", "--latex", tmp_path / "no" / "tables.tex")
    assert (code, "No such file or directory" in said) == (2, True)


def test_export(ask, done, tmp_path):
    code, said = ask("bench", "export", done / "out", "--csv", "-o", tmp_path / "rows.csv")
    assert code == 0
    rows = (tmp_path / "rows.csv").read_text().splitlines()
    assert said.startswith(f"{len(rows) - 1} rows: ")
    assert rows[0].startswith("run,experiment,kind,game,id,method,options,seed,")
    assert "return_win" in rows[0]
    code, said = ask("bench", "export", done / "out", "--csv", "--jsonl", "-o", tmp_path / "rows")
    assert (code, "choose one of --csv, --parquet and --jsonl" in said) == (2, True)
    code, said = ask("bench", "export", done / "out", "--csv", "-o", tmp_path / "no" / "rows.csv")
    assert (code, "No such file or directory" in said) == (2, True)


def test_replay_in_the_terminal_and_in_files(ask, done, tmp_path):
    store = Store(done / "out")
    runs = {(run.kind, run.method.name): run for run in store.finished_runs()}
    plan, policy = store.run_directory(runs["plans", "greedy"]), store.run_directory(runs["policies", "greedy"])
    code, said = ask("replay", plan)
    assert code == 0
    assert "rubies" in said
    assert "--point N plays one of them" in said
    code, said = ask("replay", plan, "--point", "0", "--gif", tmp_path / "out.gif", "--json", tmp_path / "out.json")
    assert (code, said.endswith("the returns are as stored")) == (0, True)
    assert (tmp_path / "out.gif").read_bytes().startswith(b"GIF89a")
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["game"] == runs["plans", "greedy"].canonical
    for step, ply in ((["--step", "0"], "ply 0"), ([], f"over after {len(record['actions'])} plies")):
        assert ask("replay", plan, "--point", "0", "--svg", tmp_path / "out.svg", *step)[0] == 0
        assert ply in (tmp_path / "out.svg").read_text()
    code, said = ask("replay", plan, "--point", "0", "--svg", tmp_path / "out.svg", "--step", "999")
    assert (code, "invalid step=999" in said) == (2, True)
    code, said = ask("replay", policy, "--point", "0", "--seat", "player_1", "--opponent", "random", "--episode", "4")
    assert code == 0
    assert "as player_1 against random, episode 4" in said
    assert said.count("to move") + said.count("has won") > 3  # a board after each move
    code, said = ask("replay", policy, "--point", "0", "--again", "20", "--seed", "3")
    assert (code, "±" in said, "player_1" in said) == (0, True, True)
    code, said = ask("replay", policy, "--point", "77")
    assert (code, "invalid point=77" in said) == (2, True)
    front = plan / "front.json"
    before = front.read_text()
    wrong = json.loads(before)
    wrong["points"][0]["return"][0] += 1
    front.write_text(json.dumps(wrong))
    code, said = ask("replay", plan, "--point", "0")
    front.write_text(before)
    assert (code, "changed since it was written" in said) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bench", "run", "quik"], "did you mean 'quick'"),
        (["bench", "show", "quik"], "did you mean 'quick'"),
        (["bench", "report", "nowhere"], "suite.json is missing"),
        (["bench", "resume", "nowhere"], "suite.json is missing"),
        (["bench", "status", "nowhere"], "suite.json is missing"),
        (["bench", "compare", "nowhere", "nowhere"], "suite.json is missing"),
        (["bench", "merge", "nowhere", "-o", "out"], "suite.json is missing"),
        (["bench", "export", "nowhere", "--csv", "-o", "out"], "suite.json is missing"),
        (["bench", "run", "quick", "--shard", "3/2"], "invalid shard='3/2': expected 1/2 to 2/2"),
        (["bench", "run", "quick", "--address", "auto"], "--address 'auto' is for --executor ray"),
        (["replay", "nowhere"], "not a finished run"),
    ],
)
def test_invalid_calls(ask, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = ask(*arguments)
    assert code == 2
    assert output.startswith("momagames: ")
    assert said in output
    assert not list(tmp_path.iterdir())
