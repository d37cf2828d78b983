# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Alpha-beta search of MO-Connect4 for weights of the objectives, to a depth or to the end, with a table of positions.

Values are weighted returns of the side to move. Source: Knuth and Moore, "An analysis of alpha-beta pruning", 1975.
"""

from __future__ import annotations

import numpy as np

from momagames.games.connect4.learning import weigh_threats
from momagames.games.connect4.rules import (
    COLUMNS,
    EDGE,
    SPEED,
    WIN,
    column_bits,
    compare_column,
    count_bits,
    empty_bits,
    measure_speed,
    place_token,
)
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.rng import mix, update_best

ENTRY = np.dtype([("key", "u8"), ("value", "f8"), ("bound", "i8")])
EXACT, LOWER, UPPER = 1, 2, 3  # what a value of the table is
THREAT = 0.02  # value of a threat as a share of a win
MIDDLE = 0.002  # the same, of a token for each column between it and the nearer edge
TIE = 1e-9  # moves whose values differ by less are searched exactly


@kernel
def weigh_places(state, side):
    """Return the lead of a side in tokens, each counted by its columns from the nearer edge."""
    width, lead = np.int64(state["width"]), 0
    for x in range(width):
        lead += min(x, width - 1 - x) * (count_bits(column_bits(state, side, x)) - count_bits(column_bits(state, 1 - side, x)))
    return lead


@kernel
def rate_position(state, side, won, over, factors):
    """Return the weighted return of the side that has just moved if the game is over, else an estimate of it."""
    value = 0.0
    for x in range(np.int64(state["width"])):
        value += factors[COLUMNS + x] * compare_column(state, side, x)
    if won or not over:
        share = 1.0 if won else THREAT * weigh_threats(state, side)[0] + MIDDLE * weigh_places(state, side)
        value += share * (factors[WIN] + factors[SPEED] * measure_speed(state))
    return value


@kernel
def make_key(state, side):
    """Return a number that no other position has with this side to move, for boards of at most 64 - W cells.

    It has H + 1 bits for each column: a mark of the number of empty cells, and above it the tokens of the side.
    """
    key = np.uint64(0)
    for x in range(np.int64(state["width"])):
        cells = (column_bits(state, side, x) << 1) | (empty_bits(state, x) + 1)
        key = (key << np.uint64(np.int64(state["height"]) + 1)) | np.uint64(cells)
    return key


@noinline_kernel
def search(state, depth, low, high, factors, order, moves, bounds, table):
    """Return the value of a position for the side to move, from which at least one more move can be made, and the number of
    moves that were tried.

    It is exact between low and high, a lower bound from high on, and an upper bound up to low. The state is the same
    afterwards.

    depth       moves up to a position that is estimated, at least 1
    order       int64[W], columns in the order in which they are tried
    moves       int64[3, D], and
    bounds      float64[3, D]: buffers, D at least the depth and the number of empty cells
    table       record[2^k] of ENTRY, which keeps its values between searches with the same factors; or record[0], for none
    """
    width, root, count = np.int64(state["width"]), np.int64(state["to_move"]), 0
    tried, played, bits = moves[0], moves[1], moves[2]
    lows, highs, best = bounds[0], bounds[1], bounds[2]
    slot_bits = np.uint64(max(table.shape[0] - 1, 0))
    level, tried[0], lows[0], highs[0], best[0] = 0, 0, low, high, -np.inf
    while True:
        side = root ^ (level & 1)
        if tried[level] == width or best[level] >= highs[level]:
            value = best[level]
            if table.shape[0] > 0:
                key = make_key(state, side)
                entry = table[np.int64(mix(key) & slot_bits)]
                entry["key"], entry["value"] = key, value
                entry["bound"] = LOWER if value >= highs[level] else UPPER if value <= lows[level] else EXACT
            if level == 0:
                return value, count
            level -= 1
        else:
            x = order[tried[level]]
            tried[level] += 1
            if empty_bits(state, x) == 0:
                continue
            count += 1
            won, over = place_token(state, side, x)
            played[level], bits[level] = x, empty_bits(state, x) + 1
            if won or over or level + 1 == depth:
                value = -rate_position(state, side, won, over, factors)
            else:
                level += 1
                tried[level], best[level] = 0, -np.inf
                lows[level], highs[level] = -highs[level - 1], -max(lows[level - 1], best[level - 1])
                if table.shape[0] == 0:
                    continue
                key = make_key(state, 1 - side)
                entry = table[np.int64(mix(key) & slot_bits)]
                value, bound = entry["value"], entry["bound"]
                is_known = (
                    bound == EXACT or (bound == LOWER and value >= highs[level]) or (bound == UPPER and value <= lows[level])
                )
                if entry["key"] != key or not is_known:
                    continue
                level -= 1
        side = root ^ (level & 1)
        state["tokens"][side, EDGE + played[level]] ^= np.uint32(bits[level])
        state["ply"] -= 1
        best[level] = max(best[level], -value)


@kernel
def act(state, agent, mask, parts, memory, scratch, word, action):
    """Choose one of the moves of the highest value at random, see `policies.CompiledPolicy`."""
    depth, factors, order, moves, bounds, table, states = scratch
    best, ties, chosen = -np.inf, 0, 0
    for x in range(mask.shape[0]):
        if mask[x] == 0:
            continue
        states[0] = state
        position = states[0]
        won, over = place_token(position, agent, x)
        memory["lookahead_steps"] += 1
        if won or over or depth[0] == 1:
            value = rate_position(position, agent, won, over, factors)
        else:
            position["to_move"] = 1 - agent
            others, count = search(position, depth[0] - 1, -np.inf, TIE - best, factors, order, moves, bounds, table)
            value = -others
            memory["lookahead_steps"] += count
        is_best, best, ties, word = update_best(value, best, ties, word)
        if is_best:
            chosen = x
    action[0] = chosen
    return word
