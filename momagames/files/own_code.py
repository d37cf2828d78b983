"""Code of users: what a module imports, the files beside it that it needs, and their checksum."""

from __future__ import annotations

import ast
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from momagames.files.reading import hash_content, is_directory, is_file, read_bytes

PACKAGE = "momagames"


def list_imported(code: bytes) -> list[str]:
    """Return the modules that code imports and that are not of Python or this package, without their submodules."""
    imported = set()
    for node in ast.walk(ast.parse(code)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        imported |= {name.partition(".")[0] for name in names}
    return sorted(imported - {PACKAGE, *sys.stdlib_module_names})


def list_imports_beside(source: Path) -> list[Path]:
    """Return the files beside a module that it imports, also indirectly; of packages all files of Python, in order.

    Modules of installed packages, which may lie beside an installed module, are left out.
    """
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        try:
            names = list_imported(read_bytes(waiting.pop()))
        except SyntaxError:  # which the run reports
            continue
        for name in names:
            module, package = source.parent / f"{name}.py", source.parent / name
            files = [module] if is_file(module) else sorted(package.rglob("*.py")) if is_directory(package) else []
            new = [file for file in files if file not in found and file != source]
            if new and name not in packages_distributions():
                found |= dict.fromkeys(new)
                waiting += new
    return sorted(found)


def hash_code(source: Path) -> str:
    """Return the SHA-256 of a file; of a module that imports files beside it, one of all these files."""
    files = [source, *list_imports_beside(source)] if source.suffix == ".py" else [source]
    digests = [hash_content(read_bytes(file)) for file in files]
    return digests[0] if len(digests) == 1 else hash_content("\n".join(digests).encode())
