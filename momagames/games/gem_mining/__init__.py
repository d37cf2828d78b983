"""MO-GemMining: villages send workers to mines, once; gems of several types are the objectives. SPEC.md has the rules."""

from __future__ import annotations

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
from momagames.contract.number_lists import read_number_list
from momagames.contract.views import make_viewer_option
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.gem_mining import codec, learning, rules, view
from momagames.kernels.rng import random_words
from momagames.render import canvas

PARAMETERS = (
    Parameter("num_agents", 20, "villages", 1, rules.MAX_AGENTS),
    Parameter("num_objectives", 2, "types of gems", 2, rules.MAX_TYPES),
    Parameter("min_connectivity", 2, "least number of mines of a village", 1, rules.MAX_MINES_OF_VILLAGE),
    Parameter("max_connectivity", 4, "largest number of mines of a village", 1, rules.MAX_MINES_OF_VILLAGE),
    Parameter("min_workers", 1, "least number of workers of a village", 0, rules.MAX_WORKERS),
    Parameter("max_workers", 5, "largest number of workers of a village", 0, rules.MAX_WORKERS),
    Parameter("min_prob", 0.01, "least base probability of a gem", 0, 0.5),
    Parameter("max_prob", 0.5, "largest base probability of a gem, if correlated of all types together", 0, 1),
    Parameter("trunc_probability", 0.9, "largest chance of a gem", 0, 1),
    Parameter("w_bonus", 1.03, "factor of the chance for each worker", 0.5, 2),
    Parameter("correlated_objectives", True, "whether the types of gems share the probability of a mine"),
    Parameter("instance_seed", 42, "seed of workers, mines and probabilities", 0, 2**32 - 1),
    Parameter("workers", None, "workers of each village, instead of drawn ones", 0, rules.MAX_WORKERS,
              optional=True, shape=((1, rules.MAX_AGENTS),)),
    Parameter("connectivity", None, "number of mines of each village, instead of drawn ones", 1, rules.MAX_MINES_OF_VILLAGE,
              optional=True, shape=((1, rules.MAX_AGENTS),)),
    Parameter("probabilities", None, "base probabilities of each mine, instead of drawn ones", 0.0, 1.0,
              optional=True, shape=((1, rules.MAX_MINES), (2, rules.MAX_TYPES))),
    Parameter("bonus_exponent", "others", "exponent of w_bonus: workers beside the first one, or all workers of a mine",
              choices=("others", "all")),
    Parameter("reward_mode", "sampled", "gems are drawn, or each reward is the expected number of gems",
              choices=("sampled", "expected")),
)  # fmt: skip
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe)
HUMAN = Human(
    keys=Keys({str(k): ((0,), k) for k in range(rules.MAX_MINES_OF_VILLAGE)}, "digit: how many mines ahead the workers go"),
    action_name=codec.action_name,
    parse_action=codec.parse_action,
)


def check_ranges(id: str, params: dict[str, Any]) -> None:
    """Raise InvalidParameter for least values above the largest ones."""
    for what in ("connectivity", "workers", "prob"):
        low, high = params[f"min_{what}"], params[f"max_{what}"]
        if low > high:
            raise InvalidParameter(invalid_value(f"{id}: min_{what}", low, f"at most max_{what}={high}"))
    types, low, high = (params[n] for n in ("num_objectives", "min_prob", "max_prob"))
    if params["correlated_objectives"] and types * low > high:
        expected = f"at most max_prob / num_objectives, {high / types:g}, as types share max_prob={high}"
        raise InvalidParameter(invalid_value(f"{id}: min_prob", low, expected))


def draw_instance(params: dict[str, Any]) -> dict[str, Any]:
    """Return workers int64[n], connectivity int64[n] and probabilities float64[M, m] of the parameters (§2)."""
    agents, types, longest = (params[n] for n in ("num_agents", "num_objectives", "max_connectivity"))
    mines = agents + longest - 1
    words = random_words(params["instance_seed"], 2 * agents + mines * types)
    chances = (words[agents : agents + mines * types] >> np.uint64(11)).astype(np.float64).reshape(mines, types) * 2.0**-53
    low, high = params["min_prob"], params["max_prob"]
    if params["correlated_objectives"]:
        chances = low + np.diff(np.sort(chances, axis=1), axis=1, prepend=0) * (high - types * low)
    else:
        chances = low + chances * (high - low)

    def draw_integers(drawn: Any, name: str) -> Any:
        low, high = params[f"min_{name}"], params[f"max_{name}"]
        return low + ((drawn >> np.uint64(32)) * np.uint64(high - low + 1) >> np.uint64(32)).astype(np.int64)

    return {
        "workers": draw_integers(words[:agents], "workers"),
        "connectivity": draw_integers(words[-agents:], "connectivity"),
        "probabilities": chances,
    }


def game(id: str, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    check_ranges(id, params)
    agents, types, longest = (params[n] for n in ("num_agents", "num_objectives", "max_connectivity"))
    mines = agents + longest - 1
    instance = draw_instance(params)
    for name, limits in codec.limit_instance(agents, mines, types, longest).items():
        if params[name] is not None:
            instance[name] = read_number_list(params[name], f"{id}: {name}", *limits, InvalidParameter)
    is_small = agents <= rules.SMALL_AGENTS and types <= rules.SMALL_TYPES
    blank = np.zeros(1, rules.SMALL_DTYPE if is_small else rules.LARGE_DTYPE)[0]
    for name, own in zip(instance, codec.INSTANCE, strict=True):
        blank[own][tuple(map(slice, instance[name].shape))] = instance[name]
        blank[f"own_{own}"] = blank[own]
    blank["agents"], blank["mines"], blank["types"], blank["mine"] = agents, mines, types, rules.UNKNOWN
    blank["most"], blank["bonus"] = params["trunc_probability"], params["w_bonus"]
    sampled = params["reward_mode"] == "sampled"
    blank["first"], blank["sampled"] = params["bonus_exponent"] == "others", sampled
    highest = float(agents) if sampled else sum([params["trunc_probability"]] * agents)
    names, reach = tuple(f"agent_{i}" for i in range(agents)), instance["connectivity"].astype(int).tolist()
    return Game(
        id=id,
        title="MO-GemMining",
        variant="{num_agents} agents",
        agents=names,
        teams=(0,) * agents,
        dynamics="simultaneous",
        chance="step" if sampled else "none",
        information="partial",
        objectives=tuple(Objective(f"gems_{k}", "gems", 0, highest, 0, highest, "§5") for k in range(types)),
        actions=(longest,),
        agent_actions=tuple(reach),
        fields=(Field("observation", (1,), "float32", 0, 1),),
        max_episode_steps=1,
        factory=game,
        blank_state=blank,
        kernels=KERNELS,
        rules_key="gem_mining" if is_small else "gem_mining.large",
        codec=codec.CODEC,
        view=View(
            draw=view.draw_picture,
            text=view.format_text,
            render_options=(make_viewer_option(names),),
            picture_options=(canvas.SIZE,),
        ),
        human=HUMAN,
        learning=LearningSupport(
            write_differences=learning.write_differences, reward_factors=learning.make_factors(reach, mines)
        ),
        policies={name: f"momagames.games.gem_mining.policies:{name.upper()}" for name in ("greedy_mine", "village_response")},
        solvers=Solvers(fronts={"returns": "momagames.games.gem_mining.solver.fronts:TEAM"}),
        params=params,
        parameters=PARAMETERS,
        summary="send workers to mines; villages share the mines near them, the gems of each type are the objectives of a team",
        source="MOMAland's documentation of mogem_mining_v0; Roijers 2016; Bargiacchi et al. 2018",
    )
