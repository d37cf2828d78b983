"""Compilation: what the compiler refuses, and the disk cache, each in fresh processes with a copy of the toolbox."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from momagames import registry
from momagames.engine import loops
from momagames.kernels import jit
from momagames.kernels.jit import cache, compiler, fast_compiler
from momagames.kernels.jit.sources import PACKAGE, Sources

pytestmark = pytest.mark.compiled

PROGRAM = """
import numpy as np
from momagames.kernels.jit import compile_entry_point
from guest import MODULUS
from guest.rules import extra
from engine import make

work = compile_entry_point(make(extra, MODULUS), "work")
out = np.zeros(3, np.int64)
work(np.array([7, 18, 29]), out)
hits = sum(work.stats.cache_hits.values())
print(*out, "cached" if hits else "compiled")
"""
ENGINE = """
from momagames.kernels.grid import remainder

def make(extra, modulus):
    def work(numbers, out):
        for i in range(numbers.shape[0]):
            out[i] = remainder(numbers[i], modulus) + extra(numbers[i])
    return work
"""
GUEST = {
    "__init__.py": "from guest import drawing\nMODULUS = 10\n",
    "drawing.py": "INK = 1\n",
    "rules.py": """
from __future__ import annotations
from guest.drawing import INK
from guest.facts import FACTOR
from momagames.kernels.jit import kernel

@kernel
def extra(x):
    return FACTOR * x

def draw(ink: INK): pass
""",
    "facts.py": "from .base import FACTOR\n",
    "base.py": "FACTOR = 0\n",
}


class Copy:
    """A copy of the package's sources that may be edited, a program that uses it, and a cache folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        shutil.copytree(PACKAGE / "kernels", folder / "momagames" / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "momagames" / "__init__.py").write_text("")
        (folder / "guest").mkdir()
        for name, text in GUEST.items():
            (folder / "guest" / name).write_text(text)
        (folder / "engine.py").write_text(ENGINE)
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


@pytest.mark.long
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


EDITS = [
    ("guest/rules.py", "FACTOR * x", "5 + FACTOR * x", "12 13 14 compiled"),
    ("guest/base.py", "FACTOR = 0", "FACTOR = 1", "14 26 38 compiled"),
    ("guest/__init__.py", "MODULUS = 10", "MODULUS = 9", "7 0 2 compiled"),  # the value is closed over
    ("momagames/kernels/jit/settings.py", '"error_model": "numpy"', '"error_model": "python"', "7 8 9 compiled"),
    ("momagames/kernels/reward.py", "import", "# a comment\nimport", "7 8 9 cached"),
    ("guest/__init__.py", "from", "# a comment\nfrom", "7 8 9 cached"),
    ("guest/drawing.py", "INK = 1", "INK = 2", "7 8 9 cached"),
]


@pytest.mark.long
def test_an_edit_recompiles_what_depends_on_the_file(copied):
    copied.run()
    for file, old, new, printed in EDITS:
        copied.edit(file, old, new)
        assert (file, copied.run()) == (file, printed)
        copied.edit(file, new, old)


@pytest.mark.long
def test_old_versions_are_removed(copied):
    copied.edit("momagames/kernels/jit/cache.py", f"MAX_VERSIONS = {cache.MAX_VERSIONS}", "MAX_VERSIONS = 2")
    for factor in range(3):
        copied.edit("guest/base.py", "FACTOR = ", f"FACTOR = {factor} + ")
        assert copied.run().endswith("compiled")
    assert len(list(copied.cache.glob("*.nbi"))) == len(list(copied.cache.glob("*.nbc"))) == 2
    assert copied.run().endswith("cached")


@pytest.mark.long
def test_a_damaged_index_of_imports_is_replaced(copied):
    copied.run()
    index = copied.cache / "imports.json"
    whole, expected = index.read_text(), json.loads(index.read_text())
    for junk in ("junk", "[1]", whole.replace('"code"', "[", 1), whole[:-9]):
        index.write_text(junk)
        assert copied.run() == "7 8 9 cached"
        assert json.loads(index.read_text()) == expected


@pytest.mark.parametrize(
    "id", ["mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-ffa-v0", "mo-tileblast-v0", "mo-robotmail-v0"]
)
@pytest.mark.long
def test_code_of_a_game_depends_on_its_rules_alone(id):
    """Not on another game, the drawing toolbox or the game's assembly."""
    game = registry.spec(id)
    functions, _ = cache._find_functions(loops.compile_episode_loops(game).play.py_func)
    sources = Sources(Path("no", "index"))
    closure = sources.find_closure({os.path.realpath(function.__code__.co_filename) for function in functions})
    files = {Path(file).relative_to(PACKAGE).parts for file in closure}
    assert {parts[1] for parts in files if parts[0] == "games"} == {game.rules_key}
    assert {parts[0] for parts in files} <= {"kernels", "engine", "games", "contract", "contract.py", "errors.py"}
    assert ("games", game.rules_key, "__init__.py") not in files


@pytest.mark.long
def test_a_missing_folder_is_made(copied, tmp_path):
    assert copied.run(tmp_path / "some" / "where") == "7 8 9 compiled"
    assert copied.run(tmp_path / "some" / "where") == "7 8 9 cached"


@pytest.mark.parametrize("kind", ["below a file", "read-only"])
@pytest.mark.long
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
        "program.py",
        "work = compile_entry_point(",
        'other = compile_entry_point(lambda x: x + 1, "other")\nwork = compile_entry_point(',
    )
    copied.edit("program.py", "out = np.zeros", "other(1)\nout = np.zeros")
    for _ in range(2):
        assert copied.run(folder) == "7 8 9 compiled"
        assert copied.said.count("cannot store compiled code on disk") == 1
        assert "MOMAGAMES_CACHE_DIR" in copied.said


@pytest.mark.parametrize(("suffix", "junk"), [(".nbi", b""), (".nbi", b"junk" * 100), (".nbc", b"junk")])
@pytest.mark.long
def test_damaged_files_are_replaced(copied, suffix, junk):
    copied.run()
    damaged = list(copied.cache.rglob(f"*{suffix}"))
    assert damaged
    for file in damaged:
        file.write_bytes(junk)
    assert copied.run() == "7 8 9 compiled"
    assert copied.run() == "7 8 9 cached"


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.long
def test_a_flipped_bit_is_noticed(copied, suffix):
    """Machine code with one wrong bit would compute wrong results or crash."""
    copied.run()
    (file,) = copied.cache.rglob(f"*{suffix}")
    content = file.read_bytes()
    for place in np.random.default_rng(1).integers(len(content), size=3):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(place) % 8
        file.write_bytes(damaged)
        assert copied.run() == "7 8 9 compiled"
    assert copied.run() == "7 8 9 cached"


@pytest.mark.long
def test_bounds_checks_can_be_turned_on(tmp_path):
    """As CI does for the rules of every game."""
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "from momagames.kernels.jit import compile_entry_point, kernel\n"
        "@kernel\n"
        "def write(array, index):\n"
        "    array[index] = 1\n"
        "def loop(array, index):\n"
        "    write(array, index)\n"
        "compile_entry_point(loop, 'loop')(np.zeros(3), 3)\n"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "MOMAGAMES_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment)
    assert "IndexError: index is out of bounds" in done.stderr


def test_the_private_option_still_exists():
    """Without it kernels may allocate, and are slower."""
    assert fast_compiler.WITHOUT_ALLOCATIONS["_nrt"] is False
    assert numba.njit(_nrt=False)(lambda x: x + 1)(1) == 2


def test_a_kernel_that_allocates_is_rejected():
    @jit.kernel
    def greedy(n):
        return np.zeros(n)[0]

    @jit.kernel
    def modest(n):
        return jit.local_array(3)[0] * 0 + n

    jit.compile_entry_point(lambda n: modest(n), "tests.jit.modest")(3)
    with pytest.raises(Exception, match="Failed in nopython mode"):
        jit.compile_entry_point(lambda n: greedy(n), "tests.jit.greedy")(3)


BREAKAGES = {
    "missing": "del numba.core.untyped_passes.WithLifting\n",
    "different": "numba.version_info = (0, 99)\nnumba.core.caching.IndexDataCacheFile.__init__ = None\n",
}


@pytest.mark.parametrize("breakage", BREAKAGES)
@pytest.mark.long
def test_the_plain_compiler_takes_over_without_private_parts(copied, breakage):
    (copied.folder / "sitecustomize.py").write_text(f"import numba\n{BREAKAGES[breakage]}")
    for _ in range(2):
        assert copied.run() == "7 8 9 compiled"
        assert copied.said.count("RuntimeWarning: momagames compiles with the plain compiler of numba") == 1
        assert re.search("AttributeError: .*WithLifting|TypeError: .*NoneType", copied.said)


@pytest.mark.long
def test_an_untested_version_with_the_private_parts_is_used(copied):
    (copied.folder / "sitecustomize.py").write_text("import numba\nnumba.version_info = (0, 99)\n")
    assert copied.run() == "7 8 9 compiled"
    assert copied.run() == "7 8 9 cached"
    assert not copied.said


PLAY = """
import hashlib
import momagames
for id in ("mo-samegame-v0", "mo-breakthrough-v0"):
    envs = momagames.make_vec(id, 4)
    envs.reset(seed=1)
    digest = hashlib.sha256()
    for _ in range(60):
        observations, rewards, *_ = envs.step(envs.sample_actions())
        digest.update(envs.batch.states.tobytes() + rewards.tobytes() + envs.batch.observations.tobytes())
    print(digest.hexdigest())
"""


@pytest.mark.long
def test_games_are_the_same_with_the_plain_compiler():
    played = {
        subprocess.run(
            [sys.executable, "-c", f"import numba\n{breakage}{PLAY}"], capture_output=True, text=True, check=True
        ).stdout
        for breakage in ("", BREAKAGES["missing"])
    }
    assert len(played) == 1


def test_the_tested_versions_are_those_that_the_package_allows():
    first, last = compiler.TESTED_MINORS[0], compiler.TESTED_MINORS[-1]
    root = Path(__file__).resolve().parents[2]
    assert f'"numba>=0.{first},<0.{last + 1}"' in (root / "pyproject.toml").read_text(encoding="utf-8")
    workflow = (root / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert f'numba: ["0.{first}.*", "0.{last}.*"]' in workflow
