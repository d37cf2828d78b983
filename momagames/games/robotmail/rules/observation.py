"""Observations of MO-RoboticMail (SPEC §7)."""

import numpy as np

from momagames.games.robotmail.rules.state import (
    BLUE,
    FULL,
    GREEN,
    MAX_STANDS,
    NARROW,
    RED,
    WHITE,
    YELLOW,
    cell_at,
    cell_color,
    displayed_battery,
)
from momagames.kernels.jit import kernel, noinline_kernel, view_as

PLANES = 6


@kernel
def observe(state, agent, out):
    """§7 Write the observation of `agent` as the bytes of its fields."""
    end = write_robots(state, agent, view_as(out, np.float32))
    if state["fields"]:
        write_fields(state, agent, out, 4 * end)


@kernel
def write_robots(state, agent, numbers):
    """§7.1 Write the robots, the observing one first; return the count of numbers."""
    wide = np.float32(max(np.int64(state["width"]) - 1, 1))
    high = np.float32(max(np.int64(state["height"]) - 1, 1))
    most = np.float32(state["index"][np.int64(state["indices"]) - 1])
    battery = state["with_battery"] != 0
    size = 4 if battery else 3
    robots = np.int64(state["players"]) * np.int64(state["team"])
    for robot in range(robots):
        rank = 0 if robot == agent else robot + (robot < agent)
        at = size * rank
        numbers[at] = np.float32(state["x"][robot]) / wide
        numbers[at + 1] = np.float32(state["y"][robot]) / high
        numbers[at + 2] = np.float32(state["mail"][robot]) / most
        if battery:
            numbers[at + 3] = np.float32(displayed_battery(state["battery"][robot])) / np.float32(FULL)
    return size * robots


@kernel
def next_field_start(start, nbytes):
    """Return the start of the next field: a multiple of 8 bytes."""
    return (start + nbytes + 7) & ~7


@noinline_kernel
def write_fields(state, agent, out, end):
    """§7.2 Write the layout, the mails on it, deliveries and steps, from byte `end` on."""
    height, width = np.int64(state["height"]), np.int64(state["width"])
    cells = height * width
    layout = next_field_start(end, 0)
    targets = next_field_start(layout, PLANES * cells)
    mails = next_field_start(targets, cells)
    counts = next_field_start(mails, cells)
    for y in range(height):
        for x in range(width):
            cell, i = cell_at(state, x, y), y * width + x
            color, at = cell_color(state, cell), layout + PLANES * i
            out[at] = color == WHITE
            out[at + 1] = color == GREEN
            out[at + 2] = color == YELLOW
            out[at + 3] = color == BLUE
            out[at + 4] = color == RED
            out[at + 5] = state["ground"][cell] & NARROW != 0
            out[targets + i] = state["target"][cell]
            out[mails + i] = state["waiting"][cell]
    write_counts(state, agent, view_as(out[counts:], np.int32))


@kernel
def write_counts(state, agent, numbers):
    """§7.2 Write deliveries by player, the observing one's first, steps left, and stands."""
    players, team = np.int64(state["players"]), np.int64(state["team"])
    own = agent // team
    for player in range(players):
        mails = 0
        for robot in range(player * team, player * team + team):
            mails += np.int64(state["delivered"][robot])
        numbers[0 if player == own else player + (player < own)] = mails
    steps = (players + 1) & ~1
    numbers[steps] = np.int64(state["left"])
    numbers[steps + 1] = np.int64(state["max_step"]) - np.int64(state["ply"])
    numbers[steps + 2] = min(np.int64(state["stands"][agent]), MAX_STANDS)
