"""MO-RoboticMail: parameters, objectives, the game. The rules are in the package rules, their text in SPEC.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from momagames.contract import (
    Animation,
    EgocentricView,
    Game,
    Human,
    Kernels,
    LearningSupport,
    Objective,
    OriginalGame,
    Parameter,
    State,
    TrainingDefaults,
    View,
    check_objectives,
    check_parameters,
)
from momagames.errors import InvalidParameter, check_choice, nearest, one_of
from momagames.games.robotmail import codec, rules
from momagames.games.robotmail.agents import egocentric_kernels
from momagames.games.robotmail.agents.safety_kernels import clear_unsafe_actions
from momagames.games.robotmail.infos import build_infos
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.layouts.layout import Layout
from momagames.games.robotmail.observation_fields import build_fields
from momagames.games.robotmail.rules import observation
from momagames.games.robotmail.rules.state import (
    BLUE,
    GRAY,
    GREEN,
    MAX_PLAYERS,
    MAX_TEAM,
    NARROW,
    OBJECTIVES,
    RED,
    WHITE,
    YELLOW,
    cell_number,
    state_dtype,
)
from momagames.games.robotmail.view import drawing
from momagames.games.robotmail.view.scene import result_text
from momagames.games.robotmail.view.text import format_text
from momagames.render import canvas

POLICIES = {
    "nearest": "momagames.games.robotmail.policies:NEAREST",
    "astar": "momagames.games.robotmail.policies:ASTAR",
    "energy_saver": "momagames.games.robotmail.policies:ENERGY_SAVER",
}
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=observation.observe)
# chosen by measuring: long rollouts, since robots act in turn; most games end before caution 2 pays
TRAINING = TrainingDefaults(
    {
        "num_envs": 64, "num_steps": 256, "hidden": 64, "gamma": 0.99, "reward_scaling": "running", "expert": "energy_saver",
        "caution": 1, "greedy": True,
    },
    budget=3_000_000,
)  # fmt: skip
EGOCENTRIC_VIEW = EgocentricView(
    write=egocentric_kernels.write_egocentric_view,
    shape=(egocentric_kernels.SIDE, egocentric_kernels.SIDE),
    planes=egocentric_kernels.PLANES,
    scalars=egocentric_kernels.SCALARS,
)
LEARNING = LearningSupport(
    clear_unsafe_actions=clear_unsafe_actions,
    champions=tuple(f"momagames.games.robotmail:champion{name}.npz" for name in ("", "-energy", "-trades")),
    training={"moppo": TRAINING},
    egocentric_view=EGOCENTRIC_VIEW,
)
SUMMARIES = {
    "any": "1 to 6 players with 1 to 6 robots each, nine layouts and your own",
    "2": "two players with one robot each",
    "4": "two players with two robots each",
    "6": "three players with two robots each",
    "12": "four players with three robots each",
}
CODES = {"w": WHITE, "g": GRAY, "gr": GREEN, "y": YELLOW, "b": BLUE, "r": RED}


@dataclass(frozen=True)
class Variant:
    """§8.1 Parameters that an id sets.

    fixed   the numbers of players and robots are part of the id
    """

    players: int
    team: int
    max_step: int
    fixed: bool = True


VARIANTS = {
    "any": Variant(2, 1, 500, fixed=False),
    "2": Variant(2, 1, 500),
    "4": Variant(2, 2, 500),
    "6": Variant(3, 2, 800),
    "12": Variant(4, 3, 1500),
}
CORE_OBJECTIVES = ("delivery", "pickup", "dock", "step_cost")
# §5.7
PRESETS = {
    "v0": CORE_OBJECTIVES,
    "clock": ("delivery", "pickup", "dock", "time"),
    "energy": (*CORE_OBJECTIVES, "energy"),
    "team": (*CORE_OBJECTIVES, "balance", "blocked"),
    "versus": (*CORE_OBJECTIVES, "rivalry", "outcome"),
}
PUBLISHED_WEIGHTS = {"delivery": 5.0, "pickup": 1.0, "dock": 1.0, "step_cost": 0.1}
PUBLISHED_CLOCK_WEIGHTS = {"delivery": 5.1, "pickup": 1.1, "dock": 1.1, "time": 0.1}
BATTERY_OBJECTIVES = ("dock", "energy", "charge")
MAX_MAILS, MAX_STEPS = 1000, 100_000


def build_parameters(variant: Variant, with_battery: Any) -> tuple[Parameter, ...]:
    """§8.2 Return the parameters with their defaults and ranges."""
    players = (variant.players, variant.players) if variant.fixed else (1, MAX_PLAYERS)
    team = (variant.team, variant.team) if variant.fixed else (1, MAX_TEAM)
    return (
        Parameter("layout", "documented", "the board", convert=loader.normalize_parameter, accepts=loader.ACCEPTS),
        Parameter("required_mail", 4 if with_battery is False else 6, "mails that a player needs to win", 1, MAX_MAILS),
        Parameter("num_players", variant.players, "players", *players),
        Parameter("num_robots_per_player", variant.team, "robots of each player", *team),
        Parameter("with_battery", True, "moving takes energy, and robots must charge"),
        Parameter("random_num_steps", False, "turns of 1 to 5 steps at random, instead of 1"),
        Parameter("max_step", variant.max_step, "steps of all robots until the game is truncated", 1, MAX_STEPS),
        Parameter("always_legal", True, "a robot without a legal action may stand: no mask is empty"),
        Parameter("observation", "vector", "the robots, or fields that also show the board", choices=("vector", "dict")),
    )


def build_objectives(params: Mapping[str, Any]) -> dict[str, Objective]:
    """§5 Return every objective, with its bounds under these parameters."""
    mails, steps, rivals = params["required_mail"], params["max_step"], params["num_players"] - 1
    table = (
        Objective("delivery", "mails delivered", 0, 1, 0, mails, "§5.1"),
        Objective("pickup", "mails picked up", 0, 1, 0, mails, "§5.1"),
        Objective("dock", "chargers entered", 0, 1, 0, steps, "§5.1"),
        Objective("step_cost", "steps without an event, negative", -1, 0, -steps, 0, "§5.1"),
        Objective("time", "steps except charging ones, negative", -1, 0, -steps, 0, "§5.2"),
        Objective("energy", "energy used, negative", -0.2, 0, -0.2 * steps, 0, "§5.3"),
        Objective("charge", "energy charged", 0, 1, 0, steps, "§5.3"),
        Objective("blocked", "directions that robots block, negative", -4, 0, -4 * steps, 0, "§5.4"),
        Objective("blocking", "directions blocked for others, negative", -1, 0, -steps, 0, "§5.4"),
        Objective("balance", "change of the team's balance", -1, 1, -mails, 0, "§5.5"),
        Objective("rivalry", "deliveries of other players, negative", -1, 0, -rivals * mails, 0, "§5.6"),
        Objective("outcome", "game won (+1) or lost (-1)", -1, 1, -1, 1, "§5.6"),
    )
    return {objective.name: objective for objective in table}


def select_objectives(id: str, given: Any, with_battery: bool) -> tuple[str, ...]:
    """§5.7 Return the selected objectives, by name or preset; presets omit battery objectives without battery."""
    if given is None or (isinstance(given, str) and given in PRESETS):
        preset = PRESETS[given or "v0"]
        return tuple(name for name in preset if with_battery or name not in BATTERY_OBJECTIVES)
    if isinstance(given, str) and given not in OBJECTIVES:
        known = (*PRESETS, *OBJECTIVES)
        raise InvalidParameter(
            f"{id}: invalid objectives={given!r}: expected a preset, {one_of(PRESETS)}, or objectives, {one_of(OBJECTIVES)}"
            f"{nearest(given, known)}"
        )
    for name in given if isinstance(given, (list, tuple)) else ():
        if isinstance(name, str) and name in PRESETS and name not in OBJECTIVES:
            raise InvalidParameter(
                f"{id}: invalid objectives={given!r}: expected the preset alone, objectives={name!r}, or names of objectives"
            )
    return check_objectives(id, given, OBJECTIVES)


def published_weights(names: tuple[str, ...], with_battery: bool) -> tuple[float, ...] | None:
    """§5.7 Return the weights of the original's reward; None if the objectives do not determine it."""
    weights = PUBLISHED_WEIGHTS if "step_cost" in names else PUBLISHED_CLOCK_WEIGHTS
    if any(name not in names for name in weights if with_battery or name not in BATTERY_OBJECTIVES):
        return None
    return tuple(weights.get(name, 0.0) for name in names)


def game(id: str, variant: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8).

    variant   numbers of players and robots, see VARIANTS: set by the id
    """
    check_choice("variant", variant, VARIANTS)
    declared = build_parameters(VARIANTS[variant], given.get("with_battery", True))
    check_fixed_counts(id, VARIANTS[variant], given)
    params = check_parameters(id, declared, given)
    layout = loader.load(params["layout"])
    loader.check_robots(layout, params["num_players"] * params["num_robots_per_player"])
    return build_game(id, variant, layout, params, declared, select_objectives(id, objectives, params["with_battery"]))


def check_fixed_counts(id: str, variant: Variant, given: Mapping[str, Any]) -> None:
    """§8.1 Raise InvalidParameter for other numbers of players and robots than those of the id."""
    for name, count in (("num_players", variant.players), ("num_robots_per_player", variant.team)):
        if variant.fixed and given.get(name, count) != count:
            raise InvalidParameter(f"{id}: invalid {name}={given[name]!r}: expected {count} (mo-robotmail-v0 takes others)")


def build_game(
    id: str, variant: str, layout: Layout, params: dict[str, Any], declared: tuple[Parameter, ...], chosen: tuple[str, ...]
) -> Game:
    """Return the game with validated parameters."""
    players, team = params["num_players"], params["num_robots_per_player"]
    agents = tuple(f"robot_{i}" for i in range(players * team))
    selection = Parameter("objectives", "v0", "a preset, or objectives by name in this order", choices=(*PRESETS, *OBJECTIVES))
    return Game(
        id=id,
        title="MO-RoboticMail",
        variant=f"{players * team} robots" if players * team > 1 else "1 robot",
        agents=agents,
        teams=tuple(i // team for i in range(players * team)),
        dynamics="sequential",
        chance="step",
        information="partial",  # §7: the mails on green cells, and the progress of the players
        objectives=tuple(build_objectives(params)[name] for name in chosen),
        actions=(len(codec.ACTIONS),),
        fields=build_fields(
            params["observation"],
            (layout.height, layout.width),
            (players, team),
            params["with_battery"],
            params["required_mail"],
            params["max_step"],
        ),
        max_episode_steps=params["max_step"],
        params={**params, "objectives": chosen},
        parameters=(*declared, selection),
        factory=partial(game, variant=variant),
        blank_state=build_blank_state(layout, params, chosen),
        kernels=KERNELS,
        rules_key="robotmail",
        codec=codec.CODEC,
        view=View(
            draw=drawing.draw_picture,
            text=format_text,
            render_options=drawing.build_options(agents, layout.width, layout.height),
            picture_options=(canvas.SIZE,),
            animation=Animation(drawing.find_slides, drawing.locate_cells),
            result=result_text,
        ),
        human=Human(
            keys=drawing.KEYS,
            pick=drawing.pick,
            point=drawing.point,
            action_name=codec.action_name,
            parse_action=codec.parse_action,
            legal_hint=codec.describe_legal_actions,
        ),
        learning=LEARNING,
        policies=POLICIES,
        original=OriginalGame(published_weights=published_weights(chosen, params["with_battery"])),
        infos=build_infos,
        allows_illegal=True,  # §3.5
        can_pass=True,
        summary=f"deliver mail by robots; {SUMMARIES[variant]}",
        source="the rules of rbgame 0.0.3 as it plays; traced against its recorded games",
    )


def build_blank_state(layout: Layout, params: Mapping[str, Any], chosen: tuple[str, ...]) -> State:
    """Return a state with the parameters and an empty board."""
    state = np.zeros(1, state_dtype)[0]
    state["width"], state["height"] = layout.width, layout.height
    narrow = layout.narrow
    for y, codes in enumerate(layout.colors):
        for x, code in enumerate(codes):
            cell = cell_number(layout.width, x, y)
            state["ground"][cell] = CODES[code] | (NARROW if (x, y) in narrow else 0)
            state["target"][cell] = layout.targets[y][x]
    indices = layout.indices
    state["indices"], state["index"][: len(indices)] = len(indices), indices
    state["players"], state["team"] = params["num_players"], params["num_robots_per_player"]
    state["required"], state["random_turns"] = params["required_mail"], params["random_num_steps"]
    for name in ("max_step", "with_battery", "always_legal"):
        state[name] = params[name]
    state["fields"] = params["observation"] == "dict"
    state["column"] = [chosen.index(name) if name in chosen else -1 for name in OBJECTIVES]
    state["winner"] = -1
    return state
