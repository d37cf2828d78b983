"""The files of the repository, the functions of its tests, and what they depend on (see affected.py).

A file depends on the modules that it imports, on modules, files and folders that its strings name, on data beside it, and on
the entries of a table of names (INDEXES) that it mentions, or on all of them if it mentions none. A test depends on what it and
the functions, fixtures and constants of its module that it uses depend on.
"""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from fnmatch import filter as fnmatch_filter
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

import grimp

ROOTS = ("momagames", "tests", "benchmarks", "docs")  # folders of Python modules
# Tables of names whose entries are imported on use: module -> names that stand for every entry.
INDEXES = {
    "momagames/games/__init__.py": {"VERSIONS", "BENCHMARK", "COMMANDS", "ids", "commands"},
    "momagames/baselines/__init__.py": {"METHODS", "POLICIES"},
    "momagames/baselines/learners.py": {"LEARNERS"},
    "momagames/registry.py": {"find_exact_front", "pareto_front"},
}
GAMES = "momagames/games/__init__.py"
# Files that tests name by their stems: pattern -> names that stand for every one of them.
NAMED = {
    "configs/suites/*.yaml": {"list_suites"},
    "configs/suites/references/*": {"list_reference_sets"},
    "configs/datasets/*.yaml": {"list_recipes"},
}
# What cannot be read from imports and strings: pattern of a file -> patterns of the files that it reads.
READS = {
    "tests/test_docs.py": ("*.md",),
    "tests/test_vocabulary.py": ("*.md", "momagames/*.py", "tests/*.py"),
    "tests/test_release.py": ("*.md", "*.json", "*.cff", "LICENSE", "NOTICE", ".gitignore"),
    "tests/test_affected.py": ("momagames/*.py", "tests/*.py", "docs/*.py"),
    "tests/test_cluster_scripts.py": ("momagames/__main__.py",),
    "tests/test_portability.py": ("momagames/*.py",),
    "tests/baselines/test_champions.py": (  # files of trained policies name their method
        "momagames/baselines/candidates/*", "momagames/baselines/evolution/*", "momagames/baselines/moppo/*",
        "momagames/baselines/ntuple/*", "momagames/baselines/search/beam_estimate.py",
    ),
    "momagames/cli/app.py": ("momagames/games/*/cli.py", "momagames/games/*/cli/*.py"),  # commands of games
}  # fmt: skip
ALWAYS_USED = re.compile(r"|(pytest|setup|teardown)_?\w*")  # names in a module of tests; statements that bind none have ""
WORD = re.compile(r"[\w-]+")
NAME = re.compile(rf"\b(?:{'|'.join(ROOTS)})(?:\.[\w*]+)+")


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path matches one of the patterns; "*" without a folder before it stays in the root."""
    return any(fnmatch(path, pattern) and ("/" in pattern or "/" not in path) for pattern in patterns)


def run_git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


class Repository:
    """The files of a working tree and what they depend on. Paths are relative to the root, with slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        listed = run_git(root, "ls-files", "--cached", "--others", "--exclude-standard")
        self.files = sorted({path for path in listed if (root / path).is_file()})
        self.known = set(self.files)
        for method in (self.find_parts, self.find_common, self.find_needs, self.find_reach):
            setattr(self, method.__name__, cache(method))
        self.modules = {module_of(path): path for path in self.files if path.endswith(".py") and path.startswith(ROOTS)}
        # folders that a string may name; those of modules are named by imports
        self.folders = {f"{parent}/" for path in self.files for parent in PurePosixPath(path).parents} - {
            "./",
            "momagames/",
            "tests/",
        }

    @cached_property
    def entries(self) -> dict[str, dict[str, set[str]]]:
        """The tables of INDEXES: module -> name -> files of the entry. An entry outside a dict is named by its attribute."""
        tables: dict[str, dict[str, set[str]]] = {}
        for path in INDEXES:
            tables[path] = defaultdict(set)
            tree = self.parse(path)
            pairs = [
                pair
                for node in ast.walk(tree)
                if isinstance(node, ast.Dict)
                for pair in zip(node.keys, node.values, strict=True)
            ]
            pairs += [(None, node.value) for node in tree.body if isinstance(node, ast.Assign)]
            for key, value in pairs:
                for text in strings_of(ast.walk(value)):
                    name = key.value if isinstance(key, ast.Constant) else text.partition(":")[2]
                    tables[path][name].update(file for file in self.find_modules(text) if "/cli" not in file)
        return tables

    @cached_property
    def named(self) -> list[tuple[str, Collection[str], str, re.Pattern[str]]]:
        """The files of NAMED, each with what names all of its pattern, its stem, and the pattern of a command with it."""
        found = []
        for pattern, every in NAMED.items():
            for file in fnmatch_filter(self.files, pattern):
                stem = PurePosixPath(file).name.partition(".")[0]
                found.append((file, every, stem, re.compile(rf"(?:\b(?:run|make) |[\"']){re.escape(stem)}\b")))
        return found

    def parse(self, path: str) -> ast.Module:
        return ast.parse((self.root / path).read_bytes())

    def find_modules(self, text: str) -> Iterator[str]:
        """Yield the files of the modules that a text names, such as "momagames.x.y:z" or, with a gap, "momagames.*.y"."""
        for name in NAME.findall(text):
            if "*" in name:
                yield from (path for module, path in self.modules.items() if fnmatch(module, name))
            while name and name not in self.modules:
                name = name.rpartition(".")[0]
            if "." in name:
                yield from (self.modules[one] for one in (name, f"{name}.__main__") if one in self.modules)

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Files of the modules that each module imports, the packages around them included."""
        sys.path[:0] = [str(self.root)]
        try:
            graph = grimp.build_graph(*ROOTS, include_external_packages=True, cache_dir=None)
        finally:
            sys.path.remove(str(self.root))
        found = {}
        for module, path in self.modules.items():
            names = graph.find_modules_directly_imported_by(module) if module in graph.modules else set()
            found[path] = {file for name in (*names, module) for file in self.find_imported(name)}
        return found

    def find_imported(self, name: str) -> Iterator[str]:
        """Yield the file of a module, or of that with an attribute of this name, and those of the packages around it."""
        for whole in (name, f"docs.{name}"):  # modules of docs are imported by name alone
            for part in itertools.accumulate(whole.split("."), "{}.{}".format):
                if part in self.modules:
                    yield self.modules[part]

    def find_mentions(self, path: str, nodes: Collection[ast.AST] = ()) -> Iterator[str]:
        """Yield the files that a file names, in the strings of a module, or of some of its nodes, or in the text of others."""
        in_package = path.startswith("momagames/")
        if path.endswith(".py"):
            nodes = nodes or list(ast.walk(self.parse(path)))
            texts, names = list(strings_of(nodes)), identifiers_of(nodes)
        else:
            texts, names = [(self.root / path).read_text(encoding="utf-8", errors="replace")], set()
        # a module of the package names an entry by the whole string, so that words of its messages are none
        words = set(texts) if in_package else {word for text in texts for word in WORD.findall(text)} | names
        for index, table in self.entries.items():
            if path != index:
                every = not in_package and bool(words & INDEXES[index])
                found = {file for key, files in table.items() if every or key in words for file in files}
                yield from found | ({index} if found else set())
        if path not in INDEXES:
            yield from (file for text in texts for file in self.find_modules(text))
        if not in_package:
            lines = "\n".join(texts)
            for file, every, stem, command in self.named:
                if words & every or stem in texts or command.search(lines):
                    yield file
            if "subprocess" in names and any(text == "momagames" or text.startswith("momagames ") for text in texts):
                yield "momagames/__main__.py"
        if path.startswith(("tests/", "docs/")):
            if path.startswith("docs/"):  # its own files by their place beside it
                texts = [f"docs/{text}" for text in texts if text.strip("./")]
            folders = {text.rstrip("/") + "/" for text in texts} & self.folders
            yield from self.known.intersection(texts)
            if folders:
                yield from (file for file in self.files if file.startswith(tuple(folders)))

    def find_data(self, path: str) -> Iterator[str]:
        """Yield the files without code that belong to the package of a module, and what READS says."""
        folder, name = PurePosixPath(path).parent.as_posix(), PurePosixPath(path).name
        if path.startswith("momagames/") or name.startswith("test_") or folder.count("/"):
            yield from (file for file, owner in self.owners.items() if owner == folder and name != "conftest.py")
        for pattern, others in READS.items():
            if fnmatch(path, pattern):
                yield from (file for file in self.files if matches(file, others))

    def find_conftests(self, path: str) -> list[str]:
        """Return the modules with fixtures for the tests of a module, also indirectly."""
        has_none = not path.startswith("tests/") or path.endswith("/__init__.py")
        around = (f"{parent}/conftest.py" for parent in PurePosixPath(path).parents)
        return [] if has_none else [file for file in around if file in self.known]

    @cached_property
    def owners(self) -> dict[str, str]:
        """The nearest folder with modules above each file without code."""
        packages = {PurePosixPath(path).parent.as_posix() for path in self.modules.values()}
        found = {}
        for path in self.files:
            if not path.endswith(".py") and path.startswith(ROOTS[:2]):
                found[path] = next(parent.as_posix() for parent in PurePosixPath(path).parents if parent.as_posix() in packages)
        return found

    @cached_property
    def dependencies(self) -> dict[str, set[str]]:
        """What each file depends on directly."""
        found = {
            path: {*self.imports[path], *self.find_mentions(path), *self.find_data(path), *self.find_conftests(path)}
            for path in self.modules.values()
        }
        for path in self.files:
            if path.endswith((".yaml", ".md", ".ipynb", ".slurm")) and not path.startswith("momagames/"):  # texts that run
                found[path] = set(self.find_mentions(path))
        return found

    def list_tests(self, path: str) -> list[str]:
        """Return the tests of a module, each as "path::name" of its function or class."""
        return [f"{path}::{name}" for name in self.find_parts(path) if re.match("test|Test", name)]

    def find_parts(self, path: str) -> dict[str, list[ast.stmt]]:
        """Return the statements of a module by the name that they bind; "" for those that bind none."""
        parts = defaultdict(list)
        for statement in split_imports(self.parse(path).body):
            for name in names_bound_by(statement) or {""}:
                parts[name].append(statement)
        return parts

    def find_common(self, path: str) -> set[str]:
        """Return what all parts of a test module depend on."""
        packages = self.find_imported(module_of(path).rpartition(".")[0])
        always = {
            f"{module}::{name}"
            for module in (path, *self.find_conftests(path))
            for name, statements in self.find_parts(module).items()
            if ALWAYS_USED.fullmatch(name) or any(map(is_automatic, statements))
        }
        return {*packages, *self.find_data(path), *always}

    def find_needs(self, part: str) -> set[str]:
        """Return the files and parts of test modules that such a part, "path::name", depends on directly."""
        path, _, name = part.partition("::")
        parts = self.find_parts(path)
        nodes = [node for statement in parts[name] for node in ast.walk(statement)]
        if "subprocess" in parts:  # another part may start what this one names
            nodes.append(ast.Name("subprocess"))
        names = names_used_by(nodes)
        needs = self.find_common(path).union(self.find_mentions(path, nodes))
        for module in (path, *self.find_conftests(path)):
            needs.update(f"{module}::{one}" for one in names & self.find_parts(module).keys())
        for imported in modules_imported_by(nodes):
            module, _, attribute = imported.rpartition(".")
            home = self.modules.get(module, "")
            if home.startswith("tests/") and attribute in self.find_parts(home):
                needs.add(f"{home}::{attribute}")
            else:
                needs.update(self.find_imported(imported))
        return needs

    def find_reach(self, start: str) -> set[str]:
        """Return the files that a file or a part of a test module depends on, its own included."""
        seen, todo, files = {start}, [start], {start.partition("::")[0]}
        while todo:
            one = todo.pop()
            needs = (self.find_needs(one) if "::" in one else self.dependencies.get(one, set())) - seen
            seen |= needs
            for need in needs:
                if "::" in start and "::" not in need:
                    files |= self.find_reach(need)
                else:
                    todo.append(need)
                    files.add(need.partition("::")[0])
        return files

    def find_closure(self, *starts: str) -> set[str]:
        """Return the files that all of these reach; what reaches the table of games and none of them may play any."""
        found = set().union(*map(self.find_reach, starts))
        games = set().union(*self.entries[GAMES].values())
        if GAMES in found and not games & found:
            found = found.union(*map(self.find_reach, games))
        return found


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def strings_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the strings of a source but for docstrings; those with values have "*" in their places.

    nodes    of its tree, each before its parts

    The parts of a path, as in ROOT / "docs" / "page.md", are one string. Folders that Python is to import from are left out,
    as the imports tell what is read there, and kinds of experiments, since some have the name of a suite.
    """
    skipped: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        elif isinstance(node, ast.Call) and is_import_path(node.func):
            skipped.update(part for argument in node.args for part in ast.walk(argument))
        elif node in skipped:
            continue
        elif isinstance(node, (ast.Dict, ast.Compare)):
            skipped.update(kinds_in(node))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            divisions = list(divisions_in(node))
            parts = [division.right for division in divisions]
            skipped.update(divisions, (part for part in parts if isinstance(part, ast.Constant)))
            texts = (part.value if isinstance(part, ast.Constant) else None for part in parts)
            yield "/".join(itertools.takewhile(lambda text: isinstance(text, str), texts))  # then comes something unknown
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def kinds_in(node: ast.Dict | ast.Compare) -> list[ast.expr]:
    """Return the values of "kind" in {"kind": value}, or those that something.kind is compared with."""
    if isinstance(node, ast.Compare):
        return node.comparators if getattr(node.left, "attr", "") == "kind" else []
    return [value for key, value in zip(node.keys, node.values, strict=True) if getattr(key, "value", "") == "kind"]


def is_import_path(function: ast.expr) -> bool:
    """Return whether a function adds a folder to those that Python imports from."""
    if not isinstance(function, ast.Attribute) or function.attr not in ("append", "insert", "syspath_prepend"):
        return False
    return function.attr == "syspath_prepend" or ast.unparse(function.value) == "sys.path"


def divisions_in(node: ast.expr) -> Iterator[ast.BinOp]:
    """Yield the divisions of a / b / c from left to right."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from divisions_in(node.left)
        yield node


def identifiers_of(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names and attributes in a source."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr for node in nodes if isinstance(node, (ast.Name, ast.Attribute))
    }


def modules_imported_by(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of modules that are imported, or of attributes of modules."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def split_imports(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, each import with a single name."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (ast.Import([alias]) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (ast.ImportFrom(statement.module, [alias], statement.level) for alias in statement.names)
        else:
            yield statement


def names_bound_by(statement: ast.AST) -> set[str]:
    """Return the names that a statement binds or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return set().union(*map(names_bound_by, ast.iter_child_nodes(statement)))  # of an if, for, with or try


def names_used_by(nodes: Collection[ast.AST]) -> set[str]:
    """Return the names of values and functions in a source, and of parameters and strings, which may be fixtures."""
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return names | parameters | strings


def is_automatic(statement: ast.stmt) -> bool:
    """Return whether this is a fixture of all tests of its module."""
    return any("autouse=True" in ast.unparse(one) for one in getattr(statement, "decorator_list", ()))
