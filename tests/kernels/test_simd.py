"""The tools that read and write 16 or 64 bytes at a time, against plain NumPy; and scratch arrays."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momagames.kernels.grid import bit_count, remainder, unpack_bits_short
from momagames.kernels.jit import (
    INTERPRETED,
    compile_entry_point,
    copy_padded16,
    equal_mask64,
    local_array,
    unpack_bit_triples64,
    unpack_bits64,
    value_mask64,
    view_as,
)

WORDS = st.integers(0, 2**64 - 1)
BYTES = st.binary(min_size=160, max_size=160)
DECIMALS = st.integers(0, 96)


def spread(word, out, at):
    unpack_bits64(word, out, at)


def triples(a, b, c, out, at):
    unpack_bit_triples64(a, b, c, out, at)


def few(word, out, at, count):
    unpack_bits_short(word, out, at, count)


def equal(cells, at, flip, to):
    return equal_mask64(cells, at, flip, to)


def value(cells, at, part, wanted):
    return value_mask64(cells, at, part, wanted)


def copy(cells, at, count, rest, out, to):
    copy_padded16(cells, at, count, rest, out, to)


def reversed_by_scratch(numbers):
    """Through two arrays of scratch that live at the same time."""
    here, there = local_array(16), local_array(16)
    for i in range(16):
        here[i] = numbers[i]
    for i in range(16):
        there[15 - i] = here[i]
    for i in range(16):
        numbers[i] = there[i] - here[i]


def add_as_words(numbers, out):
    words = view_as(numbers, np.uint64)
    for i in range(words.shape[0]):
        out[i] += words[i]


def rest(a, b):
    return remainder(a, b)


def count(word):
    return bit_count(word)


PLAIN = {function.__name__: function for function in (spread, triples, equal, value, copy)}
spread, triples, few, equal, value, copy, reversed_by_scratch, add_as_words, rest, count = (
    compile_entry_point(f, f"tests.bytes.{f.__name__}")
    for f in (spread, triples, few, equal, value, copy, reversed_by_scratch, add_as_words, rest, count)
)


def bits(word):
    return [(word >> i) & 1 for i in range(64)]


@given(WORDS, st.integers(0, 40), st.sampled_from(["u1", "i1"]))
def test_spread_bits(word, at, kind):
    out = np.full(64 + 48, 9, kind)
    spread(np.uint64(word), out, at)
    assert out.tolist() == [9] * at + bits(word) + [9] * (48 - at)


@given(WORDS, WORDS, WORDS, st.integers(0, 40))
def test_spread_triples(a, b, c, at):
    out = np.full(192 + 48, 9, np.int8)
    triples(np.uint64(a), np.uint64(b), np.uint64(c), out, at)
    mixed = [bit for three in zip(bits(a), bits(b), bits(c), strict=True) for bit in three]
    assert out.tolist() == [9] * at + mixed + [9] * (48 - at)


@given(WORDS, st.integers(0, 40), st.integers(1, 64))
def test_spread_few(word, at, count):
    out = np.full(64 + 48, 9, np.uint8)
    few(np.uint64(word), out, at, count)
    assert out.tolist() == [9] * at + bits(word)[:count] + [9] * (112 - at - count)


@given(BYTES, DECIMALS, DECIMALS, st.integers(0, 255))
def test_find_equal(data, at, to, flip):
    cells = np.frombuffer(data, np.uint8).copy() & 3
    found = bits(int(equal(cells, at, np.uint8(flip & 3), to)))
    assert found == [int((cells[at + i] ^ (flip & 3)) == cells[to + i]) for i in range(64)]


@given(BYTES, DECIMALS, st.integers(0, 255), st.integers(0, 255))
def test_find_value(data, at, part, wanted):
    cells = np.frombuffer(data, np.uint8).copy() & 7
    found = bits(int(value(cells, at, np.uint8(part), np.uint8(wanted & 7))))
    assert found == [int(cells[at + i] & part == wanted & 7) for i in range(64)]


@given(BYTES, DECIMALS, st.integers(0, 16), st.integers(0, 255), st.integers(0, 48))
def test_copy_few(data, at, count, rest, to):
    cells, out = np.frombuffer(data, np.uint8).copy(), np.full(64, 9, np.uint8)
    copy(cells, at, count, np.uint8(rest), out, to)
    assert out.tolist() == [9] * to + [*data[at : at + count]] + [rest] * (16 - count) + [9] * (48 - to)


@pytest.mark.parametrize(
    ("name", "make_arguments", "last"),  # last: the last place at which the vector is inside
    [
        ("spread", lambda at: (np.uint64(5), np.zeros(100, np.uint8), at), 36),
        ("triples", lambda at: (*np.arange(3, dtype=np.uint64), np.zeros(200, np.int8), at), 8),
        ("equal", lambda at: (np.zeros(100, np.uint8), at, np.uint8(0), 0), 36),
        ("equal", lambda at: (np.zeros(100, np.uint8), 0, np.uint8(0), at), 36),
        ("value", lambda at: (np.zeros(100, np.uint8), at, np.uint8(1), np.uint8(1)), 36),
        ("copy", lambda at: (np.zeros(100, np.uint8), at, 5, np.uint8(0), np.zeros(16, np.uint8), 0), 95),
        ("copy", lambda at: (np.zeros(100, np.uint8), 0, 5, np.uint8(0), np.zeros(40, np.uint8), at), 24),
    ],
)
def test_a_vector_out_of_bounds_is_an_error(name, make_arguments, last):
    """Without the compiler, and with bounds checks; even if it is a single byte."""
    function = PLAIN[name] if INTERPRETED else numba.njit(error_model="numpy", boundscheck=True)(PLAIN[name])
    for at in (0, last):
        function(*make_arguments(at))
    for at in (-1, last + 1, last + 1000):
        with pytest.raises(IndexError, match="out of bounds"):
            function(*make_arguments(at))


def test_local_array():
    numbers = np.arange(16) ** 2
    reversed_by_scratch(numbers)
    assert numbers.tolist() == [(15 - i) ** 2 - i**2 for i in range(16)]


@given(st.binary(max_size=40))
def test_view_as(data):
    numbers, out = np.frombuffer(data, np.uint8).copy(), np.arange(5, dtype=np.uint64)
    add_as_words(numbers, out)
    words = np.frombuffer(data[: len(data) // 8 * 8], np.uint64)
    assert out.tolist() == [(i + int(words[i]) if i < len(words) else i) % 2**64 for i in range(5)]


@pytest.mark.parametrize(("a", "b"), [(0, 1), (17, 5), (2**32 - 1, 2**32 - 1), (2**32 - 1, 7)])
def test_remainder(a, b):
    assert rest(a, b) == a % b


@given(WORDS)
def test_bit_count(word):
    assert count(np.uint64(word)) == word.bit_count()
