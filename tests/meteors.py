"""A tiny game that uses everything the contract carries and the two real games do not: simultaneous moves, actions of
two parts, partial observation in several fields, chance during play, agents that die early, a step limit.

Three agents stand on a ring of `cells` cells. Each step every agent moves (0 stay, 1 left, 2 right; who stood still twice
must move) and says a word (0..2). Then a meteor falls on a random cell and whoever is there is gone. Survivors get 1 in
the objective "alive", and the sum of the others' words in the objective "heard". The game is over when at most one agent
is left, and cut off after `limit` steps. An agent sees what is on its own cell and the two beside it, and hears all words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from momagames.contract import (
    Codec,
    Field,
    Game,
    Human,
    Kernels,
    Keys,
    Line,
    Objective,
    Parameter,
    View,
    check_parameters,
)
from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.rng import draw
from momagames.kernels.states import make_blank_state

AGENTS = 3
state_dtype = record(
    AGENTS, place=("i4", (AGENTS,)), still=("i4", (AGENTS,)), word=("i4", (AGENTS,)), cells=("i4",), limit=("i4",)
)


@kernel
def deal(state):
    for agent in range(AGENTS):
        state["place"][agent] = draw(state, np.int64(state["cells"]))
        state["still"][agent] = 0
        state["word"][agent] = 0


@kernel
def generate_places(state):
    """A mistake: the other fields keep the values of the last episode."""
    for agent in range(AGENTS):
        state["place"][agent] = draw(state, np.int64(state["cells"]))


@kernel
def legal(state, agent, mask):
    mask[:] = 0
    if state["over"] or state["gone"][agent]:
        return
    mask[:] = 1
    if state["still"][agent] == 2:
        mask[0] = 0


@kernel
def step(state, actions, reward):
    cells = np.int64(state["cells"])
    for agent in range(AGENTS):
        if state["gone"][agent] == 0:
            move = np.int64(actions[agent, 0])
            state["still"][agent] = state["still"][agent] + 1 if move == 0 else 0
            state["place"][agent] = (state["place"][agent] + (0, cells - 1, 1)[move]) % cells
            state["word"][agent] = actions[agent, 1]
    meteor = draw(state, cells)
    words = np.int64(0)
    left = 0
    for agent in range(AGENTS):
        words += np.int64(state["word"][agent]) * (1 - np.int64(state["gone"][agent]))
    for agent in range(AGENTS):
        reward[agent, 0] = 0
        reward[agent, 1] = 0
        if state["gone"][agent] == 0:
            reward[agent, 1] = words - np.int64(state["word"][agent])
            if state["place"][agent] == meteor:
                state["gone"][agent] = 1
                state["word"][agent] = 0
            else:
                reward[agent, 0] = 1
                left += 1
    state["ply"] += 1
    state["truncated"] = left > 1 and state["ply"] >= state["limit"]
    state["over"] = left <= 1 or state["truncated"]


@kernel
def observe(state, agent, out):
    cells = np.int64(state["cells"])
    near = out[:12].view(np.float32)
    heard = out[16 : 16 + AGENTS]
    for i in range(3):
        near[i] = 0
        for other in range(AGENTS):
            if state["gone"][other] == 0 and (state["place"][agent] + i - 1 + cells) % cells == state["place"][other]:
                near[i] += np.float32(0.5)
    for other in range(AGENTS):
        heard[other] = state["word"][other]


def load(state: Any, given: Any) -> None:
    for name in ("place", "still", "word", "gone"):
        state[name] = given[name]
    state["ply"], state["rng"] = given["ply"], given["rng"]


def save(state: Any) -> dict[str, Any]:
    return {name: state[name].tolist() for name in ("place", "still", "word", "gone", "ply", "rng")}


PARAMETERS = (Parameter("cells", 6, "cells of the ring", 3, 20), Parameter("limit", 12, "steps", 1, 100))


def game(id: str, **given: Any) -> Game:
    params = check_parameters(id, PARAMETERS, given)
    return Game(
        id=id,
        title="Meteors",
        agents=tuple(f"rover_{i}" for i in range(AGENTS)),
        dynamics="simultaneous",
        chance="step",
        information="partial",
        objectives=(
            Objective("alive", "steps", 0, 1, 0, params["limit"], "docstring"),
            Objective("heard", "words", 0, 4, 0, 4 * params["limit"], "docstring"),
        ),
        actions=(3, 3),
        fields=(Field("near", (3,), "float32", 0, 1.5), Field("words", (AGENTS,), "uint8", 0, 2)),
        max_episode_steps=params["limit"],
        params=params,
        parameters=PARAMETERS,
        factory=game,
        blank_state=make_blank_state(state_dtype, **params),
        kernels=Kernels(generate=deal, legal=legal, step=step, observe=observe),
        rules_key="tests.meteors",
        codec=Codec(save, load),
        view=View(draw=lambda state, last: np.zeros((4, 4, 3), np.uint8)),
        infos=lambda state: {"left": int(AGENTS - state["gone"].sum())},
    )


def for_people(cells: int = 20, limit: int = 30) -> Game:
    """The same, as people play it: with keys, and pictures whose shade says who looks on, and which cell the pointer is on."""
    agents = [f"rover_{i}" for i in range(AGENTS)]

    def draw(state: Any, last: Any, viewer: str | None = None, big: bool = False, cell: int = -1) -> Any:
        shade = 20 * agents.index(viewer) if viewer else 200 + cell
        return np.full((8, 40 + 40 * big, 3), shade, np.uint8)

    def format_text(state: Any, last: Any, viewer: str | None = None, big: bool = False, cell: int = -1) -> list[Line]:
        return [[(f"{viewer} {big} {cell} {None if last is None else last.tolist()}", "")]]

    words = {str(word): ((1,), word) for word in range(3)}
    return replace(
        game("meteors-v0", cells=cells, limit=limit),
        view=View(
            draw=draw,
            text=format_text,
            render_options=(
                Parameter("viewer", None, "who looks on", choices=(None, *agents)),
                Parameter("big", False, "a large picture"),
                Parameter("cell", -1, "a cell", -1, cells - 1),
            ),
        ),
        human=Human(
            keys=Keys({"left": ((0,), 1), "right": ((0,), 2), **words}, "arrows: move, 0 to 2: say"),
            point=lambda state, x, y: {"cell": int(x) // 2} if 0 <= x < 40 and 0 <= y < 8 else {},
        ),
    )
