"""Networks of MO-RouteChoice: the packaged ones, those of files, and the instances of games (SPEC §2, §9.1)."""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import read_number_list
from momagames.errors import InvalidFile, InvalidParameter, invalid_value, nearest, one_of
from momagames.files.json_data import read_json
from momagames.games.route_choice.rules import STANDARD
from momagames.kernels.rng import random_words

BRAESS = tuple(f"Braess_{p}" for p in range(1, 8))
NAMES = (*BRAESS, "BBraess_1", "OW")
FILES = {f"{name}_4200_10_c1": name for name in BRAESS} | {"BBraess_1_2100_10_c1_2100": "BBraess_1"}
ACCEPTS = f"{one_of(NAMES)}, the name of one of the original's files, the path of a JSON file, or a dict (SPEC §9.1)"
MAX_WEIGHT = 1e6
MAX_BYTES, MAX_LINKS, MAX_PAIRS, MAX_CHOICES, MAX_ROUTES, MAX_PARTS, MAX_SEARCH = (
    16 << 20, 4096, 8192, 128, 65536, 1 << 20, 200_000,
)  # fmt: skip
KEYS = ("links", "od_pairs", "routes", "demand", "agent_od", "tolled", "positions")
# §2.2 Place of each route in the order of the text
ORDERS = {
    1: "0 1 2", 2: "1 0 2 3 4", 3: "1 2 0 3 4 5 6", 4: "3 2 1 0 6 4 7 8 5", 5: "4 0 3 1 2 8 5 10 7 9 6",
    6: "4 1 5 3 2 0 8 6 10 9 7 11 12", 7: "5 4 2 1 6 3 0 11 8 7 12 10 9 13 14",
}  # fmt: skip
OW_TIMES = "AB7 AC5 AD15 BD11 BE11 CD7 CF11 CG9 DE7 DG7 DH9 EH7 FG9 FI13 GH9 GJ3 GK13 HK3 IJ9 IL2 JK9 JL12 JM12 KM2"
OW_ROUTES = (
    "ACGJIL ACGJL ACFIL ACDGJIL ACDGJL ADGJIL ADGJL ACGFIL ACFGJIL ABDGJIL ACFGJL ABDGJL ACDGFIL ACDHKJIL ACDHGJIL ADCGJIL",
    "ACDHKM ACGJKM ACGHKM ADHKM ACGJM ACGKM ABEHKM ACDEHKM ABDHKM ACDGJKM ACDGHKM ADEHKM ACDGJM ACDGKM ACGDHKM ADGJKM",
    "BDGJIL BDGJL BACGJIL BACGJL BACFIL BEDGJIL BACDGJIL BEDGJL BDCGJIL BEHKJIL BACDGJL BEHGJIL BDGFIL BDCGJL BEHKJL BEHGJL",
    "BEHKM BDHKM BDEHKM BEDHKM BDGJKM BDGHKM BACDHKM BDGJM BDGKM BACGJKM BACGHKM BADHKM BACGJM BACGKM BACDEHKM BEDGJKM",
)
OW_PLACES = (
    "A0.0,1.0 B0.0,2.2 C1.0,0.5 D1.0,1.6 E1.0,2.8 F2.0,0.0 G2.0,1.2 H2.0,2.4 I3.0,0.3 J3.0,1.3 K3.0,2.4 L4.0,0.8 M4.0,2.0"
)


def describe_braess(p: int, u: float) -> dict[str, Any]:
    """§2.2 Return Braess_p in the form of §9.1."""
    source, sink, rows = 1, 2 * p + 2, range(1, p + 1)
    links: list[list[Any]] = [[source, 1 + i, p * (p + 1 - i) * u, 0.0] for i in rows]
    links += [[p + 1 + i, sink, p * i * u, 0.0] for i in rows] + [[1 + i, p + 1 + i, 0.0, 0.0] for i in rows]
    links += [[2 + i, p + 1 + i, 0.0, 10.0] for i in rows[:-1]]
    links += [[source, 2 * p + 1, 0.0, 10.0], [2, sink, 0.0, 10.0]]
    routes = [[source, 1 + i, p + 1 + i, sink] for i in rows] + [[source, 2 + i, p + 1 + i, sink] for i in rows[:-1]]
    routes += [[source, 2 * p + 1, sink], [source, 2, sink]]
    places = {source: (0.0, (p - 0.5) / 2), sink: (3.0, (p - 0.5) / 2)}
    places |= {1 + i: (1.0 + (p == 1) / 2, i - 1.0) for i in rows} | {p + 1 + i: (2.0 - (p == 1) / 2, i - 0.5) for i in rows}
    order = [routes[int(place)] for place in ORDERS[p].split()]
    return {"links": sorted(links), "od_pairs": [[source, sink]], "routes": [order], "positions": places}


def describe_bbraess(u: float) -> dict[str, Any]:
    """§2.3 Return BBraess_1 in the form of §9.1."""
    names = ["w0-w1", "w1-v1", "w1-t2", "v1-t1", "s2-w0", "s1-w0", "s1-a", "a-w1"]
    special = {"w0-w1": (u, 0.0), "s1-a": (0.0, 10.0)}
    places = {"s1": (0.0, 0.0), "s2": (0.0, 2.0), "w0": (1.0, 1.4), "a": (1.0, 0.0), "w1": (2.0, 1.0), "v1": (3.0, 0.4)}
    return {
        "links": [[*name.split("-"), *special.get(name, (0.0, 0.0))] for name in names],
        "od_pairs": [["s2", "t2"], ["s1", "t1"]],
        "routes": [[["s2", "w0", "w1", "t2"]], [["s1", "w0", "w1", "v1", "t1"], ["s1", "a", "w1", "v1", "t1"]]],
        "positions": places | {"t1": (4.0, 0.0), "t2": (4.0, 1.6)},
    }


def describe_ow() -> dict[str, Any]:
    """§2.4 Return OW in the form of §9.1."""
    links = [[*ends, 0.02, float(one[2:])] for one in OW_TIMES.split() for ends in (one[:2], one[1::-1])]
    return {
        "links": sorted(links),
        "od_pairs": [list(ends) for ends in ("AL", "AM", "BL", "BM")],
        "routes": [[list(route) for route in row.split()] for row in OW_ROUTES],
        "positions": {one[0]: tuple(map(float, one[1:].split(","))) for one in OW_PLACES.split()},
    }


@dataclass(frozen=True)
class Network:
    """A network of S nodes, L links and P OD pairs.

    nodes      names, in the order of the links that name them first
    ends       int64[L, 2], node at which each link begins and ends
    latency    float64[L, 3]: base, factor and power; the latency of a flow is base + factor * flow ** power
    pairs      for each OD pair its nodes
    routes     for each OD pair its routes, each with the numbers of its links
    weights    float64[P] of OD pairs; 0 for those without routes
    agent_od   OD pair of each agent, and
    tolled     whether each link is tolled: those of the network itself; None if it leaves them to the game
    places     float64[S, 2], x and y of nodes in pictures, in 0..1
    """

    nodes: tuple[str, ...]
    ends: NDArray[np.int64]
    latency: NDArray[np.float64]
    pairs: tuple[tuple[int, int], ...]
    routes: tuple[tuple[tuple[int, ...], ...], ...]
    weights: NDArray[np.float64]
    agent_od: NDArray[np.int64] | None
    tolled: NDArray[np.bool_] | None
    places: NDArray[np.float64]

    @property
    def longest(self) -> int:
        """Return R, the number of links of the longest route."""
        return max(len(route) for routes in self.routes for route in routes)

    def list_nodes(self, route: tuple[int, ...]) -> list[str]:
        """Return the nodes of a route."""
        return [self.nodes[self.ends[route[0], 0]], *(self.nodes[self.ends[link, 1]] for link in route)]

    def name_routes(self) -> list[tuple[int, str]]:
        """Return OD pair and nodes as text of each route."""
        return [(pair, "-".join(self.list_nodes(route))) for pair, routes in enumerate(self.routes) for route in routes]


def normalize(source: Any) -> Any:
    """Return the parameter value of a network: the name of a packaged one, else its data. Raises InvalidParameter."""
    if isinstance(source, str) and source in (*NAMES, *FILES):
        return source
    data = read_source(source)
    read_network(data)
    return {key: data[key] for key in KEYS if data.get(key) is not None}


def read_source(source: Any) -> dict[str, Any]:
    """Return the data of a network as a dict with plain lists, from a dict or a file."""
    if isinstance(source, Mapping):
        return {str(key): _make_plain(source[key]) for key in source}
    if isinstance(source, (str, os.PathLike)) and (os.path.exists(source) or str(source).endswith(".json")):
        try:
            return read_json(os.fspath(source), MAX_BYTES)
        except InvalidFile as error:
            raise InvalidParameter(f"network: {error}") from None
    raise InvalidParameter(invalid_value("network", source, ACCEPTS, nearest(source, (*NAMES, *FILES))))


def _make_plain(value: Any) -> Any:
    """Return lists and dicts for tuples, arrays and mappings."""
    if isinstance(value, Mapping):
        return {str(key): _make_plain(value[key]) for key in value}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return [_make_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def load(source: Any, slope: float | None, agents: int) -> Network:
    """Return the network of a parameter value as `normalize` returns it.

    slope    of an agent in Braess networks; None: 10 / `agents`, or for a file of the original 10 / 4200
    """
    if not isinstance(source, str):
        return read_network(source)
    if slope is None:
        slope = 10 / (4200 if source in FILES else agents)
    source = FILES.get(source, source)
    if source in BRAESS:
        return read_network(_make_plain(describe_braess(int(source[-1]), slope)))
    return read_network(_make_plain(describe_ow() if source == "OW" else describe_bbraess(slope)))


def check(valid: Any, place: str, value: Any, expected: str) -> None:
    """Raise InvalidParameter unless a part of a network is valid."""
    if not valid:
        raise InvalidParameter(invalid_value(f"network: {place}", value, expected))


def is_number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def read_network(data: Mapping[str, Any]) -> Network:
    """Return a network from data in the form of §9.1, checked as a whole. Raises InvalidParameter with the place."""
    for key in data:
        if key not in KEYS and (slip := nearest(key, KEYS, alike=0.75)):
            raise InvalidParameter(f"network: invalid key {key!r}: expected {one_of(KEYS)}{slip}")
    for key, most in (("links", MAX_LINKS), ("od_pairs", MAX_PAIRS)):
        listed = data.get(key)
        check(isinstance(listed, list) and 1 <= len(listed) <= most, key, listed, f"a list of 1 to {most:,}")
    nodes: dict[str, int] = {}
    ends, latency = [], []
    for number, link in enumerate(data["links"]):
        here, there, *numbers = _read_link(link, f"links[{number}]")
        ends.append([nodes.setdefault(node, len(nodes)) for node in (here, there)])
        latency.append(numbers)
    index = {(here, there): number for number, (here, there) in enumerate(map(tuple, ends))}
    check(len(index) == len(ends), "links", len(ends) - len(index), "no two links from one node to another; repeated links: 0")
    pairs = []
    for number, pair in enumerate(data["od_pairs"]):
        place = f"od_pairs[{number}]"
        check(isinstance(pair, list) and len(pair) == 2 and all(_name(node) in nodes for node in pair), place, pair,
              "an origin and a destination, nodes of links")  # fmt: skip
        pairs.append((nodes[_name(pair[0])], nodes[_name(pair[1])]))
        check(pairs[-1][0] != pairs[-1][1], place, pair, "two different nodes")
    routes = _read_routes(data.get("routes"), nodes, index, pairs, np.array(latency))
    open_pairs = np.array([bool(listed) for listed in routes])
    check(open_pairs.any(), "routes", data.get("routes"), "a route of some OD pair")
    demand = data.get("demand")
    weights = open_pairs.astype(float) if demand is None else read_weights(demand, open_pairs, "network: demand")
    agent_od, tolled = data.get("agent_od"), data.get("tolled")
    if agent_od is not None:
        valid = isinstance(agent_od, list) and all(type(pair) is int and 0 <= pair < len(pairs) for pair in agent_od)
        check(valid and open_pairs[agent_od].all(), "agent_od", agent_od, "an OD pair with routes for each agent")
    if tolled is not None:
        check(isinstance(tolled, list) and len(tolled) == len(ends) and all(one in (0, 1) for one in tolled), "tolled", tolled,
              f"True or False for each of {len(ends)} links")  # fmt: skip
    return Network(
        tuple(nodes), np.array(ends, np.int64), np.array(latency, np.float64), tuple(pairs), routes, weights,
        None if agent_od is None else np.array(agent_od, np.int64), None if tolled is None else np.array(tolled, bool),
        _read_places(data.get("positions"), nodes, ends, pairs),
    )  # fmt: skip


def _name(node: Any) -> str:
    return str(node) if isinstance(node, (str, int)) and not isinstance(node, bool) else ""


def _read_link(link: Any, place: str) -> tuple[str, str, float, float, float]:
    """Return the ends of a link, and base, factor and power of its latency."""
    expected = "[from, to, slope, constant] or [from, to, t, a, b, c]: two nodes, then numbers (SPEC §9.1)"
    valid = isinstance(link, list) and len(link) in (4, 6) and all(map(_name, link[:2])) and _name(link[0]) != _name(link[1])
    check(valid, place, link, expected)
    check(all(is_number(number, 0, 1e12) for number in link[2:]), place, link, f"{expected} in 0..1e12")
    if len(link) == 4:
        return _name(link[0]), _name(link[1]), float(link[3]), float(link[2]), 1.0
    time, growth, power, capacity = map(float, link[2:])
    check(capacity >= 1e-9 and power <= 10, place, link, f"{expected} with b at most 10 and c above 0")
    return _name(link[0]), _name(link[1]), time, time * growth / capacity**power, power


def _read_routes(given: Any, nodes: Any, index: Any, pairs: Any, latency: Any) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the routes of each OD pair as numbers of links."""
    if type(given) is int:
        check(1 <= given <= 64, "routes", given, "the number of routes of a pair in 1..64, or lists of routes")
        found = [find_shortest(list(nodes), index, pair, latency, given) for pair in pairs]
    else:
        check(
            isinstance(given, list) and len(given) == len(pairs), "routes", given, f"a list for each of {len(pairs)} OD pairs"
        )
        found = []
        for number, (listed, pair) in enumerate(zip(given, pairs, strict=True)):
            place = f"routes[{number}]"
            check(isinstance(listed, list) and len(listed) <= MAX_CHOICES, place, listed, f"up to {MAX_CHOICES} routes")
            row = [_read_route(route, nodes, index, pair, f"{place}[{k}]") for k, route in enumerate(listed)]
            check(len(set(row)) == len(row), place, listed, "different routes")
            found.append(tuple(row))
    count, parts = sum(map(len, found)), sum(len(route) for listed in found for route in listed)
    check(count <= MAX_ROUTES and parts <= MAX_PARTS, "routes", (count, parts), f"{MAX_ROUTES:,} routes of {MAX_PARTS:,} links")
    return tuple(found)


def _read_route(route: Any, nodes: Any, index: Any, pair: tuple[int, int], place: str) -> tuple[int, ...]:
    expected = "a list of different nodes from origin to destination, each linked to the next"
    check(isinstance(route, list) and len(route) >= 2 and all(_name(node) in nodes for node in route), place, route, expected)
    path = [nodes[_name(node)] for node in route]
    steps = list(pairwise(path))
    valid = (path[0], path[-1]) == pair and len(set(path)) == len(path) and all(step in index for step in steps)
    check(valid, place, route, expected)
    return tuple(index[step] for step in steps)


def find_shortest(nodes: list[str], index: Any, pair: tuple[int, int], latency: Any, count: int) -> tuple[tuple[int, ...], ...]:
    """§2.5 Return the shortest routes of a pair, by the sum of free latencies, number of links, and text.

    Partial routes are extended in the order of their sums plus the distance that is left.
    """
    free = latency[:, 0] + np.where(latency[:, 2] == 0, latency[:, 1], 0.0)
    near: dict[int, list[tuple[int, int]]] = {}
    for (here, there), link in index.items():
        near.setdefault(there, []).append((here, link))
    left, heap = {}, [(0.0, pair[1])]
    while heap:
        distance, node = heapq.heappop(heap)
        if node not in left:
            left[node] = distance
            for before, link in near.get(node, ()):
                heapq.heappush(heap, (distance + free[link], before))
    onward: dict[int, list[tuple[int, int]]] = {}
    for (here, there), link in index.items():
        if there in left:
            onward.setdefault(here, []).append((there, link))
    found: list[tuple[float, int, str, tuple[int, ...]]] = []
    search: list[tuple[float, float, tuple[int, ...], tuple[int, ...]]] = [(left.get(pair[0], 0.0), 0.0, (pair[0],), ())]
    for _ in range(MAX_SEARCH):
        if not search or (len(found) >= count and search[0][0] > sorted(found)[count - 1][0] * (1 + 1e-9)):
            return tuple(links for *_, links in sorted(found)[:count])
        _, length, path, links = heapq.heappop(search)
        if path[-1] == pair[1]:
            found.append((length, len(links), "-".join(nodes[node] for node in path), links))
            continue
        for there, link in onward.get(path[-1], ()):
            if there not in path:
                longer = length + float(free[link])
                heapq.heappush(search, (longer + left[there], longer, (*path, there), (*links, link)))
    raise InvalidParameter(f"network: routes={count} needs more than {MAX_SEARCH:,} steps for a pair: list the routes")


def _read_places(given: Any, nodes: dict[str, int], ends: Any, pairs: Any) -> NDArray[np.float64]:
    """Return x and y of nodes in 0..1; without positions in columns, by the number of links from an origin."""
    if given is None:
        column = dict.fromkeys((origin for origin, _ in pairs), 0)
        reached = list(column)
        for node in reached:
            for here, there in ends:
                if here == node and there not in column:
                    column[there] = column[node] + 1
                    reached.append(there)
        members: dict[int, list[int]] = {}
        for node in range(len(nodes)):
            members.setdefault(column.get(node, 0), []).append(node)
        spots = {node: (x, (k + 0.5) / len(row)) for x, row in members.items() for k, node in enumerate(row)}
    else:
        valid = isinstance(given, Mapping) and {*map(str, given)} >= set(nodes)
        points = list(given.values()) if valid else []
        valid = valid and all(isinstance(at, list) and len(at) == 2 for at in points)
        valid = valid and all(is_number(x, -1e9, 1e9) for at in points for x in at)
        check(valid, "positions", given, "[x, y] of each node")
        spots = {nodes[str(node)]: tuple(at) for node, at in given.items() if str(node) in nodes}
    places = np.array([spots[node] for node in range(len(nodes))], np.float64)
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    return np.where(span > 0, (places - low) / np.where(span > 0, span, 1), 0.5)


def read_weights(given: Any, open_pairs: NDArray[np.bool_], place: str) -> NDArray[np.float64]:
    """Return weights of OD pairs, float64[P]. Raises InvalidParameter."""
    note = "a weight for each OD pair"
    weights = read_number_list(given, place, 0.0, MAX_WEIGHT, (len(open_pairs),), note, InvalidParameter)
    if not weights.any() or weights[~open_pairs].any():
        raise InvalidParameter(invalid_value(place, given, "weights that are not all 0, and 0 for OD pairs without routes"))
    return weights


def draw_instance(network: Network, params: Mapping[str, Any], id: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """§2.6 Return the OD pair of each agent, int64[n], and whether each link is tolled, bool[L]. Raises InvalidParameter."""
    agents, links, open_pairs = params["num_agents"], len(network.ends), np.array([bool(listed) for listed in network.routes])
    numbers = (random_words(params["instance_seed"], links + agents) >> np.uint64(11)) * 2.0**-53
    tolled: NDArray[np.bool_] = np.zeros(links, np.bool_)
    if params["toll_mode"] == "random" and network.tolled is not None:
        tolled = network.tolled
    elif params["toll_mode"] == "random":
        tolled, numbers = numbers[:links] < params["random_toll_percentage"], numbers[links:]
    counts, weights = params["od_counts"], network.weights
    if params["demand"] is not None:
        weights = read_weights(params["demand"], open_pairs, f"{id}: demand")
    if counts is not None:
        if len(counts) != len(open_pairs) or sum(counts) != agents or np.array(counts)[~open_pairs].any():
            expected = f"{len(open_pairs)} numbers of agents, {agents} in all as num_agents, and 0 for OD pairs without routes"
            raise InvalidParameter(invalid_value(f"{id}: od_counts", counts, expected))
        return np.repeat(np.arange(len(counts)), counts), tolled
    if network.agent_od is not None and len(network.agent_od) == agents and params["demand"] is None:
        return network.agent_od, tolled
    sums = np.cumsum(weights)
    return np.searchsorted(sums / sums[-1], numbers[:agents], side="right"), tolled


def choose_sizes(network: Network) -> tuple[int, ...]:
    """Return the capacities of states of a network: the standard ones, or powers of two for larger networks."""
    listed = [route for routes in network.routes for route in routes]
    needed = len(network.ends), len(network.pairs), len(listed), sum(map(len, listed))
    if all(need <= size for need, size in zip(needed, STANDARD, strict=True)):
        return STANDARD
    return tuple(max(size, 1 << (need - 1).bit_length()) for need, size in zip(needed, STANDARD, strict=True))
