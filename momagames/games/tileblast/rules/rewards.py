"""Rewards of MO-TileBlast (SPEC §5)."""

import numpy as np

from momagames.games.tileblast.rules.state import GOALS
from momagames.kernels.jit import kernel, noinline_kernel

COMPONENTS = (
    *("goals", "goal_1", "goal_2", "goal_3", "goal_4", "win", "step", "move", "moves_saved", "invalid"),
    *("created", "used", "combo", "score", "color_1", "color_2", "color_3", "color_4", "color_5", "color_6"),
)
(GOAL_SUM, GOAL, WIN, STEP, MOVE, MOVES_SAVED, INVALID, CREATED, USED, COMBO, SCORE, COLOR) = (
    COMPONENTS.index(name)
    for name in (
        "goals",
        "goal_1",
        "win",
        "step",
        "move",
        "moves_saved",
        "invalid",
        "created",
        "used",
        "combo",
        "score",
        "color_1",
    )
)


@kernel
def component(state, which, points):
    """§5.1-5.5 What the last tap pays in one component."""
    if which == GOAL_SUM:
        units = 0
        for goal in range(GOALS):
            units += np.int64(state["gained"][goal])
        return units
    if which < WIN:
        return np.int64(state["gained"][which - GOAL])
    if which >= COLOR:
        return np.int64(state["cleared"][which - COLOR])
    valid = np.int64(state["valid"])
    if which == WIN:
        return np.int64(state["won"])
    if which == STEP:
        return -1
    if which == MOVE:
        return -valid
    if which == MOVES_SAVED:
        saved = np.int64(state["limit"]) - np.int64(state["moves"])
        return saved if state["won"] and saved > 0 else 0
    if which == INVALID:
        return valid - 1
    if which == CREATED:
        return np.int64(state["created"])
    if which == USED:
        return np.int64(state["used"])
    return np.int64(state["combo"]) if which == COMBO else points


@noinline_kernel
def pay(state, reward, points):
    """§5 Who tapped is paid, or everybody; points are those of the tap. reward float32[A, K], all 0"""
    for k in range(reward.shape[1]):
        amount = np.float32(component(state, np.int64(state["wanted"][k]), points) / state["share"][k])
        if state["team_rewards"]:
            reward[:, k] = amount
        else:
            reward[np.int64(state["to_move"]), k] = amount
