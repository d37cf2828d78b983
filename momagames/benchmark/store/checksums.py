"""Checksums of stored files, in the format of the program sha256sum: `sha256sum -c SHA256SUMS` checks a folder as well."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from momagames.errors import InvalidFile
from momagames.files.reading import hash_content, is_file, read_bytes, read_text
from momagames.files.writing import write_file_atomically

CHECKSUMS = "SHA256SUMS"
MAX_BYTES = 4 << 30  # of a file of rows
LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def hash_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the checksums of those of the files that exist. Raises InvalidFile if one cannot be read."""
    return {name: hash_content(read_bytes(folder / name, MAX_BYTES)) for name in names if is_file(folder / name)}


def write_checksums(folder: Path, checksums: Mapping[str, str]) -> None:
    """Write the checksums of files of a folder, by name."""
    lines = (f"{checksums[name]}  {name}\n" for name in sorted(checksums))
    write_file_atomically(folder / CHECKSUMS, "".join(lines))


def read_checksums(folder: Path) -> dict[str, str]:
    """Return the stored checksums by the names of the files. Raises InvalidFile if they are missing or damaged."""
    path = folder / CHECKSUMS
    found = [LINE.fullmatch(line) for line in read_text(path).splitlines()]
    if not found or None in found:
        raise InvalidFile(f"{path}: expected lines of a checksum, two spaces and the name of a file")
    return {match[2]: match[1] for match in found if match}


def find_changed_files(folder: Path, names: Iterable[str] | None = None, optional: Container[str] = ()) -> list[str]:
    """Return a message for each file of a folder that is missing or differs from its checksum.

    names       files to check; None: all that have a checksum
    optional    files that may be missing
    """
    try:
        known = read_checksums(folder)
        chosen = list(known if names is None else names)
        for name in chosen:
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise InvalidFile(f"{folder / CHECKSUMS}: {name!r}: expected a file of this folder")
        actual = hash_files(folder, chosen)
    except InvalidFile as error:
        return [str(error)]
    absent = [f"{folder / name}: is missing" for name in chosen if name not in actual and name not in optional]
    return absent + [f"{folder / name}: changed since it was written" for name in actual if actual[name] != known.get(name)]
