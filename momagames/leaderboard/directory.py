"""The files of a submission: plain files in one directory, within limits, each with its checksum."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from momagames.benchmark.store.checksums import CHECKSUMS, find_changed_files, hash_files, read_checksums, write_checksums
from momagames.errors import InvalidFile, first_of
from momagames.files.reading import is_directory
from momagames.leaderboard.errors import InvalidSubmission, OversizedSubmission, TruncatedSubmission, UnsafeSubmission

METADATA, README = "submission.yaml", "README.md"
MAX_FILES = 200
MAX_FILE_BYTES, MAX_BYTES = 64 << 20, 256 << 20  # of one file, and of all
MAX_DEPTH = 5  # of directories
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")  # of each part of a path


def check_file_name(name: str, place: str) -> str:
    """Return a relative path of plain names, or raise UnsafeSubmission; `place` names where it was given."""
    parts = PurePosixPath(name).parts
    if not parts or "/".join(parts) != name or not all(FILE_NAME.fullmatch(part) for part in parts):
        raise UnsafeSubmission(
            f"{place}: invalid file {name!r}: expected a path within the submission, of letters, digits and ._-"
        )
    return name


def check_size(path: Path, max_bytes: int) -> None:
    """Raise OversizedSubmission if a file is larger than `max_bytes`."""
    if (size := path.stat().st_size) > max_bytes:
        raise OversizedSubmission(f"{path}: {size:,} bytes: expected at most {max_bytes:,}")


def list_files(folder: Path) -> tuple[str, ...]:
    """Return the paths of all files of a submission, relative to its directory and sorted.

    Raises     InvalidSubmission without a metadata file; UnsafeSubmission for links and anything else that is no plain file;
               OversizedSubmission
    """
    if not is_directory(folder):
        raise InvalidSubmission(f"{folder}: expected the directory of a submission")
    if folder.is_symlink():
        raise UnsafeSubmission(f"{folder}: a link: expected a directory")
    if not FILE_NAME.fullmatch(name := folder.resolve().name):
        raise UnsafeSubmission(f"{folder}: invalid name {name!r}: expected letters, digits and ._-")
    found, size = [], 0
    for entry in _walk(folder, 0):
        name = Path(entry.path).relative_to(folder).as_posix()
        check_file_name(name, str(folder))
        check_size(Path(entry.path), MAX_FILE_BYTES)
        size += entry.stat().st_size
        if size > MAX_BYTES:
            raise OversizedSubmission(f"{folder}: more than {MAX_BYTES:,} bytes, the limit of all files together")
        found.append(name)
        if len(found) > MAX_FILES:
            raise OversizedSubmission(f"{folder}: more than {MAX_FILES} files")
    if METADATA not in found:
        raise InvalidSubmission(f"{folder}: not a submission: {METADATA} is missing")
    return tuple(sorted(found))


def _walk(folder: Path, depth: int) -> Iterator[os.DirEntry[str]]:
    if depth > MAX_DEPTH:
        raise OversizedSubmission(f"{folder}: nested too deeply: expected at most {MAX_DEPTH} directories within each other")
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise UnsafeSubmission(f"{entry.path}: a link: expected plain files")
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), depth + 1)
            elif entry.is_file(follow_symlinks=False):
                yield entry
            else:
                raise UnsafeSubmission(f"{entry.path}: neither a file nor a directory")


def verify_checksums(folder: Path) -> dict[str, str]:
    """Return the checksums of all files of a submission, by path, after a check of the files.

    Raises     errors of `list_files`; TruncatedSubmission if a file is missing, has no checksum or differs from it
    """
    files = list_files(folder)
    try:
        known = read_checksums(folder)
    except InvalidFile as error:
        raise TruncatedSubmission(f"{error}; `momagames leaderboard seal {folder}` writes the checksums") from None
    for name in known:
        check_file_name(name, str(folder / CHECKSUMS))
    problems = find_changed_files(folder)
    problems += [f"{folder / name}: is not in {CHECKSUMS}" for name in files if name not in known and name != CHECKSUMS]
    if problems:
        raise TruncatedSubmission(first_of(problems))
    return known


def seal_submission(folder: str | Path) -> None:
    """Write the checksums of all files of a submission. Raises errors of `list_files`."""
    place = Path(folder)
    write_checksums(place, hash_files(place, [name for name in list_files(place) if name != CHECKSUMS]))
