"""Random play inside the compiled loop is what the batch does step by step, whatever the batch and the threads."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.random_rollouts import random_rollouts, random_steps
from momagames.errors import InvalidCall, InvalidParameter, InvalidState
from momagames.kernels.rng import random_words
from tests import meteors

GAMES = {
    "samegame": lambda: momagames.spec("mo-samegame-v0", board_width=5, board_height=4, num_colors=3, num_agents=2),
    "breakthrough": lambda: momagames.spec("mo-breakthrough-v0", board_width=4, board_height=5),
    "meteors": lambda: meteors.game("tiny-meteors-v0"),
}


@pytest.fixture(params=GAMES)
def game(request):
    return GAMES[request.param]()


def make_batch(game, n, seed=3):
    batch = Batch(game, n, autoreset="disabled")
    batch.seed(seed)
    batch.reset()
    return batch


def test_equals_a_loop_play_batch_api(game):
    batch = make_batch(game, 7)
    start = batch.states.copy()
    words = random_words(11, 7)
    returns, lengths = random_rollouts(game, batch.states, words)
    assert batch.states.tobytes() == start.tobytes()
    assert (words == random_words(11, 7)).all()
    expected, steps = np.zeros_like(returns), np.zeros(7, int)
    while not (batch.states["over"] != 0).all():
        running = batch.states["over"] == 0
        batch.step(batch.sample_actions(words))
        expected[running] += batch.rewards[running]
        steps[running] += 1
    assert np.array_equal(returns, expected)
    assert np.array_equal(lengths, steps)
    assert lengths.min() > 1


def test_does_not_depend_on_the_batch_or_on_threads(game):
    states = make_batch(game, 9).states
    words = random_words(5, 9)
    returns, lengths = random_rollouts(game, states, 5)
    for threads in (2, 3, 20):
        again = random_rollouts(game, states, 5, threads=threads)
        assert np.array_equal(again[0], returns)
        assert np.array_equal(again[1], lengths)
    for i in range(9):
        alone = random_rollouts(game, states[i : i + 1], words[i : i + 1])
        assert np.array_equal(alone[0][0], returns[i])
        assert alone[1][0] == lengths[i]


def test_breaks_off(game):
    states = make_batch(game, 6).states
    whole = random_rollouts(game, states, 8)[1]
    lengths = random_rollouts(game, states, 8, max_steps=3)[1]
    assert np.array_equal(lengths, np.minimum(whole, 3))


def test_a_finished_game_has_no_rewards(game):
    states = make_batch(game, 3).states
    states["over"][1] = 1
    returns, lengths = random_rollouts(game, states)
    assert lengths[1] == 0 < lengths[0]
    assert not returns[1].any()


def test_chooses_among_all_legal_actions():
    game = GAMES["breakthrough"]()
    states = np.repeat(make_batch(game, 1).states, 300)
    returns, lengths = random_rollouts(game, states, 1)
    assert len(np.unique(lengths)) > 5  # three hundred different games
    wins = (returns[:, 0, 0] > 0).mean()
    assert 0.3 < wins < 0.7


@pytest.mark.long
def test_steps_equal_steps_of_the_batch(game):
    one, other = (Batch(game, 5) for _ in range(2))
    words = [random_words(2, 5) for _ in range(2)]
    for batch in (one, other):
        batch.seed(4)
        batch.reset()
    for _ in range(40):
        one.step(one.sample_actions(words[0]))
    random_steps(other, words[1], 40)
    for name in ("states", "observations", "masks", "rewards", "terminated", "returns", "final_lengths", "finished"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert np.array_equal(*words)
    with pytest.raises(InvalidCall):
        random_steps(Batch(game, 2), random_words(0, 2), 3)


def test_invalid_arguments_are_rejected(game):
    states = make_batch(game, 2).states
    with pytest.raises(InvalidParameter, match="max_steps=0"):
        random_rollouts(game, states, max_steps=0)
    with pytest.raises(InvalidParameter, match="threads=0"):
        random_rollouts(game, states, threads=0)
    with pytest.raises(InvalidParameter, match="2 states"):
        random_rollouts(game, states, np.zeros(3, np.uint64))
    with pytest.raises(InvalidState, match="record"):
        random_rollouts(game, np.zeros(3))


def digest() -> str:
    """Of small rollouts of each game."""
    total = hashlib.sha256()
    for make in GAMES.values():
        game = make()
        for array in random_rollouts(game, make_batch(game, 3).states, 9):
            total.update(array.tobytes())
    return total.hexdigest()


def test_interpreted_equals_compiled(interpreted):
    flags = {**os.environ, "NUMBA_DISABLE_JIT": "0" if interpreted else "1"}
    code = "from tests.engine.test_random_rollouts import digest; print(digest())"
    other = subprocess.run([sys.executable, "-c", code], env=flags, capture_output=True, text=True, check=True, timeout=300)
    assert other.stdout.strip() == digest()
