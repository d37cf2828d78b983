"""Rules of MO-Pommerman: start position, legality, step, end (SPEC §2 to §6). Moves are in moves.py, fire in bombs.py."""

import numpy as np

from momagames.games.pommerman.rules.bombs import (
    age_flames,
    explode_bombs,
    kill_agents,
    refund_ammo,
    remove_bombs,
    update_board,
)
from momagames.games.pommerman.rules.moves import (
    agent_cell,
    apply_moves,
    bomb_cell,
    detect_encounters,
    propose_moves,
    propose_rolls,
    resolve_conflicts,
    resolve_crossings,
    resolve_kicks,
)
from momagames.games.pommerman.rules.start import generate_position
from momagames.games.pommerman.rules.state import (
    CELL_BYTES,
    COMM,
    COMM_CHANGE,
    DUEL,
    FFA,
    INCOMPLETE,
    MATE_SURVIVAL,
    MAX_BOMBS,
    OUTCOME,
    OUTCOME_ORIGINAL,
    RADIO,
    RIGID,
    SEATS,
    SPEED,
    STOP,
    SURVIVAL,
    TIE,
    WIN,
    WORDS,
    state_dtype,
    team_members,
)
from momagames.kernels.jit import compile_entry_point, kernel, local_array, noinline_kernel, view_as
from momagames.kernels.reward import credit

__all__ = ["collapse_due_ring", "evaluate_position", "generate", "legal", "state_dtype", "step"]


@kernel
def generate(state):
    """§2 Generate a new board."""
    generate_position(state)
    state["result"] = INCOMPLETE
    state["winners"] = 0


@kernel
def legal(state, agent, mask):
    """§3 Write the mask: all actions for a live agent, Stop and silence for a dead one, none for one that has left the game."""
    playing = state["over"] == 0 and state["gone"][agent] == 0
    free = np.int8(playing and state["alive"][agent] != 0)
    for place in range(mask.shape[0]):
        mask[place] = free
    if playing:
        mask[STOP] = 1
        if mask.shape[0] > 6:
            mask[6] = 1
            mask[6 + (mask.shape[0] - 6) // 2] = 1


@kernel
def step(state, actions, reward):
    """§4 Play one step, its phases in order."""
    agent_targets, bomb_targets, kickers = local_array(SEATS), local_array(MAX_BOMBS), local_array(MAX_BOMBS)
    agent_claims, bomb_claims = view_as(local_array(CELL_BYTES), np.uint8), view_as(local_array(CELL_BYTES), np.uint8)
    reward[:] = 0
    if state["falling"] >= 0:  # §4.11 of the step before
        collapse_ring(state)
    update_messages(state, actions, reward)  # §3.3
    age_flames(state, reward)  # §4.1
    propose_moves(state, actions, agent_targets, reward)  # §4.2
    propose_rolls(state, bomb_targets)  # §4.3
    if detect_encounters(state, agent_targets, bomb_targets, kickers):
        resolve_crossings(state, agent_targets, bomb_targets)  # §4.4
        resolve_conflicts(state, agent_targets, bomb_targets, agent_claims, bomb_claims)  # §4.5
        resolve_kicks(state, actions, agent_targets, bomb_targets, agent_claims, bomb_claims, kickers)  # §4.6
    apply_moves(state, agent_targets, bomb_targets, kickers, reward)  # §4.7
    explode_bombs(state, reward)  # §4.8
    update_board(state)  # §4.9
    kill_agents(state, reward)
    state["ply"] += 1  # §4.10
    credit_outcomes(state, reward)
    state["falling"] = due_ring(state)


@noinline_kernel
def update_messages(state, actions, reward):
    """§3.3 R4, R5 Record the message of each agent; dead agents are silent."""
    if state["mode"] != RADIO:
        return
    for agent in range(SEATS):
        words, changed = 0, False
        for word in range(WORDS):
            new = np.int64(actions[agent, 1 + word]) if state["alive"][agent] else 0
            words += new != 0
            changed |= new != state["message"][agent, word]
            state["message"][agent, word] = new
        credit(state, reward, agent, COMM, -0.5 * words)
        if changed:
            credit(state, reward, agent, COMM_CHANGE, -1)


@kernel
def live_agents(state):
    """Return the live agents, a bit for each seat."""
    bits = 0
    for agent in range(np.int64(state["seats"])):
        bits |= np.int64(state["alive"][agent]) << agent
    return bits


@kernel
def surviving_side(state, live):
    """§6 T3, T6 Return the seats of the only side with live agents; 0 if there are several, or none."""
    for agent in range(np.int64(state["seats"])):
        if (live >> agent) & 1:
            side = team_members(state, agent)
            return side if live & ~side == 0 else 0
    return 0


@kernel
def decide_result(state):
    """§6 T1-T7 Return whether the game is decided, INCOMPLETE, WIN or TIE, and the seats of the winners.

    The time limit ends a game without deciding it.
    """
    live = live_agents(state)
    winners = surviving_side(state, live)
    decided = winners != 0 or live == 0
    if winners:
        return decided, WIN, winners
    over = decided or state["ply"] >= state["max_steps"]
    return decided, TIE if over else INCOMPLETE, 0


@kernel
def update_end(state):
    """§6.1 Record whether the game is over, and the winners. Return the result of `decide_result`."""
    decided, result, winners = decide_result(state)
    over = result != INCOMPLETE
    state["result"] = result
    state["winners"] = winners
    state["over"] = over
    state["truncated"] = over and not decided
    return decided, result, winners


def evaluate_position(states: "np.ndarray[tuple[int, ...], np.dtype[np.void]]") -> None:
    """§6.1 Record in states[0] whether the game is over, and the winners. Rewards stay unchanged."""
    update_end(states[0])


evaluate_position = compile_entry_point(evaluate_position, "pommerman.evaluate_position")


@noinline_kernel
def credit_outcomes(state, reward):
    """§4.10 Record the end of the game and credit the objectives that depend on it."""
    decided, result, winners = update_end(state)
    over = result != INCOMPLETE
    mode, rate = state["mode"], 1.0 / np.float64(state["max_steps"])
    for agent in range(np.int64(state["seats"])):
        alive = state["alive"][agent] != 0
        outcome = original_outcome(mode, result, winners, decided, alive, agent)
        if state["gone"][agent]:  # rewarded when it left
            reward[agent] = 0
            continue
        leaves = state["leave"] != 0 and not alive
        credit(state, reward, agent, OUTCOME_ORIGINAL, outcome)
        if over or leaves:
            credit(state, reward, agent, OUTCOME, outcome)
        else:
            credit(state, reward, agent, SPEED, -rate)
        if alive:
            credit(state, reward, agent, SURVIVAL, rate)
        mate = agent ^ 2
        if mode != FFA and mode != DUEL and state["alive"][mate]:
            credit(state, reward, agent, MATE_SURVIVAL, rate)
        state["gone"][agent] = leaves


@kernel
def original_outcome(mode, result, winners, decided, alive, agent):
    """§6 T4-T6 Return the original's reward of this step."""
    if result == WIN:
        return 1 if (winners >> agent) & 1 else -1
    if result == TIE:
        return 0 if mode == DUEL and decided else -1
    return -1 if mode == FFA and not alive else 0


@kernel
def due_ring(state):
    """§4.11 W1 Return the ring that falls after this step, from 0 outermost; -1: none."""
    return due_ring_after(state, np.int64(state["ply"]))


@kernel
def due_ring_after(state, now):
    """§4.11 W1 Return the ring that falls after step `now`; -1: none."""
    first, last = np.int64(state["first_collapse"]), np.int64(state["max_steps"])
    if first == 0 or now < first or now >= last:
        return -1
    interval = (last - first) // 4
    return (now - first) // interval if (now - first) % interval == 0 else -1


@noinline_kernel
def collapse_ring(state):
    """§4.11 W2, W3 Turn a ring of the board into walls, with everything on it."""
    size, ring = np.int64(state["size"]), np.int64(state["falling"])
    state["falling"] = -1
    for agent in range(np.int64(state["seats"])):
        if state["alive"][agent] and is_in_ring(agent_cell(state, agent), ring, size):
            state["alive"][agent] = 0
    for bomb in range(np.int64(state["bombs"])):
        if is_in_ring(bomb_cell(state, bomb), ring, size):
            refund_ammo(state, np.int64(state["bomb_owner"][bomb]))
            state["bomb_life"][bomb] = 0
    remove_bombs(state, 0)
    for cell in range(size * size):
        if is_in_ring(cell, ring, size):
            state["board"][cell] = RIGID
            state["hidden"][cell] = 0
            state["fire"][cell] = 0


def collapse_due_ring(states: "np.ndarray[tuple[int, ...], np.dtype[np.void]]") -> bool:
    """§4.11 Collapse the ring that is due in states[0]. Return False, and change nothing, if another one is stated."""
    if states[0]["falling"] < 0 or states[0]["falling"] != due_ring(states[0]):
        return False
    collapse_ring(states[0])
    return True


collapse_due_ring = compile_entry_point(collapse_due_ring, "pommerman.collapse_due_ring")


@kernel
def is_in_ring(cell, ring, size):
    """Return whether a cell is on the edge of the square of rows and columns ring .. size - 1 - ring."""
    row, col = cell // size, cell % size
    return min(min(row, col), min(size - 1 - row, size - 1 - col)) == ring
