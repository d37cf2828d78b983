"""The 20 standard boards of the SameGame literature, 15x15 with five colors, from a file of the user (SPEC §2.3).

The package has no copy: no public copy that we found has a license that allows to redistribute it. It has digests, so that any
copy of the boards is recognized, and none other is accepted.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile, InvalidParameter, invalid_value, nearest
from momagames.files.reading import check_files, read_text

VARIABLE = "MOMAGAMES_SAMEGAME_BOARDS"
SIDE, COLORS = 15, 5
MAX_BYTES = 1 << 20
DIGESTS = (
    "421e4f139810605f",
    "c7cdcfc5c478f363",
    "955debfab03ae416",
    "606ad31159fd4a64",
    "604987bb46ec0e88",
    "55ddc6a10a14bd26",
    "45dd9494f55ffd5e",
    "dac84dfa13b5d562",
    "01fa9ba4a1c95ee5",
    "7a0a7bd88d9f5a66",
    "31b3e13d6489bf49",
    "1c7f01720eeb7ec7",
    "54b846834529f988",
    "27d62efb4aa7c4df",
    "98cfa3dfde5551ce",
    "dd96da88d737f13e",
    "b7bc81b8b74e177e",
    "82b3bfcb04970aef",
    "188e3bede3f30dbc",
    "c15c01dbc54e99f5",
)
NAMES = tuple(f"standard-{number}" for number in range(1, len(DIGESTS) + 1))
ACCEPTS = "None, or standard-1 to standard-20"


def normalize_instance(name: Any) -> str:
    """Return the name of a standard board. Raises InvalidParameter with the nearest name."""
    if not isinstance(name, str) or name not in NAMES:
        raise InvalidParameter(invalid_value("instance", name, ACCEPTS, nearest(name, NAMES)))
    return name


def load_board(name: str) -> NDArray[np.int64]:
    """Return a standard board, int64[15, 15] with colors 1 to 5, row 0 on top.

    Raises   InvalidParameter without a file of the boards; InvalidFile if the file does not hold them
    """
    place = os.environ.get(VARIABLE)
    if not place:
        raise InvalidParameter(
            f"instance={name!r}: the package has no copy of the standard boards; set {VARIABLE} to a text file with the 20 "
            "boards one after the other, 15 rows of 15 numbers 0 to 4 each (SPEC.md of MO-SameGame, section 2.3)"
        )
    with check_files(None):  # the user names it, and not the file that names the board
        return read_boards(place)[NAMES.index(name)]


def read_boards(place: str) -> list[NDArray[np.int64]]:
    """Return the 20 boards of a file: 15 rows of 15 numbers 0 to 4 each, separated by spaces or lines. Raises InvalidFile."""
    words = read_text(place, MAX_BYTES).split()
    if len(words) != len(DIGESTS) * SIDE**2 or not set(words) <= set("01234"):
        raise InvalidFile(f"{place}: expected {len(DIGESTS)} boards of {SIDE} rows of {SIDE} numbers 0 to {COLORS - 1}")
    boards = list(np.array(words, np.int64).reshape(-1, SIDE, SIDE) + 1)
    for name, board, digest in zip(NAMES, boards, DIGESTS, strict=True):
        if hash_board(board) != digest:
            raise InvalidFile(f"{place}: {name}: not the board of the standard set: invalid sha256, expected {digest}...")
    return boards


def hash_board(board: NDArray[np.int64]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a board: its rows of digits 1 to 5, joined by line feeds."""
    rows = ["".join(map(str, row)) for row in board.tolist()]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
