# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Depth-first proof-number search on MO-Breakthrough boards of up to 64 cells, as compiled kernels.

The search decides whether one agent, the attacker, can force a goal against every reply. A goal is int64[9]:

WIN_BY         latest ply at which a win of the attacker counts; ANY_PLY: every win counts
LOSE_FROM      earliest ply at which a loss of the attacker counts; NEVER: it has to win
MOST_OTHER     largest number of pieces of the opponent at the end
LEAST_OWN      smallest number of pieces of the attacker at the end
PLY, ATTACKS   number of moves made before the root, and whether the attacker moves there
PLAIN          whether the goal is a win and nothing else: both agents then have the same goal
TIMED          whether the number of moves matters
NUMBER         of the goal, at least 1: goals share a table

A position is two words as the agent to move sees it: its own cells and those of the opponent, cell (x, y) at bit x * H + y,
with its goal row at y = H-1. A move reverses the rows for the other agent. A position and its mirror image (left and right
exchanged) are one; for a plain goal so are positions that differ in the colors.

A node has two numbers: phi, the smallest number of unsolved positions that have to be solved for the agent to move to reach its
goal, and delta, for the agent to move to fail. Source: Allis, van der Meulen and van den Herik, "Proof-number search",
Artificial Intelligence 66, 1994; Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", 2002; thresholds
with a margin as in Pawlewicz and Lew, "Improving depth-first PN-search: 1 + epsilon trick", 2007.
"""

import numpy as np

from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, noinline_kernel, wrapping_kernel
from momagames.kernels.rng import mix

MAX_CELLS, MAX_MOVES = 64, 72  # 12x5 has the most pieces
WIN_BY, LOSE_FROM, MOST_OTHER, LEAST_OWN, PLY, ATTACKS, PLAIN, TIMED, NUMBER = range(9)
ANY_PLY = NEVER = 1 << 20
LEVEL, ENTERS, NODES, PHI, DELTA, USED = range(6)  # registers of a search between two slices
REGISTERS = 6
COUNT, BEST, PHI_LIMIT, DELTA_LIMIT = range(4)  # of a frame
OWN, OTHER, TAG, NUMBERS = range(4)  # words of a slot of the table
PROBES = 4
INFINITE = (1 << 30) - 1  # proof number of what is impossible
PAUSED, FINISHED = 0, 1
ZERO, ONE, HALF = np.uint64(0), np.uint64(1), np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)


@kernel
def make_row(width, height):
    """Return the cells of row 0."""
    row = ZERO
    for x in range(width):
        row |= ONE << np.uint64(x * height)
    return row


@kernel
def reverse_rows(cells, row, height):
    """Return cells as the other agent sees them: row y becomes H-1-y."""
    out = ZERO
    for y in range(height):
        out |= ((cells >> np.uint64(y)) & row) << np.uint64(height - 1 - y)
    return out


@kernel
def mirror_columns(cells, width, height):
    """Return the mirror image of cells."""
    column = (ONE << np.uint64(height)) - ONE
    out = ZERO
    for x in range(width):
        out |= ((cells >> np.uint64(x * height)) & column) << np.uint64((width - 1 - x) * height)
    return out


@kernel
def find_targets(cells, row, height):
    """Return the cells that diagonal moves enter, as the agent to move sees them."""
    step = cells << ONE
    return ((step >> np.uint64(height)) | (step << np.uint64(height))) & (row * ((ONE << np.uint64(height)) - ONE))


@kernel
def find_attacked(cells, height):
    """Return the cells that pieces of the opponent attack."""
    step = cells >> ONE
    return (step >> np.uint64(height)) | (step << np.uint64(height))


@kernel
def evaluate_race(own, other, row, height):
    """Return 1 if the agent to move wins in at most three plies, -1 if the opponent wins in the next two, else 0.

    A piece next to its goal row wins, because one of its diagonals is on the board. A threat of the opponent has to be
    captured, so that two of them win. Without a threat, a piece that steps next to its goal row where nothing attacks it wins.
    """
    if own & (row << np.uint64(height - 2)):
        return 1
    captures = find_targets(own, row, height) & other
    if captures and other & (other - ONE) == ZERO:
        return 1
    threats = other & (row << ONE)
    if threats:
        return -1 if threats & (threats - ONE) or not captures & threats else 0
    runners = own & (row << np.uint64(height - 3))
    if runners:
        reached = ((runners << ONE) & ~other) | find_targets(runners, row, height)
        if reached & ~own & ~find_attacked(other, height):
            return 1
    return 0


@kernel
def evaluate(own, other, row, height, goal, attacks, ply):
    """Return 1 if the agent to move certainly reaches its goal, -1 if it certainly fails, 0 if the search has to find out.

    attacks    whether the agent to move is the attacker; if not, its goal is that the attacker fails
    ply        moves made before
    """
    race = evaluate_race(own, other, row, height)
    if goal[PLAIN]:
        return race
    attackers, defenders = (own, other) if attacks else (other, own)
    sign = 1 if attacks else -1
    num_attackers, num_defenders = bit_count(attackers), bit_count(defenders)
    if num_attackers < goal[LEAST_OWN]:
        return -sign
    if goal[LOSE_FROM] < NEVER:
        has_captured = num_defenders <= goal[MOST_OTHER]
        if has_captured and goal[LEAST_OWN] == 0 and ply + 1 >= goal[LOSE_FROM] and goal[WIN_BY] == ANY_PLY:
            return sign  # however the game ends
        return 1 if not attacks and not has_captured and own & (row << np.uint64(height - 2)) else 0
    if race == -sign:
        return -sign
    if goal[TIMED]:
        distance = 1
        front = row << np.uint64(height - 2) if attacks else row << ONE
        while not attackers & front:
            front = front >> ONE if attacks else front << ONE
            distance += 1
        moves = 2 * min(distance, num_defenders)
        if ply + moves - (1 if attacks else 0) > goal[WIN_BY]:
            return -sign
    is_certain = num_defenders <= goal[MOST_OTHER] and num_attackers > goal[LEAST_OWN] and ply + 3 <= goal[WIN_BY]
    return sign if race == sign and is_certain else 0


@kernel
def is_reached(num_attackers, num_defenders, attacker_won, ply, goal):
    """Return whether the attacker has reached its goal at the end of a game of `ply` moves."""
    in_time = ply <= goal[WIN_BY] if attacker_won else ply >= goal[LOSE_FROM]
    return in_time and num_attackers >= goal[LEAST_OWN] and num_defenders <= goal[MOST_OTHER]


@kernel
def make_tag(goal, attacks, ply):
    """Return the part of a key that distinguishes equal boards; never 0."""
    if goal[PLAIN]:
        return np.uint64(goal[NUMBER]) << np.uint64(20)
    return (np.uint64(goal[NUMBER]) << np.uint64(20)) | np.uint64(2 * (ply if goal[TIMED] else 0) + (1 if attacks else 0))


@wrapping_kernel
def make_slot(own, other, tag, table):
    """Return the first slot of a position."""
    return np.int64(mix(own + mix(other + mix(tag))) & np.uint64(table.shape[0] - 1))


@kernel
def find_numbers(own, other, tag, table):
    """Return phi and delta of a position; 1 and 1 if it is unknown."""
    first = make_slot(own, other, tag, table)
    for probe in range(PROBES):
        slot = (first + probe) & (table.shape[0] - 1)
        if table[slot, OWN] == own and table[slot, OTHER] == other and table[slot, TAG] == tag:
            return np.int64(table[slot, NUMBERS] >> HALF), np.int64(table[slot, NUMBERS] & LOW_HALF)
    return np.int64(1), np.int64(1)


@kernel
def store_numbers(own, other, tag, phi, delta, table, registers):
    """Store a position in its slot, in a free one, or instead of an unsolved or the first one."""
    first = make_slot(own, other, tag, table)
    chosen, is_unsolved = first, False
    for probe in range(PROBES):
        slot = (first + probe) & (table.shape[0] - 1)
        if table[slot, TAG] == ZERO or (table[slot, OWN] == own and table[slot, OTHER] == other and table[slot, TAG] == tag):
            registers[USED] += table[slot, TAG] == ZERO
            chosen = slot
            break
        numbers = table[slot, NUMBERS]
        if not is_unsolved and numbers >> HALF != ZERO and numbers & LOW_HALF != ZERO:
            chosen, is_unsolved = slot, True
    table[chosen, OWN], table[chosen, OTHER], table[chosen, TAG] = own, other, tag
    table[chosen, NUMBERS] = (np.uint64(phi) << HALF) | np.uint64(delta)


@kernel
def shift_cells(cells, distance):
    """Return cells moved by a number of bits."""
    return cells << np.uint64(distance) if distance >= 0 else cells >> np.uint64(-distance)


@kernel
def expand(own, other, width, height, row, goal, attacks, ply, table, children, numbers):
    """Write the positions after each move and their numbers; return their count.

    Stops at a move that reaches the goal of the agent to move; that child is then the only one with delta 0.
    """
    board = row * ((ONE << np.uint64(height)) - ONE)
    own_now, other_now = reverse_rows(own, row, height), reverse_rows(other, row, height)  # moves go down from here on
    own_mirrored, other_mirrored = mirror_columns(own_now, width, height), mirror_columns(other_now, width, height)
    num_own, num_other = bit_count(own), bit_count(other)
    allowed = board & ~own_now
    threats = other_now & (row << np.uint64(height - 2))
    if threats and (goal[PLAIN] or (attacks and goal[LOSE_FROM] == NEVER)) and not own_now & (row << ONE):
        allowed &= threats
    step = own_now >> ONE
    left, straight, right = (
        (step >> np.uint64(height)) & allowed,
        step & allowed & ~other_now,
        (step << np.uint64(height)) & allowed,
    )
    tag = make_tag(goal, not attacks, ply + 1)
    count = 0
    for y in range(height):
        row_cells = row << np.uint64(y)
        for direction in range(3):
            targets = (left if direction == 0 else straight if direction == 1 else right) & row_cells
            while targets:
                rest = targets & (targets - ONE)
                target = targets ^ rest
                targets = rest
                x = bit_count((target - ONE) & row_cells)
                mirrored_target = shift_cells(target, (width - 1 - 2 * x) * height)
                start = shift_cells(target, 1 - (direction - 1) * height)
                mirrored_start = shift_cells(mirrored_target, 1 + (direction - 1) * height)
                is_capture = other_now & target != ZERO
                first, second = other_now & ~target, (own_now ^ start) | target
                mirrored_first = other_mirrored & ~mirrored_target
                mirrored_second = (own_mirrored ^ mirrored_start) | mirrored_target
                if mirrored_first < first or (mirrored_first == first and mirrored_second < second):
                    first, second = mirrored_first, mirrored_second
                children[count, 0], children[count, 1] = first, second
                if y == 0 or first == ZERO:
                    left_over = num_other - (1 if is_capture else 0)
                    if attacks:
                        value = -1 if is_reached(num_own, left_over, True, ply + 1, goal) else 1
                    else:
                        value = 1 if is_reached(left_over, num_own, False, ply + 1, goal) else -1
                else:
                    value = evaluate(first, second, row, height, goal, not attacks, ply + 1)
                if value == 0:
                    numbers[count, 0], numbers[count, 1] = find_numbers(first, second, tag, table)
                else:
                    numbers[count, 0], numbers[count, 1] = (0, INFINITE) if value > 0 else (INFINITE, 0)
                count += 1
                if numbers[count - 1, 1] == 0:
                    return count
    return count


@kernel
def combine(numbers, count):
    """Return phi and delta of a node, the child to search, the smallest delta of the other children."""
    phi, second, total, best = np.int64(INFINITE), np.int64(INFINITE), np.int64(0), -1
    for i in range(count):
        if numbers[i, 1] < phi:
            second, phi, best = phi, numbers[i, 1], i
        elif numbers[i, 1] < second:
            second = numbers[i, 1]
        total += numbers[i, 0]
    delta = min(total, np.int64(INFINITE))
    if phi == 0:
        delta = np.int64(INFINITE)
    elif delta == 0:
        phi = np.int64(INFINITE)
    return phi, delta, best, second


@noinline_kernel
def run_search(width, height, goal, table, positions, children, numbers, frames, registers, budget):
    """Continue a search for up to `budget` nodes; return PAUSED, or FINISHED with phi and delta of the root in the registers.

    table        uint64[slots, 4], a power of two
    positions    uint64[D, 2], children uint64[D, M, 2], numbers int64[D, M, 2] and frames int64[D, 4] for D levels
    """
    row = make_row(width, height)
    level, enters = registers[LEVEL], registers[ENTERS]
    while level >= 0:
        frame = frames[level]
        attacks, ply = (goal[ATTACKS] + level) % 2 == 1, goal[PLY] + level
        own, other = positions[level, 0], positions[level, 1]
        if enters:
            if budget == 0:
                registers[LEVEL], registers[ENTERS] = level, 1
                return PAUSED
            budget -= 1
            registers[NODES] += 1
            frame[COUNT] = expand(own, other, width, height, row, goal, attacks, ply, table, children[level], numbers[level])
        phi, delta, best, second = combine(numbers[level], frame[COUNT])
        if phi == 0 or delta == 0 or phi >= frame[PHI_LIMIT] or delta >= frame[DELTA_LIMIT]:
            store_numbers(own, other, make_tag(goal, attacks, ply), phi, delta, table, registers)
            registers[PHI], registers[DELTA] = phi, delta
            level -= 1
            enters = 0
            if level >= 0:
                numbers[level, frames[level, BEST], 0] = phi
                numbers[level, frames[level, BEST], 1] = delta
            continue
        frame[BEST] = best
        below = frames[level + 1]
        below[PHI_LIMIT] = min(np.int64(INFINITE), frame[DELTA_LIMIT] - delta + numbers[level, best, 0])
        below[DELTA_LIMIT] = min(frame[PHI_LIMIT], second + 1 + (second >> 2))
        positions[level + 1, 0], positions[level + 1, 1] = children[level, best, 0], children[level, best, 1]
        level += 1
        enters = 1
    registers[LEVEL] = level
    return FINISHED


@kernel
def begin_search(state, goal, table, positions, frames, registers):
    """Place a state record as the root; return FINISHED, with phi and delta in the registers, if its value is known.

    Sets PLY of the goal. The attacker moves at the root if the goal says so.
    """
    width, height, mover = np.int64(state["width"]), np.int64(state["height"]), np.int64(state["to_move"])
    row = make_row(width, height)
    own, other = np.uint64(state["pieces"][mover, 1]), np.uint64(state["pieces"][1 - mover, 1])
    if mover == 1:
        own, other = reverse_rows(own, row, height), reverse_rows(other, row, height)
    mirrored_own, mirrored_other = mirror_columns(own, width, height), mirror_columns(other, width, height)
    if mirrored_own < own or (mirrored_own == own and mirrored_other < other):
        own, other = mirrored_own, mirrored_other
    attacks, ply = goal[ATTACKS] == 1, np.int64(state["ply"])
    goal[PLY] = ply
    value = evaluate(own, other, row, height, goal, attacks, ply)
    if value == 0:
        phi, delta = find_numbers(own, other, make_tag(goal, attacks, ply), table)
    else:
        phi, delta = (np.int64(0), np.int64(INFINITE)) if value > 0 else (np.int64(INFINITE), np.int64(0))
    registers[PHI], registers[DELTA], registers[LEVEL] = phi, delta, -1
    if phi == 0 or delta == 0:
        return FINISHED
    positions[0, 0], positions[0, 1] = own, other
    frames[0, PHI_LIMIT], frames[0, DELTA_LIMIT] = INFINITE, INFINITE
    registers[LEVEL], registers[ENTERS] = 0, 1
    return PAUSED
