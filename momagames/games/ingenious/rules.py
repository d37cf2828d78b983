# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Ingenious: the rules as compiled kernels. Section numbers are those of SPEC.md.

A board is a square array around the hexagon: cell (q, r) is at MIDDLE + q * ROW + r, and what is not on the board is 0 as empty
cells are. The empty cells are bits as well, a word for each row. A tile (a, b) is the number 8a + b, 0 for an empty slot.
"""

import numpy as np
from numpy.typing import NDArray

from momagames.kernels.grid import bit_count, unpack_bits_short
from momagames.kernels.jit import copy_padded16, kernel, local_array, unpack_bits64, view_as
from momagames.kernels.record import record
from momagames.kernels.reward import credit, has_objective
from momagames.kernels.rng import below, draw

MAX_AGENTS = MAX_COLORS = MAX_RACK = CORNERS = 6
MIN_SIDE, MAX_SIDE = 3, 10
ROW = 2 * MAX_SIDE + 1  # cells of a row of the array, with a wall on either side
HALF = ROW // 2
MIDDLE = HALF * ROW + HALF
STEPS = (ROW, ROW - 1, -1, -ROW, 1 - ROW, 1)  # §1.1 d0..d5
CODE = (3, 4, 2, -1, 5, 1, 0)  # directions of the bits of `find_code`; -1: the cell itself
MOST_TILES = 240  # in the order of upcoming tiles
WIN = MAX_COLORS  # the objective of color c is c - 1

state_dtype = record(
    MAX_AGENTS,
    empty=("u4", (ROW,)),  # bit HALF + r of row HALF + q: cell (q, r) is empty
    scores=("i2", (MAX_AGENTS, MAX_COLORS)),  # by team
    tiles_left=("i4",),  # in the bag
    ordered=("i4",),  # tiles in the order of upcoming tiles
    cap=("i4",),
    agents=("i4",),
    teams=("i4",),
    colors=("i4",),
    rack_size=("i4",),
    radius=("i4",),  # N
    board=("u1", (ROW * ROW,)),
    racks=("u1", (MAX_AGENTS, MAX_RACK)),
    bag=("u1", (MAX_COLORS, MAX_COLORS)),  # tiles (a, b) at [a - 1, b - 1]
    upcoming=("u1", (MOST_TILES,)),
    full_bag=("u1", (2,)),  # tiles of each kind at the start: of two different colors, of two equal ones
    first_round=("u1",),
    used=("u1",),  # corners that are used up, as bits
    open_racks=("u1",),
    column=("i1", (MAX_COLORS + 1,)),  # indices of the colors and of WIN in the reward vector; -1: not selected
    fixed_bag=("u1",),
)


def list_slots() -> NDArray[np.uint64]:
    """Return the placements from a cell as bits, `rack_size` for each direction, uint64[rack size, code of empty cells]."""
    slots = np.zeros((MAX_RACK + 1, 1 << len(CODE)), np.uint64)
    for rack_size in range(MAX_RACK + 1):
        for code in range(1 << len(CODE)):
            found = [d for k, d in enumerate(CODE) if d >= 0 and code >> k & 1]
            if code >> CODE.index(-1) & 1:
                slots[rack_size, code] = sum(((1 << rack_size) - 1) << (rack_size * d) for d in found)
    return slots


SLOTS = list_slots()
PARAMETERS = ("cap", "agents", "teams", "colors", "rack_size", "radius", "full_bag", "open_racks", "fixed_bag", "column")


@kernel
def generate(state):
    """§2 Empty the board, fill the bag and the racks."""
    radius, colors = np.int64(state["radius"]), np.int64(state["colors"])
    for q in range(-radius, radius + 1):
        first, last = span(radius, q)
        state["empty"][HALF + q] = ((1 << (last - first + 1)) - 1) << (HALF + first)
        for r in range(first, last + 1):
            state["board"][MIDDLE + q * ROW + r] = 0
    for i in range(CORNERS):
        fill_cell(state, MIDDLE + radius * STEPS[i], i + 1)
    state["scores"][:] = 0
    state["racks"][:] = 0
    state["bag"][:] = 0
    state["upcoming"][:] = 0
    state["ordered"], state["used"], state["first_round"], state["tiles_left"] = 0, 0, 1, 0
    for a in range(colors):
        for b in range(a, colors):
            put_back(state, 8 * (a + 1) + b + 1, np.int64(state["full_bag"][np.int64(a == b)]))
    for agent in range(np.int64(state["agents"])):
        fill_rack(state, agent)
    if state["fixed_bag"]:
        order_bag(state)


@kernel
def span(radius, q):
    """Return the first and the last r of row q."""
    return max(-radius, -radius - q), min(radius, radius - q)


@kernel
def fill_cell(state, cell, color):
    state["board"][cell] = color
    state["empty"][cell // ROW] &= ~(np.uint32(1) << np.uint32(cell % ROW))


@kernel
def put_back(state, tile, number):
    """Add tiles of a kind to the bag."""
    state["bag"][(tile >> 3) - 1, (tile & 7) - 1] += np.uint8(number)
    state["tiles_left"] += number


@kernel
def draw_tile(state):
    """§2.3 Draw a tile; 0 from an empty bag."""
    tiles = np.int64(state["tiles_left"])
    if tiles == 0:
        return 0
    tile = take_next(state) if state["ordered"] else find_tile(state, draw(state, tiles))
    state["bag"][(tile >> 3) - 1, (tile & 7) - 1] -= np.uint8(1)
    state["tiles_left"] -= 1
    return tile


@kernel
def find_tile(state, number):
    """Return the tile of this number in the bag."""
    a = b = 0
    rest = number - np.int64(state["bag"][0, 0])
    while rest >= 0:
        b += 1
        if b == np.int64(state["colors"]):
            a += 1
            b = a
        rest -= np.int64(state["bag"][a, b])
    return 8 * (a + 1) + b + 1


@kernel
def take_next(state):
    """Remove the first tile of the order."""
    upcoming, last = state["upcoming"], np.int64(state["ordered"]) - 1
    tile = np.int64(upcoming[0])
    for i in range(last):
        upcoming[i] = upcoming[i + 1]
    upcoming[last] = 0
    state["ordered"] = last
    return tile


@kernel
def fill_rack(state, agent):
    """§2.4, §4.7 Draw a tile into each slot."""
    for slot in range(np.int64(state["rack_size"])):
        state["racks"][agent, slot] = draw_tile(state)


@kernel
def order_bag(state):
    """§2.5 Draw the order of all tiles of the bag."""
    tiles = np.int64(state["tiles_left"])
    for i in range(tiles):
        state["upcoming"][i] = draw_tile(state)
    for i in range(tiles):
        put_back(state, np.int64(state["upcoming"][i]), 1)
    state["ordered"] = tiles


@kernel
def count_tiles(state, agent):
    """Return the number of tiles in the rack of an agent."""
    tiles = 0
    for slot in range(np.int64(state["rack_size"])):
        tiles += np.int64(state["racks"][agent, slot] != 0)
    return tiles


@kernel
def find_open(empty, row, d):
    """Return the empty cells of a row whose neighbor in direction d is empty, as bits."""
    here = np.int64(empty[row])
    if d == 0:
        return here & np.int64(empty[row + 1])
    if d == 1:
        return here & (np.int64(empty[row + 1]) << 1)
    if d == 2:
        return here & (here << 1)
    if d == 3:
        return here & np.int64(empty[row - 1])
    if d == 4:
        return here & (np.int64(empty[row - 1]) >> 1)
    return here & (here >> 1)


@kernel
def has_room(state):
    """§4.5 Return whether two neighbors are both empty."""
    radius, empty = np.int64(state["radius"]), state["empty"]
    for row in range(HALF - radius, HALF + radius + 1):
        own, below = np.int64(empty[row]), np.int64(empty[row + 1])
        if own & ((own >> 1) | below | (below << 1)):
            return True
    return False


@kernel
def find_used_corner(state, cell):
    """§3.4 Return the first corner next to a cell in the order of directions, as a bit; 0 without one."""
    radius = np.int64(state["radius"])
    for d in range(len(STEPS)):
        for i in range(CORNERS):
            if cell + STEPS[d] == MIDDLE + radius * STEPS[i]:
                return 1 << i
    return 0


@kernel
def find_free(state, free, far):
    """§3.3 Write the empty cells that the first round does not forbid to free int64[ROW], and those of them that are not next
    to a corner to far: a pair of free neighbors is allowed unless both are far. Return whether any cell is far.
    """
    radius = np.int64(state["radius"])
    for row in range(HALF - radius - 1, HALF + radius + 2):
        free[row] = np.int64(state["empty"][row])
    if not state["first_round"]:
        return False
    for row in range(HALF - radius - 1, HALF + radius + 2):
        far[row] = free[row]
    for i in range(CORNERS):
        for d in range(len(STEPS)):
            cell = MIDDLE + radius * STEPS[i] + STEPS[d]
            bit = 1 << (cell % ROW)
            far[cell // ROW] &= ~bit
            if (np.int64(state["used"]) >> i) & 1:
                free[cell // ROW] &= ~bit
    for row in range(HALF - radius, HALF + radius + 1):
        far[row] &= free[row]
    allowed, pairs = 0, local_array(6)
    for row in range(HALF - radius, HALF + radius + 1):
        allowed |= find_pairs(free, far, True, row, pairs)
    if allowed == 0:
        for row in range(HALF - radius, HALF + radius + 1):
            free[row] = np.int64(state["empty"][row])
    return allowed != 0


@kernel
def find_pairs(free, far, has_far, row, pairs):
    """Write the cells of a row that make an allowed pair with their neighbor in each direction to pairs int64[6], as bits;
    return those that make any.
    """
    found = 0
    for d in range(len(STEPS)):
        pairs[d] = find_open(free, row, d)
        if has_far:
            pairs[d] &= ~find_open(far, row, d)
        found |= pairs[d]
    return found


@kernel
def count_neighbors(radius, q, r):
    """Return the number of neighbors of a cell."""
    edges = np.int64(abs(q) == radius) + np.int64(abs(r) == radius) + np.int64(abs(q + r) == radius)
    return (6, 4, 3)[edges]


@kernel
def has_neighbor(radius, q, r, d):
    """Return whether the neighbor of a cell in a direction is on the board."""
    q += (1, 1, 0, -1, -1, 0)[d]
    r += (0, -1, -1, 0, 1, 1)[d]
    return max(abs(q), abs(r), abs(q + r)) <= radius


@kernel
def find_code(cells, row, place):
    """Return a cell and its neighbors as bits, in the order of CODE, from cells int64[ROW]."""
    above, own, below = cells[row - 1] >> place, cells[row] >> (place - 1), cells[row + 1] >> (place - 1)
    return (above & 3) | ((own & 7) << 2) | ((below & 3) << 5)


@kernel
def find_slots(free, far, has_far, row, place, rack_size):
    """Return the placements from a cell as bits: rack_size bits for each direction."""
    slots = SLOTS[rack_size, find_code(free, row, place)]
    if has_far:
        slots &= ~SLOTS[rack_size, find_code(far, row, place)]
    return slots


@kernel
def drop_two(slots, d, rack_size):
    """Remove the bits of a direction and the next one."""
    low = (np.uint64(1) << np.uint64(d * rack_size)) - np.uint64(1)
    return (slots & low) | ((slots >> np.uint64(2 * rack_size)) & ~low)


@kernel
def write_slots(mask, at, slots, size):
    """Write bits to mask[at : at + size], and zeros after them, which are overwritten later."""
    if at + 64 <= mask.shape[0]:
        unpack_bits64(slots, mask, at)
    else:
        unpack_bits_short(slots, mask, at, size)
    return at + size


@kernel
def legal(state, agent, mask):
    """§3 Write the placements of the agent to move."""
    tiles, rack_size = count_tiles(state, agent), np.int64(state["rack_size"])
    if agent != state["to_move"] or state["over"] or tiles == 0:
        mask[:] = 0
        return
    free, far = local_array(ROW), local_array(ROW)
    if find_free(state, free, far):
        write_mask(state, free, far, True, mask)
    else:
        write_mask(state, free, far, False, mask)
    if tiles < rack_size:
        for i in range(mask.shape[0]):
            mask[i] &= np.int8(i % rack_size < tiles)


@kernel
def write_mask(state, free, far, has_far, mask):
    """Write the placements of a full rack, cell by cell. At the edges of the board two directions are missing, and at the
    corners, where nothing is legal, three.
    """
    radius, rack_size, at = np.int64(state["radius"]), np.int64(state["rack_size"]), 0
    for q in range(-radius, radius + 1):
        row, (first, last) = HALF + q, span(radius, q)
        if abs(q) == radius:
            missing = 0 if q > 0 else 3
            for place in range(HALF + first, HALF + last + 1):
                slots = find_slots(free, far, has_far, row, place, rack_size)
                size = count_neighbors(radius, q, place - HALF) * rack_size
                at = write_slots(mask, at, drop_two(slots, missing, rack_size), size)
            continue
        ends = count_neighbors(radius, q, first) * rack_size
        slots = find_slots(free, far, has_far, row, HALF + first, rack_size)
        at = write_slots(mask, at, drop_two(slots, 2 if q < 0 else 1, rack_size), ends)
        for place in range(HALF + first + 1, HALF + last):
            slots = find_slots(free, far, has_far, row, place, rack_size)
            at = write_slots(mask, at, slots, 6 * rack_size)
        slots = find_slots(free, far, has_far, row, HALF + last, rack_size)
        slots = drop_two(slots, 4, rack_size) if q < 0 else slots >> np.uint64(rack_size)
        at = write_slots(mask, at, slots, ends)


@kernel
def sample_action(state, agent, word):
    """Return a random legal action of the agent to move, without the mask."""
    free, far, pairs, counts = local_array(ROW), local_array(ROW), local_array(6), local_array(ROW)
    radius, tiles, total = np.int64(state["radius"]), count_tiles(state, agent), 0
    if agent != state["to_move"] or state["over"] or tiles == 0:
        return 0
    has_far = find_free(state, free, far)
    for row in range(HALF - radius, HALF + radius + 1):
        counts[row] = 0
        if find_pairs(free, far, has_far, row, pairs):
            for d in range(len(STEPS)):
                counts[row] += bit_count(np.uint64(pairs[d]))
        total += counts[row]
    rank = below(word, total * tiles)
    pair, slot, q, before = rank // tiles, rank % tiles, -radius, 0
    while pair >= counts[HALF + q]:
        pair -= counts[HALF + q]
        before += count_pairs(radius, q)
        q += 1
    found = find_pairs(free, far, has_far, HALF + q, pairs)
    r = span(radius, q)[0]
    while True:
        if (found >> (HALF + r)) & 1:
            here = 0
            for d in range(len(STEPS)):
                here += (pairs[d] >> (HALF + r)) & 1
            if pair < here:
                break
            pair -= here
        before += count_neighbors(radius, q, r)
        r += 1
    d = 0
    while pair > 0 or (pairs[d] >> (HALF + r)) & 1 == 0:
        pair -= (pairs[d] >> (HALF + r)) & 1
        before += np.int64(has_neighbor(radius, q, r, d))
        d += 1
    return before * np.int64(state["rack_size"]) + slot


@kernel
def find_place(state, action):
    """§3.1 Return the cell, the direction and the slot of an action."""
    radius, rack_size = np.int64(state["radius"]), np.int64(state["rack_size"])
    pair = np.int64(np.uint32(action) // np.uint32(rack_size))
    slot, q = action - pair * rack_size, -radius
    pairs = count_pairs(radius, q)
    while pair >= pairs:
        pair -= pairs
        q += 1
        pairs = count_pairs(radius, q)
    r = span(radius, q)[0]
    ends, inner = count_neighbors(radius, q, r), count_neighbors(radius, q, r + 1)
    if pair >= ends:
        cells = np.int64(np.uint32(pair - ends) // np.uint32(inner))
        r += 1 + cells
        pair -= ends + cells * inner
    d = -1
    while pair >= 0:
        d += 1
        pair -= np.int64(has_neighbor(radius, q, r, d))
    return MIDDLE + q * ROW + r, d, slot


@kernel
def count_pairs(radius, q):
    """Return the number of pairs (x, d) with x in row q."""
    if abs(q) == radius:
        return 4 * radius + 2
    return 6 * (2 * radius - 1 - abs(q)) + (6 if q == 0 else 8)


@kernel
def count_line(board, cell, d, color):
    """Return the number of cells of a color that follow a cell in a direction."""
    length, cell = 0, cell + STEPS[d]
    while board[cell] == color:
        length += 1
        cell += STEPS[d]
    return length


@kernel
def count_gain(board, cell, without, color):
    """§4.2 Return the gain of a cell, if it has a color, without a direction."""
    gain = 0
    for d in range(len(STEPS)):
        if d != without:
            gain += count_line(board, cell, d, color)
    return gain


@kernel
def measure_gains(state, cell, d, tile):
    """§4.2 Return the gains of both colors of a tile on a cell and its neighbor."""
    board = state["board"]
    return count_gain(board, cell, d, tile >> 3), count_gain(board, cell + STEPS[d], (d + 3) % 6, tile & 7)


@kernel
def remove_tile(state, agent, tile):
    """§4.1 Remove the first tile of this kind from a rack."""
    rack, last = state["racks"][agent], np.int64(state["rack_size"]) - 1
    slot = 0
    while rack[slot] != tile:
        slot += 1
    for i in range(slot, last):
        rack[i] = rack[i + 1]
    rack[last] = 0


@kernel
def add_points(state, team, color, points):
    """§4.3, §4.4 Add points to a score; return how much it grew, and whether it reached the cap."""
    old, cap = np.int64(state["scores"][team, color - 1]), np.int64(state["cap"])
    new = max(old, min(old + points, cap))
    state["scores"][team, color - 1] = new
    return new - old, new > old and new == cap


@kernel
def needs_exchange(state, agent, team):
    """§4.7 Return whether a rack has no tile with a color of the lowest score, and the bag has tiles for a new one."""
    if np.int64(state["tiles_left"]) < np.int64(state["rack_size"]):
        return False
    lowest, colors, scores = np.int64(state["scores"][team, 0]), np.int64(state["colors"]), state["scores"]
    for color in range(1, colors):
        lowest = min(lowest, np.int64(scores[team, color]))
    for slot in range(np.int64(state["rack_size"])):
        tile = np.int64(state["racks"][agent, slot])
        if tile and (scores[team, (tile >> 3) - 1] == lowest or scores[team, (tile & 7) - 1] == lowest):
            return False
    return True


@kernel
def exchange(state, agent):
    """§4.7 Exchange a rack."""
    rack, rack_size = state["racks"][agent], np.int64(state["rack_size"])
    is_ordered = state["ordered"] == state["tiles_left"]
    old = np.uint64(0)
    for slot in range(rack_size):
        old = old << np.uint64(8) | np.uint64(rack[slot])
    fill_rack(state, agent)
    for tile in range(9, 64):
        for slot in range(rack_size):
            if (old >> np.uint64(8 * slot)) & np.uint64(255) == np.uint64(tile):
                put_back(state, tile, 1)
                if is_ordered:
                    state["upcoming"][np.int64(state["ordered"])] = tile
                    state["ordered"] += 1


@kernel
def pass_turn(state, mover, has_bonus):
    """§4.8 Return the next mover, -1 if no agent has a tile."""
    agents = np.int64(state["agents"])
    for i in range(agents):
        agent = (mover + i + np.int64(not has_bonus)) % agents
        if state["racks"][agent, 0]:
            return agent
    return -1


@kernel
def step(state, actions, reward):
    """§4 Make one placement. The caller has checked legality."""
    mover, teams = np.int64(state["to_move"]), np.int64(state["teams"])
    team = mover % teams
    cell, d, slot = find_place(state, np.int64(actions[0, 0]))
    tile = np.int64(state["racks"][mover, slot])
    first, second = tile >> 3, tile & 7
    state["ply"] += 1
    fill_cell(state, cell, first)
    fill_cell(state, cell + STEPS[d], second)
    if state["first_round"]:
        state["used"] |= find_used_corner(state, cell) | find_used_corner(state, cell + STEPS[d])
    remove_tile(state, mover, tile)
    first_gain, second_gain = measure_gains(state, cell, d, tile)
    first_growth, first_bonus = add_points(state, team, first, first_gain)
    second_growth, second_bonus = add_points(state, team, second, second_gain)
    has_bonus = first_bonus or second_bonus
    reward[:] = 0
    for agent in range(np.int64(state["agents"])):
        if agent % teams == team:
            credit(state, reward, agent, first - 1, first_growth)
            credit(state, reward, agent, second - 1, second_growth)
    following = -1
    if has_room(state):
        state["racks"][mover, count_tiles(state, mover)] = draw_tile(state)
        if needs_exchange(state, mover, team):
            exchange(state, mover)
        following = pass_turn(state, mover, has_bonus)
    if following < mover or (following == mover and not has_bonus):
        state["first_round"], state["used"] = 0, 0
    state["over"] = following < 0
    state["to_move"] = mover if following < 0 else following
    if following < 0 and has_objective(state, WIN):
        write_win(state, reward)


@kernel
def write_win(state, reward):
    """§5.2 Write who won, at the end."""
    winner, teams = find_winner(state), np.int64(state["teams"])
    for agent in range(np.int64(state["agents"])):
        if winner >= 0:
            credit(state, reward, agent, WIN, 1 if agent % teams == winner else -1)


@kernel
def find_winner(state):
    """§6.4 Return the team that wins if the game ends now, -1 without one.

    Of two teams, one loses: that which more often has the lowest of the scores that the teams do not have equally often.
    """
    scores, colors, teams = state["scores"], np.int64(state["colors"]), np.int64(state["teams"])
    best, is_tie = 0, teams == 1
    for team in range(1, teams):
        lowest, lead = np.int64(1 << 20), 0
        for k in range(2 * colors):
            score, more = np.int64(scores[best if k < colors else team, k % colors]), 0
            for color in range(colors):
                more += np.int64(scores[best, color] == score) - np.int64(scores[team, color] == score)
            if more != 0 and score < lowest:
                lowest, lead = score, more
        if lead >= 0:
            is_tie = lead == 0
        if lead > 0:
            best = team
    return -1 if is_tie else best


@kernel
def observe(state, agent, out):
    """§7 Write the board, the racks and the scores."""
    radius, agents, rack_size = np.int64(state["radius"]), np.int64(state["agents"]), np.int64(state["rack_size"])
    side, board = 2 * radius + 1, state["board"]
    for q in range(side):
        start = MIDDLE + (q - radius) * ROW - radius
        copy_padded16(board, start, min(side, 16), np.uint8(0), out, q * side)
        for r in range(16, side):
            out[q * side + r] = board[start + r]
    at = side * side
    while at % 8:
        out[at] = 0
        at += 1
    first, last = (0, agents) if state["open_racks"] else (agent, agent + 1)
    for one in range(first, last):
        for slot in range(rack_size):
            tile = np.int64(state["racks"][one, slot])
            out[at], out[at + 1] = tile >> 3, tile & 7
            at += 2
    while at % 8:
        out[at] = 0
        at += 1
    scores = view_as(out[at:], np.int32)
    colors, cap = np.int64(state["colors"]), np.int64(state["cap"])
    for one in range(agents):
        for color in range(colors):
            scores[one * colors + color] = min(np.int64(state["scores"][one % np.int64(state["teams"]), color]), cap)


@kernel
def prune_equivalent_actions(state, mask):
    """Clear the placements of a tile that an earlier slot has as well, and one way round of those of two equal colors."""
    rack, rack_size = state["racks"][np.int64(state["to_move"])], np.int64(state["rack_size"])
    pair, radius = 0, np.int64(state["radius"])
    for q in range(-radius, radius + 1):
        first, last = span(radius, q)
        for r in range(first, last + 1):
            for d in range(len(STEPS)):
                if not has_neighbor(radius, q, r, d):
                    continue
                for slot in range(rack_size):
                    at = pair * rack_size + slot
                    if mask[at]:
                        mask[at] = is_first(rack, slot) and (d in (0, 1, 5) or (rack[slot] >> 3) != (rack[slot] & 7))
                pair += 1


@kernel
def is_first(rack, slot):
    """Return whether no earlier slot has an equal tile."""
    earlier = 0
    for i in range(slot):
        earlier += np.int64(rack[i] == rack[slot])
    return earlier == 0


@kernel
def append_bits(words, at, value, size):
    """Write the lowest bits of a value to words uint64[W] at a bit; return the place after them."""
    word, shift = at // 64, at % 64
    words[word] |= np.uint64(value) << np.uint64(shift)
    if shift + size > 64:
        words[word + 1] |= np.uint64(value) >> np.uint64(64 - shift)
    return at + size


@kernel
def write_state_key(state, words):
    """Write a key that is equal for positions with the same future, if all tiles of the bag are in the order of upcoming ones.

    Racks are sorted: the slots of tiles do not matter, also in an exchange. Of the order, those tiles count that can be drawn.
    """
    words[:] = np.uint64(0)
    radius, agents, colors = np.int64(state["radius"]), np.int64(state["agents"]), np.int64(state["colors"])
    at, empty = append_bits(words, 0, np.int64(state["to_move"]) * 2 + np.int64(state["first_round"]), 4), 0
    for q in range(-radius, radius + 1):
        first, last = span(radius, q)
        for r in range(first, last + 1):
            color = np.int64(state["board"][MIDDLE + q * ROW + r])
            at = append_bits(words, at, color, 3)
            empty += np.int64(color == 0)
    rack_size = np.int64(state["rack_size"])
    for agent in range(agents):
        for i in range(rack_size):
            at = append_bits(words, at, find_ranked(state["racks"][agent], rack_size, i), 6)
    for team in range(np.int64(state["teams"])):
        for color in range(colors):
            at = append_bits(words, at, np.int64(state["scores"][team, color]), 14)
    drawn = min(np.int64(state["ordered"]), empty // 2 * (1 + rack_size))
    for i in range(drawn):
        at = append_bits(words, at, np.int64(state["upcoming"][i]), 6)


@kernel
def find_ranked(rack, rack_size, rank):
    """Return the tile of a rank in the sorted rack."""
    found = 0
    for slot in range(rack_size):
        before = 0
        for i in range(rack_size):
            before += np.int64(rack[i] < rack[slot] or (rack[i] == rack[slot] and i < slot))
        if before == rank:
            found = np.int64(rack[slot])
    return found
