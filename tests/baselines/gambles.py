"""A tiny sequential game for tests of tree search: two agents act once each, and a table gives their rewards.

With chance, action 2 is a gamble: it doubles the reward or loses it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Field, Game, Kernels, Objective
from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.rng import draw

CHOICES, PLIES = 3, 2
state_dtype = record(2, rewards=("f4", (CHOICES, CHOICES, 2, 2)), chosen=("i4", (PLIES,)), gamble=("u1",))


@kernel
def deal(state):
    state["chosen"][:] = -1


@kernel
def legal(state, agent, mask):
    mask[:] = 0
    if not state["over"] and agent == state["to_move"]:
        mask[:] = 1


@kernel
def step(state, actions, reward):
    reward[:] = 0
    ply = np.int64(state["ply"])
    state["chosen"][ply] = actions[0, 0]
    state["ply"] = ply + 1
    state["to_move"] = 1 - ply if ply == 0 else 0
    if ply + 1 == PLIES:
        state["over"] = 1
        for agent in range(2):
            own = np.int64(state["chosen"][agent])
            factor = np.float32(1)
            if state["gamble"] and own == 2:
                factor = np.float32(2 * draw(state, 2))
            for k in range(2):
                value = state["rewards"][np.int64(state["chosen"][0]), np.int64(state["chosen"][1]), agent, k]
                reward[agent, k] = value * factor


@kernel
def observe(state, agent, out):
    out[0] = state["ply"]


def game(rewards: Any, gamble: bool = False) -> Game:
    """Return the game with rewards float[3, 3, 2, 2]: first agent's action, second agent's action, agent, objective."""
    blank = np.zeros(1, state_dtype)[0]
    blank["rewards"], blank["gamble"] = rewards, gamble
    return Game(
        id="gambles-v0",
        title="Gambles",
        agents=("first", "second"),
        dynamics="sequential",
        chance="step" if gamble else "none",
        objectives=(Objective("a", "", 0, 2, 0, 2, ""), Objective("b", "", 0, 2, 0, 2, "")),
        actions=(CHOICES,),
        fields=(Field("observation", (1,), "uint8", 0, PLIES),),
        max_episode_steps=PLIES,
        factory=game,
        blank_state=blank,
        kernels=Kernels(generate=deal, legal=legal, step=step, observe=observe),
        rules_key="tests.gambles",
    )
