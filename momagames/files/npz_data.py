"""NumPy archives (.npz), read without pickle and within limits; a header in JSON is stored as bytes beside the arrays."""

from __future__ import annotations

import io
import json
import math
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from momagames.errors import InvalidFile
from momagames.files.json_data import parse_json
from momagames.files.reading import check_file
from momagames.files.writing import atomic_path

MAX_BYTES = 1 << 30  # of the arrays of a file that is smaller
MAX_ARRAYS = 100_000
CHUNK = 1 << 20
DAMAGED = (  # what zipfile and the parser of headers raise for damaged files
    ValueError, LookupError, TypeError, EOFError, RuntimeError, SyntaxError, MemoryError, zipfile.BadZipFile, zlib.error,
    tokenize.TokenError,
)  # fmt: skip
Arrays = dict[str, NDArray[Any]]


def write_npz(
    path: Path, schema: int, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], compressed: bool = False
) -> None:
    """Write a file atomically; create its directory if it does not exist. Raises InvalidFile if that fails."""
    write = np.savez_compressed if compressed else np.savez
    header = np.frombuffer(json.dumps({"schema": schema, **head}).encode(), np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            write(file, head=header, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}") from None


def read_npz(path: Path, schema: int, description: str) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file. Raises InvalidFile.

    description    of a valid file, such as "training checkpoint"; used in error messages
    """
    arrays = read_arrays(path, f"{path}: not a {description}")
    if "head" not in arrays:
        raise InvalidFile(f"{path}: not a {description}: 'head' is missing")
    head = parse_json(arrays.pop("head").tobytes(), f"{path}: not a {description}: head")
    if not isinstance(head, dict) or head.get("schema") != schema:
        given = head.get("schema") if isinstance(head, dict) else None
        raise InvalidFile(f"{path}: not a {description} that this version can read: schema {given!r}: expected {schema}")
    return head, arrays


def read_arrays(source: Path | bytes, place: str) -> Arrays:
    """Return the arrays of a file or of its bytes. Raises InvalidFile; `place` names the file.

    No more memory is taken than the file holds bytes, whatever headers say; compressed arrays may come to 1 GiB.
    """
    if isinstance(source, Path):
        check_file(source)
    try:
        length = len(source) if isinstance(source, bytes) else source.stat().st_size
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            members = archive.infolist()
            size, limit = sum(member.file_size for member in members), max(length, MAX_BYTES)
            if len(members) > MAX_ARRAYS or size > limit:
                raise ValueError(f"{len(members):,} arrays of {size:,} bytes: expected at most {MAX_ARRAYS:,} of {limit:,}")
            return {member.filename.removesuffix(".npy"): _read_array(archive, member) for member in members}
    except OSError as error:
        raise InvalidFile(f"{place}: {error.strerror or error}") from None
    except DAMAGED as error:
        raise InvalidFile(f"{place}: {' '.join(str(error).split()) or type(error).__name__}") from None


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(npy.read_magic(file))
        if not read_header:
            raise ValueError(f"{member.filename}: in a format that is not read")
        shape, is_fortran, dtype = read_header(file)
        left = member.file_size - file.tell()
        if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != left:
            raise ValueError(f"{member.filename}: {left:,} bytes are no array of {dtype} {shape}")
        content = np.empty(left, np.uint8)
        for start in range(0, left, CHUNK):
            part = file.read(min(CHUNK, left - start))
            content[start : start + len(part)] = np.frombuffer(part, np.uint8)
        file.read(1)  # checks the checksum
    if not left:
        return np.empty(shape, dtype)
    return content.view(dtype).reshape(shape, order="F" if is_fortran else "C")
