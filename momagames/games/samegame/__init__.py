"""MO-SameGame: parameters, objectives, assembly. The rules are in rules.py, their text in SPEC.md."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from momagames.contract import (
    Animation,
    ColorObjectives,
    ExactSearch,
    Field,
    Game,
    Human,
    Kernels,
    LearningSupport,
    Objective,
    ObjectiveFeatures,
    Parameter,
    SearchGuidance,
    SearchSupport,
    TrainingDefaults,
    View,
    check_parameters,
)
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.samegame import codec, compact, heuristics, move_codes, rules, standard_boards, view
from momagames.render import canvas

# SPEC §8
PARAMETERS = (
    Parameter("board_width", 15, "number of columns", 3, rules.MAX_SIDE),
    Parameter("board_height", 15, "number of rows", 3, rules.MAX_SIDE),
    Parameter("num_colors", 5, "number of colors", 2, rules.MAX_COLORS),
    Parameter("num_agents", 1, "agents that take turns", 1, rules.MAX_AGENTS),
    Parameter("team_rewards", False, "every agent gets every reward"),
    Parameter("color_rewards", True, "one objective for each color, else one for all"),
    Parameter("clear_bonus", 0.0, "points for the move that empties the board", 0.0, 100_000.0),
    Parameter(
        "scoring", "squares", "points of groups and of tiles that are left", choices=("squares", "classic"), omits_default=True
    ),
    Parameter(
        "instance",
        None,
        "board of every episode instead of a random one",
        optional=True,
        convert=standard_boards.normalize_instance,
        accepts=standard_boards.ACCEPTS,
        omits_default=True,
    ),
    Parameter("move_rewards", False, "a last objective `move`: -1 for each move", omits_default=True),
)
TRAINING = {
    # large groups of episodes: their mean is the only baseline of the advantages
    "grpo": TrainingDefaults({"groups": 16, "group_size": 32, "extra_features": True}, budget=60_000_000),
    "cross_entropy": TrainingDefaults({"extra_features": True}),
}
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe)
FIXED_KERNELS = replace(KERNELS, generate=rules.generate_fixed)
GUIDANCE = SearchGuidance(
    move_codes=move_codes.write_codes,
    selective_moves=move_codes.write_selected_codes,
    playout_guide=move_codes.find_tabu_color,
)
COLOR_OBJECTIVES = ColorObjectives(action_objectives=codec.action_objectives)


def build_objectives(params: dict[str, Any]) -> tuple[Objective, ...]:
    """§5 Return one objective for each color, or one for all; with `move_rewards` one for moves."""
    return (*build_point_objectives(params), *build_move_objectives(params))


def build_point_objectives(params: dict[str, Any]) -> tuple[Objective, ...]:
    """§5.1, §5.2 Return one objective for each color, or one for all."""
    cells, by_color = params["board_width"] * params["board_height"], params["color_rewards"]
    names = [f"color_{k + 1}" for k in range(params["num_colors"])] if by_color else ["points"]
    if is_classic(params):
        best, unit = float((cells - 2) ** 2 + rules.CLASSIC_BONUS), "points (classic)"
        worst = -float((1 if by_color else 2) * (-(-cells // 2) - 2) ** 2)
        return tuple(Objective(name, unit, worst, best, worst, best, "§5.2") for name in names)
    best = float(getattr(rules.add_bonus, "py_func", rules.add_bonus)(cells**2, params["clear_bonus"]))
    return tuple(Objective(name, "points (group size squared)", 0.0, best, 0.0, best, "§5") for name in names)


def build_move_objectives(params: dict[str, Any]) -> tuple[Objective, ...]:
    """§5.3 Return the objective of moves with `move_rewards`, else none."""
    if not params.get("move_rewards"):
        return ()
    movers = 1 if params["team_rewards"] else params["num_agents"]
    most = count_longest(params) + movers - 1
    return (Objective("move", "moves, negative", -1.0, 0.0, -float(most // movers), 0.0, "§5.3"),)


def count_longest(params: dict[str, Any]) -> int:
    """§6.2 Return the moves of the longest game."""
    return int(params["board_width"] * params["board_height"] // 2)


def is_classic(params: dict[str, Any]) -> bool:
    return params.get("scoring") == "classic"


def game(id: str, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    if is_classic(params) and params["clear_bonus"]:
        raise InvalidParameter(
            invalid_value(f"{id}: clear_bonus", params["clear_bonus"], "0.0, because classic scoring has its own bonus (§5.2)")
        )
    width, height, colors, count = (params[n] for n in ("board_width", "board_height", "num_colors", "num_agents"))
    instance, is_small = params.get("instance"), width * height <= rules.SMALL_CELLS
    if instance is not None and (width, height, colors) != (side := standard_boards.SIDE, side, standard_boards.COLORS):
        given_size = f"{width}x{height}, {colors} colors"
        raise InvalidParameter(invalid_value(f"{id}: board", given_size, f"15x15, 5 colors, the size of {instance}"))
    dtype = rules.fixed_state_dtype if instance else rules.small_state_dtype if is_small else rules.state_dtype
    blank = np.zeros(1, dtype)[0]
    blank["width"], blank["height"], blank["colors"], blank["agents"] = width, height, colors, count
    for name in ("team_rewards", "color_rewards", "clear_bonus"):
        blank[name] = params[name]
    if is_classic(params):
        blank["classic"], blank["clear_bonus"] = True, rules.CLASSIC_BONUS
    blank["move_rewards"] = bool(params.get("move_rewards"))
    if instance is not None:
        codec.pack_board(standard_boards.load_board(instance), blank["fixed_board"])
    key_words = -(-width * height // (64 // (2 if colors < 4 else 3 if colors < 8 else 4))) + (count > 1)
    return Game(
        id=id,
        title="MO-SameGame",
        variant="{board_width}x{board_height}, {num_colors} colors",
        agents=tuple(f"agent_{i}" for i in range(count)),
        teams=(0,) * count if params["team_rewards"] else tuple(range(count)),
        dynamics="sequential",
        chance="none" if instance else "start",
        objectives=build_objectives(params),
        actions=(width * height,),
        fields=(Field("observation", (height, width, colors), "int8", 0, 1, order=(2, 0, 1)),),
        max_episode_steps=count_longest(params),
        params=params,
        parameters=PARAMETERS,
        factory=game,
        blank_state=blank,
        kernels=FIXED_KERNELS if instance else KERNELS,
        rules_key="samegame.fixed" if instance else "samegame" if is_small else "samegame.large",
        codec=codec.FIXED_CODEC if instance else codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            picture_options=(canvas.SIZE,),
            result=view.describe_result,
            animation=Animation(view.find_slides, view.locate_cells),
        ),
        human=Human(
            pick=view.pick,
            action_name=codec.action_name,
            parse_action=codec.parse_action,
            legal_hint=codec.nearest_legal,
        ),
        search=SearchSupport(
            prune_equivalent_actions=rules.prune_equivalent_actions,
            optimistic=heuristics.optimistic,
            present=heuristics.present,
            exact=ExactSearch(write_key=rules.write_state_key, key_words=key_words, compact=compact.pack),
            guidance=GUIDANCE,
        ),
        learning=LearningSupport(
            training=TRAINING,
            objective_features=ObjectiveFeatures(
                names=heuristics.FEATURE_NAMES,
                write=heuristics.write_objective_features,
                extra_names=heuristics.EXTRA_FEATURE_NAMES,
                exchangeable_objectives=(tuple(range(colors)),) if params["color_rewards"] else (),
            ),
            champions=("momagames.games.samegame:champion.npz", "momagames.games.samegame:champion-linear.npz"),
        ),
        color_objectives=None if is_classic(params) else COLOR_OBJECTIVES,  # penalties belong to other colors
        summary="remove groups of equal tiles; agents act in turn, perfect information",
        source="MOMAland's documentation of mosame_game_v0; traced against momaland 0.2.0",
    )
