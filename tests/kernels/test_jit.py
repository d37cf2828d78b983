"""Compilation: what the compiler refuses, and the disk cache, each in fresh processes with a copy of the toolbox."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from momagames.kernels import jit
from momagames.kernels.jit import cache, compiler

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="about the compiler")

PROGRAM = """
import numpy as np
from momagames.kernels.grid import remainder
from momagames.kernels.jit import driver
from beside import extra

def work(numbers, out):
    for i in range(numbers.shape[0]):
        out[i] = remainder(numbers[i], 10) + extra(numbers[i])

work = driver(work, "work")
out = np.zeros(3, np.int64)
work(np.array([7, 18, 29]), out)
hits = sum(work.stats.cache_hits.values())
print(*out, "cached" if hits else "compiled")
"""
BESIDE = """
from momagames.kernels.jit import kernel

@kernel
def extra(x):
    return 0 * x
"""


class Copy:
    """A copy of the package's sources that may be edited, a program that uses it, and a cache folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        for part in ("kernels", "games"):
            shutil.copytree(cache.PACKAGE / part, folder / "momagames" / part, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "momagames" / "__init__.py").write_text("")
        (folder / "beside.py").write_text(BESIDE)
        (folder / "program.py").write_text(PROGRAM)

    def run(self, cache: Path | None = None) -> str:
        """What the program prints, and the warnings."""
        places = {"MOMAGAMES_CACHE_DIR": str(cache or self.cache), "PYTHONPATH": str(self.folder)}
        done = subprocess.run(
            [sys.executable, "-W", "always", "program.py"],
            cwd=self.folder,
            env=os.environ | places | {"NUMBA_DISABLE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.said = done.stderr
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def copied(tmp_path):
    return Copy(tmp_path)


def test_code_is_cached_until_a_source_changes(copied):
    """numba looks only at the file of the function that it compiles; what that one calls is in others."""
    assert copied.run() == "7 8 9 compiled"
    assert copied.run() == "7 8 9 cached"
    assert not copied.said
    ours, theirs = "np.uint32(a) % np.uint32(b)", "np.uint32(a) % np.uint32(b) + 100"
    copied.edit("momagames/kernels/grid.py", ours, theirs)
    assert copied.run() == "107 108 109 compiled"
    copied.edit("momagames/kernels/grid.py", theirs, ours)
    assert copied.run() == "7 8 9 cached"
    copied.edit("momagames/games/samegame/rules.py", "GUARD = 32", "GUARD = 33")
    assert copied.run() == "7 8 9 compiled"
    copied.edit("beside.py", "0 * x", "5 + 0 * x")  # a neighbor of a game that lives outside the package
    assert copied.run() == "12 13 14 compiled"


def test_a_missing_folder_is_made(copied, tmp_path):
    assert copied.run(tmp_path / "some" / "where") == "7 8 9 compiled"
    assert copied.run(tmp_path / "some" / "where") == "7 8 9 cached"


@pytest.mark.parametrize("kind", ["below a file", "read-only"])
def test_a_folder_that_cannot_be_written_is_said_once(copied, tmp_path, kind):
    if kind == "below a file":
        (tmp_path / "file").write_text("")
        folder = tmp_path / "file" / "cache"
    else:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o500)
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
    copied.edit(
        "program.py", 'work = driver(work, "work")', 'other = driver(lambda x: x + 1, "other")\nwork = driver(work, "work")'
    )
    copied.edit("program.py", "out = np.zeros", "other(1)\nout = np.zeros")
    for _ in range(2):
        assert copied.run(folder) == "7 8 9 compiled"
        assert copied.said.count("cannot keep compiled code on disk") == 1
        assert "MOMAGAMES_CACHE_DIR" in copied.said


@pytest.mark.parametrize(("suffix", "junk"), [(".nbi", b""), (".nbi", b"junk" * 100), (".nbc", b"junk")])
def test_damaged_files_are_replaced(copied, suffix, junk):
    copied.run()
    damaged = list(copied.cache.rglob(f"*{suffix}"))
    assert damaged
    for file in damaged:
        file.write_bytes(junk)
    assert copied.run() == "7 8 9 compiled"
    assert copied.run() == "7 8 9 cached"


def test_the_private_option_still_exists():
    """Without it kernels may allocate, and are slower (see kernels/jit/compiler.py)."""
    assert compiler.OPTIONS["_nrt"] is False
    assert numba.njit(_nrt=False)(lambda x: x + 1)(1) == 2


def test_a_kernel_that_allocates_is_refused():
    @jit.kernel
    def greedy(n):
        return np.zeros(n)[0]

    @jit.kernel
    def modest(n):
        return jit.local_array(3)[0] * 0 + n

    jit.driver(lambda n: modest(n), "tests.jit.modest")(3)
    with pytest.raises(Exception, match="Failed in nopython mode"):
        jit.driver(lambda n: greedy(n), "tests.jit.greedy")(3)
