"""Exact results of MO-RouteChoice by counts: the agents of an OD pair are interchangeable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.symmetric import SymmetricGame
from momagames.contract import Game, State
from momagames.engine.positions import load_state
from momagames.games.route_choice import networks
from momagames.games.route_choice.codec import list_parts, measure_links

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RouteGame(SymmetricGame):
    """The game by counts of OD pairs and their routes.

    links         int64[C, M, L], whether a route of a class has a link
    link_costs    flows [..., L] -> latency and toll of links as shares that add up to what a route costs, float64[..., L, 2]
    """

    links: Counts = None  # type: ignore[assignment]
    link_costs: Any = None

    def compute_potential(self, counts: Counts, weights: Any) -> Floats:
        """Return the potential of tables int64[N, C, M] for agents with the same weights [2], float64[N].

        What an agent gains by another route is what the potential grows; its maxima are equilibria.
        Source: Rosenthal, "A class of games possessing pure-strategy Nash equilibria", 1973.
        """
        flows = np.einsum("ncm,cml->nl", counts, self.links)
        every = np.arange(1, sum(self.agents) + 1)
        costs = self.link_costs(np.repeat(every[:, None], flows.shape[1], axis=1)) @ np.asarray(weights, np.float64)
        sums = np.concatenate([np.zeros((1, flows.shape[1])), np.cumsum(costs, axis=0)])
        potential: Floats = -sums[flows, np.arange(flows.shape[1])].sum(axis=1)
        return potential


def make_link_costs(state: State) -> Any:
    """Return the function of flows [..., L] -> latency and toll of links, in the unit of rewards, float64[..., L, 2]."""
    largest = [float(cost.max()) for cost in measure_links(state, float(state["agents"]))]
    unit = 1 / int(state["longest"])
    factors = [unit / most if most > 0 else 0.0 for most in largest]

    def compute(flows: Any) -> Floats:
        latency, toll = measure_links(state, np.asarray(flows, np.float64))
        return np.stack([latency * factors[0], toll * factors[1]], axis=-1)

    return compute


def count_agents(game: Game, start: Any) -> RouteGame:
    """Return the game by counts: classes are the OD pairs that agents have, options their routes."""
    state, network = load_state(game, start)[0], networks.load(*(game.params[n] for n in ("network", "slope", "num_agents")))
    agents = np.bincount(state["pair"][: int(state["agents"])], minlength=len(network.pairs))
    classes, parts, first = np.flatnonzero(agents), list_parts(state), state["first"]
    options = max(len(network.routes[pair]) for pair in classes)
    links = np.zeros((len(classes), options, int(state["links"])), np.int64)
    for kind, pair in enumerate(classes):
        for option, part in enumerate(parts[first[pair] : first[pair + 1]]):
            links[kind, option, part] = 1
    link_costs = make_link_costs(state)

    def rate(tables: Counts) -> Floats:
        costs = link_costs(np.einsum("ncm,cml->nl", tables, links))
        payoffs: Floats = -np.einsum("nlk,cml->ncmk", costs, links, optimize=True)
        return payoffs

    usable: NDArray[np.bool_] = links.sum(axis=2) > 0
    names = [" to ".join(network.nodes[node] for node in network.pairs[pair]) for pair in classes]
    routes = [name for pair, name in network.name_routes() if pair == classes[0]]
    options_by_name = routes if len(classes) == 1 else [f"route {option}" for option in range(options)]
    return RouteGame(
        tuple(agents[classes].tolist()), usable, rate, tuple(names), tuple(options_by_name), links=links, link_costs=link_costs
    )
