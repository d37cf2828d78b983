"""Rules of MO-TileBlast: start position, legality, step (SPEC §2, §3, §4.1, §4.13, §6.2)."""

from typing import Any

import numpy as np

from momagames.games.tileblast.rules.board import draw_color
from momagames.games.tileblast.rules.goals import update_goals
from momagames.games.tileblast.rules.pieces import BASIC
from momagames.games.tileblast.rules.powers import process_queue, tap_power
from momagames.games.tileblast.rules.rewards import write_rewards
from momagames.games.tileblast.rules.settle import settle_board
from momagames.games.tileblast.rules.state import CELLS
from momagames.games.tileblast.rules.taps import burst_group, has_valid_tap, is_valid_tap, prune_group_taps, write_valid_taps
from momagames.games.tileblast.rules.turn_end import heal_pieces, process_spawns, resolve_deadlock, spread_weeds
from momagames.kernels.jit import compile_entry_point, kernel, noinline_kernel


@noinline_kernel
def generate(state):
    """§2.2 Place the level and draw the colors."""
    reset_counters(state)
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
    settle_board(state)
    resolve_deadlock(state)
    update_goals(state)
    reset_tap_results(state)
    state["over"] = state["dead"]


@noinline_kernel
def reset_counters(state):
    """Set the counters of the game to 0."""
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
def reset_tap_results(state):
    """Clear the results of the last tap."""
    state["valid"] = 0
    state["cluster"] = 0
    state["created"] = 0
    state["used"] = 0
    state["combo"] = 0
    state["hits"] = 0
    state["gained"][:] = 0
    state["cleared"][:] = 0


@kernel
def reset_tap_effects(state):
    """§4.1 Clear what is stored during a tap."""
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
    """§3.2 Write the valid taps of the agent to move."""
    if state["over"] or agent != state["to_move"]:
        mask[:] = 0
    else:
        write_valid_taps(state, mask)


@kernel
def prune_equivalent_actions(state, mask):
    """§4.2 Keep the first tap only on each group that leaves nothing in the tapped cell."""
    prune_group_taps(state, mask)


@kernel
def step(state, actions, reward):
    """§4 Play one tap."""
    reward[:] = 0
    reset_tap_results(state)
    cell = np.int64(actions[0, 0])
    state["taps"] += 1
    state["ply"] += 1
    points = 0
    if is_valid_tap(state, cell):
        state["valid"] = 1
        state["moves"] += 1
        points = play_valid_tap(state, cell)
        reset_tap_effects(state)
    else:  # §3.3
        state["invalid_taps"] += 1
    update_end(state)
    write_rewards(state, reward, points)
    state["to_move"] = (state["to_move"] + 1) % np.int64(state["agents"])  # §3.4


@noinline_kernel
def play_valid_tap(state, cell):
    """§4.1 Play a valid tap. Return the points of §4.13."""
    if state["kind"][cell] == BASIC:
        burst_group(state, cell)
    else:
        tap_power(state, cell)
    process_queue(state)
    settle_board(state)
    won = update_goals(state)
    if not won:
        process_spawns(state)
        heal_pieces(state)
        spread_weeds(state)
        won = update_goals(state)
    state["won"] = won
    if not won:
        resolve_deadlock(state)
    beyond = max(0, np.int64(state["cluster"]) - 2)
    points = np.int64(state["hits"]) + beyond * beyond
    state["score"] += points
    return points


@kernel
def update_end(state):
    """§6.2 Detect a win, a loss and truncation."""
    out_of_moves = state["strict_moves"] and state["moves"] >= state["limit"]
    state["over"] = state["won"] or state["dead"] or out_of_moves
    if not state["over"] and state["taps"] >= state["max_taps"]:
        state["over"] = 1
        state["truncated"] = 1


def evaluate_position(states: Any) -> None:
    """§6 Compute the remaining units of the goals, won, dead and over of a loaded position. states record[1]"""
    state = states[0]
    reset_tap_results(state)
    state["won"] = update_goals(state)
    state["dead"] = not state["won"] and not has_valid_tap(state)
    update_end(state)


evaluate_position = compile_entry_point(evaluate_position, "tileblast.evaluate_position")
