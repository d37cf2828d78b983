"""The code of own policies as files of a submission: the module, files beside it that options name, and a lock file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from momagames.errors import InvalidParameter
from momagames.files.own_code import list_imported, list_imports_beside
from momagames.files.reading import hash_content, is_file, read_bytes
from momagames.files.writing import write_file_atomically

LOCK = "requirements.txt"
ALWAYS = {"numpy"}  # what observations are made of


def copy_code(path: str, options: Mapping[str, Any], folder: Path, checksum: str | None = None) -> None:
    """Copy the module of "module:name" into a folder, with files beside it that options name, and write the lock file.

    checksum    SHA-256 of the module that has run; None: not known
    Raises      InvalidParameter for a module that is not a single file, imports files beside it, or is not what has run
    """
    name = path.partition(":")[0]
    spec = find_spec(name)
    source = Path(spec.origin) if spec and spec.origin else Path()
    if "." in name or source.name != f"{name}.py":
        raise InvalidParameter(f"{path}: expected a module that is one file beside the command; write the submission by hand")
    code = read_bytes(source)
    if beside := list_imports_beside(source):
        raise InvalidParameter(f"{source}: imports {beside[0].name!r} beside it: expected all own code in one file")
    if checksum not in (None, hash_content(code)):
        raise InvalidParameter(f"{source}: has changed since the runs of {path}: expected the file that ran, or new runs")
    write_file_atomically(folder / source.name, code)
    for value in options.values():
        if isinstance(value, str) and Path(value).name == value and is_file(source.parent / value):
            write_file_atomically(folder / value, read_bytes(source.parent / value))
    write_file_atomically(folder / LOCK, _format_lock(code))


def _format_lock(code: bytes) -> str:
    """Return the lock file of the packages that code imports, in the versions that are installed.

    It does not name this package: the check says with which version it was made.
    """
    known = packages_distributions()
    imported = {*ALWAYS, *list_imported(code)}
    packages = {package for name in imported for package in known.get(name, ())}
    return "".join(f"{package}=={version(package)}\n" for package in sorted(packages))
