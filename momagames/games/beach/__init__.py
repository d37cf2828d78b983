"""MO-Beach: many agents share the sections of a beach; crowds and company are the objectives. SPEC.md has the rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from momagames.contract import (
    Field,
    Game,
    Human,
    Kernels,
    Keys,
    LearningSupport,
    Objective,
    Parameter,
    Solvers,
    View,
    check_parameters,
)
from momagames.contract.views import make_viewer_option
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.beach import codec, learning, rules, view
from momagames.render import canvas

PARAMETERS = (
    Parameter("num_agents", 100, "agents", 1, rules.MAX_AGENTS),
    Parameter("sections", 6, "sections of the beach", 2, rules.MAX_SECTIONS),
    Parameter("capacity", 7, "agents in a section that make its capacity largest", 1, rules.MAX_AGENTS),
    Parameter("num_timesteps", 1, "steps of an episode", 1, rules.MAX_STEPS),
    Parameter("type_distribution", (0.3, 0.7), "weights with which the type of an agent is drawn", 0.0, 1e6,
              shape=((2, rules.MAX_TYPES),)),
    Parameter("type_counts", None, "numbers of agents of each type, in place of drawn types", 0, rules.MAX_AGENTS,
              optional=True, shape=((2, rules.MAX_TYPES),)),
    Parameter("position_distribution", None, "weights with which the first section of an agent is drawn; None: equal ones",
              0.0, 1e6, optional=True, shape=((2, rules.MAX_SECTIONS),)),
    Parameter("reward_mode", "individual", "each agent gets the points of its section, or all get those of the beach",
              choices=("individual", "team")),
)  # fmt: skip
LEARNING = LearningSupport(write_differences=learning.write_differences)
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe)

SOLVERS = {
    "individual": Solvers(by_counts="momagames.games.beach.solver:count_agents"),
    "team": Solvers(fronts={"returns": "momagames.games.beach.solver:TEAM_FRONT"}),
}
HUMAN = Human(
    keys=Keys({"left": ((0,), 0), "space": ((0,), 1), "right": ((0,), 2)}, "arrows: go left or right; space: stay"),
    action_name=codec.action_name,
    parse_action=codec.parse_action,
)


def check_together(id: str, params: dict[str, Any]) -> None:
    """Raise InvalidParameter for lists whose lengths or sums do not fit."""
    for name in ("type_distribution", "position_distribution"):
        if params[name] and not any(params[name]):
            raise InvalidParameter(invalid_value(f"{id}: {name}", params[name], "a weight above 0"))
    counts, places = params["type_counts"], params["position_distribution"]
    if counts and sum(counts) != params["num_agents"]:
        expected = f"{params['num_agents']} agents in all, as num_agents"
        raise InvalidParameter(invalid_value(f"{id}: type_counts", counts, expected))
    if places and len(places) != params["sections"]:
        raise InvalidParameter(invalid_value(f"{id}: position_distribution", places, f"{params['sections']} weights"))


def game(id: str, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    check_together(id, params)
    agents, sections, capacity, team = (params[n] for n in ("num_agents", "sections", "capacity", "reward_mode"))
    counts = params["type_counts"]
    types = len(counts or params["type_distribution"])
    blank = np.zeros(1, rules.state_dtype)[0]
    blank["agents"], blank["sections"], blank["types"], blank["capacity"] = agents, sections, types, capacity
    blank["steps"], blank["team"], blank["fixed"] = params["num_timesteps"], team == "team", counts is not None
    blank["type_below"][:types] = cumulate(params["type_distribution"][:types] if counts is None else (1.0,) * types)
    blank["section_below"][:sections] = cumulate(params["position_distribution"] or (1.0,) * sections)
    blank["type"][:agents] = 0 if counts is None else np.repeat(np.arange(types), counts)
    names = tuple(f"agent_{i}" for i in range(agents))
    largest = (sections if team == "team" else 1) * capacity / math.e
    return Game(
        id=id,
        title="MO-Beach",
        variant="{num_agents} agents",
        agents=names,
        teams=(0,) * agents if team == "team" else (),
        dynamics="simultaneous",
        chance="start",
        information="partial",
        objectives=(
            Objective("capacity", "points", 0, largest, 0, largest, "§5"),
            Objective("mixture", "smallest share of a type", 0, 1 / types, 0, 1 / types, "§5"),
        ),
        actions=(3,),
        fields=(Field("observation", (5,), "float32", 0, max(agents, sections - 1, capacity, types - 1)),),
        max_episode_steps=params["num_timesteps"],
        factory=game,
        blank_state=blank,
        kernels=KERNELS,
        rules_key="beach",
        codec=codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            render_options=(make_viewer_option(names),),
            picture_options=(canvas.SIZE,),
        ),
        human=HUMAN,
        learning=LEARNING,
        policies={name: f"momagames.games.beach.policies:{name.upper()}" for name in ("best_response", "imitate", "overflow")},
        solvers=SOLVERS[team],
        params=params,
        parameters=PARAMETERS,
        summary="share a beach; many agents choose its sections, crowds and company are the objectives",
        source="MOMAland's documentation of mobeach_v0; Mannion et al. 2018",
    )


def cumulate(weights: Any) -> Any:
    """Return the cumulative distribution of weights."""
    return np.cumsum(np.array(weights) / sum(weights))
