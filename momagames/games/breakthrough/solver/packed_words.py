# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Positions of MO-Breakthrough on up to 32 cells as one word, and vectors of four small whole numbers as one word.

A position: player_0's cells in the lower half, player_1's in the upper half, cell (x, y) at bit x * H + y, as in the rules.
Who moves and how many moves were made is said beside it. A position and its mirror image (left for right) have the same
future; of the two words the smaller one stands for both.

A vector: 16 bits a value, the uppermost of which stays free, so that sums of vectors are sums of words and all values are
compared at once (see `exact.lanes`). A value is in units of its objective and has BIAS added once; rewards have none.
"""

import numpy as np

from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, quiet

MOST_CELLS = 32
LANES, LANE = 4, 16
BIAS = 1 << 13
ONE, HALF, FULL = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
GUARDS = np.uint64(0x8000_8000_8000_8000)
GUARD_SHIFT = np.uint64(LANE - 1)
ZERO = np.uint64(BIAS * 0x0001_0001_0001_0001)  # the vector of zeros


@kernel
def write_position(word, ply, mover, state):
    """A word as a state record whose other entries are those of the game."""
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
    """The word of a state, or of its mirror image."""
    pieces = state["pieces"]
    word = np.uint64(pieces[0, 1]) | (np.uint64(pieces[1, 1]) << HALF)
    return min(word, mirrored(word, np.int64(state["width"]), np.int64(state["height"])))


@kernel
def mirrored(word, width, height):
    """The word with the columns in the opposite order."""
    column = (ONE << np.uint64(height)) - ONE
    both = column | (column << HALF)
    out = np.uint64(0)
    for x in range(width):
        cells = (word >> np.uint64(x * height)) & both
        out |= cells << np.uint64((width - 1 - x) * height)
    return out


@quiet
def pack_reward(reward, units):
    """A reward float32[K] as a word without BIAS; a negative value borrows from the lane above, and gives it back in sums."""
    word = np.uint64(0)
    for k in range(units.shape[0]):
        word += np.uint64(np.int64(np.rint(np.float64(reward[k]) * units[k]))) << np.uint64(LANE * k)
    return word


@quiet
def plus(u, v):
    return u + v


@quiet
def minus(u, v):
    return u - v


@quiet
def covers(u, v):
    """Whether vector u is at least v everywhere."""
    return ((u | GUARDS) - v) & GUARDS == GUARDS


@quiet
def lower(u, v):
    """The smaller value of each lane."""
    above = ((u | GUARDS) - v) & GUARDS
    lanes = above - (above >> GUARD_SHIFT)  # all bits of the lanes where u is at least v
    return (v & lanes) | (u & ~lanes & ~GUARDS)


@quiet
def insert(vector, front, count):
    """Put a vector into front[:count], which no two vectors of dominate each other; returns the new count."""
    for i in range(count):
        if covers(front[i], vector):
            return count
    kept = 0
    for i in range(count):
        if not covers(vector, front[i]):
            front[kept] = front[i]
            kept += 1
    front[kept] = vector
    return kept + 1


@kernel
def place_of(word, words):
    """Where a word stands in an ascending list that has it."""
    low, high = 0, words.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low
