"""splitmix64 against its published stream, compiled and interpreted."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import momagames
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.record import record
from momagames.kernels.rng import advance, below, draw, mix, random_words
from tests.games.samegame.naive import splitmix64
from tests.games.walk import moves, start


def outputs(word, out):
    for i in range(out.shape[0]):
        word = advance(word)
        out[i] = mix(word)


def numbers(states, n, out):
    for i in range(out.shape[0]):
        out[i] = draw(states[0], n)


def from_word(word, n, out):
    for i in range(out.shape[0]):
        word = advance(word)
        out[i] = below(word, n)


outputs, numbers, from_word = (compile_entry_point(f, f"tests.rng.{f.__name__}") for f in (outputs, numbers, from_word))

# The generator's own test vectors (seed 0 as in the reference implementation).
VECTORS = {
    0: ["e220a8397b1dcdaf", "6e789e6aa1b965f4"],
    42: ["bdd732262feb6e95", "28efe333b266f103", "47526757130f9f52"],
}


@pytest.mark.parametrize("seed", VECTORS)
def test_published_outputs(seed):
    out = np.zeros(len(VECTORS[seed]), np.uint64)
    outputs(np.uint64(seed), out)
    assert [f"{word:016x}" for word in out.tolist()] == VECTORS[seed]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**63, 2**64 - 1])
def test_outputs_of_plain_python(seed):
    out = np.zeros(200, np.uint64)
    outputs(np.uint64(seed), out)
    word, expected = seed, []
    for _ in out:
        word, value = splitmix64(word)
        expected.append(value)
    assert out.tolist() == expected


@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1, 2**64 + 42])
def test_stream(seed):
    out = np.zeros(20, np.uint64)
    outputs(np.uint64(seed % 2**64), out)
    assert np.array_equal(random_words(seed, 20), out)


def test_numbers_below():
    states = np.zeros(1, record(1))
    states["rng"] = 42
    out, again = np.zeros(20, np.int64), np.zeros(20, np.int64)
    numbers(states, 5, out)
    from_word(np.uint64(42), 5, again)
    assert out.tolist() == [3, 0, 1, 1, 0, 4, 1, 4, 1, 3, 1, 2, 2, 2, 3, 1, 0, 2, 0, 3]
    assert again.tolist() == out.tolist()
    assert int(states["rng"][0]) == (42 + 20 * 0x9E3779B97F4A7C15) % 2**64


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 2**31 - 1])
def test_numbers_stay_below(n):
    out = np.zeros(500, np.int64)
    from_word(np.uint64(7), n, out)
    assert out.min() >= 0
    assert out.max() < n
    assert n == 1 or len(set(out.tolist())) > 1


def games():
    """A digest of some whole games: every state, mask, observation and reward."""
    digest = hashlib.sha256()
    for id in ("mo-samegame-v0", "mo-breakthrough-v0"):
        for width, height in ((5, 6), (9, 8)):
            play = start(id, 11, board_width=width, board_height=height)
            for _ in moves(play, 3):
                for array in (play.states, play.masks, play.observations, play.reward):
                    digest.update(array.tobytes())
    return digest.hexdigest()


@pytest.mark.long
def test_the_same_games_compiled_and_interpreted(interpreted):
    """The other mode runs in another process."""
    code = "from tests.kernels.test_rng import games; print(games())"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0" if interpreted else "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert other.returncode == 0, other.stderr
    assert other.stdout.strip() == games()
    assert momagames.__file__
