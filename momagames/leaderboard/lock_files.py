"""Lock files: the exact versions of the packages that policies of a submission need."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from momagames.errors import InvalidFile
from momagames.files.reading import read_text
from momagames.leaderboard.directory import check_size
from momagames.leaderboard.errors import InvalidSubmission, MislabeledSubmission

MAX_BYTES = 1 << 20
OWN = re.compile(r"^momagames @ |^-e .*#egg=momagames\b|^-e \S*momagames$")  # installed from a folder, as `pip freeze` says
PIN = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([A-Za-z0-9][A-Za-z0-9.!+_-]*)")


def read_lock(path: Path) -> dict[str, str]:
    """Return the versions in a lock file by package, in the format of pip: a line NAME==VERSION for each.

    Comments, `--hash=` options and continued lines, as pip-compile writes them, are allowed, and momagames itself from a
    folder, whose version every check states.

    Raises     InvalidSubmission for any other line, and for a file without packages
    """
    check_size(path, MAX_BYTES)
    try:
        text = read_text(path, MAX_BYTES)
    except InvalidFile as error:
        raise InvalidSubmission(str(error)) from None
    found = {}
    for number, line in enumerate(text.replace("\\\n", " \\").split("\n"), 1):
        words = [word for word in line.partition("#")[0].replace("\\", " ").split() if not word.startswith("--hash=")]
        match = PIN.fullmatch(" ".join(words))
        if words and not match and not OWN.search(line.strip()):
            raise InvalidSubmission(f"{path}: line {number}: {' '.join(words)!r}: expected NAME==VERSION, such as numpy==2.0.1")
        if match:
            found[match[1]] = match[2]
    if not found:
        raise InvalidSubmission(f"{path}: no package: expected lines NAME==VERSION")
    return found


def check_installed_versions(path: Path) -> None:
    """Raise MislabeledSubmission unless the packages of a lock file are installed in exactly these versions."""
    for name, wanted in read_lock(path).items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            installed = "none"
        if installed != wanted:
            raise MislabeledSubmission(
                f"{path}: {name}=={wanted}: installed is {installed}: check the submission in an environment that is made by "
                f"`pip install -r {path}`"
            )
