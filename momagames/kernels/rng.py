# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Random numbers: splitmix64, one word per state.

The word is part of the state record. A copied state therefore has the same random future, and a game does not depend on
batch size, threads or the order of environments. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014.
"""

import os

import numpy as np
from numpy.typing import NDArray

from momagames.kernels.jit import kernel, wrapping_kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX1 = np.uint64(0xBF58476D1CE4E5B9)
MIX2 = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31, S32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@wrapping_kernel
def advance(word):
    """Return the next state of the generator: uint64 -> uint64."""
    return word + GOLDEN


@wrapping_kernel
def mix(word):
    """Return the output for a generator state: uint64 -> uint64."""
    z = (word ^ (word >> S30)) * MIX1
    z = (z ^ (z >> S27)) * MIX2
    return z ^ (z >> S31)


def random_words(seed: int, count: int) -> NDArray[np.uint64]:
    """Return the first `count` outputs of the generator that starts at `seed`, uint64[count]: seeds of other generators."""
    words = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN + np.uint64(seed % 2**64)
    return np.asarray(getattr(mix, "py_func", mix)(words))


def draw_uniforms(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the next state of each generator, and `uniform` of it: uint64[n] and float64[n]."""
    words = words + GOLDEN
    return words, np.asarray((getattr(mix, "py_func", mix)(words) >> S11) * 2.0**-53)


def draw_words(count: int) -> NDArray[np.uint64]:
    """Return generator words from the operating system, uint64[count], for what is not seeded."""
    return np.frombuffer(os.urandom(8 * count), np.uint64).copy()


@kernel
def below(word, n):
    """Return an integer in 0..n-1 from a generator state, n < 2^31 (bias below n / 2^32)."""
    return np.int64(((mix(word) >> S32) * np.uint64(n)) >> S32)


@kernel
def uniform(word):
    """Return a uniform number in [0, 1) from a generator state."""
    return np.float64(mix(word) >> S11) * 2.0**-53


@kernel
def update_best(value, best, ties, word):
    """Update a random choice among the highest values with one more candidate.

    Returns whether the candidate is the choice so far, the highest value, the number of ties, and the generator word. Start
    with `best` = -inf and `ties` = 0.
    """
    if value > best:
        best, ties = value, 0
    is_best = False
    if value == best:
        ties += 1
        word = advance(word)
        is_best = below(word, ties) == 0
    return is_best, best, ties, word


@kernel
def draw(state, n):
    """Draw an integer in 0..n-1 from the random state of a game and advance it."""
    state["rng"] = advance(state["rng"])
    return below(state["rng"], n)
