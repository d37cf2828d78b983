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
def compute_component(state, component, points):
    """§5.1-5.5 Return the value of the last tap in one component."""
    if component == GOAL_SUM:
        units = 0
        for goal in range(GOALS):
            units += np.int64(state["gained"][goal])
        return units
    if component < WIN:
        return np.int64(state["gained"][component - GOAL])
    if component >= COLOR:
        return np.int64(state["cleared"][component - COLOR])
    valid = np.int64(state["valid"])
    if component == WIN:
        return np.int64(state["won"])
    if component == STEP:
        return -1
    if component == MOVE:
        return -valid
    if component == MOVES_SAVED:
        saved = np.int64(state["limit"]) - np.int64(state["moves"])
        return saved if state["won"] and saved > 0 else 0
    if component == INVALID:
        return valid - 1
    if component == CREATED:
        return np.int64(state["created"])
    if component == USED:
        return np.int64(state["used"])
    return np.int64(state["combo"]) if component == COMBO else points


@noinline_kernel
def write_rewards(state, reward, points):
    """§5 Write the reward of the agent that tapped, or of all agents. points: of the tap. reward float32[A, K], all 0"""
    for k in range(reward.shape[1]):
        amount = np.float32(compute_component(state, np.int64(state["wanted"][k]), points) / state["share"][k])
        if state["team_rewards"]:
            reward[:, k] = amount
        else:
            reward[np.int64(state["to_move"]), k] = amount
