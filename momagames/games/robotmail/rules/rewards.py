"""Rewards of MO-RoboticMail (SPEC §5)."""

import numpy as np

from momagames.games.robotmail.rules.state import (
    BALANCE,
    BLOCKED,
    BLOCKING,
    CHARGE,
    CHARGED,
    DELIVERED,
    DELIVERY,
    DOCK,
    DOCKED,
    ENERGY,
    FORWARD,
    OUTCOME,
    PICKED_UP,
    PICKUP,
    RIGHT,
    RIVALRY,
    STEP_COST,
    TIME,
    neighbor,
    robot_cell,
)
from momagames.kernels.jit import kernel
from momagames.kernels.reward import credit, has_objective


@kernel
def credit_step(state, robot, event, reward):
    """§5.1, §5.2, §5.5, §5.6 Credit the objectives of a robot's step."""
    credit(state, reward, robot, DELIVERY, event == DELIVERED)
    credit(state, reward, robot, PICKUP, event == PICKED_UP)
    credit(state, reward, robot, DOCK, event == DOCKED)
    quiet = event != DELIVERED and event != PICKED_UP and event != DOCKED and event != CHARGED
    credit(state, reward, robot, STEP_COST, -np.int64(quiet))
    credit(state, reward, robot, TIME, -np.int64(event != CHARGED))
    if event == DELIVERED:
        credit_balance(state, robot, reward)
        credit_rivalry(state, robot, reward)


@kernel
def credit_balance(state, robot, reward):
    """§5.5 Credit the change of the difference in deliveries within a team."""
    if not has_objective(state, BALANCE):
        return
    team = np.int64(state["team"])
    first = robot - robot % team
    change = delivery_spread(state, first, robot, 1) - delivery_spread(state, first, robot, 0)
    for mate in range(first, first + team):
        credit(state, reward, mate, BALANCE, change)


@kernel
def delivery_spread(state, first, robot, less):
    """Return the maximum minus the minimum of deliveries within a team, with `less` deliveries fewer for this robot."""
    low, high = 1 << 30, 0
    for mate in range(first, first + np.int64(state["team"])):
        count = np.int64(state["delivered"][mate]) - (less if mate == robot else 0)
        low, high = min(low, count), max(high, count)
    return high - low


@kernel
def credit_rivalry(state, robot, reward):
    """§5.6 Charge the other players for a delivery."""
    if not has_objective(state, RIVALRY):
        return
    team = np.int64(state["team"])
    for other in range(np.int64(state["players"]) * team):
        if other // team != robot // team:
            credit(state, reward, other, RIVALRY, -1)


@kernel
def credit_outcome(state, player, reward):
    """§5.6 Credit the winner's robots and charge the others."""
    if not has_objective(state, OUTCOME):
        return
    team = np.int64(state["team"])
    for robot in range(np.int64(state["players"]) * team):
        credit(state, reward, robot, OUTCOME, 1 if robot // team == player else -1)


@kernel
def credit_energy(state, robot, used, reward):
    """§5.3 Charge the energy of a move."""
    credit(state, reward, robot, ENERGY, -used)


@kernel
def credit_charge(state, robot, gained, reward):
    """§5.3 Credit charged energy."""
    credit(state, reward, robot, CHARGE, gained)


@kernel
def credit_blocked(state, robot, blocked, reward):
    """§5.4 Charge both robots for each direction in which only a robot is in the way (`blocked`, a bit for each)."""
    if blocked == 0 or not (has_objective(state, BLOCKED) or has_objective(state, BLOCKING)):
        return
    cell = robot_cell(state, robot)
    for direction in range(FORWARD, RIGHT + 1):
        if (blocked >> direction) & 1:
            credit(state, reward, robot, BLOCKED, -1)
            credit(state, reward, np.int64(state["robot"][neighbor(state, cell, direction)]) - 1, BLOCKING, -1)
