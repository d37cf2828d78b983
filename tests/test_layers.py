"""The arrows of imports, read from the sources: what stands on the left knows nothing of what stands on its right."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import grimp
import pytest

import momagames

PACKAGE = Path(momagames.__file__).parent

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
    ("integrations",),
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
    "adapters", "envs", "wrappers", "games/*/serve", "games/*/original", "integrations", "baselines", "tabular", "benchmark",
    "datasets", "cli",
)  # fmt: skip
OWNERS = {
    "numba": ("kernels/jit/",),
    "llvmlite": ("kernels/jit/",),
    "platformdirs": ("kernels/jit/", "benchmark", "reports", "cli"),
    "gymnasium": HOSTS,
    "pettingzoo": HOSTS,
    "momaland": HOSTS,
    "mo_gymnasium": HOSTS,
    "scipy": ("analysis", "games/*/solver"),
    "moocore": ("baselines", "benchmark", "analysis", "fronts", "reports"),
    "pymoo": ("baselines/evolution/",),
    "cma": ("baselines/evolution/",),
    "onnx": ("baselines",),
    "onnxscript": ("baselines",),
    "morl_baselines": ("baselines/morl/",),
    "sb3_contrib": ("baselines/morl/",),
    "stable_baselines3": ("integrations", "baselines/morl/"),
    "torchrl": ("integrations",),
    "tensordict": ("integrations",),
    "benchmarl": ("integrations",),
    "textarena": ("integrations",),
    "verifiers": ("integrations",),
    "pydantic": ("integrations/verifiers", "benchmark", "games/*/serve", "datasets", "fronts", "reports", "leaderboard"),
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


@functools.cache
def build_graph() -> grimp.ImportGraph:
    """Imports of the package, wherever they stand, those of other packages and for type checkers included."""
    return grimp.build_graph("momagames", include_external_packages=True, cache_dir=None)


def list_imports(modules: list[str]) -> list[tuple[str, str]]:
    """Pairs of a module of the package and a module that it imports."""
    return [(module, other) for module in modules for other in build_graph().find_modules_directly_imported_by(module)]


def list_modules() -> list[str]:
    return sorted(module for module in build_graph().modules if f"{module}.".startswith("momagames."))


def layer_of(module: str) -> str:
    """The layer of a module, such as "engine" or "games/*/cli"."""
    parts = [*module.split("."), ""][1:]
    if parts[0] == "games" and len(parts) > 3 and parts[2] in ROLES:
        return f"games/*/{parts[2]}"
    return parts[0]


def find_violation(module: str, imported: str) -> str:
    """What is wrong with an import, or ""."""
    layer, head = layer_of(module), imported.partition(".")[0]
    if layer not in RANK:
        return f"{module}: {layer!r} has no place among the layers"
    if head == "momagames":
        other = layer_of(imported)
        if RANK[other] > RANK[layer] or (RANK[other] == RANK[layer] and other != layer):
            return f"{module}: {layer} imports {imported}, which stands on its right"
    elif head in OWNERS:
        path = module.partition(".")[2].replace(".", "/") + "/"
        if not any(layer == owner or fnmatch(path, f"{owner.rstrip('/')}/*") for owner in OWNERS[head]):
            return f"{module}: only {', '.join(OWNERS[head])} may import {head}"
    return ""


def is_allowed_in_rules(module: str, imported: str) -> bool:
    """Rules import numpy, the toolbox, what describes data, and other files of the same rules."""
    own = module[: module.index(".rules") + len(".rules")]
    allowed = ("numpy", "dataclasses", "typing", "__future__")
    return imported in allowed or f"{imported}.".startswith(("momagames.kernels.", f"{own}."))


def game_names(path: str, source: str) -> list[str]:
    """Games named in the code of a file; comments and docstrings may give examples."""
    if not GAME_NAMES.search(source.lower()):
        return []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return [f"{path} names {word}" for word in GAME_NAMES.findall(ast.unparse(tree).lower())]


def test_imports_point_to_the_left():
    assert len(list_modules()) > 500
    assert not [found for pair in list_imports(list_modules()) if (found := find_violation(*pair))]


def test_rules_import_numpy_and_the_toolbox_only():
    rules = [module for module in list_modules() if module.split(".")[3:4] == ["rules"]]
    assert len(rules) > 20
    assert not [pair for pair in list_imports(rules) if not is_allowed_in_rules(*pair)]


def test_no_circle_of_imports():
    graph = {module: build_graph().find_modules_directly_imported_by(module) for module in list_modules()}
    graphlib.TopologicalSorter(graph).prepare()
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(graph | {"momagames.errors": {"momagames.cli.app"}}).prepare()


def test_imports_are_read_wherever_they_stand(tmp_path, monkeypatch):
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "a.py").write_text("def f():\n    from . import b\nif TYPE_CHECKING:\n    import planted.c\n")
    for name in ("__init__", "b", "c"):
        (tmp_path / "planted" / f"{name}.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    graph = grimp.build_graph("planted", cache_dir=None)
    assert graph.find_modules_directly_imported_by("planted.a") == {"planted.b", "planted.c"}


def test_what_serves_every_game_names_none():
    files = [file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] != "games"]
    texts = {file.relative_to(PACKAGE).as_posix(): file.read_text() for file in files}
    assert not [line for path, text in texts.items() for line in game_names(path, text)]


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("errors", "momagames.contract"),
        ("contract.game", "momagames.kernels.record"),
        ("kernels.grid", "momagames.games.samegame.rules"),
        ("games.x", "momagames.engine.batch"),
        ("engine.episode", "momagames.registry"),
        ("engine.episode", "momagames"),
        ("registry", "momagames.adapters.vector"),
        ("", "momagames.baselines"),
        ("adapters.aec", "momagames.wrappers.aec"),
        ("wrappers.aec", "momagames.baselines.search.beam"),
        ("envs", "momagames.wrappers.aec"),
        ("baselines.search.beam", "momagames.benchmark.store.store"),
        ("benchmark.runner", "momagames.cli"),
        ("benchmark.choices", "momagames.datasets"),
        ("reports.report", "momagames.leaderboard"),
        ("engine.loops", "numba"),
        ("games.x.draw", "numba"),
        ("registry", "gymnasium"),
        ("helpers", "math"),
    ],
)
def test_a_planted_import_is_found(module, imported):
    assert find_violation(f"momagames.{module}".rstrip("."), imported)


def test_a_planted_import_in_rules_is_found():
    assert not is_allowed_in_rules("momagames.games.x.rules.moves", "math")
    assert not is_allowed_in_rules("momagames.games.x.rules", "momagames.games.y.rules")
    assert not is_allowed_in_rules("momagames.games.x.rules", "momagames.contract")


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
