"""MO-Breakthrough: the rules as compiled kernels. Section numbers are those of SPEC.md.

A side is a set of cells, one bit a cell, cell (x, y) at bit x * H + y: 64 bits a word, one word up to 8x8, seven at
20x20, and an empty word before and after. One step forward is then a shift by 1, a step sideways a shift by H, and the
bit of a cell times three is the number of its first action. No piece ever stands on its goal row while the game lasts,
so that a step forward never runs into the next column.
"""

import numpy as np

from momagames.kernels.grid import remainder
from momagames.kernels.jit import kernel
from momagames.kernels.record import record

MAX_SIDE = 20
WORDS = -(-MAX_SIDE * MAX_SIDE // 64)
WIN, SPEED, CAPTURES, LOSSES = 0, 1, 2, 3
ONE, TWO, THREE, LAST_BIT = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(63)
EMPTY, FULL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)

state_dtype = record(
    2,
    pieces=("u8", (2, WORDS + 2)),
    width=("i4",),
    height=("i4",),
    count=("i4", (2,)),
    column=("i4", (4,)),  # where the reward vector has win, speed, captures, losses; -1: not asked for
    canonical=("u1",),
)


@kernel
def words_of(state):
    """Words that hold cells."""
    return (np.int64(state["width"]) * np.int64(state["height"]) + 63) >> 6


@kernel
def put(pieces, side, cell):
    pieces[side, 1 + (cell >> 6)] |= ONE << np.uint64(cell & 63)


@kernel
def take(pieces, side, cell):
    pieces[side, 1 + (cell >> 6)] &= ~(ONE << np.uint64(cell & 63))


@kernel
def holds(pieces, side, cell):
    return (pieces[side, 1 + (cell >> 6)] >> np.uint64(cell & 63)) & ONE != EMPTY


@kernel
def deal(state):
    """§2 Two full rows each."""
    pieces = state["pieces"]
    height = np.int64(state["height"])
    pieces[:] = EMPTY
    for x in range(np.int64(state["width"])):
        for y in range(2):
            put(pieces, 0, x * height + y)
            put(pieces, 1, x * height + height - 1 - y)
    state["count"][:] = 2 * state["width"]


@kernel
def board_word(state, w):
    """The cells of word `w` (counted from 1) that are on the board."""
    cells = np.int64(state["width"]) * np.int64(state["height"]) - 64 * (w - 1)
    if w < 1 or cells <= 0:
        return EMPTY
    return FULL if cells >= 64 else (ONE << np.uint64(cells)) - ONE


@kernel
def open_word(state, side, straight, w):
    """§3.1 The cells of word `w` that a piece of `side` may enter, going straight (empty) or aslant (not its own)."""
    pieces = state["pieces"]
    taken = pieces[side, w] | (pieces[1 - side, w] if straight else EMPTY)
    return board_word(state, w) & ~taken


@kernel
def movers(state, side, direction, w):
    """§3.1 The pieces in word `w` that may move in `direction` (0 left, 1 straight, 2 right), as bits."""
    shift = goal_step(state, side, direction)
    first = w + (shift >> 6)
    rest = np.uint64(shift & 63)
    straight = direction == 1
    low = open_word(state, side, straight, first) >> rest
    high = (open_word(state, side, straight, first + 1) << ONE) << (LAST_BIT - rest)
    return state["pieces"][side, w] & (low | high)


@kernel
def goal_step(state, side, direction):
    """§3 How far a move goes in bits: one row towards the goal, and a column to the left or right."""
    return (direction - 1) * np.int64(state["height"]) + 1 - 2 * side


@kernel
def legal(state, agent, mask):
    """§3 Every legal move of the agent whose turn it is."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    if state["over"] or agent != state["to_move"]:
        mask[: 3 * cells] = 0
        return
    for w in range(1, words_of(state) + 1):
        left = movers(state, agent, 0, w)
        straight = movers(state, agent, 1, w)
        right = movers(state, agent, 2, w)
        start, stop = 64 * (w - 1), min(64 * w, cells)
        if state["canonical"] and agent == 1:  # §7.1
            write_backwards(mask[3 * (cells - stop) : 3 * (cells - start)], stop - start, right, straight, left)
        else:
            write_moves(mask[3 * start : 3 * stop], stop - start, left, straight, right)


@kernel
def write_moves(out, count, left, straight, right):
    """§3 The actions of `count` cells, three a cell."""
    for i in range(np.uint64(count)):
        out[THREE * i] = (left >> i) & ONE
        out[THREE * i + ONE] = (straight >> i) & ONE
        out[THREE * i + TWO] = (right >> i) & ONE


@kernel
def write_backwards(out, count, left, straight, right):
    """§7.1 The same on the turned board: last cell first; the caller has exchanged left and right."""
    last = np.uint64(count - 1)
    for i in range(np.uint64(count)):
        out[THREE * i] = (left >> (last - i)) & ONE
        out[THREE * i + ONE] = (straight >> (last - i)) & ONE
        out[THREE * i + TWO] = (right >> (last - i)) & ONE


@kernel
def step(state, actions, reward):
    """§4 Make one move. The caller has checked legality."""
    pieces = state["pieces"]
    mover = np.int64(state["to_move"])
    action = np.int64(actions[0, 0])
    if state["canonical"] and mover == 1:
        action = 3 * np.int64(state["width"]) * np.int64(state["height"]) - 1 - action  # §7.1
    start = action // 3
    target = start + goal_step(state, mover, action - 3 * start)
    capture = holds(pieces, 1 - mover, target)
    take(pieces, mover, start)  # §4.1
    put(pieces, mover, target)
    if capture:  # §4.2
        take(pieces, 1 - mover, target)
        state["count"][1 - mover] -= 1
    state["ply"] += 1
    won = on_goal_row(state, mover, target) or state["count"][1 - mover] == 0  # §6.1
    state["over"] = won
    pay(state, mover, won, capture, reward)  # §5
    state["to_move"] = 1 - mover  # §4.3


@kernel
def on_goal_row(state, side, cell):
    """§6.1 Whether a cell lies on the row that `side` wants to reach."""
    height = np.int64(state["height"])
    return remainder(cell, height) == (height - 1 if side == 0 else 0)


@kernel
def pay(state, mover, won, capture, reward):
    """§5 The only place that knows objectives."""
    width = np.int64(state["width"])
    reward[:] = 0
    if won:
        scale = 4 * width * (np.int64(state["height"]) - 3) + 1
        speed = 1.0 - np.int64(state["ply"]) / scale
        credit(state, reward, mover, WIN, 1.0)
        credit(state, reward, 1 - mover, WIN, -1.0)
        credit(state, reward, mover, SPEED, speed)
        credit(state, reward, 1 - mover, SPEED, -speed)
    if capture:
        share = 1.0 / (2 * width)
        credit(state, reward, mover, CAPTURES, share)
        credit(state, reward, 1 - mover, LOSSES, -share)


@kernel
def credit(state, reward, agent, objective, value):
    column = np.int64(state["column"][objective])
    if column >= 0:
        reward[agent, column] = value


@kernel
def observe(state, agent, out):
    """§7 The agent's own pieces, then the opponent's."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    pieces = state["pieces"]
    for plane in range(2):
        for w in range(1, words_of(state) + 1):
            word = pieces[agent ^ plane, w]
            start, stop = 64 * (w - 1), min(64 * w, cells)
            if state["canonical"] and agent == 1:  # §7.1
                row = out[plane * cells + cells - stop : plane * cells + cells - start]
                last = np.uint64(stop - start - 1)
                for i in range(np.uint64(stop - start)):
                    row[i] = (word >> (last - i)) & ONE
            else:
                row = out[plane * cells + start : plane * cells + stop]
                for i in range(np.uint64(stop - start)):
                    row[i] = (word >> i) & ONE


@kernel
def key(state, words):
    """Equal for positions with the same future: both sides, the mover and the moves made (speed pays by them)."""
    for w in range(WORDS):
        words[w] = state["pieces"][0, 1 + w]
        words[WORDS + w] = state["pieces"][1, 1 + w]
    words[2 * WORDS] = np.uint64(2 * np.int64(state["ply"]) + np.int64(state["to_move"]))
