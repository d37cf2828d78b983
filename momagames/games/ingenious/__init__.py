"""MO-Ingenious: parameters, objectives, assembly. The rules are in rules.py, their text in SPEC.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import (
    ExactSearch,
    Field,
    Game,
    Human,
    Kernels,
    LearningSupport,
    Objective,
    Parameter,
    SearchSupport,
    State,
    View,
    check_objectives,
    check_parameters,
)
from momagames.contract.views import make_viewer_option
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.ingenious import codec, learning, rules, view
from momagames.render import canvas

# SPEC §8
PARAMETERS = (
    Parameter("num_agents", 2, "agents", 2, rules.MAX_AGENTS),
    Parameter("rack_size", 6, "tiles in a rack", 2, rules.MAX_RACK),
    Parameter("num_colors", 6, "colors, and objectives", 2, rules.MAX_COLORS),
    Parameter("board_size", None, "cells on a side of the board; None: num_agents + 4", rules.MIN_SIDE, rules.MAX_SIDE,
              optional=True),
    Parameter("reward_mode", "competitive", "who shares a score, and its cap",
              choices=("competitive", "collaborative", "two_teams")),
    Parameter("fully_observable", False, "all racks are open"),
    Parameter("fixed_bag", False, "the order of the tiles in the bag is drawn at the start"),
)  # fmt: skip
NAMES = (*(f"color_{color}" for color in range(1, rules.MAX_COLORS + 1)), "win")
SELECTION = Parameter(
    "objectives", None, "objectives by name, in this order, instead of one for each color", choices=(None, NAMES)
)
CAP = 18  # of the score of an agent
KERNELS = Kernels(
    generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe, sample_action=rules.sample_action
)


def check_combination(id: str, params: dict[str, Any]) -> None:
    """§8 Raise InvalidParameter for parameters that do not fit together."""
    agents, colors, mode = params["num_agents"], params["num_colors"], params["reward_mode"]
    if agents > colors:
        raise InvalidParameter(invalid_value(f"{id}: num_agents", agents, f"at most num_colors, {colors}"))
    if mode == "two_teams" and agents % 2:
        raise InvalidParameter(invalid_value(f"{id}: num_agents", agents, "an even number with reward_mode='two_teams'"))


def make_blank(params: dict[str, Any]) -> State:
    """Return a state of an empty record with the parameters."""
    agents, colors, side = params["num_agents"], params["num_colors"], params["board_size"] or params["num_agents"] + 4
    blank = np.zeros(1, rules.state_dtype)[0]
    teams = {"competitive": agents, "collaborative": 1, "two_teams": 2}[params["reward_mode"]]
    kinds, bags = colors * (colors + 1) // 2, 2 if side >= 9 else 1
    blank["agents"], blank["teams"], blank["colors"], blank["radius"] = agents, teams, colors, side - 1
    blank["rack_size"], blank["cap"] = params["rack_size"], CAP * agents // teams
    blank["full_bag"] = np.array((6, 5) if colors == rules.MAX_COLORS else (120 // kinds, 120 // kinds)) * bags
    blank["open_racks"], blank["fixed_bag"] = params["fully_observable"], params["fixed_bag"]
    return blank


def make_objectives(blank: State) -> tuple[Objective, ...]:
    """§5 Return all objectives: the colors, then the win if there are two teams or more."""
    cap, teams, agents = int(blank["cap"]), int(blank["teams"]), int(blank["agents"])
    colors = (Objective(name, "points in the color", 0, cap, 0, cap, "§5.1") for name in NAMES[: int(blank["colors"])])
    win = Objective("win", "game won (+1) or lost (-1)", -1, 1, -1, 1, "§5.2", zero_sum=agents == teams == 2)
    return (*colors, win) if teams > 1 else tuple(colors)


def find_infos(state: State) -> dict[str, Any]:
    return {"winners": view.find_winners(state)}


def game(id: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    check_combination(id, params)
    blank = make_blank(params)
    agents, colors, rack_size = params["num_agents"], params["num_colors"], params["rack_size"]
    radius, teams, cap = int(blank["radius"]), int(blank["teams"]), int(blank["cap"])
    known = make_objectives(blank)
    names = tuple(one.name for one in known)
    chosen = check_objectives(id, objectives, names) or names[:colors]
    if objectives is not None:
        params |= {"objectives": chosen}
    blank["column"] = [chosen.index(name) if name in chosen else -1 for name in NAMES]
    color_objectives = tuple(k for k, name in enumerate(chosen) if name in names[:colors])
    geometry = codec.find_geometry(radius)
    steps = (len(geometry.cells) - rules.CORNERS) // 2
    side, is_open = 2 * radius + 1, params["fully_observable"]
    # bits: the mover, cells, racks, scores, and the tiles that can be drawn
    bits = 4 + 3 * len(geometry.cells) + 6 * agents * rack_size + 14 * teams * colors
    bits += 6 * min(rules.MOST_TILES, steps * (1 + rack_size))
    exact = ExactSearch(write_key=rules.write_state_key, key_words=-(-bits // 64))
    return Game(
        id=id,
        title="MO-Ingenious",
        variant="{num_agents} agents, {num_colors} colors",
        agents=codec.AGENTS[:agents],
        teams=tuple(agent % teams for agent in range(agents)),
        dynamics="sequential",
        chance="start" if params["fixed_bag"] else "step",
        information="perfect" if is_open and not params["fixed_bag"] else "partial",
        objectives=tuple(known[names.index(name)] for name in chosen),
        actions=(len(geometry.pairs) * rack_size,),
        fields=(
            Field("board", (side, side), "int8", 0, rules.MAX_COLORS),
            Field("racks", (agents, rack_size, 2) if is_open else (rack_size, 2), "int8", 0, colors),
            Field("scores", (agents, colors), "int32", 0, cap),
        ),
        max_episode_steps=steps,
        params=params,
        parameters=(*PARAMETERS, SELECTION),
        factory=game,
        blank_state=blank,
        kernels=KERNELS,
        rules_key="ingenious",
        codec=codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            render_options=(make_viewer_option(codec.AGENTS[:agents]),),
            picture_options=(canvas.SIZE,),
            result=view.describe_result,
        ),
        human=Human(pick=view.pick, action_name=codec.format_placement, parse_action=codec.parse_placement),
        search=SearchSupport(
            prune_equivalent_actions=rules.prune_equivalent_actions, exact=exact if params["fixed_bag"] else None
        ),
        learning=LearningSupport(
            objective_features=learning.declare_features(color_objectives),
            champions=("momagames.games.ingenious:champion.npz",),
        ),
        policies={
            "min_color": "momagames.games.ingenious.policies:MIN_COLOR",
            "balanced": "momagames.games.ingenious.policies:BALANCED",
        },
        infos=find_infos,
        summary="lay tiles on hexagons; 2-6 agents act in turn, hidden racks, an objective for each color",
        source="MOMAland's documentation of moingenious_v0; traced against momaland 0.2.0",
    )
