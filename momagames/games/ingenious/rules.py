# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Ingenious: the rules as compiled kernels. Section numbers are those of SPEC.md.

A board is a square array around the hexagon: cell (q, r) is at MIDDLE + q * ROW + r, and WALL is what is not on the board. The
empty cells are bits as well, a word for each row. A tile (a, b) is the number 8a + b, 0 for an empty slot.
"""

import numpy as np

from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, local_array, view_as
from momagames.kernels.record import record
from momagames.kernels.rng import below, draw

MAX_AGENTS = MAX_COLORS = MAX_RACK = CORNERS = 6
MIN_SIDE, MAX_SIDE = 3, 10
ROW = 2 * MAX_SIDE + 1  # cells of a row of the array, with a wall on either side
HALF = ROW // 2
MIDDLE = HALF * ROW + HALF
WALL = 7
STEPS = (ROW, ROW - 1, -1, -ROW, 1 - ROW, 1)  # §1.1 d0..d5
MOST_TILES = 240  # in the order of upcoming tiles

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
    fixed_bag=("u1",),
)
PARAMETERS = ("cap", "agents", "teams", "colors", "rack_size", "radius", "full_bag", "open_racks", "fixed_bag")


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
    radius, empty, room = np.int64(state["radius"]), state["empty"], 0
    for row in range(HALF - radius, HALF + radius + 1):
        room |= find_open(empty, row, 0) | find_open(empty, row, 1) | find_open(empty, row, 5)
    return room != 0


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
    to a corner to far: a pair of free neighbors is allowed unless both are far. Without the first round no cell is far.
    """
    radius = np.int64(state["radius"])
    for row in range(ROW):
        free[row] = np.int64(state["empty"][row])
        far[row] = free[row] * np.int64(state["first_round"])
    if not state["first_round"]:
        return
    for i in range(CORNERS):
        for d in range(len(STEPS)):
            cell = MIDDLE + radius * STEPS[i] + STEPS[d]
            bit = 1 << (cell % ROW)
            far[cell // ROW] &= ~bit
            if (np.int64(state["used"]) >> i) & 1:
                free[cell // ROW] &= ~bit
    allowed = 0
    for row in range(HALF - radius, HALF + radius + 1):
        far[row] &= free[row]
    for row in range(HALF - radius, HALF + radius + 1):
        for d in range(len(STEPS)):
            allowed |= find_pairs(free, far, row, d)
    for row in range(ROW if allowed == 0 else 0):
        free[row], far[row] = np.int64(state["empty"][row]), 0


@kernel
def find_pairs(free, far, row, d):
    """Return the cells of a row that make an allowed pair with their neighbor in direction d, as bits."""
    return find_open(free, row, d) & ~find_open(far, row, d)


@kernel
def count_neighbors(radius, q, r):
    """Return the number of neighbors of a cell."""
    edges = np.int64(abs(q) == radius) + np.int64(abs(r) == radius) + np.int64(abs(q + r) == radius)
    return (6, 4, 3)[edges]


@kernel
def legal(state, agent, mask):
    """§3 Write the placements of the agent to move."""
    mask[:] = 0
    if agent != state["to_move"] or state["over"]:
        return
    free, far, pairs = local_array(ROW), local_array(ROW), local_array(6)
    find_free(state, free, far)
    radius, rack_size, tiles = np.int64(state["radius"]), np.int64(state["rack_size"]), count_tiles(state, agent)
    board, at = state["board"], 0
    for q in range(-radius, radius + 1):
        any_pair = 0
        for d in range(len(STEPS)):
            pairs[d] = find_pairs(free, far, HALF + q, d)
            any_pair |= pairs[d]
        first, last = span(radius, q)
        for r in range(first, last + 1):
            if not (any_pair >> (HALF + r)) & 1:
                at += rack_size * count_neighbors(radius, q, r)
                continue
            for d in range(len(STEPS)):
                if (pairs[d] >> (HALF + r)) & 1:
                    for slot in range(at, at + tiles):
                        mask[slot] = 1
                at += rack_size * np.int64(board[MIDDLE + q * ROW + r + STEPS[d]] != WALL)


@kernel
def sample_action(state, agent, word):
    """Return a random legal action of the agent to move, without the mask."""
    if agent != state["to_move"] or state["over"]:
        return 0
    free, far = local_array(ROW), local_array(ROW)
    find_free(state, free, far)
    radius, tiles, total = np.int64(state["radius"]), count_tiles(state, agent), 0
    for row in range(HALF - radius, HALF + radius + 1):
        total += count_allowed(free, far, row)
    rank = below(word, max(1, total * tiles))
    pair, slot, q, before = rank // max(1, tiles), rank % max(1, tiles), -radius, 0
    if total * tiles == 0:
        return 0
    while pair >= count_allowed(free, far, HALF + q):
        pair -= count_allowed(free, far, HALF + q)
        before += count_pairs(radius, q)
        q += 1
    r = span(radius, q)[0]
    while True:
        for d in range(len(STEPS)):
            if (find_pairs(free, far, HALF + q, d) >> (HALF + r)) & 1:
                if pair == 0:
                    return before * np.int64(state["rack_size"]) + slot
                pair -= 1
            before += np.int64(state["board"][MIDDLE + q * ROW + r + STEPS[d]] != WALL)
        r += 1


@kernel
def count_allowed(free, far, row):
    """Return the number of allowed pairs (x, d) with x in a row."""
    count = 0
    for d in range(len(STEPS)):
        count += bit_count(np.uint64(find_pairs(free, far, row, d)))
    return count


@kernel
def find_place(state, action):
    """§3.1 Return the cell, the direction and the slot of an action."""
    radius, rack_size = np.int64(state["radius"]), np.int64(state["rack_size"])
    pair, slot = action // rack_size, action % rack_size
    q = -radius
    while pair >= count_pairs(radius, q):
        pair -= count_pairs(radius, q)
        q += 1
    r = span(radius, q)[0]
    while pair >= count_neighbors(radius, q, r):
        pair -= count_neighbors(radius, q, r)
        r += 1
    cell = MIDDLE + q * ROW + r
    d = -1
    while pair >= 0:
        d += 1
        pair -= np.int64(state["board"][cell + STEPS[d]] != WALL)
    return cell, d, slot


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
        if count_tiles(state, agent):
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
            reward[agent, first - 1] += first_growth
            reward[agent, second - 1] += second_growth
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


@kernel
def observe(state, agent, out):
    """§7 Write the board, the racks and the scores."""
    radius, agents, rack_size = np.int64(state["radius"]), np.int64(state["agents"]), np.int64(state["rack_size"])
    out[:] = 0
    at = 0
    for q in range(-radius, radius + 1):
        for r in range(-radius, radius + 1):
            color = state["board"][MIDDLE + q * ROW + r]
            out[at] = color if color != WALL else 0
            at += 1
    at = (at + 7) // 8 * 8
    first, last = (0, agents) if state["open_racks"] else (agent, agent + 1)
    for one in range(first, last):
        for slot in range(rack_size):
            tile = np.int64(state["racks"][one, slot])
            out[at], out[at + 1] = tile >> 3, tile & 7
            at += 2
    at = (at + 7) // 8 * 8
    scores = view_as(out[at:], np.int32)
    colors, cap = np.int64(state["colors"]), np.int64(state["cap"])
    for one in range(agents):
        for color in range(colors):
            scores[one * colors + color] = min(np.int64(state["scores"][one % np.int64(state["teams"]), color]), cap)


@kernel
def prune_equivalent_actions(state, mask):
    """Clear the placements of a tile that an earlier slot has as well, and one way round of those of two equal colors."""
    rack, rack_size = state["racks"][np.int64(state["to_move"])], np.int64(state["rack_size"])
    pair, radius, board = 0, np.int64(state["radius"]), state["board"]
    for q in range(-radius, radius + 1):
        first, last = span(radius, q)
        for r in range(first, last + 1):
            for d in range(len(STEPS)):
                if board[MIDDLE + q * ROW + r + STEPS[d]] == WALL:
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
    at, empty, rack_size = append_bits(words, 0, np.int64(state["to_move"]) * 2 + np.int64(state["first_round"]), 4), 0, 0
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
    for slot in range(rack_size):
        before = 0
        for i in range(rack_size):
            before += np.int64(rack[i] < rack[slot] or (rack[i] == rack[slot] and i < slot))
        if before == rank:
            return np.int64(rack[slot])
    return 0
