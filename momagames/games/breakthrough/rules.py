"""MO-Breakthrough: the rules as compiled kernels. Section numbers are those of SPEC.md.

A side is a set of cells, one bit a cell, cell (x, y) at bit x * H + y: 64 bits a word, one word up to 8x8, seven at
20x20, and an empty word before and after. One step forward is then a shift by 1, a step sideways a shift by H, and the
bit of a cell times three is the number of its first action. No piece ever stands on its goal row while the game lasts,
so that a step forward never runs into the next column.
"""

import numpy as np

from momagames.kernels.grid import remainder, unpack_bits_short
from momagames.kernels.jit import kernel, unpack_bit_triples64, unpack_bits64
from momagames.kernels.record import record
from momagames.kernels.reward import credit

MAX_SIDE = 20
WORDS = -(-MAX_SIDE * MAX_SIDE // 64)
WIN, SPEED, CAPTURES, LOSSES = 0, 1, 2, 3
ONE, TWO, THREE, SIXTY_FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(64)
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
    """§2 Place two full rows for each player."""
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
def goal_step(state, side, direction):
    """§3 Return the distance of a move in bits: one row toward the goal, and possibly a column to the left or right."""
    return (direction - 1) * np.int64(state["height"]) + 1 - 2 * side


@kernel
def legal(state, agent, mask):
    """§3 Write every legal move of the agent to move; on the turned board (§7.1) last cell first."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    if state["over"] or agent != state["to_move"]:
        mask[: 3 * cells] = 0
        return
    pieces = state["pieces"]
    turned = state["canonical"] and agent == 1
    ways = goal_step(state, agent, 0), goal_step(state, agent, 1), goal_step(state, agent, 2)
    before = EMPTY, EMPTY, EMPTY
    below, here = (EMPTY, EMPTY), enterable(state, agent, 1)  # in the words before, at and after `w`
    for w in range(1, words_of(state) + 1):
        above = enterable(state, agent, w + 1)
        left = pieces[agent, w] & come_from(below[1], here[1], above[1], ways[0])
        straight = pieces[agent, w] & come_from(below[0], here[0], above[0], ways[1])
        right = pieces[agent, w] & come_from(below[1], here[1], above[1], ways[2])
        below, here = here, above
        start = np.int64(64 * (w - 1))
        spare = start + 64 - cells
        if spare <= 0:
            write_moves(left, straight, right, mask, cells, start, turned)
            before = left, straight, right
        elif start == 0:
            write_few_moves(left, straight, right, mask, cells, turned)
        else:  # the last 64 cells: some of them once more
            left = join(before[0], left, spare)
            straight = join(before[1], straight, spare)
            right = join(before[2], right, spare)
            write_moves(left, straight, right, mask, cells, cells - 64, turned)


@kernel
def enterable(state, side, w):
    """§3.1 The cells of word `w` that pieces of `side` may enter straight (empty ones) and diagonally (all but its own)."""
    own, other = state["pieces"][side, w], state["pieces"][1 - side, w]
    board = board_word(state, w)
    return board & ~(own | other), board & ~own


@kernel
def come_from(below, here, above, way):
    """The cells of a word from which a step of `way` bits (-63..63, not 0) leads to a cell of the set."""
    rest = np.uint64(way & 63)
    low, high = (here, above) if way > 0 else (below, here)
    return (low >> rest) | (high << (SIXTY_FOUR - rest))


@kernel
def join(before, word, spare):
    """The last 64 bits of two words, the second of which leaves its upper `spare` bits (1..63) unused."""
    return (before >> np.uint64(64 - spare)) | (word << np.uint64(spare))


@kernel
def write_moves(left, straight, right, mask, cells, start, turned):
    """§3 The actions of the 64 cells from `start` on, three a cell."""
    if turned:
        unpack_bit_triples64(backwards(right), backwards(straight), backwards(left), mask, 3 * (cells - 64 - start))
    else:
        unpack_bit_triples64(left, straight, right, mask, 3 * start)


@kernel
def write_few_moves(left, straight, right, mask, cells, turned):
    """§3 The actions of a board of fewer than 64 cells."""
    last = np.uint64(cells - 1)
    for i in range(np.uint64(cells)):
        bit = last - i if turned else i
        mask[THREE * i] = ((right if turned else left) >> bit) & ONE
        mask[THREE * i + ONE] = (straight >> bit) & ONE
        mask[THREE * i + TWO] = ((left if turned else right) >> bit) & ONE


@kernel
def backwards(word):
    """Return a word with its bits reversed."""
    for k in range(6):
        shift = ONE << np.uint64(k)
        mask = FULL // ((ONE << shift) + ONE)
        word = ((word >> shift) & mask) | ((word & mask) << shift)
    return word


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
    take(pieces, 1 - mover, target)  # §4.2
    state["count"][1 - mover] -= capture
    state["ply"] += 1
    won = on_goal_row(state, mover, target) or state["count"][1 - mover] == 0  # §6.1
    state["over"] = won
    write_rewards(state, mover, won, capture, reward)  # §5
    state["to_move"] = 1 - mover  # §4.3


@kernel
def on_goal_row(state, side, cell):
    """§6.1 Return whether a cell lies on the goal row of `side`."""
    height = np.int64(state["height"])
    return remainder(cell, height) == (height - 1 if side == 0 else 0)


@kernel
def write_rewards(state, mover, won, capture, reward):
    """§5 Write the rewards of a move."""
    width = np.int64(state["width"])
    reward[:] = 0
    if won:
        scale = 4 * width * (np.int64(state["height"]) - 3) + 1
        speed = 1.0 - np.int64(state["ply"]) / scale
        credit(state, reward, mover, WIN, 1.0)
        credit(state, reward, 1 - mover, WIN, -1.0)
        credit(state, reward, mover, SPEED, speed)
        credit(state, reward, 1 - mover, SPEED, -speed)
    share = capture / (2 * width)  # not in a branch: captures are hard to predict
    credit(state, reward, mover, CAPTURES, share)
    credit(state, reward, 1 - mover, LOSSES, 0.0 - share)


@kernel
def observe(state, agent, out):
    """§7 Write the agent's own pieces, then the opponent's; on the turned board (§7.1) the last cell comes first."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    turned = state["canonical"] and agent == 1
    for plane in range(2):
        side = agent ^ plane
        for w in range(1, words_of(state) + 1):
            word = state["pieces"][side, w]
            start = np.int64(64 * (w - 1))
            spare = start + 64 - cells
            if spare <= 0:
                write_cells(word, out, plane * cells, cells, start, turned)
            elif start == 0:
                unpack_bits_short(backwards(word) >> np.uint64(spare) if turned else word, out, plane * cells, cells)
            else:  # the last 64 cells: some of them once more
                write_cells(join(state["pieces"][side, w - 1], word, spare), out, plane * cells, cells, cells - 64, turned)


@kernel
def write_cells(word, out, plane, cells, start, turned):
    """§7 Write the 64 cells from `start` on."""
    if turned:
        unpack_bits64(backwards(word), out, plane + cells - 64 - start)
    else:
        unpack_bits64(word, out, plane + start)


@kernel
def key(state, words):
    """Write a key, equal for positions with the same future: both sides, the mover and the moves made (for `speed`)."""
    for w in range(WORDS):
        words[w] = state["pieces"][0, 1 + w]
        words[WORDS + w] = state["pieces"][1, 1 + w]
    words[2 * WORDS] = np.uint64(2 * np.int64(state["ply"]) + np.int64(state["to_move"]))
