"""docs/add-a-game.md, as a reader follows it: the files of the page make a game that passes the tests of all games."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/add-a-game.md").read_text(encoding="utf-8")
QUICK = (
    "tests/games",
    "tests/adapters",
    "tests/engine/test_restore_states.py",
    "tests/test_every_game.py",
    "tests/test_docs.py",
    "tests/test_golden.py",
    "tests/test_release.py",
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def find_block(language: str, start: str = "") -> str:
    """The first block of the page in this language that starts so."""
    return next(code for found, code in BLOCK.findall(PAGE) if found == language and code.startswith(start))


def insert(file: Path, before: str, text: str) -> None:
    """Write a text before the first occurrence of another."""
    source = file.read_text(encoding="utf-8")
    assert before in source
    file.write_text(source.replace(before, text + before, 1), encoding="utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the game of the page, without its golden playthrough."""
    copy = tmp_path_factory.mktemp("checkout")
    for entry in ROOT.iterdir():
        if entry.name in ("momagames", "tests", "docs", "configs"):
            shutil.copytree(entry, copy / entry.name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        elif entry.is_file() and entry.name != ".git":
            shutil.copy(entry, copy)
    for path, text in FILE.findall(PAGE):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text, encoding="utf-8")
    (copy / "tests/games/pebbles/__init__.py").touch()
    insert(copy / "momagames/games/__init__.py", "}\n\n# Retired ids", find_block("py", '    "mo-'))
    insert(copy / "CHANGELOG.md", "- `momagames serve", find_block("text", "- MO-Pebbles"))
    return copy


def run(checkout: Path, *words: str, interpreted: bool = True) -> str:
    """Run a command in the checkout and return its output."""
    settings = {
        "PYTHONPATH": str(checkout),
        "MOMAGAMES_CACHE_DIR": str(checkout / "cache"),
        "NUMBA_DISABLE_JIT": str(int(interpreted)),
        "PYTEST_ADDOPTS": "-p no:cacheprovider -n 0",
    }
    done = subprocess.run(words, cwd=checkout, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_the_examples_run_compiled(checkout: Path) -> None:
    code = "".join(code for language, code in BLOCK.findall(PAGE) if language == "python")
    run(checkout, sys.executable, "-c", code, interpreted=False)


@pytest.mark.long
def test_the_game_passes_the_tests_of_all_games(checkout: Path) -> None:
    """The commands of the page; pytest only on the files that are quick to collect."""
    for line in find_block("console").splitlines():
        words = [word for word in shlex.split(line) if "=" not in word]
        words[0] = sys.executable
        if "pytest" in words:
            place = words.index("tests")
            words[place : place + 1] = QUICK
        printed = run(checkout, *words)
    passed = re.search(r"(\d+) passed", printed)
    assert passed
    assert int(passed.group(1)) > 50
