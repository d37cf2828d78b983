# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of the scripted agents of MO-ItemGathering. With central control the agents of the map choose one after another."""

import numpy as np

from momagames.games.item_gathering.rules import DOWN, LEFT, MAX_AGENTS, MOVES, RIGHT, STAY, UP, find_target
from momagames.kernels.jit import kernel, local_array

NOTHING = -1


@kernel
def measure(state, one, other):
    """Return the steps between two cells."""
    width = np.int64(state["width"])
    return abs(one // width - other // width) + abs(one % width - other % width)


@kernel
def is_left_to_others(state, agent, cell):
    """Return whether another agent is nearer to a cell, or as near and before this one in order."""
    own, found = measure(state, np.int64(state["cell"][agent]), cell), False
    for other in range(np.int64(state["agents"])):
        away = measure(state, np.int64(state["cell"][other]), cell)
        found |= away < own or (away == own and other < agent)
    return found


@kernel
def choose_item(state, agent, weights, shares, goals, chosen):
    """Return the cell of the item that an agent goes to, or NOTHING.

    weights    of the objectives; empty: only the distance counts
    shares     whether items that are nearer to others are left to them, if it has any other
    goals      cells of the items that the `chosen` agents before it go to
    """
    best, best_value, own = NOTHING, 0.0, np.int64(state["cell"][agent])
    for cell in range(np.int64(state["height"]) * np.int64(state["width"])):
        kind = np.int64(state["item"][cell])
        if kind == 0:
            continue
        is_taken = False
        for before in range(chosen):
            is_taken |= goals[before] == cell
        steps = measure(state, own, cell)
        worth = 1.0
        if weights.shape[0]:
            column = np.int64(state["column"][kind - 1])
            worth = weights[column] * state["chance"][kind - 1] if column >= 0 else 0.0
        value = worth / (1 + steps)
        if shares and worth > 0 and is_left_to_others(state, agent, cell):
            value *= 1e-6  # only if there is nothing else
        if not is_taken and value > best_value:
            best, best_value = cell, value
    return best


@kernel
def choose_move(state, agent, goal, targets, chosen):
    """Return the action of an agent on its way to a cell: rows first, around cells where others stand or go to.

    targets    cells that the `chosen` agents before it go to
    """
    width, cell = np.int64(state["width"]), np.int64(state["cell"][agent])
    if goal in (NOTHING, cell):
        return STAY
    rows, columns = goal // width - cell // width, goal % width - cell % width
    for turn in range(2):
        action = STAY
        if turn == 0 and rows != 0:
            action = DOWN if rows > 0 else UP
        elif turn == 1 and columns != 0:
            action = RIGHT if columns > 0 else LEFT
        target, is_free = find_target(state, agent, action), action != STAY
        for other in range(np.int64(state["agents"])):
            is_free &= np.int64(state["cell"][other]) != target
            is_free &= other >= chosen or targets[other] != target
        if is_free:
            return action
    return STAY


@kernel
def gather(state, agent, mask, parts, memory, scratch, word, action):
    """Go to the item of the highest weight for the distance. scratch: the weights, and whether it shares, see `choose_item`."""
    weights, options = scratch
    goals, targets = local_array(MAX_AGENTS), local_array(MAX_AGENTS)
    agents = np.int64(state["agents"])
    if not state["central"]:
        goal = choose_item(state, agent, weights, options[0] > 0, goals, 0)
        action[0] = choose_move(state, agent, goal, targets, 0)
        return word
    joint, place = 0, 1
    for one in range(agents):
        goals[one] = choose_item(state, one, weights, options[0] > 0, goals, one)
        move = choose_move(state, one, goals[one], targets, one)
        targets[one] = find_target(state, one, move)
        joint += move * place
        place *= MOVES
    action[0] = joint
    return word
