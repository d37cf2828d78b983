"""MO-ItemGathering: agents on a grid pick up items of several types, each type an objective. SPEC.md has the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from momagames.contract import (
    Animation,
    ExactSearch,
    Field,
    Game,
    Human,
    Kernels,
    Keys,
    LearningSupport,
    Objective,
    OriginalGame,
    Parameter,
    SearchSupport,
    View,
    check_objectives,
    check_parameters,
)
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.item_gathering import codec, learning, map_loader, rules, view
from momagames.render import canvas

PARAMETERS = (
    Parameter("initial_map", map_loader.NAMES[0], "the map", convert=map_loader.normalize, accepts=map_loader.ACCEPTS),
    Parameter("num_timesteps", 10, "steps of an episode", 1, rules.MAX_STEPS),
    Parameter("randomise", False, "shuffles rows and columns of the inner cells at each reset"),
    Parameter("reward_mode", "individual", "an agent is rewarded for its own items, or for those of all agents",
              choices=("individual", "team")),
    Parameter("pickup_probabilities", None, "probability for each type that a try to take an item succeeds; None: 1 for all",
              0.0, 1.0, optional=True, shape=((1, rules.MAX_TYPES),)),
    Parameter("control", "agents", "each agent moves itself, or one agent moves all of them", choices=("agents", "central")),
)  # fmt: skip
NAMES = tuple(f"item_{kind}" for kind in range(1, rules.MAX_TYPES + 1))
SELECTION = Parameter("objectives", None, "objectives by name, in this order", choices=(None, NAMES))
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe)
CENTRAL_KERNELS = replace(KERNELS, legal=rules.central_legal)
HUMAN = Human(
    keys=Keys(
        {"up": ((0,), rules.UP), "down": ((0,), rules.DOWN), "left": ((0,), rules.LEFT), "right": ((0,), rules.RIGHT),
         "space": ((0,), rules.STAY)},
        "arrows: move; space: stay",
    ),
    action_name=codec.action_name,
    parse_action=codec.parse_action,
)  # fmt: skip
CENTRAL_HUMAN = Human(action_name=codec.action_name, parse_action=codec.parse_action)


def game(id: str, objectives: Any = None, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    blank = make_blank(map_loader.load(params["initial_map"]))
    counts = np.bincount(blank["map"][blank["map"] > 0])[1:].tolist()
    chances, steps, is_team = params["pickup_probabilities"], params["num_timesteps"], params["reward_mode"] == "team"
    if chances is not None and len(chances) != len(counts):
        expected = f"{len(counts)} probabilities, one for each type of item on the map"
        raise InvalidParameter(invalid_value(f"{id}: pickup_probabilities", chances, expected))
    known = NAMES[: len(counts)]
    chosen = check_objectives(id, objectives, known) or known
    blank["random"], blank["team"], blank["steps"] = params["randomise"], is_team, steps
    blank["chance"][: len(counts)] = 1.0 if chances is None else chances
    blank["column"] = [chosen.index(name) if name in chosen else -1 for name in NAMES]
    agents, is_central = int(blank["agents"]), params["control"] == "central"
    if is_central and agents > rules.MAX_CENTRAL:
        expected = f"'agents', since the map has {agents} agents and one moves at most {rules.MAX_CENTRAL}"
        raise InvalidParameter(invalid_value(f"{id}: control", "central", expected))
    blank["central"] = is_central
    height, width = int(blank["height"]), int(blank["width"])
    key_words = 1 + -(-agents // 4) + -(-height * width // 64)
    has_chance = (agents > 1 and not is_central) or any(0 < chance < 1 for chance in chances or ())
    return Game(
        id=id,
        title="MO-ItemGathering",
        variant=f"{agents} agents" if agents > 1 else "1 agent",
        agents=("team",) if is_central else tuple(f"agent_{i}" for i in range(agents)),
        teams=(0,) * agents if is_team and not is_central else (),
        dynamics="sequential" if is_central else "simultaneous",
        chance="step" if has_chance else "start" if params["randomise"] else "none",
        objectives=tuple(
            Objective(name, "items taken", 0, min(agents, count) if is_team or is_central else 1, 0, count, "§5")
            for name, count in ((name, counts[known.index(name)]) for name in chosen)
        ),
        actions=(rules.MOVES**agents if is_central else rules.MOVES,),
        fields=(
            Field("id", (1,), "int8", 0 if is_central else -agents, 0 if is_central else -1),
            Field("map", (height, width), "int8", -agents, len(counts)),
            Field("under", (agents,), "int8", 0, len(counts)),
            Field("steps_left", (1,), "int32", 0, steps),
        ),
        max_episode_steps=steps,
        factory=game,
        blank_state=blank,
        kernels=CENTRAL_KERNELS if is_central else KERNELS,
        rules_key="item_gathering.central" if is_central else "item_gathering",
        codec=codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            picture_options=(canvas.SIZE,),
            animation=Animation(view.find_slides, view.locate_cells),
            result=view.describe_result,
        ),
        human=CENTRAL_HUMAN if is_central else HUMAN,
        search=SearchSupport(
            optimistic=learning.optimistic,
            present=learning.present,
            exact=ExactSearch(write_key=rules.write_state_key, key_words=key_words),
        ),
        learning=LearningSupport(
            objective_features=learning.OBJECTIVE_FEATURES,
            egocentric_view=None if is_central else learning.declare_view(height, width, len(counts)),
            champions=("momagames.games.item_gathering:champion.npz",),
        ),
        policies={name: f"momagames.games.item_gathering.policies:{name.upper()}" for name in ("nearest", "weighted")},
        original=OriginalGame(reward_bounds=(0, max(counts))),  # §5
        params=params if objectives is None else {**params, "objectives": chosen},
        parameters=(*PARAMETERS, SELECTION),
        summary="pick up items; agents on a grid move at once and contest cells",
        source="MOMAland's documentation of moitem_gathering_v0; Källström and Heintz 2019; traced against momaland 0.2.0",
    )


def make_blank(grid: Any) -> Any:
    """Return a record with a map int64[H, W] and nothing generated."""
    blank = np.zeros(1, rules.state_dtype)[0]
    blank["height"], blank["width"] = grid.shape
    values = map_loader.list_types(grid)
    kinds = np.where(grid > map_loader.AGENT, 1 + np.searchsorted(values, grid), 0)
    blank["map"][: grid.size] = np.where(grid == map_loader.AGENT, rules.AGENT, kinds).ravel()
    blank["agents"], blank["types"] = (grid == map_loader.AGENT).sum(), len(values)
    return blank
