"""MO-Breakthrough: the rules as compiled kernels. Section numbers are those of SPEC.md.

The pieces of a side are a set of cells with one bit per cell: cell (x, y) is bit x * H + y. A word has 64 bits; boards up to
8x8 need one word, 20x20 needs seven, and there is an empty word before and after. One step forward is a shift by 1, a step
sideways a shift by H. The bit of a cell times three is the number of its first action. No piece is on its goal row before
the game ends, so a step forward never reaches the next column.
"""

import numpy as np

from momagames.kernels.grid import bit_count, remainder, unpack_bits_short
from momagames.kernels.jit import kernel, local_array, unpack_bit_triples64, unpack_bits64, view_as
from momagames.kernels.record import record
from momagames.kernels.reward import credit
from momagames.kernels.rng import below

MAX_SIDE = 20
WORDS = -(-MAX_SIDE * MAX_SIDE // 64)
MOVE_SETS = 3 * WORDS  # to the left, straight and to the right, for each word
WIN, SPEED, CAPTURES, LOSSES = 0, 1, 2, 3
ONE, TWO, THREE, SIXTY_FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(64)
EMPTY, FULL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)

state_dtype = record(
    2,
    pieces=("u8", (2, WORDS + 2)),
    width=("i4",),
    height=("i4",),
    count=("i4", (2,)),
    column=("i4", (4,)),  # indices of win, speed, captures, losses in the reward vector; -1: not selected
    canonical=("u1",),
)

PARAMETERS = ("width", "height", "column", "canonical")


@kernel
def count_words(state):
    """Return the number of words that hold cells."""
    return (np.int64(state["width"]) * np.int64(state["height"]) + 63) >> 6


@kernel
def add_piece(pieces, side, cell):
    pieces[side, 1 + (cell >> 6)] |= ONE << np.uint64(cell & 63)


@kernel
def remove_piece(pieces, side, cell):
    pieces[side, 1 + (cell >> 6)] &= ~(ONE << np.uint64(cell & 63))


@kernel
def has_piece(pieces, side, cell):
    return (pieces[side, 1 + (cell >> 6)] >> np.uint64(cell & 63)) & ONE != EMPTY


@kernel
def generate(state):
    """§2 Place two full rows for each player."""
    pieces = state["pieces"]
    height = np.int64(state["height"])
    pieces[:] = EMPTY
    for x in range(np.int64(state["width"])):
        for y in range(2):
            add_piece(pieces, 0, x * height + y)
            add_piece(pieces, 1, x * height + height - 1 - y)
    state["count"][:] = 2 * state["width"]


@kernel
def make_board_word(state, w):
    """Return the cells of word `w` (counted from 1) that are on the board."""
    cells = np.int64(state["width"]) * np.int64(state["height"]) - 64 * (w - 1)
    if w < 1 or cells <= 0:
        return EMPTY
    return FULL if cells >= 64 else (ONE << np.uint64(cells)) - ONE


@kernel
def move_offset(state, side, direction):
    """§3 Return the distance of a move in bits: one row toward the goal, and possibly a column to the left or right."""
    return (direction - 1) * np.int64(state["height"]) + 1 - 2 * side


@kernel
def legal(state, agent, mask):
    """§3 Write every legal move of the agent to move; on the rotated board (§7.1) last cell first."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    if state["over"] or agent != state["to_move"]:
        mask[: 3 * cells] = 0
        return
    rotated = state["canonical"] and agent == 1
    last_moves = EMPTY, EMPTY, EMPTY
    previous, current = (EMPTY, EMPTY), find_enterable_cells(state, agent, 1)  # in the words before, at and after `w`
    for w in range(1, count_words(state) + 1):
        following = find_enterable_cells(state, agent, w + 1)
        left, straight, right = find_movable_pieces(state, agent, w, previous, current, following)
        previous, current = current, following
        start = np.int64(64 * (w - 1))
        spare = start + 64 - cells
        if spare <= 0:
            write_moves(left, straight, right, mask, cells, start, rotated)
            last_moves = left, straight, right
        elif start == 0:
            write_moves_short(left, straight, right, mask, cells, rotated)
        else:  # the last 64 cells; some of them are written twice
            left = extract_last64(last_moves[0], left, spare)
            straight = extract_last64(last_moves[1], straight, spare)
            right = extract_last64(last_moves[2], right, spare)
            write_moves(left, straight, right, mask, cells, cells - 64, rotated)


@kernel
def find_enterable_cells(state, side, w):
    """§3.1 Return the cells of word `w` that `side` may enter straight (empty ones) and diagonally (all but its own)."""
    own, other = state["pieces"][side, w], state["pieces"][1 - side, w]
    board = make_board_word(state, w)
    return board & ~(own | other), board & ~own


@kernel
def find_movable_pieces(state, side, w, previous, current, following):
    """§3 Return the pieces of word `w` that may move to the left, straight and to the right, from the cells to enter."""
    pieces = state["pieces"][side, w]
    left = find_source_cells(previous[1], current[1], following[1], move_offset(state, side, 0))
    straight = find_source_cells(previous[0], current[0], following[0], move_offset(state, side, 1))
    right = find_source_cells(previous[1], current[1], following[1], move_offset(state, side, 2))
    return pieces & left, pieces & straight, pieces & right


@kernel
def sample_action(state, agent, word):
    """§3 Return the legal action that a uniform choice from the mask gives, from the sets of cells: the mask is slower."""
    if state["over"] or agent != state["to_move"]:
        return 0
    moves = view_as(local_array(MOVE_SETS), np.uint64)
    legal_count = 0
    previous, current = (EMPTY, EMPTY), find_enterable_cells(state, agent, 1)
    for w in range(1, count_words(state) + 1):
        following = find_enterable_cells(state, agent, w + 1)
        left, straight, right = find_movable_pieces(state, agent, w, previous, current, following)
        previous, current = current, following
        moves[3 * w - 3], moves[3 * w - 2], moves[3 * w - 1] = left, straight, right
        legal_count += count_moves(left, straight, right, FULL)
    if legal_count == 0:
        return 0
    rank = below(word, legal_count)
    rotated = state["canonical"] and agent == 1
    if rotated:
        rank = legal_count - 1 - rank
    w = 0
    left, straight, right = moves[0], moves[1], moves[2]
    here = count_moves(left, straight, right, FULL)
    while rank >= here:
        rank -= here
        w += 3
        left, straight, right = moves[w], moves[w + 1], moves[w + 2]
        here = count_moves(left, straight, right, FULL)
    cell = 0
    for k in range(6):  # halve the cells of the word
        half = 32 >> k
        here = count_moves(left, straight, right, ((ONE << np.uint64(half)) - ONE) << np.uint64(cell))
        if rank >= here:
            rank -= here
            cell += half
    bit = np.uint64(cell)
    is_left, is_straight = np.int64((left >> bit) & ONE), np.int64((straight >> bit) & ONE)
    direction = 0 if rank < is_left else 1 if rank < is_left + is_straight else 2
    action = 3 * (64 * (w // 3) + cell) + direction
    cells = np.int64(state["width"]) * np.int64(state["height"])
    return 3 * cells - 1 - action if rotated else action  # §7.1


@kernel
def count_moves(left, straight, right, cells):
    """Return the number of moves of the pieces in a set of cells."""
    return bit_count(left & cells) + bit_count(straight & cells) + bit_count(right & cells)


@kernel
def find_source_cells(previous, current, following, offset):
    """Return the cells of a word from which a step of `offset` bits (-63..63, not 0) leads to a cell of the set."""
    shift = np.uint64(offset & 63)
    low, high = (current, following) if offset > 0 else (previous, current)
    return (low >> shift) | (high << (SIXTY_FOUR - shift))


@kernel
def extract_last64(previous, word, spare):
    """Return the last 64 bits of two words; the upper `spare` bits (1..63) of the second one are unused."""
    return (previous >> np.uint64(64 - spare)) | (word << np.uint64(spare))


@kernel
def write_moves(left, straight, right, mask, cells, start, rotated):
    """§3 Write the mask of the 64 cells from `start` on, three actions for each."""
    if rotated:
        unpack_bit_triples64(reverse_bits(right), reverse_bits(straight), reverse_bits(left), mask, 3 * (cells - 64 - start))
    else:
        unpack_bit_triples64(left, straight, right, mask, 3 * start)


@kernel
def write_moves_short(left, straight, right, mask, cells, rotated):
    """§3 Write the mask of a board of fewer than 64 cells."""
    last = np.uint64(cells - 1)
    for i in range(np.uint64(cells)):
        bit = last - i if rotated else i
        mask[THREE * i] = ((right if rotated else left) >> bit) & ONE
        mask[THREE * i + ONE] = (straight >> bit) & ONE
        mask[THREE * i + TWO] = ((left if rotated else right) >> bit) & ONE


@kernel
def reverse_bits(word):
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
    target = start + move_offset(state, mover, action - 3 * start)
    capture = has_piece(pieces, 1 - mover, target)
    remove_piece(pieces, mover, start)  # §4.1
    add_piece(pieces, mover, target)
    remove_piece(pieces, 1 - mover, target)  # §4.2
    state["count"][1 - mover] -= capture
    state["ply"] += 1
    won = is_on_goal_row(state, mover, target) or state["count"][1 - mover] == 0  # §6.1
    state["over"] = won
    write_rewards(state, mover, won, capture, reward)  # §5
    state["to_move"] = 1 - mover  # §4.3


@kernel
def is_on_goal_row(state, side, cell):
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
    """§7 Write the agent's own pieces, then the opponent's; on the rotated board (§7.1) the last cell comes first."""
    write_planes(state, agent, state["canonical"] and agent == 1, out)


@kernel
def write_planes(state, agent, rotated, out):
    """§7 Write the cells of the agent's own pieces, then of the opponent's, to out uint8[2 * W * H]."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    for plane in range(2):
        side = agent ^ plane
        for w in range(1, count_words(state) + 1):
            word = state["pieces"][side, w]
            start = np.int64(64 * (w - 1))
            spare = start + 64 - cells
            if spare <= 0:
                write_cells(word, out, plane * cells, cells, start, rotated)
            elif start == 0:
                unpack_bits_short(reverse_bits(word) >> np.uint64(spare) if rotated else word, out, plane * cells, cells)
            else:  # the last 64 cells; some of them are written twice
                write_cells(
                    extract_last64(state["pieces"][side, w - 1], word, spare), out, plane * cells, cells, cells - 64, rotated
                )


@kernel
def write_cells(word, out, plane, cells, start, rotated):
    """§7 Write the 64 cells from `start` on."""
    if rotated:
        unpack_bits64(reverse_bits(word), out, plane + cells - 64 - start)
    else:
        unpack_bits64(word, out, plane + start)


@kernel
def write_state_key(state, words):
    """Write a key that is equal for positions with the same future: both sides, the agent to move and the plies."""
    for w in range(WORDS):
        words[w] = state["pieces"][0, 1 + w]
        words[WORDS + w] = state["pieces"][1, 1 + w]
    words[2 * WORDS] = np.uint64(2 * np.int64(state["ply"]) + np.int64(state["to_move"]))
