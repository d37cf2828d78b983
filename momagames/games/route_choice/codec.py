"""Positions of MO-RouteChoice as data and as text (SPEC §9)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State, check_position, load_rng, parse_field, position_numbers, read_number_list
from momagames.errors import InvalidState, invalid_value, one_of
from momagames.games.route_choice.networks import Network

KEYS = ("agent_od", "tolled", "counts", "flows", "latency", "cost", "rng")
PARAMETERS = (
    "base", "factor", "power", "first", "start", "part", "plan", "toll_plan",
    "agents", "links", "pairs", "longest", "random_tolls",
)  # fmt: skip
TRANSIENT = ("link_cost", "route_cost")


def measure_links(state: State, flow: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """§5 Return latency and toll of each link at these flows, float64[L] each."""
    links = int(state["links"])
    base, factor, power, tolled = (state[name][:links].astype(float) for name in ("base", "factor", "power", "tolled"))
    grown = factor * flow**power
    return base + grown, (base + grown) * tolled if state["random_tolls"] else grown * power


def list_parts(state: State) -> list[NDArray[np.int64]]:
    """Return the links of each route of the network."""
    routes = int(state["first"][int(state["pairs"])])
    start = state["start"][: routes + 1].tolist()
    return [state["part"][low:high].astype(np.int64) for low, high in pairwise(start)]


def split_pairs(state: State, numbers: list[Any]) -> list[list[Any]]:
    """Return the numbers of all routes as a list for each OD pair."""
    first = state["first"][: int(state["pairs"]) + 1].tolist()
    return [numbers[low:high] for low, high in pairwise(first)]


def measure_routes(state: State) -> tuple[list[float], list[float]]:
    """§9 Return the sum of the latencies of each route, and that of its tolls as shares of the largest toll of a link."""
    latency, toll = measure_links(state, state["flow"][: int(state["links"])].astype(float))
    largest = measure_links(state, float(state["agents"]))[1].max()
    shares = toll / largest if largest > 0 else toll
    parts = list_parts(state)
    return [float(latency[part].sum()) for part in parts], [float(shares[part].sum()) for part in parts]


def save(state: State) -> dict[str, Any]:
    """§9 Return the position as JSON-serializable data, the form that `load` takes."""
    links, routes = int(state["links"]), int(state["first"][int(state["pairs"])])
    latency, cost = measure_routes(state)
    return {
        "agent_od": state["pair"][: int(state["agents"])].tolist(),
        "tolled": (state["tolled"][:links] > 0).tolist() if state["random_tolls"] else None,
        "counts": split_pairs(state, state["count"][:routes].tolist()) if state["ply"] else None,
        "flows": state["flow"][:links].tolist(),
        "latency": split_pairs(state, latency),
        "cost": split_pairs(state, cost),
        "rng": int(state["rng"]),
    }


def make_codec(network: Network) -> Codec:
    """Return the codec of the games of a network, which compares a given network with it."""

    def load(state: State, given: Mapping[str, Any]) -> None:
        """§9 Fill a state from the OD pair of each agent and, if given, everything else. Raises InvalidState."""
        check_position(given, KEYS, needed="agent_od")
        check_network(network, given)
        agents, links, pairs = (int(state[name]) for name in ("agents", "links", "pairs"))
        choices = np.diff(state["first"][: pairs + 1])
        most = choices[state["plan"][:agents]]
        agent_od = position_numbers(given, "agent_od", 0, pairs - 1, (agents,))
        if not ((choices[agent_od] > 0) & (choices[agent_od] <= most)).all():
            agent = int(np.flatnonzero((choices[agent_od] == 0) | (choices[agent_od] > most))[0])
            expected = f"an OD pair with 1 to {most[agent]} routes, as agent_{agent} has {most[agent]} actions"
            raise InvalidState(invalid_value(f"agent_od[{agent}]", int(agent_od[agent]), expected))
        state["pair"][:agents] = agent_od
        state["tolled"][:links] = state["toll_plan"][:links]
        tolled = parse_field(given.get("tolled"), "tolled")
        if tolled is not None:
            if not state["random_tolls"]:
                raise InvalidState(invalid_value("tolled", tolled, "None, as toll_mode='mct'"))
            if isinstance(tolled, (list, tuple)):
                tolled = [int(one) if isinstance(one, (bool, np.bool_)) else one for one in tolled]
            state["tolled"][:links] = read_number_list(tolled, "tolled", 0, 1, (links,))
        load_rng(state, given)
        counts = parse_field(given.get("counts"), "counts")
        if counts is not None:
            load_counts(state, counts, np.bincount(agent_od, minlength=pairs))
        flows = given.get("flows")
        if flows is not None and (position_numbers(given, "flows", 0, agents, (links,)) != state["flow"][:links]).any():
            raise InvalidState(invalid_value("flows", flows, f"{state['flow'][:links].tolist()}, as the counts say"))

    return Codec(save, load, KEYS, parameters=PARAMETERS, transient=TRANSIENT)


def load_counts(state: State, counts: Any, demand: NDArray[np.int64]) -> None:
    """Fill a state with the agents of each route after the step."""
    first = state["first"][: int(state["pairs"]) + 1].tolist()
    if not isinstance(counts, (list, tuple)) or len(counts) != len(demand):
        raise InvalidState(invalid_value("counts", counts, f"None, or a list for each of {len(demand)} OD pairs"))
    for pair, (low, high) in enumerate(pairwise(first)):
        row = read_number_list(counts[pair], f"counts[{pair}]", 0, int(demand[pair]), (high - low,))
        if row.sum() != demand[pair]:
            expected = f"{demand[pair]} agents in all, as agent_od says"
            raise InvalidState(invalid_value(f"counts[{pair}]", counts[pair], expected))
        state["count"][low:high] = row
    for count, part in zip(state["count"].tolist(), list_parts(state), strict=False):
        state["flow"][part] += count
    state["ply"], state["over"] = 1, 1


def check_network(network: Network, given: Mapping[str, Any]) -> None:
    """Raise InvalidState if a position has links, OD pairs or routes that are not those of the game."""
    names = network.nodes
    own: dict[str, Any] = {
        "od_pairs": [[names[node] for node in pair] for pair in network.pairs],
        "routes": [[network.list_nodes(route) for route in routes] for routes in network.routes],
    }
    for key, value in own.items():
        if key in given and _name_all(given[key]) != value:
            raise InvalidState(invalid_value(key, given[key], f"{value}, the parameter `network`, which takes such a start"))
    links = given.get("links")
    if links is None:
        return
    wanted = [[names[here], names[there]] for here, there in network.ends.tolist()]
    same = isinstance(links, (list, tuple)) and [_name_all(link[:2]) for link in links] == wanted
    if same and all(len(link) == 4 for link in links):
        base, factor, power = network.latency.T
        numbers = np.array([[link[3], link[2]] for link in links], float)
        same = bool((power == 1).all() and np.allclose(numbers, np.stack([base, factor], axis=1), rtol=1e-9, atol=1e-12))
    if not same:
        expected = "those of the parameters `network` and `slope`; `network` takes the start of an episode"
        raise InvalidState(invalid_value("links", links, expected))


def _name_all(data: Any) -> Any:
    return [_name_all(one) for one in data] if isinstance(data, (list, tuple)) else str(data)


def make_names(network: Network) -> Any:
    """Return functions that name and read actions; the agent is not known, so that a name of a route may fit several pairs."""
    routes = [name for _, name in network.name_routes()]
    single = len(network.pairs) == 1

    def action_name(state: State, action: Any) -> str:
        number = int(np.ravel(action)[0])
        return routes[number] if single and 0 <= number < len(routes) else str(number)

    def parse_action(state: State, text: str) -> int:
        word = text.strip()
        if word.isdecimal() and len(word) < 6:
            return int(word)
        if single and word in routes:
            return routes.index(word)
        expected = f"{one_of(routes[:20])}, or its number" if single else "the number of a route"
        raise ValueError(f"{text!r} is not an action: type {expected}")

    return action_name, parse_action
