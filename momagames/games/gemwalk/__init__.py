"""MO-GemWalk, the reference game: a whole game in one file, with a front that is known by hand. SPEC.md has the rules.

A walk goes down a grid, each step to any stone of the next row. A stone holds a ruby (r), an emerald (e) or a pearl (p).
Each ruby is worth one more than the last one, emeralds likewise; a pearl is worth two of each.

    .  r1 e1 p      .  .  .  .   takes the ruby:    .  .  .  .   takes the pearl:
    e1 p  .  r1     e1 p  .  r2  1 point in         .  .  .  .   2 points in
    r1 e1 p  .      r2 e1 p  .   "rubies"           r2 e1 p  .   "rubies" and "emeralds"
"""

from typing import Any

import numpy as np

from momagames.contract import ExactSearch, Field, Game, Kernels, Objective, Parameter, SearchSupport, check_parameters
from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.rng import draw

SIDE, PEARL = 8, 9  # a cell has the worth of its ruby, minus that of its emerald, PEARL, or 0 without a stone
PARAMETERS = (Parameter("board_width", 4, "columns", 3, SIDE), Parameter("board_height", 5, "rows", 1, SIDE))
state_dtype = record(1, board=("i1", (SIDE, SIDE)), board_width=("i4",), board_height=("i4",))


@kernel
def generate(state):
    """§2 A ruby, an emerald and a pearl side by side in each row, from a random column on."""
    state["board"][:] = 0
    for row in range(state["board_height"]):
        first = draw(state, state["board_width"])
        for i in range(3):
            state["board"][row, (first + i) % state["board_width"]] = (1, -1, PEARL)[i]


@kernel
def legal(state, agent, mask):
    """§3 The stones of the next row."""
    for column in range(len(mask)):
        mask[column] = 0 <= state["ply"] < state["board_height"] and state["board"][state["ply"], column] != 0


@kernel
def step(state, actions, reward):
    """§4 Take the gem of a stone. The caller has checked legality."""
    gem = np.int64(state["board"][state["ply"], actions[0, 0]])
    reward[0, 0] = 2 if gem == PEARL else max(gem, 0)  # §5.1
    reward[0, 1] = 2 if gem == PEARL else max(-gem, 0)  # §5.2
    for row in range(state["board_height"]):
        for column in range(state["board_width"]):
            other = np.int64(state["board"][row, column])
            if row == state["ply"]:  # §4.1
                state["board"][row, column] = 0
            elif gem * other > 0 and gem != PEARL and other != PEARL:  # §4.2
                state["board"][row, column] = other + (1 if gem > 0 else -1)
    state["ply"] += 1
    state["over"] = state["ply"] == state["board_height"]  # §6.1


@kernel
def observe(state, agent, out):
    """§7 The board; `out` are the bytes of its cells."""
    for cell in range(len(out)):
        out.view(np.int8)[cell] = state["board"][cell // state["board_width"], cell % state["board_width"]]


@kernel
def state_key(state, words):
    """Write the rows of the board, from which the future follows, each as one word."""
    for row in range(SIDE):
        words[row] = state["board"][row].view(np.uint64)[0]


def game(id: str, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    width, height = params.values()
    blank = np.zeros(1, state_dtype)[0]
    blank["board_width"], blank["board_height"] = width, height
    step_high, high = max(2, height), max(2 * height, height * (height + 1) // 2)
    return Game(
        id=id,
        title="MO-GemWalk",
        agents=("agent_0",),
        dynamics="sequential",
        chance="start",
        objectives=tuple(Objective(name, "points", 0, step_high, 0, high, "§5") for name in ("rubies", "emeralds")),
        actions=(width,),
        fields=(Field("observation", (height, width), "int8", -SIDE, PEARL),),
        max_episode_steps=height,
        factory=game,
        blank_state=blank,
        kernels=Kernels(generate=generate, legal=legal, step=step, observe=observe),
        search=SearchSupport(exact=ExactSearch(write_key=state_key, key_words=SIDE)),
        params=params,
        parameters=PARAMETERS,
        summary="take a gem from each row of a grid; the reference game of tests and examples",
    )
