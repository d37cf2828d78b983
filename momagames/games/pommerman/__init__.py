"""MO-Pommerman: parameters, objectives, the game. The rules are in the package rules, their text in SPEC.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import (
    Animation,
    EgocentricView,
    Game,
    Human,
    Kernels,
    LearningSupport,
    MatchRules,
    Objective,
    OriginalGame,
    Parameter,
    State,
    TrainingDefaults,
    View,
    check_objectives,
    check_parameters,
)
from momagames.errors import InvalidParameter, check_choice, one_of
from momagames.games.pommerman import codec, infos, rules
from momagames.games.pommerman.agents import egocentric_kernels
from momagames.games.pommerman.agents.safety_kernels import clear_unsafe_actions
from momagames.games.pommerman.observation_fields import build_fields
from momagames.games.pommerman.rules import observation
from momagames.games.pommerman.rules.state import (
    DUEL,
    FFA,
    LAY,
    MAX_BOMBS,
    MAX_SIDE,
    OBJECTIVES,
    RADIO,
    SEATS,
    TEAM,
    VOCABULARY,
    WORDS,
)
from momagames.games.pommerman.view import drawing
from momagames.games.pommerman.view.scene import ending_text
from momagames.games.pommerman.view.text import format_text
from momagames.render import canvas

ACTIONS = ("stop", "up", "down", "left", "right", "bomb")
POLICIES = {
    "simple": "momagames.games.pommerman.policies:SIMPLE",
    "stationary": "momagames.games.pommerman.policies:STATIONARY",
}
ORIGINAL = OriginalGame(
    policy_prefixes={
        "original": "momagames.games.pommerman.original.policies:make_named_policy",
        "http": "momagames.games.pommerman.original.policies:make_named_http_policy",
    }
)
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=observation.observe)
EGOCENTRIC_VIEW = EgocentricView(
    write=egocentric_kernels.write_egocentric_view,
    shape=(egocentric_kernels.SIDE, egocentric_kernels.SIDE),
    planes=egocentric_kernels.PLANES,
    scalars=egocentric_kernels.SCALARS,
)
# fast enough to improve on the expert, if its play has returns of about 1: see docs/moppo.md
TRAINING = TrainingDefaults(
    {
        "reward_scaling": "expert", "self_play": 0.0, "opponent_pool_size": 0, "concentration": 0.5, "bc_fraction": 0.05,
        "divisions": 2,
    },
    budget=2_000_000,
)  # fmt: skip
SUMMARIES = {
    "ffa": "free for all",
    "ffa-collapse": "free for all with collapsing walls",
    "team": "two against two with fog",
    "team-full": "two against two, fully observable",
    "team-collapse": "two against two with fog and collapsing walls",
    "radio": "two against two with fog and messages of two words",
    "duel": "one against one on a small board",
}
MIN_SIZE = 7
SHARE_BEFORE_COLLAPSE, COLLAPSING_RINGS = Fraction(5, 8), 4  # of `add_collapse`: 500 of 800 steps, as in the original


@dataclass(frozen=True)
class Variant:
    """§8.1 A game of the original.

    name         for headings
    objectives   of the reward vector by default
    rigid, wood  walls by default, as shares of the cells where walls may be; they give the original's numbers on its board
    items        items by default, as a share of the wooden walls
    champion     file of the trained policy of this package that plays it
    """

    name: str
    mode: int
    objectives: tuple[str, ...]
    size: int = 11
    rigid: Fraction = Fraction(9, 20)
    wood: Fraction = Fraction(3, 10)
    items: Fraction = Fraction(5, 9)
    fog: bool = False
    collapse: bool = False
    champion: str = field(kw_only=True)


SOLO_OBJECTIVES = ("outcome", "kills", "wood", "items", "bombs")
DUEL_OBJECTIVES = ("outcome", "wood", "items", "bombs")
TEAM_OBJECTIVES = ("outcome", "kills", "team_kill", "wood", "bombs")
THIRD = Fraction(1, 3)
FFA_CHAMPION, TEAM_CHAMPION, RADIO_CHAMPION, DUEL_CHAMPION, TRADES_CHAMPION = (
    f"{__name__}:champion-{name}.npz" for name in ("ffa", "team", "radio", "duel", "trades")
)
VARIANTS = {
    "ffa": Variant("free-for-all", FFA, SOLO_OBJECTIVES, champion=FFA_CHAMPION),
    "ffa-collapse": Variant("free-for-all, collapsing walls", FFA, SOLO_OBJECTIVES, collapse=True, champion=FFA_CHAMPION),
    "team": Variant("team", TEAM, TEAM_OBJECTIVES, fog=True, champion=TEAM_CHAMPION),
    "team-full": Variant("team without fog", TEAM, TEAM_OBJECTIVES, champion=TEAM_CHAMPION),
    "team-collapse": Variant("team, collapsing walls", TEAM, TEAM_OBJECTIVES, fog=True, collapse=True, champion=TEAM_CHAMPION),
    "radio": Variant("radio", RADIO, (*TEAM_OBJECTIVES, "comm"), fog=True, champion=RADIO_CHAMPION),
    "duel": Variant("duel", DUEL, DUEL_OBJECTIVES, 8, THIRD, THIRD, Fraction(5, 8), champion=DUEL_CHAMPION),
}
NEEDS_RADIO, NEEDS_MATE = ("comm", "comm_change"), ("team_kill", "team_bombs", "mate_survival")
MAX_RIGID_SHARES = {FFA: Fraction(9, 20), TEAM: Fraction(9, 20), RADIO: Fraction(9, 20), DUEL: Fraction(2, 5)}  # §8.3
MAX_STEPS = 100_000


def build_parameters(id: str, variant: Variant, given: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """§8.2, §8.3 Return the parameters with their defaults and ranges, which may depend on parameters before them."""
    parameters: list[Parameter] = []

    def add_parameter(name: str, default: Any, doc: str, low: int, high: int, reason: str = "", optional: bool = False) -> int:
        """Declare an integer parameter and return its value. `reason` explains a range that depends on other parameters."""
        parameters.append(Parameter(name, default, doc, low, high, optional=optional))
        try:
            value: int = parameters[-1].check(id, given.get(name, default))
        except InvalidParameter as error:
            raise InvalidParameter(f"{error} ({reason})" if reason else str(error)) from None
        return value

    size = add_parameter("board_size", variant.size, "rows and columns", MIN_SIZE, MAX_SIDE)
    free_cells, ring = count_free_cells(size, count_seats(variant.mode)), count_ring_walls(size, count_seats(variant.mode))
    reason = f"on {size} x {size}: with more walls, boards with reachable passages (G7) are rare"
    rigid = add_parameter(
        "num_rigid",
        round_to_even(free_cells * variant.rigid),
        "rigid walls",
        0,
        round_to_even(free_cells * MAX_RIGID_SHARES[variant.mode]),
        reason,
    )
    available = ring + free_cells - rigid - rigid % 2
    reason = f"what {rigid} rigid walls leave on {size} x {size}"
    wood = add_parameter(
        "num_wood", min(ring + round_to_even(free_cells * variant.wood), available), "wooden walls", 0, available, reason
    )
    max_items = min(count_wood(ring, wood), MAX_BOMBS - SEATS)
    reason = f"one in each wooden wall, {MAX_BOMBS - SEATS} at most"
    add_parameter(
        "num_items", min(int(count_wood(ring, wood) * variant.items), max_items), "items hidden in wood", 0, max_items, reason
    )
    steps = add_parameter("max_steps", 800, "steps until the game is truncated", 2, MAX_STEPS)
    first_collapse = min(5 * steps // 8, steps - 4) if variant.collapse and steps > 4 else None
    doc = "step after which the first ring falls; None: never"
    reason = f"at least 4 before max_steps={steps}" if steps > 4 else f"no ring can fall within max_steps={steps}, it takes 5"
    add_parameter("first_collapse", first_collapse, doc, 1, max(steps - 4, 0), reason, optional=True)
    add_parameter("agent_view_size", 4, "view distance of an agent in the fog, in rows and columns", 1, observation.MAX_VIEW)
    add_parameter("max_blast_strength", 4 if variant.fog else 10, "limit for range items", 2, MAX_SIDE)
    add_parameter("blast_strength", 2, "blast strength at the start; 2 reaches one cell in each direction", 1, MAX_SIDE)
    return (
        *parameters,
        Parameter("is_partially_observable", variant.fog, "fog hides cells farther than agent_view_size from an agent"),
        Parameter("observation", "dict", "the original's fields, or planes for learners", choices=("dict", "planes")),
        Parameter("egocentric", False, "matrices and planes centered on the agent (in the fog only)"),
        Parameter("dead", "stay", "dead agents stay until the end, or leave the game", choices=("stay", "leave")),
        Parameter("credit", "full", "credit of each of several owners of a fire: 1, or its share", choices=("full", "split")),
    )


def build_objectives(mode: int, params: Mapping[str, Any]) -> dict[str, Objective]:
    """§5 Return every objective, with its bounds under these parameters."""
    steps, size, items = params["max_steps"], params["board_size"], params["num_items"]
    wood, share = count_wood(count_ring_walls(size, count_seats(mode)), params["num_wood"]), 1 / params["max_steps"]
    enemies = {FFA: 3, DUEL: 1}.get(mode, 2)
    lowest = -steps if mode == FFA else -1
    table = (
        Objective("outcome", "game won (+1), lost or tied (-1)", -1, 1, -1, 1, "§5.1"),
        Objective("outcome_original", "the original's reward", -1, 1, lowest, 1, "§5.1"),
        Objective("survival", "share of the longest game alive", 0, share, 0, 1, "§5.3"),
        Objective("kills", "enemies burnt", 0, enemies, 0, enemies, "§5.2"),
        Objective("team_kill", "team mate burnt, negative", -1, 0, -1, 0, "§5.2"),
        Objective("self_kill", "burnt in its own fire, negative", -1, 0, -1, 0, "§5.2"),
        Objective("wood", "wooden walls burnt", 0, wood, 0, wood, "§5.2"),
        Objective("items", "items taken", 0, 1, 0, items, "§5.4"),
        Objective("extra_bombs", "extra bombs taken", 0, 1, 0, items, "§5.4"),
        Objective("ranges", "range items taken", 0, 1, 0, items, "§5.4"),
        Objective("kick_items", "kick items taken", 0, 1, 0, items, "§5.4"),
        Objective("useful_items", "items taken that changed something", 0, 1, 0, items, "§5.4"),
        Objective("item_waste", "items burnt, negative", -items, 0, -items, 0, "§5.2"),
        Objective("bombs", "bombs laid, negative", -1, 0, -steps, 0, "§5.5"),
        Objective("team_bombs", "bombs laid by the team, negative", -2, 0, -2 * steps, 0, "§5.5"),
        Objective("movement", "moves, negative", -1, 0, -steps, 0, "§5.5"),
        Objective("kicks", "bombs kicked", 0, 1, 0, steps, "§5.5"),
        Objective("comm", "half the words said, negative", -1, 0, -steps, 0, "§5.6"),
        Objective("comm_change", "changes of the message, negative", -1, 0, -steps, 0, "§5.6"),
        Objective("explore", "cells seen for the first time from within", 0, 1, 0, size * size - 1, "§5.7"),
        Objective("speed", "share of the longest game used, negative", -share, 0, -1, 0, "§5.3"),
        Objective("mate_survival", "share of the longest game the mate is alive", 0, share, 0, 1, "§5.3"),
    )
    return {objective.name: objective for objective in table}


def count_free_cells(size: int, seats: int) -> int:
    """§2 G1-G4 Count the cells for walls: without the main diagonal, the starts, the corridors and the ring of wood."""
    far = size - 2
    reserved = {(1, 1), (far, far)}
    for i in range(2, size - 2) if seats == SEATS else (2, 3):
        reserved |= {(1, i), (i, 1), (far, size - 1 - i), (size - 1 - i, far)}
    if seats == SEATS:
        reserved |= {(1, far), (far, 1)}
    return size * size - size - sum(row != col for row, col in reserved)


def count_ring_walls(size: int, seats: int) -> int:
    """§2 G4 Count the wooden walls of the ring, which are the same on every board."""
    return max(0, 4 * (size - 8)) if seats == SEATS else 0


def count_wood(ring: int, wood: int) -> int:
    """§2 G4, G6 Return the number of wooden walls of a board: the ring and pairs."""
    return ring + max(0, wood - ring + 1) // 2 * 2


def round_to_even(cells: Fraction) -> int:
    """Return the number of cells rounded down to an even number."""
    return int(cells) // 2 * 2


def count_seats(mode: int) -> int:
    """§1.4 Return the number of agents of a kind of game."""
    return 2 if mode == DUEL else SEATS


def check_compatible(id: str, mode: int, params: Mapping[str, Any], chosen: tuple[str, ...]) -> None:
    """§8.3 Raise InvalidParameter for parameters that exclude each other."""
    if params["egocentric"] and not params["is_partially_observable"]:
        raise InvalidParameter(f"{id}: egocentric=True needs is_partially_observable=True")
    for needed, has, what in ((NEEDS_RADIO, mode == RADIO, "radio"), (NEEDS_MATE, mode in (TEAM, RADIO), "teams")):
        for name in chosen:
            if name in needed and not has:
                raise InvalidParameter(f"{id}: the objective {name!r} is for games with {what}")


def game(id: str, variant: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8).

    variant   game of the original, see VARIANTS: set by the id
    """
    check_choice("variant", variant, VARIANTS)
    settings = VARIANTS[variant]
    declared = build_parameters(id, settings, given)
    params = check_parameters(id, declared, given)
    chosen = check_objectives(id, objectives, OBJECTIVES) or settings.objectives
    check_compatible(id, settings.mode, params, chosen)
    return build_game(id, variant, settings.mode, params, declared, chosen)


def build_game(
    id: str, variant: str, mode: int, params: dict[str, Any], declared: tuple[Parameter, ...], chosen: tuple[str, ...]
) -> Game:
    """Return the game with validated parameters."""
    seats, size, champion = count_seats(mode), params["board_size"], VARIANTS[variant].champion
    agents = tuple(f"agent_{seat}" for seat in range(seats))
    actions = (len(ACTIONS), *([VOCABULARY] * WORDS if mode == RADIO else []))
    view_size = params["agent_view_size"] if params["is_partially_observable"] else 0
    planes = params["observation"] == "planes"
    selection = Parameter("objectives", VARIANTS[variant].objectives, "objectives by name, in this order", choices=OBJECTIVES)
    return Game(
        id=id,
        title="MO-Pommerman",
        variant=VARIANTS[variant].name,
        agents=agents,
        teams=tuple(seat % 2 for seat in range(seats)) if mode in (TEAM, RADIO) else (),
        dynamics="simultaneous",
        chance="start",
        information="partial",  # §7: hidden items, and the equipment of other agents
        objectives=tuple(build_objectives(mode, params)[name] for name in chosen),
        actions=actions,
        fields=build_fields(mode, size, seats, view_size, params["egocentric"], planes, params["max_steps"]),
        max_episode_steps=params["max_steps"],
        params={**params, "objectives": chosen},
        parameters=(*declared, selection),
        factory=partial(game, variant=variant),
        blank_state=build_blank_state(mode, params, view_size, chosen),
        kernels=KERNELS,
        rules_key="pommerman",
        codec=codec.CODEC,
        view=View(
            draw=drawing.draw_picture,
            text=format_text,
            render_options=drawing.build_options(agents, size),
            picture_options=(canvas.SIZE,),
            result=ending_text,
            animation=Animation(drawing.find_slides, drawing.locate_cells),
        ),
        human=Human(
            keys=drawing.build_keys(mode),
            point=drawing.point,
            action_name=action_name,
            parse_action=parse_action,
            legal_hint=describe_legal_actions,
        ),
        learning=LearningSupport(
            clear_unsafe_actions=clear_unsafe_actions,
            champions=(TRADES_CHAMPION, champion),  # the second one plays the same for all objectives
            training={"moppo": TRAINING},
            egocentric_view=EGOCENTRIC_VIEW,
        ),
        policies=POLICIES,
        original=ORIGINAL,
        match_rules=MatchRules(tie_break=add_collapse),
        infos=infos.build_infos,
        summary=f"bombs, items and walls; {SUMMARIES[variant]}",
        source="the rules of Pommerman 0.2.0 as it plays; traced against its recorded games",
    )


def add_collapse(game: Game) -> Game:
    """§4.11 Return the game with walls that close in; the game itself if it has them or is too short for them."""
    steps = game.params["max_steps"]
    first = min(int(SHARE_BEFORE_COLLAPSE * steps), steps - COLLAPSING_RINGS)
    if game.params["first_collapse"] is not None or first < 1:
        return game
    return game.factory(game.id, **{**game.params, "first_collapse": first})


def build_blank_state(mode: int, params: Mapping[str, Any], view_size: int, chosen: tuple[str, ...]) -> State:
    """Return a state with the parameters and an empty board."""
    state = np.zeros(1, rules.state_dtype)[0]
    state["mode"], state["seats"], state["size"] = mode, count_seats(mode), params["board_size"]
    for name in ("num_rigid", "num_wood", "num_items", "max_steps", "blast_strength", "egocentric"):
        state[name] = params[name]
    state["view"], state["max_strength"] = view_size, params["max_blast_strength"]
    state["first_collapse"] = params["first_collapse"] or 0
    state["planes"] = params["observation"] == "planes"
    state["leave"], state["split"] = params["dead"] == "leave", params["credit"] == "split"
    state["column"] = [chosen.index(name) if name in chosen else -1 for name in OBJECTIVES]
    state["falling"] = -1
    return state


def action_name(state: State, action: Any) -> str:
    """Return the name of the move, followed in a radio game by the two words of the message."""
    move, *words = np.ravel(action).tolist()
    return " ".join([ACTIONS[move], *map(str, words)])


def parse_action(state: State, text: str) -> Any:
    """Return the action of a text: 'up', 'bomb', ... or its number, in a radio game followed by two words 0..8 or none.

    Raises   ValueError for other texts
    """
    first, *rest = text.lower().split() or [""]
    moves = [k for k, name in enumerate(ACTIONS) if (first and name.startswith(first)) or first == str(k)]
    words = [int(word) for word in rest if word.isdecimal() and int(word) < VOCABULARY]
    wanted = (0, WORDS) if state["mode"] == RADIO else (0,)
    if len(moves) != 1 or len(words) != len(rest) or len(rest) not in wanted:
        message = ", and for a message two words 0 to 8, such as 'up 3 5'" if state["mode"] == RADIO else ""
        raise ValueError(f"{text!r} is not an action: type {one_of(ACTIONS)}{message}")
    return [moves[0], *(words or [0] * WORDS)] if state["mode"] == RADIO else moves[0]


def describe_legal_actions(state: State, action: Any, mask: NDArray[np.int8]) -> str:
    """Return the legal moves as text."""
    return f"moves are 0..{LAY}: {one_of(ACTIONS)}"
