"""The standard boards as instances. The package has no copy, so tests make a set of their own; see conftest.py."""

import os
import pickle

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.errors import InvalidFile, InvalidParameter, InvalidState
from momagames.games.samegame import standard_boards
from momagames.games.samegame.codec import unpack_board
from tests.games.samegame.conftest import NUM_BOARDS, write_boards

ID = "mo-samegame-v0"


def test_every_episode_starts_from_the_board(boards):
    for number in (1, 7, 20):
        env = momagames.make(ID, instance=f"standard-{number}", scoring="classic")
        for seed in (0, 5, None):
            env.reset(seed=seed)
            assert np.array_equal(unpack_board(env.unwrapped.record), boards[number - 1] + 1)
            env.step(int(np.flatnonzero(env.observe("agent_0")["action_mask"])[-1]))
        assert env.game.chance == "none"


@pytest.mark.long
def test_every_episode_of_a_batch_starts_from_the_board(boards):
    for number in (1, 7, 20):
        batch = Batch(momagames.spec(ID, instance=f"standard-{number}", scoring="classic"), 3, 1, autoreset="next_step")
        batch.reset()
        for state in batch.states:
            assert np.array_equal(unpack_board(state), boards[number - 1] + 1)


def test_positions_of_an_instance_load_and_copies_keep_its_board(boards):
    env = momagames.make(ID, instance="standard-2")
    env.reset(seed=0)
    env.step(int(np.flatnonzero(env.observe("agent_0")["action_mask"])[0]))
    position = env.get_state()
    other = momagames.make(ID, instance="standard-2")
    other.reset(options={"state": position})
    assert other.get_state() == position
    other.reset()
    assert np.array_equal(unpack_board(other.unwrapped.record), boards[1] + 1)
    assert pickle.loads(pickle.dumps(env.game)).params == env.game.params
    foreign = momagames.make(ID, instance="standard-3")
    with pytest.raises(InvalidState, match="fixed_board"):
        foreign.reset(options={"state": env.unwrapped.record})


def test_names(boards):
    assert momagames.canonical(ID, instance="standard-4").endswith(",clear_bonus=0.0,instance='standard-4')")
    assert "instance" not in momagames.canonical(ID, instance=None)
    for name, hint in (("standard-21", "did you mean 'standard-2'"), ("standart-3", "did you mean 'standard-3'"), (3, "")):
        with pytest.raises(InvalidParameter, match=f"instance={name!r}: expected None, or standard-1 to standard-20.*{hint}"):
            momagames.spec(ID, instance=name)
    with pytest.raises(InvalidParameter, match="board='9x15, 5 colors': expected 15x15, 5 colors, the size of standard-1"):
        momagames.spec(ID, instance="standard-1", board_width=9)


def test_other_files_are_rejected(boards, tmp_path, monkeypatch):
    other = boards.copy()
    other[4, 3, 3] = (other[4, 3, 3] + 1) % 5
    for name, content, message in (
        ("changed", other, "standard-5: not the board of the standard set"),
        ("short", boards[:19], "expected 20 boards of 15 rows of 15 numbers 0 to 4"),
        ("colors", boards + 1, "expected 20 boards of 15 rows of 15 numbers 0 to 4"),
    ):
        monkeypatch.setenv(standard_boards.VARIABLE, str(write_boards(tmp_path / name, content)))
        with pytest.raises(InvalidFile, match=message):
            momagames.spec(ID, instance="standard-5")
    monkeypatch.setenv(standard_boards.VARIABLE, str(tmp_path / "absent.txt"))
    with pytest.raises(InvalidFile, match="No such file"):
        momagames.spec(ID, instance="standard-5")
    monkeypatch.delenv(standard_boards.VARIABLE)
    with pytest.raises(InvalidParameter, match="no copy of the standard boards; set MOMAGAMES_SAMEGAME_BOARDS"):
        momagames.spec(ID, instance="standard-5")


@pytest.mark.skipif(
    standard_boards.VARIABLE not in os.environ, reason="needs the standard boards, which are not in the package"
)
def test_the_standard_boards():
    """The first board and numbers of tiles, from the published set."""
    boards = [standard_boards.load_board(name) for name in standard_boards.NAMES]
    assert len({board.tobytes() for board in boards}) == NUM_BOARDS
    assert all(set(np.unique(board)) == {1, 2, 3, 4, 5} for board in boards)
