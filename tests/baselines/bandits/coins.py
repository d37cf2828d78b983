"""Games of one step for tests of bandits: each agent tosses one of the coins, whose chances a table gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Field, Game, Kernels, Objective
from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.rng import advance, uniform

COINS, OBJECTIVES = 4, 2
state_dtype = record(2, chances=("f8", (COINS, OBJECTIVES)), coins=("i4",), sampled=("u1",))


@kernel
def generate(state):
    pass


@kernel
def legal(state, agent, mask):
    for action in range(mask.shape[0]):
        mask[action] = not state["over"] and action < state["coins"]


@kernel
def step(state, actions, reward):
    for agent in range(actions.shape[0]):
        for k in range(OBJECTIVES):
            chance = np.float64(state["chances"][actions[agent, 0], k])
            if state["sampled"]:
                state["rng"] = advance(state["rng"])
                chance = np.float64(uniform(state["rng"]) < chance)
            reward[agent, k] = chance
    state["ply"], state["over"] = 1, 1


@kernel
def observe(state, agent, out):
    out[0] = 0


def game(chances: Any, agents: int = 1, sampled: bool = True, steps: int = 1) -> Game:
    """Return the game with chances float[coins, 2]; `steps` is what it declares, right or wrong."""
    blank = np.zeros(1, state_dtype)[0]
    blank["chances"][: len(chances)], blank["coins"], blank["sampled"] = chances, len(chances), sampled
    return Game(
        id="coins-v0", title="Coins", agents=tuple(f"agent_{i}" for i in range(agents)), dynamics="simultaneous",
        chance="step" if sampled else "none",
        objectives=tuple(Objective(name, "heads", 0, 1, 0, 1, "§5") for name in ("gold", "silver")), actions=(len(chances),),
        fields=(Field("observation", (1,), "uint8", 0, 1),), max_episode_steps=steps, factory=game, blank_state=blank,
        kernels=Kernels(generate=generate, legal=legal, step=step, observe=observe), rules_key="coins",
        params={"chances": chances, "agents": agents, "sampled": sampled, "steps": steps},
    )  # fmt: skip
