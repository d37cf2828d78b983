"""A method of one's own beside those that come with the package: from a file in the current folder, with nothing installed."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from momagames.baselines import method
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import load_suite
from momagames.errors import InvalidFile, UnknownId
from tests.benchmark.tiny import INDICATORS, RANDOM, plans
from tests.cli.test_app import momagames_here

PAGE = Path(__file__).parents[2] / "docs" / "own-method.md"
SOURCE = dedent(re.search(r"^ *```python\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL).group(1))


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "mine_of_these_tests.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(place, **method):
    chosen = {"name": "mine_of_these_tests:First", "options": {"skip": 1}, **method}
    data = {"name": "mine", "description": "", "experiments": [plans([RANDOM, chosen])], "indicators": INDICATORS}
    (place / "mine.yaml").write_text(yaml.safe_dump(data))
    return place / "mine.yaml"


def momagames(*words):
    return subprocess.run([sys.executable, "-m", "momagames", *words], capture_output=True, text=True, timeout=300)


@pytest.mark.long
def test_bench_runs_it_beside_others(place):
    written(place)
    done = momagames("bench", "run", "mine.yaml", "--out", "out", "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mine_of_these_tests:First" in done.stdout
    store = Store(place / "out")
    mine = [run for run in store.finished_runs() if run.method.name.endswith("First")]
    assert len(mine) == 2
    [row] = store.read_rows(mine[0])
    assert row["options"] == {"skip": 1}
    result = momagames_here("replay", str(store.run_directory(mine[0])), "--point", "0", "--json", "game.json")
    assert result.returncode == 0, result.stdout + result.stderr


def test_its_options_are_checked(place, monkeypatch):
    monkeypatch.syspath_prepend(str(place))
    with pytest.raises(InvalidFile, match=r"unknown option 'skpi': expected 'skip'; did you mean 'skip'"):
        load_suite(written(place, options={"skpi": 1}))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere:First", "No module named 'nowhere'"),
        ("json:First", "no attribute 'First'"),
        ("json:dumps", "expected a subclass of momagames.baselines.base.Method"),
        ("beem", "expected .* or your own as 'module:class'; did you mean 'beam'"),
    ],
)
def test_names_that_are_not_methods(name, expected):
    with pytest.raises(UnknownId, match=expected):
        method(name)
