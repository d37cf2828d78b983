"""Units and goals of MO-TileBlast (SPEC §6.1)."""

import numpy as np

from momagames.games.tileblast.rules.pieces import ATTRIBUTES, COUNTS, PER_HIT, UNIT_CAGE
from momagames.games.tileblast.rules.state import ALL, CELLS
from momagames.kernels.jit import kernel, noinline_kernel


@kernel
def collects(state, goal, unit, color):
    """Return whether a kind, or a cover as UNIT_..., of this color (0: none) gives a goal a unit."""
    goal_color = np.int64(state["goal_color"][goal])
    return (np.int64(state["goal_units"][goal]) >> unit) & 1 and (goal_color == 0 or goal_color == color)


@kernel
def credit_goals(state, unit, color):
    """§6.1 Count one unit for every goal that collects it; units beyond an amount are not counted."""
    for goal in range(np.int64(state["goals"])):
        if collects(state, goal, unit, color):
            amount = state["goal_amount"][goal]
            if amount == ALL or state["collected"][goal] < amount:
                state["collected"][goal] += 1
                state["gained"][goal] += 1


@kernel
def read_counter(state, anchor, color):
    """Return the hit points of this color (1..6) of a piece that counts by color."""
    return (np.int64(state["counters"][anchor]) >> (4 * (color - 1))) & 15


@noinline_kernel
def count_units_on_board(state, goal):
    """§6.1 Return the units that the board holds for a goal."""
    units = 0
    goal_color = np.int64(state["goal_color"][goal])
    for cell in range(CELLS):
        cover = np.int64(state["cover"][cell])
        if cover and collects(state, goal, UNIT_CAGE - 1 + cover, 0):
            units += 1
        kind = np.int64(state["kind"][cell])
        if kind and state["anchor"][cell] == cell:
            attributes = ATTRIBUTES[kind]
            if attributes & COUNTS:
                if (np.int64(state["goal_units"][goal]) >> kind) & 1:
                    units += read_counter(state, cell, goal_color) if goal_color else np.int64(state["hp"][cell])
            elif collects(state, goal, kind, np.int64(state["color"][cell])):
                units += np.int64(state["hp"][cell]) if attributes & PER_HIT else 1
    return units


@noinline_kernel
def update_goals(state):
    """§6.1 Update the remaining units of each goal; return whether all goals are reached."""
    reached = True
    for goal in range(np.int64(state["goals"])):
        amount = np.int64(state["goal_amount"][goal])
        rest = count_units_on_board(state, goal) if amount == ALL else amount - np.int64(state["collected"][goal])
        state["rest"][goal] = rest
        reached &= rest == 0
    return reached
