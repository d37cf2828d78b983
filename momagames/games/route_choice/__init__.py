"""MO-RouteChoice: many drivers choose routes; latency and toll are the objectives. SPEC.md has the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import (
    Field,
    Game,
    Human,
    Kernels,
    LearningSupport,
    Objective,
    Parameter,
    Solvers,
    State,
    View,
    check_parameters,
)
from momagames.contract.views import make_viewer_option
from momagames.games.route_choice import codec, learning, networks, rules, view
from momagames.games.route_choice.networks import Network
from momagames.render import canvas

PARAMETERS = (
    Parameter("network", "Braess_1", "links, OD pairs and routes", convert=networks.normalize, accepts=networks.ACCEPTS),
    Parameter("num_agents", 4200, "agents", 1, rules.MAX_AGENTS),
    Parameter("toll_mode", "mct", "marginal-cost tolls, or the latency of random links", choices=("mct", "random")),
    Parameter("random_toll_percentage", 0.1, "probability that a link is tolled", 0.0, 1.0),
    Parameter("slope", None, "slope of an agent in Braess networks; None: see SPEC §8", 0.0, 1000.0, optional=True),
    Parameter("demand", None, "weights with which the OD pair of an agent is drawn", 0.0, networks.MAX_WEIGHT,
              optional=True, shape=((1, networks.MAX_PAIRS),)),
    Parameter("od_counts", None, "numbers of agents of each OD pair", 0, rules.MAX_AGENTS,
              optional=True, shape=((1, networks.MAX_PAIRS),)),
    Parameter("instance_seed", 0, "seed of the OD pairs of agents and of random tolls", 0, 2**31 - 1),
)  # fmt: skip
POLICIES = {name: f"momagames.games.route_choice.policies:{name.upper()}" for name in ("best_response", "marginal", "shortest")}
SOLVERS = Solvers(by_counts="momagames.games.route_choice.solver:count_agents")
LEARNING = LearningSupport(write_differences=learning.write_differences)
KERNELS = Kernels(generate=rules.generate, legal=rules.legal, step=rules.step, observe=rules.observe)


def game(id: str, **given: Any) -> Game:
    """Return the game with these parameters (§8)."""
    params = check_parameters(id, PARAMETERS, given)
    agents = params["num_agents"]
    network = networks.load(params["network"], params["slope"], agents)
    sizes = networks.choose_sizes(network)
    blank = fill_blank(network, params, id, sizes)
    action_name, parse_action = codec.make_names(network)
    choices = np.diff(blank["first"][: len(network.pairs) + 1])[blank["plan"][:agents]]
    names = tuple(f"agent_{i}" for i in range(agents))
    is_known = len(network.pairs) == 1 and params["toll_mode"] == "mct"
    return Game(
        id=id,
        title="MO-RouteChoice",
        variant="{num_agents} agents",
        agents=names,
        dynamics="simultaneous",
        chance="none",
        information="perfect" if is_known else "partial",
        objectives=(
            Objective("latency", "share of the largest latency", -1, 0, -1, 0, "§5.1"),
            Objective("toll", "share of the largest toll", -1, 0, -1, 0, "§5.2"),
        ),
        actions=(int(choices.max()),),
        agent_actions=tuple(choices.tolist()),
        fields=(Field("observation", (1,), "int32", 0, max(1, len(network.pairs) - 1)),),
        max_episode_steps=1,
        factory=game,
        blank_state=blank,
        kernels=KERNELS,
        rules_key="routechoice" if sizes == rules.STANDARD else f"routechoice.{'-'.join(map(str, sizes))}",
        codec=codec.make_codec(network),
        view=View(
            draw=view.make_picture(network),
            text=view.make_text(network),
            render_options=(make_viewer_option(names),),
            picture_options=(canvas.SIZE,),
        ),
        human=Human(keys=view.make_keys(int(choices.max())), action_name=action_name, parse_action=parse_action),
        learning=LEARNING,
        policies=POLICIES,
        solvers=SOLVERS,
        params=params,
        parameters=PARAMETERS,
        summary="choose routes; many agents share the roads of a network, travel time and toll are the objectives",
        source="MOMAland's documentation of moroute_choice_v0; Ramos et al. 2020; traced against momaland 0.2.0",
    )


def fill_blank(network: Network, params: dict[str, Any], id: str, sizes: tuple[int, ...]) -> State:
    """Return the blank state of an instance."""
    blank = np.zeros(1, rules.make_dtype(sizes))[0]  # type: ignore[no-untyped-call]
    links, agents = len(network.ends), params["num_agents"]
    blank["agents"], blank["links"], blank["pairs"], blank["longest"] = agents, links, len(network.pairs), network.longest
    blank["random_tolls"] = params["toll_mode"] == "random"
    blank["base"][:links], blank["factor"][:links], blank["power"][:links] = network.latency.T
    listed = [route for routes in network.routes for route in routes]
    blank["first"][1 : len(network.pairs) + 1] = np.cumsum([len(routes) for routes in network.routes])
    blank["start"][1 : len(listed) + 1] = np.cumsum([len(route) for route in listed])
    parts = [link for route in listed for link in route]
    blank["part"][: len(parts)] = parts
    blank["plan"][:agents], blank["toll_plan"][:links] = networks.draw_instance(network, params, id)
    blank["pair"], blank["tolled"] = blank["plan"], blank["toll_plan"]
    return blank
