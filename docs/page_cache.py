"""Cache of the pages of results: what a page depends on, and what was made of it (see make_results.py).

A set of pages depends on its archive, on the module that makes it and all modules that this one imports, also indirectly, on
all other files of the package and of configs, and on the versions of some libraries. Modules that the package names in strings,
such as those of its games, count as imported.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from page_figures import PageSet

from momagames.files.writing import write_file_atomically

LIBRARIES = ("matplotlib", "moocore", "numpy", "polars", "scipy")
PACKAGE = "momagames"
REFERENCE = re.compile(rf"({PACKAGE}(?:\.\w+)+\.?)(:\w+)?")  # in a string: a module, or with a dot in the end all of a package


@dataclass(frozen=True)
class PageRecord:
    """A set of pages as it was made (see `PageSet`), in a file beside its figures.

    digest     hash of everything that it depends on
    figures    file name -> checksum
    """

    digest: str
    texts: Mapping[str, str]
    figures: Mapping[str, str]
    leaders: Mapping[str, Mapping[str, int]]
    facts: list[list[str]]


def read_record(folder: Path, name: str, digest: str) -> PageRecord | None:
    """Return the record of a set of pages if it has this digest and its figures are those that were drawn."""
    try:
        record = PageRecord(**json.loads(find_record(folder, name).read_text(encoding="utf-8")))
        is_current = record.digest == digest and record.figures == hash_files(folder, record.figures)
    except (OSError, ValueError, TypeError):  # missing or damaged
        return None
    return record if is_current else None


def write_record(folder: Path, name: str, digest: str, pages: PageSet) -> None:
    """Draw the figures of a set of pages, then write its record: a former record does not fit figures that are partly new."""
    pages.draw_figures(folder)
    figures = hash_files(folder, (f"{figure}.svg" for figure in pages.figures))
    facts = [list(fact) for fact in pages.facts]
    record = PageRecord(digest, pages.texts, figures, pages.leaders, facts)
    write_file_atomically(find_record(folder, name), json.dumps(vars(record)))


def find_record(folder: Path, name: str) -> Path:
    return folder / f".{name}.json"


def hash_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: hash_file(folder / name) for name in names}


def hash_file(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def hash_inputs(archive: Path, module: Path, root: Path) -> str:
    """Return the hash of everything that the pages of an archive depend on; `module` makes them."""
    files = {*list_code(module, root), *list_data(root)}
    parts = [f"{file.relative_to(root).as_posix()} {hash_source(file)}" for file in sorted(files)]
    parts += [f"{library} {version(library)}" for library in LIBRARIES]
    return hashlib.sha256("\n".join([hash_file(archive), platform.python_version(), *parts]).encode()).hexdigest()


hash_source = cache(hash_file)  # sources are those of this process


@cache
def list_data(root: Path) -> list[Path]:
    """Return the files of the package that are no modules, and the suites: any of them may be read."""
    files = [*(root / PACKAGE).rglob("*"), *(root / "configs").rglob("*")]
    return [file for file in files if file.is_file() and file.suffix not in (".py", ".pyc")]


def list_code(module: Path, root: Path) -> set[Path]:
    """Return the file of a module and those of all modules of docs and the package that it imports, also indirectly."""
    found, left = {module}, [module]
    while left:
        new = list_imports(left.pop(), root) - found
        found |= new
        left += new
    return found


@cache
def list_imports(file: Path, root: Path) -> set[Path]:
    """Return the files of the modules of docs and the package that a file imports or names, and those of their packages."""
    found = set()
    for name in list_names(ast.parse(file.read_bytes())):
        parts = name.split(".")
        for place in (root / "docs", root):
            for length in range(1, len(parts) + 1):
                module = place.joinpath(*parts[:length])
                found |= {path for path in (module.with_suffix(".py"), module / "__init__.py") if path.is_file()}
            if not parts[-1]:
                found |= {*place.joinpath(*parts).glob("*.py")}
    return found


def list_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of modules that a source imports or has in strings; some are names in modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := REFERENCE.fullmatch(node.value)):
            yield match[1]
