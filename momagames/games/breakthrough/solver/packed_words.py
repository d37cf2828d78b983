# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Positions of MO-Breakthrough on up to 32 cells, and vectors of up to four small whole numbers, packed into one word.

A position has player_0's cells in the lower half and player_1's in the upper half, cell (x, y) at bit x * H + y, as in the
rules. The agent to move and the number of moves are stored separately. A position and its mirror image (left and right
swapped) have the same front; the smaller of the two words represents both.

A vector has 16 bits per value. The uppermost bit stays free, so a sum of vectors is a sum of words and one operation compares
all values (see `exact.packed_vectors`). A value is in units of its objective, plus BIAS; rewards have no BIAS.
"""

import numpy as np

from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, wrapping_kernel

MAX_CELLS = 32
NUM_LANES, LANE_BITS = 4, 16
BIAS = 1 << 13
ONE, HALF, FULL = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
GUARDS = np.uint64(0x8000_8000_8000_8000)
GUARD_SHIFT = np.uint64(LANE_BITS - 1)
ZERO = np.uint64(BIAS * 0x0001_0001_0001_0001)  # zero vector


@kernel
def write_position(word, ply, mover, state):
    """Write a word to a state record of the game; other fields keep their values."""
    pieces = state["pieces"]
    pieces[0, 1] = word & LOW
    pieces[1, 1] = word >> HALF
    state["count"][0] = bit_count(word & LOW)
    state["count"][1] = bit_count(word >> HALF)
    state["ply"] = ply
    state["to_move"] = mover
    state["over"] = 0


@kernel
def read_position(state):
    """Return the smaller word of a state and its mirror image."""
    pieces = state["pieces"]
    word = np.uint64(pieces[0, 1]) | (np.uint64(pieces[1, 1]) << HALF)
    return min(word, mirror(word, np.int64(state["width"]), np.int64(state["height"])))


@kernel
def mirror(word, width, height):
    """Return the word of the mirror image."""
    column = (ONE << np.uint64(height)) - ONE
    columns = column | (column << HALF)
    out = np.uint64(0)
    for x in range(width):
        cells = (word >> np.uint64(x * height)) & columns
        out |= cells << np.uint64((width - 1 - x) * height)
    return out


@wrapping_kernel
def pack_reward(reward, units):
    """Pack a reward float32[K] into a word without BIAS. A negative value borrows from the lane above; a sum reverts that."""
    word = np.uint64(0)
    for k in range(units.shape[0]):
        word += np.uint64(np.int64(np.rint(np.float64(reward[k]) * units[k]))) << np.uint64(LANE_BITS * k)
    return word


@wrapping_kernel
def add(u, v):
    return u + v


@wrapping_kernel
def subtract(u, v):
    return u - v


@wrapping_kernel
def weakly_dominates(u, v):
    """Return whether vector u weakly dominates v."""
    return ((u | GUARDS) - v) & GUARDS == GUARDS


@wrapping_kernel
def elementwise_min(u, v):
    """Return the smaller value of each lane."""
    dominating = ((u | GUARDS) - v) & GUARDS
    lane_mask = dominating - (dominating >> GUARD_SHIFT)  # all bits of the lanes where u is at least v
    return (v & lane_mask) | (u & ~lane_mask & ~GUARDS)


def make_insertion(precedes):
    """Return the kernel that inserts a value into a list of values of which none precedes another; it returns the new count.

    precedes    kernel (a, b) -> whether a stands for b as well, which is then left out
    """

    @kernel
    def insert(value, chosen, count):
        for i in range(count):
            if precedes(chosen[i], value):
                return count
        size = 0
        for i in range(count):
            if not precedes(value, chosen[i]):
                chosen[size] = chosen[i]
                size += 1
        chosen[size] = value
        return size + 1

    return insert


insert_nondominated = make_insertion(weakly_dominates)


@kernel
def find_word(word, words):
    """Return the index of a word in an ascending list that contains it."""
    low, high = 0, words.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low
