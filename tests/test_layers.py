"""The arrows of imports, read from the sources: what stands on the left knows nothing of what stands on its right."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

import momagames

PACKAGE = Path(momagames.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Left to right. "" is momagames/__init__.py, the public names; test_import_momagames_is_light says what importing it may cost.
LAYERS = (
    ("errors", "wording"),
    ("files",),
    ("plugins",),
    ("contract",),
    ("kernels", "render"),
    ("games",),
    ("engine",),
    ("games/*/policies",),
    ("registry",),
    ("adapters",),
    ("environments",),
    ("",),
    ("games/*/serve", "envs", "wrappers"),
    ("games/*/original",),
    ("baselines",),
    ("games/*/solver",),
    ("analysis",),
    ("tabular",),
    ("benchmark",),
    ("datasets",),
    ("fronts", "play"),
    ("reports",),
    ("leaderboard",),
    ("cli",),
    ("games/*/cli",),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ROLES = {name.rpartition("/")[2] for name in RANK if "*" in name}  # parts of a game that stand further right than its rules

# Packages that only some parts may import: name -> layers, or files.
HOSTS = (
    "adapters", "envs", "wrappers", "games/*/serve", "games/*/original", "baselines", "tabular", "benchmark", "datasets", "cli",
)  # fmt: skip
OWNERS = {
    "numba": ("kernels/jit/",),
    "llvmlite": ("kernels/jit/",),
    "platformdirs": ("kernels/jit/", "benchmark", "reports", "cli"),
    "gymnasium": HOSTS,
    "pettingzoo": HOSTS,
    "momaland": HOSTS,
    "mo_gymnasium": HOSTS,
    "scipy": ("analysis",),
    "moocore": ("baselines", "benchmark", "analysis", "fronts", "reports"),
    "pymoo": ("baselines/evolution/",),
    "cma": ("baselines/evolution/",),
    "onnx": ("baselines",),
    "morl_baselines": ("baselines/morl/",),
    "sb3_contrib": ("baselines/morl/",),
    "pydantic": ("benchmark", "games/*/serve", "datasets", "fronts", "reports", "leaderboard"),
    "pyarrow": ("datasets",),
    "minari": ("datasets",),
    "pydantic_core": ("games/*/serve",),
    "yaml": ("files", "games/*/levels/"),
    "plotly": ("reports",),
    "starlette": ("games/*/serve",),
    "uvicorn": ("games/*/serve",),
    "typer": ("cli", "games/*/cli"),
    "rich": ("reports", "play", "cli", "games/*/cli"),
    "PIL": ("render", "wrappers"),
    "pygame": ("adapters",),
}
GAME_NAMES = re.compile("|".join(folder.name for folder in (PACKAGE / "games").iterdir() if (folder / "SPEC.md").exists()))


def layer_of(path: str) -> str:
    """The layer of a file, such as "engine" or "games/*/cli"; `path` is relative to the package."""
    if path == "__init__.py":
        return ""
    parts = path.removesuffix(".py").split("/")
    if parts[0] == "games" and len(parts) > 2 and parts[2] in ROLES:
        return f"games/*/{parts[2]}"
    return parts[0]


def layer_of_module(name: str) -> str:
    return layer_of(name.partition(".")[2].replace(".", "/") or "__init__.py")


def imported(tree: ast.AST, module: str) -> Iterator[str]:
    """Full names of the modules that a source imports, wherever the import stands, imports for type checkers included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *([base] if base else [])])
            for alias in node.names:  # what is imported is a module or a name of one
                inner = f"{base}.{alias.name}"
                yield inner if (PACKAGE.parent / inner.replace(".", "/")).is_dir() or module_file(inner).exists() else base


def module_file(name: str) -> Path:
    return PACKAGE.parent / (name.replace(".", "/") + ".py")


def violations(path: str, source: str) -> list[str]:
    """What is wrong with the imports of a file; `path` is relative to the package, such as "engine/batch.py"."""
    module = "momagames." + path.removesuffix(".py").replace("/", ".")
    layer = layer_of(path)
    if layer not in RANK:
        return [f"{path}: {layer!r} has no place among the layers"]
    wrong = []
    for name in imported(ast.parse(source), module):
        head = name.partition(".")[0]
        if head == "momagames":
            other = layer_of_module(name)
            if RANK[other] > RANK[layer] or (RANK[other] == RANK[layer] and other != layer):
                wrong.append(f"{path}: {layer} imports {name}, which stands on its right")
        elif head in OWNERS and not any(layer == owner or fnmatch(path, f"{owner.rstrip('/')}/*") for owner in OWNERS[head]):
            wrong.append(f"{path}: only {', '.join(OWNERS[head])} may import {head}")
    return wrong


def rules_violations(path: str, source: str) -> list[str]:
    """Rules import numpy, the toolbox, what describes data, and other files of the same rules."""
    module = "momagames." + path.removesuffix(".py").replace("/", ".")
    own = module[: module.index(".rules") + len(".rules")]
    allowed = ("numpy", "dataclasses", "typing", "__future__")
    return [
        f"{path} imports {name}"
        for name in imported(ast.parse(source), module)
        if name not in allowed and not f"{name}.".startswith(("momagames.kernels.", f"{own}."))
    ]


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other in a circle: strongly connected parts with more than one module."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in imports.get(module, ()):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in imports:
        if module not in order:
            visit(module)
    return found


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def game_names(path: str, source: str) -> list[str]:
    """Games named in the code of a file; comments and docstrings may give examples."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return [f"{path} names {word}" for word in GAME_NAMES.findall(ast.unparse(tree).lower())]


def each(function, files):
    return [line for file in files for line in function(file.relative_to(PACKAGE).as_posix(), file.read_text())]


def test_imports_point_to_the_left():
    assert not each(violations, FILES)


def test_rules_import_numpy_and_the_toolbox_only():
    rules = [file for file in FILES if "rules" in file.relative_to(PACKAGE).with_suffix("").parts[2:3]]
    assert len(rules) > 20
    assert not each(rules_violations, rules)


def test_no_circle_of_imports():
    modules = {module_name(file): file for file in FILES}
    assert not circles(
        {name: set(imported(ast.parse(file.read_text()), name)) & set(modules) for name, file in modules.items()}
    )


def test_a_planted_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == [["a", "b", "c"]]


def test_what_serves_every_game_names_none():
    assert not each(game_names, [file for file in FILES if file.relative_to(PACKAGE).parts[0] != "games"])


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("errors.py", "import momagames.contract"),
        ("contract/game.py", "from momagames.kernels import record"),
        ("kernels/grid.py", "import momagames.games.samegame.rules"),
        ("games/x/__init__.py", "from ...engine import batch"),
        ("engine/episode.py", "def f():\n    from momagames import registry"),
        ("engine/episode.py", "from momagames import make"),
        ("registry.py", "from momagames.adapters import vector"),
        ("__init__.py", "from momagames import baselines"),
        ("adapters/aec.py", "from momagames.wrappers.aec import Scalarize"),
        ("wrappers/aec.py", "import momagames.baselines.search.beam"),
        ("envs/__init__.py", "import momagames.wrappers.aec"),
        ("baselines/search/beam.py", "from momagames.benchmark.store.store import rows"),
        ("benchmark/runner.py", "from momagames import cli"),
        ("benchmark/plan.py", "from momagames.datasets import open_dataset"),
        ("reports/report.py", "from momagames.leaderboard import check_submission"),
        ("engine/loops.py", "import numba"),
        ("games/x/draw.py", "from numba import njit"),
        ("registry.py", "import gymnasium"),
        ("helpers.py", "import math"),
    ],
)
def test_a_planted_import_is_found(path, source):
    assert violations(path, source)


@pytest.mark.parametrize(
    "source", ["import math", "from momagames.contract import Game", "from momagames.games.y.rules import step"]
)
def test_a_planted_import_in_rules_is_found(source):
    assert rules_violations("games/x/rules.py", source)


def test_imports_for_type_checkers_count():
    assert violations("registry.py", "if TYPE_CHECKING:\n    from momagames import wrappers")


def test_a_planted_game_word_is_found():
    assert game_names("adapters/aec.py", 'if game.id.startswith("mo-samegame"):\n    pass')
    assert game_names("engine/episode.py", "def breakthrough_only(): ...")
    assert not game_names("engine/episode.py", '"""Such as mo-samegame-v0."""')


def test_import_momagames_is_light():
    """It imports Gymnasium and PettingZoo, to register the ids there, and no other dependency."""
    heavy = ("numba", "momaland", "mo_gymnasium", "pydantic", "plotly", "PIL", "scipy", "typer", "moocore")
    code = f"import sys, momagames; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
