"""MO-Connect4: parameters, objectives, assembly. The rules are in rules.py, their text in SPEC.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import (
    Animation,
    ExactSearch,
    Field,
    Game,
    Human,
    Kernels,
    LearningSupport,
    Objective,
    OriginalGame,
    Parameter,
    SearchSupport,
    Solvers,
    View,
    check_objectives,
    check_parameters,
)
from momagames.games.connect4 import codec, learning, rules, view
from momagames.render import canvas

# SPEC §8
NAMES = ("win", "speed", *(f"column_{x}" for x in range(rules.MAX_SIDE)))
PARAMETERS = (
    Parameter("board_width", 7, "number of columns", rules.MIN_SIDE, rules.MAX_SIDE),
    Parameter("board_height", 6, "number of rows", rules.MIN_SIDE, rules.MAX_SIDE),
    Parameter("column_objectives", True, "one objective for each column, after win and speed"),
)
SELECTION = Parameter(
    "objectives", None, "objectives by name, in this order, instead of column_objectives", choices=(None, NAMES)
)
LAYERS = "momagames.baselines.layer_solvers"
SOLVERS = Solvers(
    policies={"solved": "momagames.games.connect4.policies:SOLVED"},
    fronts={
        "guaranteed": f"{LAYERS}:GUARANTEED",
        "equilibrium": f"{LAYERS}:EQUILIBRIUM",
        "subgame-perfect": f"{LAYERS}:SUBGAME_PERFECT",
    },
)
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe)


def make_objectives(width: int, height: int) -> tuple[Objective, ...]:
    """§5 Return all objectives of a board, in the order of the reward vector."""
    fastest = 7 / (width * height)
    low, high = fastest - 1, 1 - fastest
    return (
        Objective("win", "game won (+1) or lost (-1)", -1, 1, -1, 1, "§5.1", zero_sum=True),
        Objective("speed", "share of the cells left empty at the win", low, high, low, high, "§5.2", zero_sum=True),
        *(
            Objective(name, "more tokens in the column (+1) or fewer (-1)", -1, 1, -1, 1, "§5.3", zero_sum=True)
            for name in NAMES[rules.COLUMNS : rules.COLUMNS + width]
        ),
    )


def game(id: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    width, height = params["board_width"], params["board_height"]
    known = make_objectives(width, height)
    names = tuple(one.name for one in known)
    chosen = check_objectives(id, objectives, names) or names[: None if params["column_objectives"] else rules.COLUMNS]
    has_columns = not {*chosen} <= {*names[: rules.COLUMNS]}
    if objectives is not None:
        params |= {"column_objectives": has_columns, "objectives": chosen}
    blank = np.zeros(1, rules.state_dtype)[0]
    blank["width"], blank["height"] = width, height
    blank["column"] = [chosen.index(name) if name in chosen else -1 for name in NAMES]
    return Game(
        id=id,
        title="MO-Connect4",
        variant="{board_width}x{board_height}",
        agents=codec.PLAYERS,
        dynamics="sequential",
        chance="none",
        objectives=tuple(known[names.index(name)] for name in chosen),
        actions=(width,),
        fields=(Field("observation", (height, width, 2), "int8", 0, 1, order=(2, 1, 0)),),
        max_episode_steps=width * height,
        params=params,
        parameters=(*PARAMETERS, SELECTION),
        factory=game,
        blank_state=blank,
        kernels=KERNELS,
        rules_key="connect4",
        codec=codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            picture_options=(canvas.SIZE,),
            result=view.describe_result,
            animation=Animation(view.find_slides, view.locate_cells),
        ),
        human=Human(keys=view.make_keys(width), pick=view.pick),
        search=SearchSupport(exact=ExactSearch(write_key=rules.write_state_key, key_words=width)),
        learning=LearningSupport(
            clear_unsafe_actions=learning.clear_unsafe_actions,
            objective_features=learning.OBJECTIVE_FEATURES,
            board=learning.declare_board(width, height, has_columns),
            egocentric_view=learning.declare_view(width, height),
            champions=("momagames.games.connect4:champion.npz", "momagames.games.connect4:champion-columns.npz"),
        ),
        policies={"alphabeta": "momagames.games.connect4.policies:ALPHABETA"},
        solvers=SOLVERS,
        original=OriginalGame(reward_bounds=(-1.0, 1.0), mask_space="binary"),  # §5
        summary="four in a line win; two agents act in turn, perfect information",
        source="MOMAland's documentation of moconnect4_v0; traced against momaland 0.2.0",
    )
