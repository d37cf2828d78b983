"""Copies of states keep their random states until they are reseeded."""

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.clone import copy_state, reseed, select_states
from momagames.engine.random_rollouts import random_rollouts
from momagames.errors import InvalidParameter
from momagames.kernels.rng import random_words
from tests import meteors

GAME = meteors.game("tiny-meteors-v0")  # chance during play


@pytest.fixture
def states():
    batch = Batch(GAME, 4)
    batch.seed(6)
    batch.reset()
    return batch.states


def test_copies_have_the_same_random_future(states):
    many = copy_state(states[2], 5)
    assert [row.tobytes() for row in many] == [states[2].tobytes()] * 5
    many["ply"] = 9
    assert states["ply"][2] == 0  # the original is not touched
    returns, _ = random_rollouts(GAME, copy_state(states[2], 5), np.full(5, 7, np.uint64))
    assert (returns == returns[0]).all()


def test_reseeded_copies_have_futures_of_their_own(states):
    many = copy_state(states[2], 50, seed=3)
    assert len(np.unique(many["rng"])) == 50
    returns, _ = random_rollouts(GAME, many, np.full(50, 7, np.uint64))  # equal choices, other meteors
    assert len(np.unique(returns, axis=0)) > 3
    again = copy_state(states[2], 50, seed=3)
    assert again.tobytes() == many.tobytes()
    many["rng"] = states["rng"][2]
    assert many.tobytes() == copy_state(states[2], 50).tobytes()  # nothing but the word had changed


def test_one_state_as_a_batch_of_one(states):
    assert copy_state(states[2:3], 3).tobytes() == copy_state(states[2], 3).tobytes()


@pytest.mark.parametrize("chosen", [[3, 1, 1], np.array([False, True, True, False]), slice(1, 3), 2])
def test_rows_are_copies(states, chosen):
    picked = select_states(states, chosen)
    assert picked.tobytes() == states[chosen].tobytes()
    assert not np.shares_memory(picked, states)
    assert picked.ndim == 1


def test_reseed_in_place(states):
    before = states.copy()
    reseed(states, 12)
    assert (states["rng"] == random_words(12, 4)).all()
    states["rng"] = before["rng"]
    assert states.tobytes() == before.tobytes()


def test_stream_is_splitmix64():
    """The first outputs for seed 1234567, as published with other implementations of the generator."""
    assert random_words(1234567, 3).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_a_copy_plays_on_like_the_original():
    env = momagames.make("mo-samegame-v0", board_width=5, board_height=4, num_colors=3)
    env.reset(seed=1)
    batch = Batch(env.game, 3, autoreset="same_step")
    batch.load(copy_state(env.record, 3))
    words = np.full(3, 5, np.uint64)
    for _ in range(30):  # beyond the end: the next boards are equal too
        batch.step(batch.sample_actions(words))
    assert len({row.tobytes() for row in batch.states}) == 1


def test_zero_copies_are_rejected(states):
    with pytest.raises(InvalidParameter, match="count=0"):
        copy_state(states[0], 0)
