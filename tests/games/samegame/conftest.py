"""Boards in the place of the standard ones, which are not in the package (SPEC §2.3)."""

import numpy as np
import pytest

from momagames.games.samegame import standard_boards

NUM_BOARDS = 20


def write_boards(path, boards):
    path.write_text("\n\n".join("\n".join(" ".join(map(str, row)) for row in board) for board in boards.tolist()))
    return path


@pytest.fixture
def boards(tmp_path, monkeypatch):
    """Random boards in the place of the standard ones, uint8[20, 15, 15] with numbers 0 to 4."""
    made = np.random.default_rng(0).integers(0, 5, (NUM_BOARDS, 15, 15))
    monkeypatch.setenv(standard_boards.VARIABLE, str(write_boards(tmp_path / "boards.txt", made)))
    monkeypatch.setattr(standard_boards, "DIGESTS", tuple(standard_boards.hash_board(board + 1) for board in made))
    return made
