"""The game of MO-TileBlast: deal, legality, step (SPEC §2, §3, §4.1, §4.13, §6.2)."""

from typing import Any

import numpy as np

from momagames.games.tileblast.rules.board import draw_color
from momagames.games.tileblast.rules.goals import take_stock
from momagames.games.tileblast.rules.pieces import BASIC
from momagames.games.tileblast.rules.powers import empty_queue, tap_power
from momagames.games.tileblast.rules.rewards import pay
from momagames.games.tileblast.rules.settle import settle
from momagames.games.tileblast.rules.state import CELLS
from momagames.games.tileblast.rules.taps import burst, has_valid, is_valid, keep_one_tap, mark_valid
from momagames.games.tileblast.rules.turn_end import heal, rescue, spawn, spread
from momagames.kernels.jit import driver, kernel, noinline_kernel


@noinline_kernel
def deal(state):
    """§2.2 The level, with colors drawn."""
    clear_counters(state)
    for cell in range(CELLS):
        state["kind"][cell] = state["start_kind"][cell]
        state["anchor"][cell] = state["start_anchor"][cell]
        state["hp"][cell] = state["start_hp"][cell]
        state["full"][cell] = state["start_hp"][cell]
        state["color"][cell] = state["start_color"][cell]
        state["cover"][cell] = state["start_cover"][cell]
        state["counters"][cell] = state["start_counters"][cell]
    for cell in range(CELLS):
        if state["kind"][cell] == BASIC and state["color"][cell] == 0:
            state["color"][cell] = draw_color(state)
    settle(state)
    rescue(state)
    take_stock(state)
    forget_tap(state)
    state["over"] = state["dead"]


@noinline_kernel
def clear_counters(state):
    state["moves"] = 0
    state["taps"] = 0
    state["invalid_taps"] = 0
    state["shuffles"] = 0
    state["score"] = 0
    state["draws"] = 0
    state["won"] = 0
    state["dead"] = 0
    state["collected"][:] = 0
    state["rest"][:] = 0
    state["fed"][:] = 0


@kernel
def forget_tap(state):
    """What the last tap did."""
    state["valid"] = 0
    state["cluster"] = 0
    state["created"] = 0
    state["used"] = 0
    state["combo"] = 0
    state["hits"] = 0
    state["gained"][:] = 0
    state["cleared"][:] = 0


@kernel
def forget_effects(state):
    """What is remembered within a tap (§4.1)."""
    state["effects"] = 0
    state["attacked"] = 0
    if state["harmed"]:
        state["harmed"] = 0
        state["flags"][:] = 0
        state["touched"][:] = 0
    if state["queued"]:
        state["queued"] = 0
        state["queue"][:] = 0
    if state["spawned"]:
        state["spawned"] = 0
        state["makers"] = 0
        state["spawns"][:] = 0


@kernel
def legal(state, agent, mask):
    """§3.2 The valid taps, for the agent to move."""
    if state["over"] or agent != state["to_move"]:
        mask[:] = 0
    else:
        mark_valid(state, mask)


@kernel
def thin(state, mask):
    """§4.2 Of the taps on a group that leaves nothing in the tapped cell, one is enough: the first."""
    keep_one_tap(state, mask)


@kernel
def step(state, actions, reward):
    """§4 One tap."""
    reward[:] = 0
    forget_tap(state)
    cell = np.int64(actions[0, 0])
    state["taps"] += 1
    state["ply"] += 1
    points = 0
    if is_valid(state, cell):
        state["valid"] = 1
        state["moves"] += 1
        points = move(state, cell)
        forget_effects(state)
    else:  # §3.3
        state["invalid_taps"] += 1
    end(state)
    pay(state, reward, points)
    state["to_move"] = (state["to_move"] + 1) % np.int64(state["agents"])  # §3.4


@noinline_kernel
def move(state, cell):
    """§4.1 A valid tap. Returns the points of §4.13."""
    if state["kind"][cell] == BASIC:
        burst(state, cell)
    else:
        tap_power(state, cell)
    empty_queue(state)
    settle(state)
    won = take_stock(state)
    if not won:
        spawn(state)
        heal(state)
        spread(state)
        won = take_stock(state)
    state["won"] = won
    if not won:
        rescue(state)
    points = np.int64(state["hits"]) + max(0, np.int64(state["cluster"]) - 2) ** 2
    state["score"] += points
    return points


@kernel
def end(state):
    """§6.2 Won, lost or cut off."""
    out_of_moves = state["strict_moves"] and state["moves"] >= state["limit"]
    state["over"] = state["won"] or state["dead"] or out_of_moves
    if not state["over"] and state["taps"] >= state["max_taps"]:
        state["over"] = 1
        state["truncated"] = 1


def judge(states: Any) -> None:
    """§6 What a position that was loaded is: goals that are left, won, dead, over. states record[1]"""
    state = states[0]
    forget_tap(state)
    state["won"] = take_stock(state)
    state["dead"] = not state["won"] and not has_valid(state)
    end(state)


judge = driver(judge, "tileblast.judge")
