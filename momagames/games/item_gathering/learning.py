# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What MO-ItemGathering declares for searches and learners: bounds and features of positions, and a view around an agent."""

from __future__ import annotations

import numpy as np

from momagames.contract import EgocentricView, ObjectiveFeatures
from momagames.games.item_gathering.agent_kernels import measure
from momagames.games.item_gathering.rules import find_column
from momagames.kernels.jit import kernel

FEATURES = ("in reach", "closeness", "nearest")
NEAR = 0.7  # closeness of an item decreases by this factor with each step to it
LARGEST_VIEW = 15  # rows and columns of a view at most
SCALARS = ("steps left", *(f"{side} is closed" for side in ("above", "below", "left", "right")))


@kernel
def measure_nearest(state, cell):
    """Return the steps from a cell to the nearest agent."""
    nearest = measure(state, np.int64(state["cell"][0]), cell)
    for agent in range(1, np.int64(state["agents"])):
        nearest = min(nearest, measure(state, np.int64(state["cell"][agent]), cell))
    return nearest


@kernel
def optimistic(state, out):
    """Write an upper bound of the return: all items that an agent can reach in time, and no more than all agents can take."""
    out[:] = 0.0
    steps = np.int64(state["steps"]) - np.int64(state["ply"])
    if state["over"]:
        return
    for cell in range(np.int64(state["height"]) * np.int64(state["width"])):
        kind = np.int64(state["item"][cell])
        column = find_column(state, kind)
        if column >= 0 and state["chance"][kind - 1] > 0 and measure_nearest(state, cell) <= steps:
            out[column] += 1.0
    for k in range(out.shape[0]):
        out[k] = min(out[k], np.float64(steps * np.int64(state["agents"])))


@kernel
def present(state, out):
    """Write an estimate of the return: of each item that can be reached in time, its closeness, see NEAR."""
    out[:] = 0.0
    steps = np.int64(state["steps"]) - np.int64(state["ply"])
    for cell in range(np.int64(state["height"]) * np.int64(state["width"])):
        kind = np.int64(state["item"][cell])
        column = find_column(state, kind)
        if column >= 0:
            away = measure_nearest(state, cell)
            if away <= steps:
                out[column] += state["chance"][kind - 1] * NEAR**away


@kernel
def write_features(state, out):
    """Write FEATURES to out float64[3, K]: items in reach, their closeness, and that of the nearest one."""
    optimistic(state, out[0])
    present(state, out[1])
    out[2] = 0.0
    for cell in range(np.int64(state["height"]) * np.int64(state["width"])):
        kind = np.int64(state["item"][cell])
        column = find_column(state, kind)
        if column >= 0:
            out[2, column] = max(out[2, column], NEAR ** measure_nearest(state, cell))


@kernel
def write_view(state, agent, planes, scalars):
    """Write a plane for each type of item and one for the other agents, around the agent; and SCALARS."""
    width, height, types = np.int64(state["width"]), np.int64(state["height"]), np.int64(state["types"])
    side = view_side(height, width)
    own = np.int64(state["cell"][agent])
    top, left = own // width - side // 2, own % width - side // 2
    planes[:] = 0
    for cell in range(width * height):
        row, column, kind = cell // width - top, cell % width - left, np.int64(state["item"][cell])
        if kind and 0 <= row < side and 0 <= column < side:
            planes[((kind - 1) * side + row) * side + column] = 1
    for other in range(np.int64(state["agents"])):
        cell = np.int64(state["cell"][other])
        row, column = cell // width - top, cell % width - left
        if other != agent and 0 <= row < side and 0 <= column < side:
            planes[(types * side + row) * side + column] = 1
    scalars[0] = (np.int64(state["steps"]) - np.int64(state["ply"])) / np.int64(state["steps"])
    scalars[1], scalars[2] = own < width, own >= width * (height - 1)
    scalars[3], scalars[4] = own % width == 0, own % width == width - 1


@kernel
def view_side(height, width):
    """Return the rows and columns of a view: an odd number, so that the agent is in the middle."""
    return min(2 * max(height, width) - 1, LARGEST_VIEW)


def declare_view(height: int, width: int, types: int) -> EgocentricView:
    """Return the view for a map of this size."""
    side = min(2 * max(height, width) - 1, LARGEST_VIEW)
    planes = (*(f"item_{kind}" for kind in range(1, types + 1)), "others")
    return EgocentricView(write=write_view, shape=(side, side), planes=planes, scalars=SCALARS)


OBJECTIVE_FEATURES = ObjectiveFeatures(names=FEATURES, write=write_features)
