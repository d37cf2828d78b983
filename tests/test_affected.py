"""What the gate of a change adds to what it always runs: planted changes, on the repository as it is."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import select

ROOT = Path(__file__).resolve().parents[1]
GAMES = [
    "beach",
    "breakthrough",
    "connect4",
    "gem_mining",
    "gemwalk",
    "ingenious",
    "item_gathering",
    "pommerman",
    "robotmail",
    "route_choice",
    "samegame",
    "tileblast",
]
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
            "pages",
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
        ("docs/results/policies.md", ["test_docs", "test_page_cache"], ["games/samegame/test_oracle"], [], "results"),
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


def test_a_change_that_reaches_all_games_runs_a_part_of_the_cases(choose):
    chosen = choose("momagames/kernels/rng.py", "tests/kernels/test_rng.py", "momagames/games/samegame/rules.py")
    assert set(chosen.sampled) == set(chosen.tests) - {"tests/kernels/test_rng.py"}
    assert chosen.changed == ["samegame"]
    assert not choose("momagames/games/samegame/rules.py").sampled
    assert not choose("momagames/baselines/moppo/method.py").sampled


def test_changes_in_several_games(choose):
    found = choose("momagames/games/samegame/rules.py", "tests/games/tileblast/naive.py").others
    assert found == [game for game in GAMES if game not in ("samegame", "tileblast")]
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


def test_tests_of_an_affected_file_that_use_nothing_affected_are_left_out(choose):
    draws = "tests/baselines/test_greedy.py::test_actions_do_not_depend_on_the_draws_to_come"  # of MO-TileBlast
    speed = "tests/test_benchmarks.py::test_every_part_of_speed_runs"
    first, second = (set(choose(f"momagames/games/{game}/rules/__init__.py").left_out) for game in ("tileblast", "robotmail"))
    assert draws in second - first
    assert speed not in first | second
    assert choose("tests/baselines/test_greedy.py").left_out == []
    assert choose("pyproject.toml").left_out == []


SOURCES = {
    "tests/__init__.py": "",
    "tests/conftest.py": """
import pytest

from momagames import of_hook, of_shared_fixture

def pytest_configure():
    return of_hook

@pytest.fixture
def shared():
    return of_shared_fixture
""",
    "tests/helpers.py": """
from momagames import of_another_helper, of_helper

def help():
    return of_helper

def help_others():
    return of_another_helper
""",
    "tests/test_parts.py": """
import pytest

from momagames import at_import, in_decorator, of_constant, of_entry, of_every_test, of_fixture, of_named_fixture, unused
from tests import helpers
from tests.helpers import help

CASES = {}
CASES["first"] = of_entry
PAIR, OTHER = 1, of_constant
print(at_import)

@pytest.fixture
def fixture():
    return of_fixture

@pytest.fixture
def named():
    return of_named_fixture

@pytest.fixture(autouse=True)
def every():
    return of_every_test

def test_nothing():
    return 0

def test_constants():
    return CASES, PAIR

def test_fixtures(fixture, shared):
    return 0

@pytest.mark.usefixtures("named")
def test_named():
    return 0

class TestDecorator:
    @pytest.mark.parametrize("value", [in_decorator])
    def test_value(self, value):
        return 0

def test_helper():
    return help()

def test_all_helpers():
    from momagames import inside
    return helpers.help()
""",
}
REACHED = {
    "test_nothing": set(),
    "test_constants": {"of_constant", "of_entry"},
    "test_fixtures": {"of_fixture", "of_shared_fixture"},
    "test_named": {"of_named_fixture"},
    "TestDecorator": {"in_decorator"},
    "test_helper": {"of_helper"},
    "test_all_helpers": {"of_helper", "of_another_helper", "of_shared_fixture", "inside"},  # a module as a whole
}


def test_what_each_test_of_a_module_uses(affected, tmp_path, monkeypatch):
    module = sys.modules[affected.Repository.__module__]
    monkeypatch.setattr(module, "INDEXES", {})
    monkeypatch.setattr(module, "GAMES", "")
    names = {"unused", "at_import", "of_every_test", "of_hook"}.union(*REACHED.values())
    sources = {**SOURCES, **{f"momagames/{name}.py": "" for name in names}}
    for path, source in sources.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(source)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    repository = affected.Repository(tmp_path)
    repository.imports = {
        path: {f"momagames/{name}.py" for name in names if name in source} for path, source in sources.items()
    }
    tests = repository.list_tests("tests/test_parts.py")
    assert tests == [f"tests/test_parts.py::{name}" for name in REACHED]
    for test, reached in zip(tests, REACHED.values(), strict=True):
        files = {f"momagames/{name}.py" for name in reached | {"at_import", "of_every_test", "of_hook"}}
        assert {file for file in repository.find_reach(test) if file.startswith("momagames/")} == files


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
    left_out = ["tests/kernels/test_rng.py::test_numbers_stay_below"]
    selection = {
        "files": ["tests/kernels/test_rng.py"],
        "left_out": left_out,
        "part": 1,
        "parts": 2,
        "samples": 3,
        **{key: [] for key in ("games", "others", "sampled", "changed")},
    }
    files = {"selection": selection, "leave-out": [passed]}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    options = [f"--{name}={tmp_path / name}" for name in files]
    command = ["-m", "pytest", "-n", "0", "--long", "--collect-only", "-p", "no:cacheprovider", *options, "tests/kernels"]
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [line for line in done.stdout.splitlines() if "::" in line]
    assert any(name.startswith(running) for name in names)
    assert passed not in names
    assert not any(name.startswith(left_out[0]) for name in names)
    others = [name for name in names if not name.startswith("tests/kernels/test_rng.py")]
    assert all(name.startswith("tests/kernels/test_jit.py") for name in others)
    assert len(others) == 10  # the second and the fourth four and the last two of its 22 long tests


def test_tests_named_after_other_games_are_left_out():
    names = [
        "test_a.py::test_a[mo-samegame-v0]",
        "test_a.py::test_b[mo-tileblast-v0]",
        "test_a.py::test_c",
        "test_b.py::test_d",
    ]
    names += ["test_a.py::test_e[mo-tileblast-v0-mo-samegame-v0]", "samegame/test_c.py::test_f[0]"]
    items = [SimpleNamespace(nodeid=name, path=name.partition("::")[0], get_closest_marker=lambda _: True) for name in names]
    choice = {
        "files": ["test_a.py", "samegame/test_c.py"],
        "left_out": [],
        "games": ["tileblast"],
        "others": ["samegame"],
        "sampled": [],
        "changed": [],
        "samples": 3,
        "parts": 10,
    }
    assert [item.nodeid for item in select(items, {**choice, "part": 5})] == [names[1], names[2], names[4]]
    # the last is in that part
    assert [item.nodeid for item in select(items, {**choice, "part": 3})] == [*names[1:3], *names[4:]]


def test_of_many_cases_a_part_is_enough_where_no_game_changed():
    games = ["mo-gem-mining-v0", *(f"game-{i}" for i in range(7))]
    names = [f"{file}.py::test_a[{game}]" for file in ("test_a", "test_b") for game in games] + ["test_a.py::test_one"]

    def run(part, is_long=True, **changes):
        choice = {"files": ["test_a.py", "test_b.py"], "left_out": [], "games": [], "others": [], "sampled": ["test_a.py"]}
        choice |= {"changed": ["gem_mining"], "samples": 3, "part": part, "parts": 1000} | changes
        items = [SimpleNamespace(nodeid=name, path="", get_closest_marker=lambda _: is_long) for name in names]
        return [names.index(item.nodeid) for item in select(items, choice)]

    others = [*range(8, 17)]  # a file that is not sampled, and a test without cases
    runs = [run(part) for part in (10, 11, 12)]
    assert [sorted({*found} - {*others}) for found in runs] == [[0, 1, 2, 5], [0, 1, 4, 7], [0, 1, 3, 6]]
    assert all({*found} >= {*others} for found in runs)
    assert run(10, changed=[]) == [0, 1, 4, 7, *others]
    assert run(10, sampled=[]) == run(10, is_long=False) == [*range(17)]
