"""Import closure of source files: the files that can change the code compiled from a set of functions.

The closure starts at the files of the functions and follows import statements, as `ast` reads them and without executing
anything, within momagames and, for a game that lives elsewhere, within the package or folder that it lives in:

- `import a.b`, `from a.b import *` and `from a import b`, where b is a module, lead to the file of that module.
- `from a.b import name` leads to the file of a.b. If that file does nothing with the name but import it, only this import
  is followed further.
- The `__init__.py` of a package that encloses an imported module is not a part, unless a name is imported from it.
- A name that a file uses in annotations alone is not followed: compilation does not look at annotations.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parents[2]
MAX_STORED = 1000  # largest number of file versions whose imports are stored on disk
ALL = "*"  # in place of a name: every name of a file
OWN = ""  # in place of a name: the names that the code of a file uses

CODE, ANNOTATION, EXPORT = "code", "annotation", "export"  # uses of an imported name in its file; EXPORT: none


class Import(NamedTuple):
    """An imported name: `from <level dots><module> import <name> as <alias>`; without a name, `import <module> as <alias>`."""

    level: int
    module: str
    name: str
    alias: str
    use: str


def find_imports(source: bytes) -> list[Import]:
    """Return all imports of a file, including those inside functions."""
    found: list[tuple[int, str, str, str]] = []
    in_code: set[str] = set()
    in_annotations: set[str] = set()
    try:
        stack: list[tuple[Any, set[str]]] = [(ast.parse(source), in_code)]
    except SyntaxError:  # edited since it was imported, or never imported
        return []
    while stack:
        node, names = stack.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Import):
            found += [(0, a.name, "", a.asname or a.name.partition(".")[0]) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.level, node.module or "", a.name, a.asname or a.name) for a in node.names]
        for field, value in ast.iter_fields(node):
            inner = in_annotations if field in ("annotation", "returns") else names
            stack += [(child, inner) for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)]
    return [
        Import(*item, CODE if item[3] in in_code else ANNOTATION if item[3] in in_annotations else EXPORT) for item in found
    ]


def _find_module(path: str) -> str | None:
    """Return the source file of the module at a path without suffix."""
    return next((file for file in (os.path.join(path, "__init__.py"), f"{path}.py") if os.path.isfile(file)), None)


@functools.cache
def _find_parents(path: str) -> list[str]:
    """Return the directories that enclose a path, innermost first."""
    parent = os.path.dirname(path)
    return [] if parent == path else [parent, *_find_parents(parent)]


def _search_folders(file: str, level: int, module: str) -> list[str]:
    """Return the directories in which the module of an import may be."""
    parents = _find_parents(file)
    if level:
        return [parents[level - 1]]
    top = module.partition(".")[0]
    if top == PACKAGE.name:
        return [str(PACKAGE.parent)]
    folders = [os.path.dirname(folder) for folder in parents if os.path.basename(folder) == top]
    if str(PACKAGE) not in parents and not parents[0].endswith("-packages"):  # not all that is installed
        folders.append(parents[0])
    return folders


@functools.cache
def _find_owners(file: str, level: int, module: str) -> list[tuple[str, str | None]]:
    """Return the possible paths of the module of an import, without suffix, each with its source file or None."""
    parts = module.split(".") if module else []
    paths = [os.path.join(folder, *parts) for folder in _search_folders(file, level, module)]
    return [(path, _find_module(path)) for path in paths]


def _resolve(file: str, item: Import) -> Iterator[tuple[str, str]]:
    """Yield the files that an import leads to, each with the imported name."""
    for path, owner in _find_owners(file, item.level, item.module):
        has_submodules = item.name not in (OWN, ALL) and (owner is None or owner.endswith("__init__.py"))
        submodule = _find_module(os.path.join(path, item.name)) if has_submodules else None
        if submodule or owner:
            yield submodule or owner or "", ALL if submodule else item.name or ALL


class Sources:
    """Source files, each read once. Their imports are stored in a file, because parsing takes most of the time."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._digests: dict[str, str] = {}
        self._imports: dict[str, list[Import]] = {}
        self._targets: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self._stored: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError, TypeError):  # missing or damaged: parsed anew
            self._stored = dict(json.loads(index.read_bytes()))
        self._parsed = False

    def digest(self, file: str) -> str:
        """Return the hash of the contents of a file when it was first read."""
        if file not in self._digests:
            source = Path(file).read_bytes()
            self._digests[file] = digest = hashlib.sha256(source).hexdigest()
            try:
                self._imports[file] = [Import(*item) for item in self._stored[digest]]
            except (KeyError, TypeError):
                self._imports[file] = found = find_imports(source)
                self._stored[digest] = found
                self._parsed = True
        return self._digests[file]

    def _source_of(self, file: str, name: str) -> tuple[str, str]:
        """Return the file with the name if the file only imports it, else with OWN."""
        self.digest(file)  # reads the file
        passed_on = name == ALL or any(item.alias == name and item.use != CODE for item in self._imports[file])
        return file, name if passed_on else OWN

    def _follow(self, file: str, name: str) -> set[tuple[str, str]]:
        """Return the files, with imported names, that a name of a file depends on."""
        found: set[tuple[str, str]] = set()
        for item in self._imports[file]:
            if name == ALL or (item.use != ANNOTATION if name == OWN else item.alias == name):
                found.update(_resolve(file, item))
        return {self._source_of(*target) for target in found}

    def find_closure(self, files: Iterable[str]) -> set[str]:
        """Return the import closure of files, including the files themselves."""
        todo = [self._source_of(file, OWN) for file in files]
        seen = set(todo)
        while todo:
            node = todo.pop()
            if node not in self._targets:
                self._targets[node] = self._follow(*node)
            fresh = self._targets[node] - seen
            seen |= fresh
            todo += fresh
        return {file for file, _ in seen}

    def save(self) -> None:
        """Write the imports of newly parsed files if the directory is writable."""
        if not self._parsed:
            return
        self._parsed = False
        with contextlib.suppress(OSError):
            self._index.parent.mkdir(parents=True, exist_ok=True)
            scratch = self._index.with_name(f"{uuid.uuid4().hex}.tmp")
            scratch.write_text(json.dumps(dict(list(self._stored.items())[-MAX_STORED:])), encoding="utf-8", newline="\n")
            scratch.replace(self._index)
