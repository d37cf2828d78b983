"""MO-TileBlast: parameters, objectives, assembly. The package rules holds the rules, SPEC.md their text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from momagames.contract import (
    Animation,
    Game,
    Human,
    Kernels,
    LearningSupport,
    Objective,
    ObjectiveFeatures,
    Parameter,
    SearchSupport,
    State,
    View,
    check_objectives,
    check_parameters,
)
from momagames.errors import check_choice
from momagames.games.tileblast import codec, heuristics, rules
from momagames.games.tileblast.infos import build_infos
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.observation_fields import build_fields
from momagames.games.tileblast.rules import observation
from momagames.games.tileblast.rules.rewards import COMPONENTS
from momagames.games.tileblast.rules.state import CELLS, MAX_AGENTS, state_dtype
from momagames.games.tileblast.view import drawing
from momagames.games.tileblast.view.scene import result_text
from momagames.games.tileblast.view.text import format_text
from momagames.render import canvas

# §8.1
VARIANTS = {
    "general": ("goals", "win", "step", "invalid", "created", "score"),
    "goals": ("goal_1", "goal_2", "goal_3", "goal_4", "win", "step", "invalid"),
    "playtest": ("win", "moves_saved", "combo", "used"),
    "colors": (*(f"color_{k}" for k in range(1, 7)), "win"),
}
SUMMARIES = {
    "general": "twelve levels and your own",
    "goals": "one objective for each goal",
    "playtest": "objectives for difficulty and style of play",
    "colors": "one objective for each color",
}
# §8.2
PARAMETERS = (
    Parameter("level", 1, "the level", convert=loader.normalize_parameter, accepts=loader.EXPECTED),
    Parameter("num_agents", 1, "agents that take turns", 1, MAX_AGENTS),
    Parameter("team_rewards", False, "every agent gets every reward"),
    Parameter("normalize", False, "rewards divided by the amounts of the level"),
    Parameter("strict_moves", True, "the game is lost when its moves are used up"),
    Parameter("max_taps", None, "taps until truncation; None: 20 times the limit of moves", 1, 1_000_000, optional=True),
    Parameter("invalid", "penalize", "invalid taps cost a tap, or raise an error", choices=("penalize", "raise")),
    Parameter("observation", "board", "one array, or a dict of the board, goals and moves", choices=("board", "dict")),
    Parameter("channels", 24, "channels of the board", choices=(24, 27)),
    Parameter("axes", "xyc", "order of the axes of the board", choices=tuple(observation.AXES)),
)
POLICIES = {
    "greedy_contact": "momagames.games.tileblast.policies:GREEDY_CONTACT",
    "one_step_lookahead": "momagames.games.tileblast.policies:ONE_STEP_LOOKAHEAD",
}
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=observation.observe)
TAPS_PER_MOVE = 20  # §6.3
MAX_HITS = 2 * CELLS**2  # §5.4 in one tap, without new drops


def build_objectives(level: loader.Level, params: Mapping[str, Any], max_taps: int) -> dict[str, tuple[Objective, float]]:
    """§5 Return every objective with its bounds, and its divisor (§5.7)."""
    limit, valid = level.moves, level.moves if params["strict_moves"] else max_taps
    amounts = loader.goal_bounds(level, valid)
    total, fed = sum(amounts), sum(feed.total for feed in level.feeds)
    table = [
        ("goals", "units of all goals", 0, total, 0, total, "§5.1", total),
        *((f"goal_{k + 1}", "units of the goal", 0, n, 0, n, "§5.1", total) for k, n in enumerate(amounts)),
        ("win", "level won", 0, 1, 0, 1, "§5.2", 1),
        ("step", "taps, negative", -1, 0, -max_taps, 0, "§5.3", limit),
        ("move", "valid taps, negative", -1, 0, -valid, 0, "§5.3", limit),
        ("moves_saved", "moves left at the win", 0, limit - 1, 0, limit - 1, "§5.2", 1),
        ("invalid", "invalid taps, negative", -1, 0, -max_taps, 0, "§5.3", limit),
        ("created", "power pieces made by groups", 0, 1, 0, valid, "§5.4", limit),
        ("used", "power pieces used", 0, CELLS, 0, CELLS * valid, "§5.4", 1),
        ("combo", "taps that join power pieces", 0, 1, 0, valid, "§5.4", limit),
        ("score", "points", 0, MAX_HITS + fed, 0, MAX_HITS * valid + fed, "§5.4", 100),
        *((f"color_{k}", "basics of the color cleared", 0, CELLS, 0, CELLS * valid, "§5.5", 1) for k in range(1, 7)),
    ]
    out: dict[str, tuple[Objective, float]] = {}
    for name, unit, low, high, least, most, source, parts in table:
        share = float(parts) if params["normalize"] else 1.0
        step, whole = (low / share, high / share), (least / share, most / share)
        out[name] = Objective(name, unit, *step, *whole, source), share
    return out


def game(id: str, variant: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8).

    variant   key of VARIANTS, the default objectives: set by the id
    """
    check_choice("variant", variant, VARIANTS)
    params = check_parameters(id, PARAMETERS, given)
    chosen = check_objectives(id, objectives, COMPONENTS) or VARIANTS[variant]
    return build_game(id, variant, loader.load(params["level"]), params, chosen)


def build_game(id: str, variant: str, level: loader.Level, params: dict[str, Any], chosen: tuple[str, ...]) -> Game:
    """Return the game of checked parameters."""
    count = params["num_agents"]
    max_taps = params["max_taps"] or TAPS_PER_MOVE * level.moves
    table = build_objectives(level, params, max_taps)
    allows_illegal = params["invalid"] == "penalize"
    selection = Parameter("objectives", VARIANTS[variant], "objectives by name, in this order", choices=COMPONENTS)
    return Game(
        id=id,
        title="MO-TileBlast",
        variant="level {level}" if variant == "general" else f"{variant}, level {{level}}",
        agents=tuple(f"agent_{i}" for i in range(count)),
        teams=(0,) * count if params["team_rewards"] else tuple(range(count)),
        dynamics="sequential",
        chance="step",
        objectives=tuple(table[name][0] for name in chosen),
        actions=(CELLS,),
        fields=build_fields(params["observation"], params["channels"], params["axes"]),
        max_episode_steps=max_taps,
        params={**params, "objectives": chosen},
        parameters=(*PARAMETERS, selection),
        factory=partial(game, variant=variant),
        blank_state=build_blank_state(level, params, max_taps, [(COMPONENTS.index(name), table[name][1]) for name in chosen]),
        kernels=KERNELS,
        rules_key="tileblast" if allows_illegal else "tileblast.strict",
        codec=codec.CODEC,
        view=View(
            draw=drawing.draw_picture,
            text=format_text,
            render_options=drawing.OPTIONS,
            picture_options=(canvas.SIZE,),
            result=result_text,
            animation=Animation(drawing.find_slides, drawing.locate_cells),
        ),
        human=Human(
            pick=drawing.pick,
            point=drawing.point,
            action_name=codec.action_name,
            parse_action=codec.parse_action,
            legal_hint=codec.nearest_legal,
        ),
        search=SearchSupport(
            prune_equivalent_actions=rules.prune_equivalent_actions,
            optimistic=heuristics.optimistic,
            present=heuristics.present,
        ),
        learning=LearningSupport(
            objective_features=ObjectiveFeatures(names=("present",), write=heuristics.write_objective_features),
            champions=("momagames.games.tileblast:champion.npz", "momagames.games.tileblast:champion-goals.npz"),
        ),
        policies=POLICIES,
        infos=build_infos,
        allows_illegal=allows_illegal,
        summary=f"tap groups of tiles; {SUMMARIES[variant]}",
        source="own rules around the published observation, actions and reward of the tap-to-blast competition of CoG 2021",
    )


def build_blank_state(level: loader.Level, params: Mapping[str, Any], max_taps: int, wanted: list[tuple[int, float]]) -> State:
    """Return a state with the parameters filled in and nothing generated."""
    state = np.zeros(1, state_dtype)[0]
    state["agents"], state["max_taps"], state["channels"] = params["num_agents"], max_taps, params["channels"]
    for name in ("team_rewards", "strict_moves"):
        state[name] = params[name]
    state["fields"], state["upside_down"] = params["observation"] == "dict", params["axes"] != "xyc"
    for k, (component, share) in enumerate(wanted):
        state["wanted"][k], state["share"][k] = component, share
    loader.write_level(level, state)
    state["abilities"] = codec.combine_attributes(state, "start_kind", "feed_kind")
    return state
