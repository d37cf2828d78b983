"""What the gate of a change adds to what it always runs: planted changes, on the repository as it is."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import select

ROOT = Path(__file__).resolve().parents[1]
GAMES = ["breakthrough", "pommerman", "robotmail", "samegame", "tileblast"]
pytestmark = pytest.mark.long  # reads every file


@pytest.fixture(scope="module")
def affected():
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        import affected
    finally:
        sys.path.pop(0)
    return affected


@pytest.fixture(scope="module")
def choose(affected):
    repository = affected.Repository(ROOT)
    return lambda *changes: affected.choose(repository, changes)


@pytest.mark.parametrize(
    ("change", "tests", "others", "games", "site"),
    [
        (  # a rule of a game
            "momagames/games/tileblast/rules/__init__.py",
            ["games/tileblast/test_oracle", "games/tileblast/serve/test_play", "test_every_game", "test_golden", "test_docs"],
            ["games/robotmail/test_oracle", "games/pommerman/test_view"],
            ["tileblast"],
            "results",
        ),
        ("momagames/kernels/rng.py", ["kernels/test_rng", "games/samegame/test_oracle"], [], GAMES, "results"),
        (  # a file that rules read
            "momagames/games/robotmail/SPEC.md",
            ["games/robotmail/test_parameters", "games/test_citations"],
            ["games/tileblast/test_levels", "games/samegame/test_oracle"],
            ["robotmail"],
            "results",
        ),
        (  # an indicator
            "momagames/analysis/attainment.py",
            ["analysis/test_attainment", "reports/test_report", "cli/test_bench", "test_results_pages"],
            ["analysis/test_fairness", "engine/test_playouts", "games/samegame/test_oracle"],
            [],
            "results",
        ),
        (  # a method, by its name
            "momagames/baselines/search/beam.py",
            ["baselines/test_methods", "test_docs"],
            ["games/pommerman/test_oracle", "games/robotmail/test_oracle"],
            [],
            "results",
        ),
        ("docs/metrics.md", ["test_docs"], ["cli/test_bench", "benchmark/test_own_methods", "test_results_pages"], [], "pages"),
        ("docs/own-method.md", ["benchmark/test_own_methods"], ["games/samegame/test_standard_scores"], [], "pages"),
        ("docs/page_figures.py", ["test_results_pages", "test_docs"], ["cli/test_bench"], [], "results"),
        ("README.md", ["test_docs", "test_release"], ["cli/test_bench", "games/samegame/test_oracle"], [], "pages"),
        ("docs/results/policies.md", ["test_results_pages"], ["games/samegame/test_oracle"], [], "results"),
        ("benchmarks/fronts/plans.npz.xz", ["test_archived_rows"], ["games/samegame/test_oracle"], [], "results"),
        ("configs/suites/quick.yaml", ["cli/test_bench", "benchmark/test_plan"], ["games/samegame/test_oracle"], [], ""),
        ("tests/reports/test_page.py", ["reports/test_page"], ["reports/test_report", "test_docs"], [], ""),
        ("tests/benchmark/tiny.py", ["benchmark/test_runner", "reports/test_report"], ["games/samegame/test_oracle"], [], ""),
        ("tests/golden/mo-samegame-v0/clear-bonus.txt", ["test_golden"], ["analysis/test_statistics"], [], ""),
        (".github/dependabot.yml", [], ["test_docs", "games/samegame/test_oracle"], [], ""),
    ],
)
def test_planted_changes(choose, change, tests, others, games, site):
    chosen = choose(change)
    assert not chosen.why
    names = {path.removeprefix("tests/").removesuffix(".py") for path in chosen.tests}
    assert names >= set(tests)
    assert not names & set(others)
    assert (chosen.games, chosen.site) == (games, site)
    assert chosen.others == ([game for game in GAMES if game not in games] if "/games/" in change else [])


def test_changes_in_several_games(choose):
    assert choose("momagames/games/samegame/rules.py", "tests/games/tileblast/naive.py").others == [
        "breakthrough",
        "pommerman",
        "robotmail",
    ]
    assert choose("momagames/games/samegame/rules.py", "docs/metrics.md").others == []


@pytest.mark.parametrize(
    "change",
    [
        "pyproject.toml",
        ".ci/run",
        "a-new-file.bin",
        "momagames/games/robotmail/layouts/removed.yaml",
        "momagames/removed.py",
        "tests/removed/conftest.py",
    ],
)
def test_what_is_unknown_affects_everything(choose, change):
    chosen = choose("docs/metrics.md", change)
    assert change in chosen.why
    assert len(chosen.tests) == sum(1 for _ in (ROOT / "tests").rglob("test_*.py"))
    assert (chosen.games, chosen.site) == (GAMES, "results")


def test_a_removed_test_affects_nothing(choose):
    assert choose("tests/adapters/test_removed.py").tests == []


def test_the_commit_to_compare_with(affected, tmp_path, monkeypatch):
    def git(*arguments, date="2026-01-01T12:00:00"):
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", "-C", tmp_path, *identity, *arguments], env=dates, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(date):
        (tmp_path / "file").write_text(date)
        git("add", "file")
        git("commit", "-m", date, date=date)
        return git("rev-parse", "HEAD")

    monkeypatch.setattr(affected, "PASSED", tmp_path / "passed")
    git("init", "--quiet")
    first = commit("2026-01-01T01:00:00")
    assert affected.find_base(tmp_path, None) == ("", "no commit to compare with")
    second, third = commit("2026-01-01T08:00:00"), commit("2026-01-01T10:00:00")
    assert affected.find_base(tmp_path, None)[0] == first
    assert affected.find_base(tmp_path, second) == (second, "given")
    assert affected.find_base(tmp_path, "0" * 40)[0] == ""
    (tmp_path / "passed").write_text(f"{second}\n{'1' * 40}\n")
    assert affected.find_base(tmp_path, None)[0] == second
    (tmp_path / "new").touch()
    (tmp_path / "file").write_text("edited")
    (tmp_path / "passed").unlink()
    assert affected.list_changes(tmp_path, third) == ["file", "new"]


def test_pytest_runs_what_is_selected_and_has_not_passed(tmp_path):
    running, passed = "tests/kernels/test_rng.py::test_stream", "tests/kernels/test_rng.py::test_numbers_below"
    selection = {"files": ["tests/kernels/test_rng.py"], "games": [], "others": [], "part": 1, "parts": 2}
    files = {"selection": selection, "leave-out": [passed]}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    options = [f"--{name}={tmp_path / name}" for name in files]
    command = ["-m", "pytest", "-n", "0", "--long", "--collect-only", "-p", "no:cacheprovider", *options, "tests/kernels"]
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [line for line in done.stdout.splitlines() if "::" in line]
    assert any(name.startswith(running) for name in names)
    assert passed not in names
    others = [name for name in names if not name.startswith("tests/kernels/test_rng.py")]
    assert all(name.startswith("tests/kernels/test_jit.py") for name in others)
    assert len(others) == 8  # the second and the fourth four of its 18 long tests


def test_tests_named_after_other_games_are_left_out():
    names = [
        "test_a.py::test_a[mo-samegame-v0]",
        "test_a.py::test_b[mo-tileblast-v0]",
        "test_a.py::test_c",
        "test_b.py::test_d",
    ]
    names += ["test_a.py::test_e[mo-tileblast-v0-mo-samegame-v0]", "samegame/test_c.py::test_f[0]"]
    items = [SimpleNamespace(nodeid=name, path=name.partition("::")[0], get_closest_marker=lambda _: True) for name in names]
    choice = {"files": ["test_a.py", "samegame/test_c.py"], "games": ["tileblast"], "others": ["samegame"], "parts": 10}
    assert [item.nodeid for item in select(items, {**choice, "part": 5})] == [names[1], names[2], names[4]]
    # the last is in that part
    assert [item.nodeid for item in select(items, {**choice, "part": 3})] == [*names[1:3], *names[4:]]
