"""MO-Breakthrough: parameters, objectives, assembly. The rules are in rules.py, their text in SPEC.md."""

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
    TrainingDefaults,
    View,
    check_objectives,
    check_parameters,
)
from momagames.games.breakthrough import codec, rules, view
from momagames.games.breakthrough.cell_codes import declare_board, declare_view
from momagames.render import canvas

# SPEC §5, in the order of the reward vector
OBJECTIVES = (
    Objective("win", "game won (+1) or lost (-1)", -1, 1, -1, 1, "§5.1", zero_sum=True),
    Objective("speed", "share of the scale left at the win", -1, 1, -1, 1, "§5.2", zero_sum=True),
    Objective("captures", "share of the opponent's pieces", 0, 1, 0, 1, "§5.3"),
    Objective("losses", "share of the own pieces, negative", -1, 0, -1, 0, "§5.4"),
)
NAMES = tuple(objective.name for objective in OBJECTIVES)

# SPEC §8
PARAMETERS = (
    Parameter("board_width", 8, "number of columns", 3, rules.MAX_SIDE),
    Parameter("board_height", 8, "number of rows", 5, rules.MAX_SIDE),
    Parameter("num_objectives", 4, "the first of win, speed, captures, losses", 1, 4),
    Parameter("canonical", False, "rotate the board for player_1, which then moves upwards too"),
)
SELECTION = Parameter("objectives", None, "objectives by name, in this order, instead of num_objectives", choices=(None, NAMES))
SOLVERS = Solvers(
    policies={"solved": "momagames.games.breakthrough.solver.policy:SOLVED"},
    fronts={
        "guaranteed": "momagames.games.breakthrough.solver:GUARANTEED",
        "response": "momagames.games.breakthrough.solver:RESPONSE",
        "equilibrium": "momagames.games.breakthrough.solver:EQUILIBRIUM",
        "subgame-perfect": "momagames.games.breakthrough.solver:SUBGAME_PERFECT",
    },
)
KERNELS = Kernels(
    generate=rules.generate,
    legal=rules.legal,
    step=rules.step,
    observe=rules.observe,
    sample_action=rules.sample_action,
)
SEARCH = SearchSupport(exact=ExactSearch(write_key=rules.write_state_key, key_words=2 * rules.WORDS + 1))
# chosen by measuring: many small updates, most of them from games against opponents, after cloning one that captures
TRAINING = TrainingDefaults(
    {"num_envs": 128, "learning_rate": 2e-3, "self_play": 0.25, "opponent_pool_size": 0, "expert": "greedy"},
    budget=2_000_000,
)
CHAMPIONS = tuple(f"momagames.games.breakthrough:champion{name}.npz" for name in ("", "-6x6", "-5x5", "-trades", "-trades-6x6"))


def game(id: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    chosen = check_objectives(id, objectives, NAMES) or NAMES[: params["num_objectives"]]
    if objectives is not None:
        params |= {"num_objectives": len(chosen), "objectives": chosen}
    width, height = params["board_width"], params["board_height"]
    blank = np.zeros(1, rules.state_dtype)[0]
    blank["width"], blank["height"], blank["canonical"] = width, height, params["canonical"]
    blank["column"] = [chosen.index(name) if name in chosen else -1 for name in NAMES]
    return Game(
        id=id,
        title="MO-Breakthrough",
        variant="{board_width}x{board_height}",
        agents=("player_0", "player_1"),
        dynamics="sequential",
        chance="none",
        objectives=tuple(OBJECTIVES[NAMES.index(name)] for name in chosen),
        actions=(3 * width * height,),
        fields=(Field("observation", (height, width, 2), "int8", 0, 1, order=(2, 1, 0)),),
        max_episode_steps=2 * width * (2 * height - 5) + 1,
        params=params,
        parameters=(*PARAMETERS, SELECTION),
        factory=game,
        blank_state=blank,
        kernels=KERNELS,
        rules_key="breakthrough",
        codec=codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            picture_options=(canvas.SIZE,),
            result=view.describe_result,
            animation=Animation(view.find_slides, view.locate_cells),
        ),
        human=Human(pick=view.pick, action_name=codec.action_name, parse_action=codec.parse_action),
        search=SEARCH,
        learning=LearningSupport(
            champions=CHAMPIONS,
            training={"moppo": TRAINING},
            board=declare_board(width, height),
            egocentric_view=declare_view(width, height, params["canonical"]),
        ),
        solvers=SOLVERS,
        original=OriginalGame(reward_bounds=(-1.0, 1.0), mask_space="binary"),  # §5
        summary="reach the opponent's home row; two agents act in turn, perfect information",
        source="MOMAland's documentation of mobreakthrough_v0; traced against momaland 0.2.0",
    )
