"""The oracle: MO-RouteChoice from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames."""

from fractions import Fraction
from itertools import pairwise

from tests.games.samegame.naive import splitmix64

ORDERS = {  # §2.2
    1: "0 1 2",
    2: "1 0 2 3 4",
    3: "1 2 0 3 4 5 6",
    4: "3 2 1 0 6 4 7 8 5",
    5: "4 0 3 1 2 8 5 10 7 9 6",
    6: "4 1 5 3 2 0 8 6 10 9 7 11 12",
    7: "5 4 2 1 6 3 0 11 8 7 12 10 9 13 14",
}
OW_LINKS = """
A-B 7, A-C 5, A-D 15, B-D 11, B-E 11, C-D 7, C-F 11, C-G 9, D-E 7, D-G 7, D-H 9, E-H 7, F-G 9, F-I 13, G-H 9, G-J 3,
G-K 13, H-K 3, I-J 9, I-L 2, J-K 9, J-L 12, J-M 12, K-M 2
"""  # §2.4
OW_ROUTES = [
    "ACGJIL ACGJL ACFIL ACDGJIL ACDGJL ADGJIL ADGJL ACGFIL ACFGJIL ABDGJIL ACFGJL ABDGJL ACDGFIL ACDHKJIL ACDHGJIL ADCGJIL",
    "ACDHKM ACGJKM ACGHKM ADHKM ACGJM ACGKM ABEHKM ACDEHKM ABDHKM ACDGJKM ACDGHKM ADEHKM ACDGJM ACDGKM ACGDHKM ADGJKM",
    "BDGJIL BDGJL BACGJIL BACGJL BACFIL BEDGJIL BACDGJIL BEDGJL BDCGJIL BEHKJIL BACDGJL BEHGJIL BDGFIL BDCGJL BEHKJL BEHGJL",
    "BEHKM BDHKM BDEHKM BEDHKM BDGJKM BDGHKM BACDHKM BDGJM BDGKM BACGJKM BACGHKM BADHKM BACGJM BACGKM BACDEHKM BEDGJKM",
]


def build_braess(p, u):
    """§2.2"""
    source, sink = 1, 2 * p + 2
    a, b = {i: 1 + i for i in range(1, p + 1)}, {i: p + 1 + i for i in range(1, p + 1)}
    links = []
    for i in range(1, p + 1):
        links += [[source, a[i], p * (p + 1 - i) * u, 0], [b[i], sink, p * i * u, 0], [a[i], b[i], 0, 0]]
    links += [[a[i + 1], b[i], 0, 10] for i in range(1, p)]
    links += [[source, b[p], 0, 10], [a[1], sink, 0, 10]]
    routes = [[source, a[i], b[i], sink] for i in range(1, p + 1)]
    routes += [[source, a[i + 1], b[i], sink] for i in range(1, p)]
    routes += [[source, b[p], sink], [source, a[1], sink]]
    order = [int(place) for place in ORDERS[p].split()]
    links.sort(key=lambda link: link[:2])
    return {"links": links, "od_pairs": [[source, sink]], "routes": [[routes[place] for place in order]]}


def build_bbraess(u):
    """§2.3"""
    latencies = {"w0-w1": (u, 0), "s1-a": (0, 10)}
    names = ["w0-w1", "w1-v1", "w1-t2", "v1-t1", "s2-w0", "s1-w0", "s1-a", "a-w1"]
    links = [[*name.split("-"), *latencies.get(name, (0, 0))] for name in names]
    routes = [["s2-w0-w1-t2"], ["s1-w0-w1-v1-t1", "s1-a-w1-v1-t1"]]
    return {
        "links": links,
        "od_pairs": [["s2", "t2"], ["s1", "t1"]],
        "routes": [[route.split("-") for route in some] for some in routes],
    }


def build_ow():
    """§2.4"""
    links = []
    for text in OW_LINKS.split(","):
        ends, constant = text.split()
        one, other = ends.split("-")
        links += [[one, other, 0.02, int(constant)], [other, one, 0.02, int(constant)]]
    return {
        "links": sorted(links),
        "od_pairs": [list(pair) for pair in ("AL", "AM", "BL", "BM")],
        "routes": [[list(route) for route in line.split()] for line in OW_ROUTES],
    }


class Link:
    """§2.1 Its latency and toll at a flow; its ends are texts."""

    def __init__(self, start, end, *numbers):
        self.start, self.end = str(start), str(end)
        if len(numbers) == 2:
            self.slope, self.constant = numbers
        else:
            self.t, self.a, self.c, self.b = numbers[0], numbers[1], numbers[3], numbers[2]
        self.is_linear = len(numbers) == 2

    def latency(self, flow):
        if self.is_linear:
            return self.constant + self.slope * flow
        return self.t * (1 + self.a * (flow / self.c) ** self.b)

    def marginal_cost(self, flow):
        """§5 The flow times the derivative of the latency."""
        if self.is_linear:
            return self.slope * flow
        return self.t * self.a * self.b * (flow / self.c) ** self.b


def find_shortest(links, origin, destination, most):
    """§2.5 Find all routes without repeated nodes, and return the first ones in order."""
    complete, started = [], [([origin], Fraction(0))]
    while started:
        nodes, total = started.pop()
        if nodes[-1] == destination:
            complete.append((total, len(nodes), "-".join(nodes), nodes))
            continue
        for link in links:
            if link.start == nodes[-1] and link.end not in nodes:
                started.append(([*nodes, link.end], total + Fraction(link.latency(0))))
    return [nodes for *_, nodes in sorted(complete)[:most]]


class RouteChoice:
    """One episode. `agent_od` has the pair of each agent; `chosen` the route of each, after the step."""

    def __init__(
        self,
        network="Braess_1",
        num_agents=4200,
        toll_mode="mct",
        random_toll_percentage=0.1,
        slope=None,
        demand=None,
        od_counts=None,
        instance_seed=0,
    ):
        """§8, §2.6"""
        self.num_agents, self.toll_mode, self.percentage = num_agents, toll_mode, random_toll_percentage
        u = 10 / num_agents if slope is None else slope
        if network == "OW":
            network = build_ow()
        elif network == "BBraess_1":
            network = build_bbraess(u)
        elif isinstance(network, str):
            network = build_braess(int(network.removeprefix("Braess_")), u)
        self.links = [Link(*link) for link in network["links"]]
        self.pairs = [tuple(str(node) for node in pair) for pair in network["od_pairs"]]
        routes = network["routes"]
        if isinstance(routes, int):
            routes = [find_shortest(self.links, *pair, routes) for pair in self.pairs]
        ends = {(link.start, link.end): number for number, link in enumerate(self.links)}
        self.routes = []  # of each pair, as lists of numbers of links
        for some in routes:
            texts = [[str(node) for node in nodes] for nodes in some]
            self.routes.append([[ends[pair] for pair in pairwise(nodes)] for nodes in texts])
        self.word = instance_seed
        self.tolled = None
        if toll_mode == "random":
            given = network.get("tolled")
            self.tolled = list(given) if given is not None else [self._draw() < random_toll_percentage for _ in self.links]
        self.agent_od = self._assign(network, demand, od_counts)
        self.actions = [len(self.routes[pair]) for pair in self.agent_od]  # sizes of the action spaces, §3
        self.chosen, self.counts = None, None

    def _draw(self):
        """§2.6"""
        self.word, output = splitmix64(self.word)
        return (output >> 11) / 2**53

    def _assign(self, network, demand, od_counts):
        """§2.6, 2"""
        if od_counts is not None:
            return [pair for pair, count in enumerate(od_counts) for _ in range(count)]
        listed = network.get("agent_od")
        if demand is None and listed is not None and len(listed) == self.num_agents:
            return list(listed)
        weights = demand
        if weights is None:
            weights = network.get("demand")
        if weights is None:
            weights = [int(bool(some)) for some in self.routes]
        assigned = []
        for _ in range(self.num_agents):
            x, upto = self._draw(), 0
            for pair, weight in enumerate(weights):
                upto += weight
                if upto / sum(weights) > x:
                    assigned.append(pair)
                    break
        return assigned

    @classmethod
    def generate(cls, word, **params):
        """§2 Start an episode; the random word of the position is never used."""
        game = cls(**params)
        game.word = word
        return game

    @classmethod
    def given(cls, state, word=None, **params):
        """§9 Start at a position, with this random word if the position has none."""
        game = cls.generate(state.get("rng", word), **params)
        game.agent_od = list(state["agent_od"])
        if game.toll_mode == "random" and state.get("tolled") is not None:
            game.tolled = list(state["tolled"])
        if state.get("counts") is not None:
            game.counts = [list(some) for some in state["counts"]]
        return game

    def state(self):
        """§9"""
        largest = self._largest_toll()
        return {
            "agent_od": self.agent_od,
            "tolled": self.tolled,
            "counts": self.counts,
            "flows": self._flows(),
            "latency": self._sum_by_route(self._latency),
            "cost": self._sum_by_route(lambda link, flow: self._toll(link, flow) / largest if largest else 0),
            "rng": self.word,
        }

    @property
    def over(self):
        """§6.1"""
        return self.counts is not None

    def legal(self, agent):
        """§3 The legal actions of an agent."""
        return [] if self.over else list(range(len(self.routes[self.agent_od[agent]])))

    def step(self, actions):
        """§4 Send all agents on their routes, and return their rewards (§5): [latency, toll] of each."""
        self.counts = [[0 for _ in some] for some in self.routes]
        for pair, action in zip(self.agent_od, actions, strict=True):
            self.counts[pair][action] += 1
        most = max(self._latency(link, self.num_agents) for link in range(len(self.links)))
        longest = max(len(route) for some in self.routes for route in some)
        flows, largest = self._flows(), self._largest_toll()
        rewards = []
        for pair, action in zip(self.agent_od, actions, strict=True):
            route = self.routes[pair][action]
            latency = sum(self._latency(link, flows[link]) / most for link in route) if most else 0
            toll = sum(self._toll(link, flows[link]) / largest for link in route) if largest else 0
            rewards.append([-latency / longest, -toll / longest])
        return rewards

    def _flows(self):
        """§4.1"""
        flows = [0 for _ in self.links]
        for some, counts in zip(self.routes, self.counts or [], strict=False):
            for route, count in zip(some, counts, strict=True):
                for link in route:
                    flows[link] += count
        return flows

    def _latency(self, link, flow):
        return self.links[link].latency(flow)

    def _toll(self, link, flow):
        """§5"""
        if self.toll_mode == "mct":
            return self.links[link].marginal_cost(flow)
        return self._latency(link, flow) if self.tolled[link] else 0

    def _largest_toll(self):
        """§5 C"""
        return max(self._toll(link, self.num_agents) for link in range(len(self.links)))

    def _sum_by_route(self, number):
        flows = self._flows()
        return [[sum(number(link, flows[link]) for link in route) for route in some] for some in self.routes]

    def observation(self, agent):
        """§7"""
        return [self.agent_od[agent]]
