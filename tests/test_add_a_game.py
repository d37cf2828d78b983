"""docs/add-a-game.md, as a reader follows it: it shows files that exist, and a package made from it has a game like ours."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.pages import FENCE, ROOT

PAGE = (ROOT / "docs/add-a-game.md").read_text(encoding="utf-8")
GAME = ROOT / "momagames/games/gemwalk/__init__.py"
FILE = re.compile(r"^`(my_package/[\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAX_LINES = 80


def find_block(language: str) -> str:
    """The last block of the page in this language."""
    return next(code for found, code in reversed(FENCE.findall(PAGE)) if found == language)


def test_the_page_shows_the_files_of_the_reference_game() -> None:
    files = re.findall(r"^`([\w/.]+)`:\n\n```\{literalinclude\} \.\./([\w/.]+)$", PAGE, re.MULTILINE)
    assert [file for _, file in files] == [named for named, _ in files]
    assert {file for _, file in files} >= {GAME.relative_to(ROOT).as_posix(), "tests/games/gemwalk/cases.py"}
    assert all((ROOT / file).is_file() for _, file in files)
    start = re.search(r"^:start-at: '(.+)'$", PAGE, re.MULTILINE)
    assert start
    assert start[1] in (ROOT / "momagames/games/__init__.py").read_text(encoding="utf-8")


def test_the_reference_game_fits_on_a_page() -> None:
    assert len(GAME.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package that is made of the files of the page."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "my_package").mkdir()
    for path, text in FILE.findall(PAGE):
        (folder / path).write_text(text, encoding="utf-8")
    shutil.copy(GAME, folder / "my_package/gems.py")
    info = folder / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n", encoding="utf-8")
    for group, points in tomllib.loads(find_block("toml"))["project"]["entry-points"].items():
        lines = [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def run(package: Path, *words: str, **settings: str) -> str:
    """Run Python in the checkout, where the package is installed, and return its output."""
    settings |= {
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT)]),
        "MOMAGAMES_CACHE_DIR": str(package / "cache"),
        "PYTEST_ADDOPTS": "-p no:cacheprovider -n 0",
    }
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_the_examples_run(package: Path) -> None:
    run(package, "-c", "".join(code for language, code in FENCE.findall(PAGE) if language == "python"))


@pytest.mark.long
def test_the_command_line_knows_the_games_of_a_package(package: Path) -> None:
    assert "board_height" in run(package, "-m", "momagames", "info", "mo-gems-wide-v0")


@pytest.mark.long
def test_the_game_of_a_package_passes_the_tests_of_all_games(package: Path) -> None:
    """The command of the page."""
    setting, _, *words = shlex.split(find_block("text"))
    printed = run(package, *words, NUMBA_DISABLE_JIT="1", **dict([setting.split("=", 1)]))
    passed = re.search(r"(\d+) passed", printed)
    assert passed
    assert int(passed.group(1)) > 50
