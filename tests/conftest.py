"""Settings that all tests share."""

import collections
import importlib
import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

from momagames.engine.workers import Workers

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
examples = 8 if INTERPRETED else 30
settings.register_profile("momagames", deadline=None, derandomize=True, database=None, max_examples=examples)
settings.load_profile("momagames")

# A test process runs on each core: further threads of PyTorch and other numerical libraries would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell lets what it runs in the background ignore Ctrl-C, and programs that are started from there inherit that: the
# tests that interrupt a program would interrupt nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Batches with several threads share the work of every call, however small it is.
MEASURE_CALLS = Workers._probe
Workers._probe = lambda self: self._run(is_shared=True)


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="Also run the tests marked long, some of which take a minute.")
    parser.addoption("--selection", type=read_json, help="JSON file with the choice of .ci/affected.py: run no other tests.")
    parser.addoption("--note-passed", type=Path, metavar="FILE", help="Write the names of the tests that passed as JSON.")
    parser.addoption("--leave-out", type=read_json, metavar="FILE", help="Leave out the tests that --note-passed wrote.")


@pytest.fixture(autouse=True)
def no_ray_cluster():
    """A cluster that a test started would be in the way of the next test in this process that starts one."""

    def has_cluster():
        return "ray" in sys.modules and sys.modules["ray"].is_initialized()

    had_cluster = has_cluster()  # that of a fixture for several tests
    yield
    if has_cluster() and not had_cluster:
        sys.modules["ray"].shutdown()


def read_json(file):
    return json.loads(Path(file).read_text(encoding="utf-8"))


def pytest_configure(config):
    if config.getoption("note_passed") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(PassedTests(config.getoption("note_passed")))


class PassedTests:
    """The names of the tests that passed, written to a file in the end."""

    def __init__(self, file):
        self.file, self.names = file, []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.names.append(report.nodeid)

    def pytest_sessionfinish(self):
        self.file.write_text(json.dumps(self.names), encoding="utf-8")


class ReversedDir(pytest.Dir):
    """A folder of tests, the last file first."""

    def collect(self):
        return list(super().collect())[::-1]


def pytest_collect_directory(path, parent):
    """Let half of the worker processes collect in reverse order.

    Each imports all test files; the first one rewrites the assertions of a file, and the others find what it wrote.
    """
    number = getattr(parent.config, "workerinput", {}).get("workerid", "")[2:]
    return ReversedDir.from_parent(parent, path=path) if number.isdecimal() and int(number) % 2 else None


def select(items, selection):
    """The affected tests, but for those named after other games, and a part of all long tests, in small blocks.

    Of a long test in a sampled file, a part of the cases, which goes round with the commits, and those of changed games.
    """
    blocks = []
    for _, group in itertools.groupby((item for item in items if item.get_closest_marker("long")), key=lambda item: item.path):
        tests = list(group)
        blocks += [tests[i : i + 4] for i in range(0, len(tests), 4)]
    chosen = {item.nodeid for block in blocks[selection["part"] :: selection["parts"]] for item in block}
    files, left_out, sampled = (set(selection[key]) for key in ("files", "left_out", "sampled"))
    seen = collections.Counter()  # cases of a test that a part is taken of

    def names_one(name, games):
        return any(game in name.replace("-", "_") for game in games)  # a folder, or as in an id

    def is_affected(item):
        file, test = item.nodeid.partition("[")[0].split("::")[:2]  # of a function or class
        if file not in files or f"{file}::{test}" in left_out:
            return False
        if names_one(item.nodeid, selection["others"]) and not names_one(item.nodeid, selection["games"]):
            return False
        if file not in sampled or not item.get_closest_marker("long") or names_one(item.nodeid, selection["changed"]):
            return True
        seen[file, test] += 1  # the first case always counts: most tests have one
        return seen[file, test] == 1 or (seen[file, test] + selection["part"]) % selection["samples"] == 0

    return [item for item in items if is_affected(item) or item.nodeid in chosen]


@pytest.hookimpl(tryfirst=True)  # before pytest puts the tests of a fixture together
def pytest_collection_modifyitems(config, items):
    """Leave out the long tests without --long, and without the compiler those marked `compiled`, which are about it."""
    if hasattr(config, "workerinput"):  # the workers' lists are to be equal, see pytest_collect_directory
        items.sort(key=lambda item: item.path.parts)
    selection, passed = config.getoption("selection"), set(config.getoption("leave_out") or ())
    left_out = [*([] if config.getoption("long") else ["long"]), *(["compiled"] if INTERPRETED else [])]
    chosen = [
        item
        for item in (select(items, selection) if selection else items)
        if item.nodeid not in passed and not any(map(item.get_closest_marker, left_out))
    ]
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=list(set(items) - set(chosen)))
        items[:] = chosen


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("long"):
        terminalreporter.line("The tests marked long were left out: --long runs them too.")


@pytest.fixture(scope="session")
def interpreted() -> bool:
    """Whether the rules run without the compiler (NUMBA_DISABLE_JIT=1): tests then play smaller games."""
    return INTERPRETED


@pytest.fixture
def other_games(request):
    """Folders of the games that the changes under test are not about (.ci/affected.py); tests may leave them out."""
    return (request.config.getoption("selection") or {"others": []})["others"]


@pytest.fixture
def pygame(monkeypatch):
    """pygame without a screen and without waiting."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    module = pytest.importorskip("pygame")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    yield module
    module.display.quit()


@pytest.fixture
def import_script(monkeypatch):
    """Import a module of the checkout by name, such as "benchmarks.fronts.minecart_bounds"."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1]))
    return importlib.import_module
