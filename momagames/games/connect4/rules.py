# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Connect4: the rules as compiled kernels. Section numbers are those of SPEC.md.

The tokens of a side are a word of bits for each column: bit y is row y, row 0 on top. Three empty columns on either side of the
board make every line of four a pattern of seven columns.
"""

import numpy as np

from momagames.kernels.grid import bit_count, unpack_bits_short
from momagames.kernels.jit import kernel, unpack_bits64
from momagames.kernels.record import record
from momagames.kernels.reward import credit

MIN_SIDE, MAX_SIDE = 4, 20
EDGE = 3  # empty columns on either side
WIN, SPEED, COLUMNS = 0, 1, 2  # the objective of column x is COLUMNS + x

state_dtype = record(
    2,
    tokens=("u4", (2, MAX_SIDE + 2 * EDGE)),
    width=("i4",),
    height=("i4",),
    column=("i1", (COLUMNS + MAX_SIDE,)),  # indices of win, speed and the columns in the reward vector; -1: not selected
)

PARAMETERS = ("width", "height", "column")


@kernel
def generate(state):
    """§2.1 Empty the board."""
    state["tokens"][:] = 0


@kernel
def column_bits(state, side, x):
    """Return the tokens of a side in column x."""
    return np.int64(state["tokens"][side, EDGE + x])


@kernel
def empty_bits(state, x):
    """Return the empty cells of column x: the lowest n bits, for n of them."""
    return ((1 << np.int64(state["height"])) - 1) ^ (column_bits(state, 0, x) | column_bits(state, 1, x))


@kernel
def count_bits(bits):
    return bit_count(np.uint64(bits))


@kernel
def legal(state, agent, mask):
    """§3 Write the columns whose top cell is empty, for the agent to move."""
    may_act = agent == state["to_move"] and not state["over"]
    for x in range(np.int64(state["width"])):
        mask[x] = may_act and empty_bits(state, x) != 0


@kernel
def makes_four(state, side, x, bit):
    """§4.3 Return whether a token of `side` on the cell `bit` of column x is, or would be, in a line of four."""
    tokens = state["tokens"]
    row = falling = rising = 0  # seven cells each, that of the token in the middle
    for k in range(2 * EDGE + 1):
        bits = np.int64(tokens[side, x + k]) << EDGE
        row |= np.int64(bits & (bit << EDGE) != 0) << k
        falling |= np.int64(bits & (bit << k) != 0) << k
        rising |= np.int64(bits & (bit << (2 * EDGE - k)) != 0) << k
    middle = 1 << EDGE
    lines = row | middle | ((falling | middle) << 8) | ((rising | middle) << 16) | ((column_bits(state, side, x) | bit) << 24)
    pairs = lines & (lines >> 1)
    return pairs & (pairs >> 2) != 0


@kernel
def place_token(state, side, x):
    """§4.1, §4.2 Place a token in a column that is not full; return whether the game is won, and whether it is over (§6.1)."""
    bit = (empty_bits(state, x) + 1) >> 1
    state["tokens"][side, EDGE + x] |= np.uint32(bit)
    state["ply"] += 1
    won = makes_four(state, side, x, bit)
    return won, won or state["ply"] == np.int64(state["width"]) * np.int64(state["height"])


@kernel
def step(state, actions, reward):
    """§4 Make one move. The caller has checked legality."""
    mover = np.int64(state["to_move"])
    won, over = place_token(state, mover, np.int64(actions[0, 0]))
    state["over"] = over
    reward[:] = 0
    if over:
        write_rewards(state, mover, won, reward)
    state["to_move"] = 1 - mover


@kernel
def measure_speed(state):
    """§5.2 Return the share of the cells that are empty."""
    return 1.0 - np.int64(state["ply"]) / (np.int64(state["width"]) * np.int64(state["height"]))


@kernel
def compare_column(state, side, x):
    """§5.3 Return 1 if `side` has more tokens in column x than the other, -1 if it has fewer, 0 for equally many."""
    lead = count_bits(column_bits(state, side, x)) - count_bits(column_bits(state, 1 - side, x))
    return np.int64(lead > 0) - np.int64(lead < 0)


@kernel
def write_rewards(state, mover, won, reward):
    """§5 Write the rewards of the last move."""
    if won:
        credit_both(state, reward, mover, WIN, 1.0)
        credit_both(state, reward, mover, SPEED, measure_speed(state))
    for x in range(np.int64(state["width"])):
        credit_both(state, reward, mover, COLUMNS + x, compare_column(state, mover, x))


@kernel
def credit_both(state, reward, agent, objective, amount):
    """Credit an amount to an agent, and the negative of it to the other one."""
    credit(state, reward, agent, objective, amount)
    credit(state, reward, 1 - agent, objective, 0.0 - amount)


@kernel
def observe(state, agent, out):
    """§7 Write the agent's own tokens, column by column, then the opponent's."""
    width, height = np.int64(state["width"]), np.int64(state["height"])
    word, filled, at = np.uint64(0), 0, 0
    for plane in range(2):
        for x in range(width):
            bits = np.uint64(column_bits(state, agent ^ plane, x))
            word |= bits << np.uint64(filled)
            filled += height
            if filled >= 64:
                unpack_bits64(word, out, at)
                at += 64
                filled -= 64
                word = bits >> np.uint64(height - filled)
    unpack_bits_short(word, out, at, filled)


@kernel
def write_state_key(state, words):
    """Write a key that is equal for positions with the same future: a word for each column. The number of tokens tells who
    moves.
    """
    for x in range(np.int64(state["width"])):
        words[x] = np.uint64(column_bits(state, 0, x)) | np.uint64(column_bits(state, 1, x)) << np.uint64(32)
