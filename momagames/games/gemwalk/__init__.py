"""MO-GemWalk, the reference game: a walk down a grid takes a gem from each row. SPEC.md has its rules and its front."""

import numpy as np

from momagames.contract import ExactSearch, Field, Game, Kernels, Objective, Parameter, SearchSupport, check_parameters
from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.rng import draw
from momagames.kernels.states import make_blank_state, make_field_key

SIDE, PEARL = 8, 9  # a cell has the worth of its ruby, minus that of its emerald, PEARL, or 0 without a stone
PARAMETERS = (Parameter("board_width", 4, "columns", 3, SIDE), Parameter("board_height", 5, "rows", 3, SIDE))
state_dtype = record(1, board=("i1", (SIDE, SIDE)), board_width=("i4",), board_height=("i4",))

# A ruby (r) is worth one more than the one before it, an emerald (e) likewise; a pearl (p) is worth two of each.
#     .  r1 e1 p    take the ruby:  .  .  .  .     take the pearl:   .  .  .  .
#     e1 p  .  r1   (1, 0) points   e1 p  .  r2    (2, 2) points     .  .  .  .   the end, with (3, 2) points


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
    state["board"][state["ply"]] = 0  # §4.1
    for cell in range(SIDE * SIDE):
        other = np.int64(state["board"][cell // SIDE, cell % SIDE])
        if gem * other > 0 and PEARL not in (gem, other):  # §4.2
            state["board"][cell // SIDE, cell % SIDE] = other + (1 if gem > 0 else -1)
    state["ply"] += 1
    state["over"] = state["ply"] == state["board_height"]  # §6.1


@kernel
def observe(state, agent, out):
    """§7 The board; `out` are the bytes of its cells."""
    for cell in range(len(out)):
        out.view(np.int8)[cell] = state["board"][cell // state["board_width"], cell % state["board_width"]]


def game(id: str, **given: int) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    columns, rows = params.values()
    return Game(
        id=id,
        title="MO-GemWalk",
        agents=("agent_0",),
        dynamics="sequential",
        chance="start",
        objectives=tuple(Objective(gem, "points", 0, rows, 0, rows * (rows + 1) // 2, "§5") for gem in ("rubies", "emeralds")),
        actions=(columns,),
        fields=(Field("observation", (rows, columns), "int8", -SIDE, PEARL),),
        max_episode_steps=rows,
        factory=game,
        blank_state=make_blank_state(state_dtype, **params),
        kernels=Kernels(generate=generate, legal=legal, step=step, observe=observe),
        search=SearchSupport(exact=ExactSearch(write_key=make_field_key("board"), key_words=SIDE)),
        params=params,
        parameters=PARAMETERS,
        summary="take a gem from each row of a grid; the reference game of tests and examples",
    )
