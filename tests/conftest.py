"""Settings that all tests share."""

import importlib
import os
import signal
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


def pytest_collection_modifyitems(config, items):
    """Leave out the long tests without --long, and without the compiler those marked `compiled`, which are about it."""
    left_out = {"long": "needs --long"} if not config.getoption("long") else {}
    if INTERPRETED:
        left_out["compiled"] = "compiled only"
    for item in items:
        for name, reason in left_out.items():
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def interpreted() -> bool:
    """Whether the rules run without the compiler (NUMBA_DISABLE_JIT=1): tests then play smaller games."""
    return INTERPRETED


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
