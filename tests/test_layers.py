"""The arrows of imports, read from the sources: what stands on the left knows nothing of what stands on its right."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import momagames

PACKAGE = Path(momagames.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Left to right. "" is momagames/__init__.py: the public names, which stand on the registry. It also makes the games known
# to the hosts and may import what it likes for that; test_import_momagames_is_light says what that may cost.
LAYERS = (
    ("errors",),
    ("contract",),
    ("kernels", "render"),
    ("games",),
    ("engine",),
    ("registry",),
    ("",),
    ("adapters",),
    ("envs", "wrappers"),
    ("baselines",),
    ("experiments", "seating", "serve"),
    ("terminal", "keyboard", "cli_layout", "cli_level", "cli_serve", "cli_tools"),
    ("cli_bench", "cli_front", "cli_learn", "cli_replay"),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

DOORS = ("games/tileblast/remote.py",)  # these are adapters, though they stand with their game

# Packages that only some files may import: name -> parts of the package.
HOSTS = (*DOORS, "adapters", "envs", "wrappers", "baselines", "experiments", "cli")
KEEPERS = {
    "numba": ("kernels/jit/",),
    "llvmlite": ("kernels/jit/",),
    "platformdirs": ("kernels/jit/", "experiments", "cli"),
    "gymnasium": HOSTS,
    "pettingzoo": HOSTS,
    "momaland": HOSTS,
    "mo_gymnasium": HOSTS,
    "moocore": ("baselines", "experiments", "cli"),
    "pymoo": ("baselines/evolution.py",),
    "cma": ("baselines/evolution.py",),
    "pydantic": ("experiments", "serve", "cli"),
    "pydantic_core": ("serve",),
    "yaml": ("games/tileblast/document.py", "experiments", "cli"),
    "plotly": ("experiments", "cli"),
    "starlette": ("serve",),
    "uvicorn": ("serve",),
    "typer": ("cli",),
    "rich": ("experiments", "terminal.py", "cli"),
    "PIL": ("render", "wrappers"),
    "pygame": ("adapters",),
}
GAME_WORDS = re.compile("|".join(folder.name for folder in (PACKAGE / "games").iterdir() if (folder / "rules.py").exists()))
GAMELESS = ("kernels", "render", "engine", "adapters", "wrappers")


def imported(tree: ast.AST, module: str) -> Iterator[str]:
    """Full names of the modules that a source imports, wherever the import stands; imports for type checkers do not count."""
    nodes = [tree]
    while nodes:
        node = nodes.pop(0)
        typing_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        nodes += node.orelse if typing_only else list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *([base] if base else [])])
            if base == "momagames":  # `from momagames import registry` names a module or a public name of ours
                yield from (f"momagames.{a.name}" if a.name in RANK else "momagames" for a in node.names)
            else:
                yield base


def violations(path: str, source: str) -> list[str]:
    """What is wrong with the imports of a file; `path` is relative to the package, such as "engine/batch.py"."""
    module = "momagames." + path.removesuffix(".py").replace("/", ".")
    layer = "" if path == "__init__.py" else "adapters" if path in DOORS else path.split("/")[0].removesuffix(".py")
    if layer not in RANK:
        return [f"{path}: {layer!r} has no place among the layers"]
    wrong = []
    for name in imported(ast.parse(source), module):
        head, _, rest = name.partition(".")
        if head == "momagames":
            other = rest.split(".")[0]
            if layer and (RANK[other] > RANK[layer] or (RANK[other] == RANK[layer] and other != layer)):
                wrong.append(f"{path}: {layer} imports {name}, which stands on its right")
        elif head in KEEPERS and not path.startswith(KEEPERS[head]):
            wrong.append(f"{path}: only {', '.join(KEEPERS[head])} may import {head}")
    return wrong


def rules_violations(path: str, source: str) -> list[str]:
    """Rules, and the files that they are spread over, import numpy, the toolbox, what describes data, and each other."""
    module = "momagames." + path.removesuffix(".py").replace("/", ".")
    allowed = ("momagames.kernels.", module.rpartition(".")[0] + ".")
    wrong = []
    for name in imported(ast.parse(source), module):
        if name not in ("numpy", "dataclasses", "typing", "__future__") and not name.startswith(allowed):
            wrong.append(f"{path} imports {name}")
        elif name.startswith(allowed[1]):
            part = PACKAGE.parent / (name.replace(".", "/") + ".py")
            wrong += rules_violations(part.relative_to(PACKAGE).as_posix(), part.read_text())
    return wrong


def game_words(path: str, source: str) -> list[str]:
    """Games named in the code of a file; comments and docstrings may give examples."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return [f"{path} names {word}" for word in GAME_WORDS.findall(ast.unparse(tree).lower())]


def each(function, files):
    return [line for file in files for line in function(file.relative_to(PACKAGE).as_posix(), file.read_text())]


def test_imports_point_to_the_left():
    assert not each(violations, FILES)


def test_rules_import_numpy_and_the_toolbox_only():
    rules = [file for file in FILES if file.name == "rules.py"]
    assert rules
    assert not each(rules_violations, rules)


def test_what_serves_every_game_names_none():
    files = [file for file in FILES if file.relative_to(PACKAGE).parts[0] in GAMELESS]
    assert not each(game_words, files)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("errors.py", "import momagames.contract"),
        ("contract/game.py", "from momagames.kernels import record"),
        ("kernels/grid.py", "import momagames.games.samegame.rules"),
        ("games/x/__init__.py", "from ...engine import batch"),
        ("engine/play.py", "def f():\n    from momagames import registry"),
        ("engine/play.py", "from momagames import make"),
        ("registry.py", "from momagames.adapters import vector"),
        ("adapters/aec.py", "from momagames.wrappers.aec import Scalarise"),
        ("wrappers/aec.py", "import momagames.baselines.beam"),
        ("envs/__init__.py", "import momagames.wrappers.aec"),
        ("baselines/beam.py", "from momagames.experiments.results.store import rows"),
        ("experiments/runner.py", "from momagames import cli"),
        ("engine/loops.py", "import numba"),
        ("games/x/draw.py", "from numba import njit"),
        ("registry.py", "import gymnasium"),
        ("helpers.py", "import math"),
    ],
)
def test_a_planted_import_is_found(path, source):
    assert violations(path, source)


@pytest.mark.parametrize(
    "source", ["import math", "from momagames.contract import Game", "from momagames.engine.loops import begin"]
)
def test_a_planted_import_in_rules_is_found(source):
    assert rules_violations("games/x/rules.py", source)


def test_imports_for_type_checkers_are_none():
    source = "if TYPE_CHECKING:\n    from momagames import wrappers\nelse:\n    {}"
    assert not violations("registry.py", source.format("pass"))
    assert violations("registry.py", source.format("from momagames import wrappers"))


def test_a_planted_game_word_is_found():
    assert game_words("adapters/aec.py", 'if game.id.startswith("mo-samegame"):\n    pass')
    assert game_words("engine/play.py", "def breakthrough_only(): ...")
    assert not game_words("engine/play.py", '"""Such as mo-samegame-v0."""')


def test_import_momagames_is_light():
    heavy = ("numba", "gymnasium", "pettingzoo", "momaland", "pydantic", "plotly", "PIL", "typer", "moocore")
    code = f"import sys, momagames; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
