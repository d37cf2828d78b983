# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Rules of MO-ItemGathering as kernels. The numbers are the sections of SPEC.md."""

import numpy as np

from momagames.kernels.jit import kernel, local_array
from momagames.kernels.record import CUT_OFF, CUT_OFF_AND_DECIDED, record
from momagames.kernels.rng import advance, draw, uniform

MAX_AGENTS, MAX_SIDE, MAX_TYPES, MAX_STEPS = 16, 20, 9, 1000
MAX_CELLS = MAX_SIDE * MAX_SIDE
STAY, UP, DOWN, LEFT, RIGHT = range(5)
MOVES, MAX_CENTRAL = 5, 4  # actions of an agent; most agents that one can move
AGENT = -1  # in a map
RING = 2  # outermost rings of cells that a random start leaves alone
state_dtype = record(
    MAX_AGENTS,
    item=("i1", (MAX_CELLS,)),  # type of the item on each cell, row by row; 0 for none
    cell=("i2", (MAX_AGENTS,)),  # of each agent
    left=("i2",),  # items on the map
    map=("i1", (MAX_CELLS,)),  # items of the start, as `item`; a cell of an agent is AGENT
    height=("i2",),
    width=("i2",),
    agents=("i2",),
    types=("i2",),
    steps=("i2",),
    random=("u1",),  # whether the start is shuffled
    team=("u1",),  # whether all agents share one reward
    central=("u1",),  # whether one agent moves all
    chance=("f8", (MAX_TYPES,)),  # probability that a try to take an item of each type succeeds
    column=("i1", (MAX_TYPES,)),  # of each type in the reward vector, or -1
)


@kernel
def generate(state):
    """§2 The map, shuffled if the parameter says so."""
    height, width = np.int64(state["height"]), np.int64(state["width"])
    for cell in range(height * width):
        state["item"][cell] = state["map"][cell]
    if state["random"] and min(height, width) > 2 * RING:
        shuffle(state, height, width)
    agent, left = 0, 0
    for cell in range(height * width):
        if state["item"][cell] == AGENT:
            state["cell"][agent] = cell
            state["item"][cell] = 0
            agent += 1
        left += state["item"][cell] > 0
    state["left"] = left


@kernel
def shuffle(state, height, width):
    """§2.3 Exchange whole rows, then columns of the inner part."""
    for last in range(height - 2 * RING - 1, 0, -1):
        other = draw(state, last + 1)
        for column in range(RING, width - RING):
            swap_cells(state, (RING + last) * width + column, (RING + other) * width + column)
    for last in range(width - 2 * RING - 1, 0, -1):
        other = draw(state, last + 1)
        for row in range(RING, height - RING):
            swap_cells(state, row * width + RING + last, row * width + RING + other)


@kernel
def swap_cells(state, one, other):
    """Exchange what is on two cells."""
    item = state["item"][one]
    state["item"][one] = state["item"][other]
    state["item"][other] = item


@kernel
def legal(state, agent, mask):
    """§3 Every action, until the end."""
    mask[:] = not state["over"]


@kernel
def central_legal(state, agent, mask):
    """§3.1 Joint actions in which all that move get to another cell."""
    agents, wishes = np.int64(state["agents"]), local_array(MAX_AGENTS)
    for joint in range(mask.shape[0]):
        rest, is_legal = joint, not state["over"]
        for one in range(agents):
            action = rest % MOVES
            wishes[one] = find_target(state, one, action)
            is_legal &= action == STAY or wishes[one] != state["cell"][one]
            for other in range(one):
                is_legal &= wishes[other] != wishes[one]
            rest //= MOVES
        mask[joint] = is_legal


@kernel
def find_target(state, agent, action):
    """§4.1 Return the cell that an agent wants."""
    width, cell = np.int64(state["width"]), np.int64(state["cell"][agent])
    row, column = cell // width, cell % width
    if action == UP and row > 0:
        return cell - width
    if action == DOWN and row < np.int64(state["height"]) - 1:
        return cell + width
    if action == LEFT and column > 0:
        return cell - 1
    if action == RIGHT and column < width - 1:
        return cell + 1
    return cell


@kernel
def resolve_moves(state, actions, targets):
    """§4.1 to §4.3 Write the cell where each agent stands after a joint action to targets int64[A]."""
    agents, wishes = np.int64(state["agents"]), local_array(MAX_AGENTS)
    joint = actions[0, 0]
    for agent in range(agents):
        action = joint % MOVES if state["central"] else actions[agent % actions.shape[0], 0]
        joint //= MOVES
        wishes[agent] = find_target(state, agent, action)
        targets[agent] = wishes[agent]
    for later in range(1, agents):  # §4.2
        wish = wishes[later]
        if wish != state["cell"][later] and not is_held(state, wishes, wish):
            for earlier in range(later):
                if wishes[earlier] == wish and targets[earlier] == wish and targets[later] == wish:
                    loser = later if draw(state, 2) else earlier
                    targets[loser] = state["cell"][loser]
    is_settled = False
    while not is_settled:  # §4.3
        is_settled = True
        for agent in range(agents):
            cell = np.int64(state["cell"][agent])
            if targets[agent] != cell and is_held(state, targets, targets[agent]):
                targets[agent] = cell
                is_settled = False


@kernel
def is_held(state, targets, cell):
    """Return whether an agent that is on a cell stays there."""
    found = False
    for agent in range(np.int64(state["agents"])):
        found |= state["cell"][agent] == cell and targets[agent] == cell
    return found


@kernel
def take_item(state, agent):
    """§4.5 Return the type of the item that an agent takes, or 0."""
    cell = np.int64(state["cell"][agent])
    kind = np.int64(state["item"][cell])
    if kind == 0:
        return 0
    chance = state["chance"][kind - 1]
    if 0 < chance < 1:
        state["rng"] = advance(state["rng"])
        if uniform(state["rng"]) >= chance:
            return 0
    elif chance == 0:
        return 0
    state["item"][cell] = 0
    state["left"] -= 1
    return kind


@kernel
def find_column(state, kind):
    """§5.3 Return the objective of a type of items, or -1."""
    return np.int64(state["column"][kind - 1]) if kind else -1


@kernel
def step(state, actions, reward):
    """§4 All agents move, then they take items in order. Every action is legal."""
    agents, targets = np.int64(state["agents"]), local_array(MAX_AGENTS)
    resolve_moves(state, actions, targets)
    for agent in range(agents):
        state["cell"][agent] = targets[agent]
    reward[:] = 0
    for agent in range(agents):
        kind = take_item(state, agent)
        column = find_column(state, kind)
        if column >= 0 and (state["team"] or state["central"]):  # §5.2
            for other in range(reward.shape[0]):
                reward[other, column] += 1
        elif column >= 0:  # §5.1
            reward[agent, column] = 1
    state["ply"] += 1
    is_last = state["ply"] == state["steps"]  # §6
    state["over"] = is_last or state["left"] == 0
    if is_last:
        state["truncated"] = CUT_OFF if state["left"] else CUT_OFF_AND_DECIDED


@kernel
def observe(state, agent, out):
    """§7 The fields id, map, under and steps_left, each aligned to 8 bytes."""
    cells, agents = np.int64(state["height"]) * np.int64(state["width"]), np.int64(state["agents"])
    numbers, under = out.view(np.int8), 8 + align(cells)
    numbers[0] = 0 if state["central"] else -(agent + 1)
    for cell in range(cells):
        numbers[8 + cell] = state["item"][cell]
    for other in range(agents):
        cell = np.int64(state["cell"][other])
        numbers[8 + cell] = -(other + 1)
        numbers[under + other] = state["item"][cell]
    out[under + align(agents) :].view(np.int32)[0] = np.int64(state["steps"]) - np.int64(state["ply"])


@kernel
def align(size):
    """Return the next multiple of 8."""
    return (size + 7) // 8 * 8


@kernel
def write_state_key(state, words):
    """Write the step, the cell of each agent, and a bit for each cell with an item; see `ExactSearch`.

    With central control agents are exchangeable: their cells are in ascending order.
    """
    agents = np.int64(state["agents"])
    words[:] = 0
    words[0] = np.uint64(state["ply"])
    for agent in range(agents):
        cell, place = state["cell"][agent], agent
        if state["central"]:
            place = 0
            for other in range(agents):
                place += state["cell"][other] < cell
        words[1 + place // 4] |= np.uint64(cell) << np.uint64(16 * (place % 4))
    first = 1 + (agents + 3) // 4
    for cell in range(np.int64(state["height"]) * np.int64(state["width"])):
        if state["item"][cell]:
            words[first + cell // 64] |= np.uint64(1) << np.uint64(cell % 64)
