"""Units and goals of MO-TileBlast (SPEC §6.1)."""

import numpy as np

from momagames.games.tileblast.rules.pieces import ATTRIBUTES, COUNTS, PER_HIT, UNIT_CAGE
from momagames.games.tileblast.rules.state import ALL, CELLS
from momagames.kernels.jit import kernel, noinline_kernel


@kernel
def collects(state, goal, thing, color):
    """Whether a thing (a kind, or a cover as UNIT_...) of this color, 0 for none, gives a goal a unit."""
    asked = np.int64(state["goal_color"][goal])
    return (np.int64(state["goal_units"][goal]) >> thing) & 1 and (asked == 0 or asked == color)


@kernel
def credit(state, thing, color):
    """§6.1 One unit, for every goal that it fits; units beyond an amount are not counted."""
    for goal in range(np.int64(state["goals"])):
        if collects(state, goal, thing, color):
            amount = state["goal_amount"][goal]
            if amount == ALL or state["collected"][goal] < amount:
                state["collected"][goal] += 1
                state["gained"][goal] += 1


@kernel
def counter(state, anchor, color):
    """How many hit points of this color (1..6) a piece has that counts by color."""
    return (np.int64(state["counters"][anchor]) >> (4 * (color - 1))) & 15


@noinline_kernel
def left_on_board(state, goal):
    """§6.1 Units that the board holds now for a goal."""
    units = 0
    asked = np.int64(state["goal_color"][goal])
    for cell in range(CELLS):
        cover = np.int64(state["cover"][cell])
        if cover and collects(state, goal, UNIT_CAGE - 1 + cover, 0):
            units += 1
        kind = np.int64(state["kind"][cell])
        if kind and state["anchor"][cell] == cell:
            attributes = ATTRIBUTES[kind]
            if attributes & COUNTS:
                if (np.int64(state["goal_units"][goal]) >> kind) & 1:
                    units += counter(state, cell, asked) if asked else np.int64(state["hp"][cell])
            elif collects(state, goal, kind, np.int64(state["color"][cell])):
                units += np.int64(state["hp"][cell]) if attributes & PER_HIT else 1
    return units


@noinline_kernel
def take_stock(state):
    """§6.1 What is left of each goal; whether that is nothing."""
    reached = True
    for goal in range(np.int64(state["goals"])):
        amount = np.int64(state["goal_amount"][goal])
        rest = left_on_board(state, goal) if amount == ALL else amount - np.int64(state["collected"][goal])
        state["rest"][goal] = rest
        reached &= rest == 0
    return reached
