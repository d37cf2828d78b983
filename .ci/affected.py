"""What a change can affect: what a run of the gate adds to the checks that it always makes.

    python .ci/affected.py [--base COMMIT] [--all]     prints the choice with its reasons on stderr, and as shell variables:

    TESTS    JSON: test files to run with their long tests, other games, whose names leave a long test out, and which eighth
             of all other long tests to run
    GAMES    folders of games whose rules are played without the compiler and with bounds checks
    SITE     results (pages of results are made anew), pages (they are taken as they are) or nothing

The files of the repository are nodes. A file depends on the modules that it imports, on modules, files and folders that its
strings name, on data beside it, and on the entries of a table of names (INDEXES) that it mentions, or on all of them if it
mentions none. A test depends on the files that it reaches, and a changed file that no test reaches affects everything.

The change is what differs, in the working tree, from the last commit whose gate passed: --base, MOMAGAMES_GATE_BASE, the
newest one that a gate has noted on this machine (PASSED), or else the newest commit that is HOURS older than the last.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath

import grimp

HOURS = 8  # a working day
PARTS = 8  # of the long tests, one of which runs whatever has changed
PASSED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "momagames-gate" / "passed"

ROOTS = ("momagames", "tests", "benchmarks", "docs")  # folders of Python modules
# Tables of names whose entries are imported on use: module -> names that stand for every entry.
INDEXES = {
    "momagames/games/__init__.py": {"VERSIONS", "COMMANDS", "ids", "commands"},
    "momagames/baselines/__init__.py": {"METHODS", "POLICIES"},
    "momagames/baselines/learners.py": {"LEARNERS"},
    "momagames/registry.py": {"find_exact_front", "pareto_front"},
}
GAMES = "momagames/games/__init__.py"
GAME_FOLDER = re.compile(r"(?:momagames|tests)/games/(\w+)/")
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
    "tests/test_add_a_game.py": ("*.md", "*.json", "*.cff"),
    "tests/test_affected.py": ("momagames/*.py", "tests/*.py", "docs/*.py"),
    "tests/test_cluster_scripts.py": ("momagames/__main__.py",),
    "tests/test_portability.py": ("momagames/*.py",),
    "momagames/cli/app.py": ("momagames/games/*/cli.py", "momagames/games/*/cli/*.py"),  # commands of games
}
EVERYTHING = ("pyproject.toml", ".ci/*")
NOTHING = (  # lint and the tests that always run read them
    ".devcontainer/*", ".dockerignore", ".gitattributes", ".github/*", ".pre-commit-config.yaml", "Dockerfile",
)  # fmt: skip
RULES = (  # what the rules of every game and their tests use
    "momagames/contract/*", "momagames/engine/*", "momagames/games/__init__.py", "momagames/kernels/*", "tests/cases.py",
    "tests/conftest.py", "tests/kernels/*",
)  # fmt: skip
SITE = ("docs/*", "*.md", "momagames/*.py")  # what the pages of the site are made of
RESULTS = ("docs/make_results.py", "docs/results/*", "benchmarks/fronts/*", "benchmarks/learning/results.json")
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
                for text in strings_of(value):
                    name = key.value if isinstance(key, ast.Constant) else text.partition(":")[2]
                    tables[path][name].update(file for file in self.find_modules(text) if "/cli" not in file)
        return tables

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
                yield self.modules[name]

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
            names |= {f"docs.{name}" for name in names}  # they are imported by name alone
            names |= {".".join(name.split(".")[:end]) for name in (*names, module) for end in range(1, name.count(".") + 1)}
            found[path] = {self.modules[name] for name in names if name in self.modules}
        return found

    def find_mentions(self, path: str) -> Iterator[str]:
        """Yield the files that a file names, in the strings of a module or in the text of another file."""
        is_module, in_package = path.endswith(".py"), path.startswith("momagames/")
        if is_module:
            tree = self.parse(path)
            texts, names = list(strings_of(tree)), identifiers_of(tree)
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
            for pattern, every in NAMED.items():
                for file in (file for file in self.files if fnmatch(file, pattern)):
                    stem = PurePosixPath(file).name.partition(".")[0]
                    called = re.compile(rf"(?:\b(?:run|make) |[\"']){re.escape(stem)}\b")
                    if words & every or stem in texts or any(map(called.search, texts)):
                        yield file
            if "subprocess" in names and any(text == "momagames" or text.startswith("momagames ") for text in texts):
                yield "momagames/__main__.py"
        if path.startswith(("tests/", "docs/")):
            if path.startswith("docs/"):  # its own files by their place beside it
                texts = [f"docs/{text}" for text in texts if text.strip("./")]
            folders = {text.rstrip("/") + "/" for text in texts} & self.folders
            yield from (file for file in self.files if file in texts or file.startswith(tuple(folders)))

    def find_data(self, path: str) -> Iterator[str]:
        """Yield the files without code that belong to the package of a module, its conftest files and what READS says."""
        folder, name = PurePosixPath(path).parent.as_posix(), PurePosixPath(path).name
        if path.startswith("momagames/") or name.startswith("test_") or folder.count("/"):
            yield from (file for file, owner in self.owners.items() if owner == folder and name != "conftest.py")
        if path.startswith("tests/"):
            around = {f"{parent}/conftest.py" for parent in PurePosixPath(path).parents}
            yield from around.intersection(self.modules.values())
        for pattern, others in READS.items():
            if fnmatch(path, pattern):
                yield from (file for file in self.files if matches(file, others))

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
            path: {*self.imports[path], *self.find_mentions(path), *self.find_data(path)} for path in self.modules.values()
        }
        for path in self.files:
            if path.endswith((".yaml", ".md", ".ipynb", ".slurm")) and not path.startswith("momagames/"):  # texts that run
                found[path] = set(self.find_mentions(path))
        return found

    def find_closure(self, *paths: str) -> set[str]:
        """Return everything that files depend on, themselves included."""
        seen, todo = set(paths), list(paths)
        while todo:
            fresh = self.dependencies.get(todo.pop(), set()) - seen
            seen |= fresh
            todo += fresh
            if not todo and GAMES in seen:  # what names no game may play any
                games = set().union(*self.entries[GAMES].values())
                if not games & seen:
                    seen |= games
                    todo += games
        return seen


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def strings_of(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a source but for docstrings; those with values have "*" in their places.

    The parts of a path, as in ROOT / "docs" / "page.md", are one string. Folders that Python is to import from are left out,
    as the imports tell what is read there.
    """
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        elif isinstance(node, ast.Call) and re.search(r"sys\.?path[._](insert|append|prepend)$", ast.unparse(node.func)):
            skipped.update(part for argument in node.args for part in ast.walk(argument))
        elif isinstance(node, ast.JoinedStr) and node not in skipped:
            skipped.update(node.values)
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and node not in skipped:
            parts: list[str] = []
            while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                skipped.update((node, node.right))
                if isinstance(node.right, ast.Constant) and isinstance(node.right.value, str):
                    parts.insert(0, node.right.value)
                else:  # unknown: what comes before it is a folder
                    parts = []
                    skipped.discard(node.right)
                node = node.left
            yield "/".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            yield node.value


def identifiers_of(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def find_base(root: Path, given: str | None) -> tuple[str, str]:
    """Return the commit to compare with, "" if there is none, and the reason."""
    if given:
        known = subprocess.run(["git", "-C", str(root), "cat-file", "-e", f"{given}^{{commit}}"], capture_output=True)
        return ("", f"{given} is no commit here") if known.returncode else (given, "given")
    noted = set(PASSED.read_text().split()) if PASSED.is_file() else set()
    if passed := next((commit for commit in run_git(root, "rev-list", "HEAD") if commit in noted), ""):
        return passed, "the last commit whose gate passed on this machine"
    last = int(run_git(root, "log", "-1", "--format=%ct")[0])
    older = run_git(root, "rev-list", "-1", f"--before={last - HOURS * 3600}", "HEAD")
    return (older[0], f"{HOURS} hours older than the last commit") if older else ("", "no commit to compare with")


def list_changes(root: Path, base: str) -> list[str]:
    changed = run_git(root, "diff", "--name-only", "--no-renames", base)
    return sorted({*changed, *run_git(root, "ls-files", "--others", "--exclude-standard")})


@dataclass(frozen=True)
class Choice:
    """What the gate checks in addition.

    why      the reason, if it is everything
    tests    test files
    games    folders of games
    others   folders of games that are not affected, if all changes are in folders of games: a long test named after one of
             them and none of `games` is left out
    site     "results", "pages" or ""
    """

    why: str
    tests: list[str]
    games: list[str]
    others: list[str]
    site: str


def choose(repository: Repository, changes: Collection[str]) -> Choice:
    """Return what changed files can affect."""
    files, changed = repository.files, set(changes)
    closures = {path: repository.find_closure(path) for path in files if fnmatch(path, "tests/*test_*.py")}
    results = repository.find_closure(*(path for path in files if matches(path, RESULTS)))
    known = results.union(*closures.values())
    why = ""
    for path in changes:
        is_removed_test = fnmatch(path, "tests/*test_*.py") and path not in files
        if matches(path, EVERYTHING) or not (path in known or matches(path, NOTHING) or is_removed_test):
            why = f"{path} can affect everything"
    games = [PurePosixPath(path).parts[2] for path in files if fnmatch(path, "momagames/games/*/SPEC.md")]
    homes = [found[1] if (found := GAME_FOLDER.match(path)) else "" for path in changes]
    shared = any(matches(path, RULES) or PurePosixPath(path).parent.as_posix() == "tests/games" for path in changes)
    site = "results" if changed & results else "pages" if any(matches(path, SITE) for path in changes) else ""
    return Choice(
        why=why,
        tests=[path for path, closure in closures.items() if why or closure & changed],
        games=[name for name in games if why or shared or name in homes],
        others=[] if why or "" in homes else [name for name in games if name not in homes],
        site="results" if why else site,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", default=os.environ.get("MOMAGAMES_GATE_BASE"), help="Commit to compare with.")
    parser.add_argument("--all", action="store_true", help="Everything, whatever has changed.")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    base, reason = find_base(root, options.base)
    changes = list_changes(root, base) if base else []
    chosen = choose(Repository(root), EVERYTHING if options.all or not base else changes)
    part = int(run_git(root, "rev-parse", "HEAD")[0][:8], 16) % PARTS
    why = "asked for" if options.all else chosen.why if base else reason
    lines = (
        f"compared with {base[:12]} ({reason}): {', '.join(changes[:4])}{' ...' * (len(changes) > 4)}" if base else "",
        f"everything: {why}" if why else "",
        f"tests: {len(chosen.tests)} affected files, and part {part + 1} of {PARTS} of the long tests of all others",
        f"left out: tests named after {', '.join(chosen.others)}" if chosen.others else "",
        f"rules without the compiler and with bounds checks: {' '.join(chosen.games) or 'none'}",
        f"site: {chosen.site or 'not built'}",
    )
    print("\n".join(filter(None, lines)), file=sys.stderr)
    selection = json.dumps(
        {"files": chosen.tests, "games": chosen.games, "others": chosen.others, "part": part, "parts": PARTS}
    )
    print(f"TESTS={shlex.quote(selection)}\nGAMES={shlex.quote(' '.join(chosen.games))}\nSITE={chosen.site}")


if __name__ == "__main__":
    main()
