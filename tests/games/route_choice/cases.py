"""Cases of MO-RouteChoice for the tests that every game shares; see tests/cases.py."""

from tests.games.route_choice.naive import RouteChoice

ORACLE = RouteChoice
# linear and BPR latencies, names and numbers as nodes, and a pair without routes
TOWN = {
    "links": [
        ["north", "south", 0.5, 1],
        ["north", 7, 2, 0.15, 4, 10],
        [7, "south", 3, 0.5, 1, 2],
        ["south", 7, 0, 1],
        [7, "north", 0.25, 0],
        ["harbor", "north", 1, 1],
    ],
    "od_pairs": [["north", "south"], [7, "south"], ["south", "north"], [7, "harbor"]],
    "routes": [[["north", "south"], ["north", 7, "south"]], [[7, "south"], [7, "north", "south"]], [["south", 7, "north"]], []],
}
SMALL = {
    "mo-route-choice-v0": [
        {"num_agents": 4},
        {"num_agents": 3, "network": "BBraess_1", "instance_seed": 9},
        {"num_agents": 6, "network": TOWN, "toll_mode": "random", "random_toll_percentage": 0.6},
    ]
}
GOLDEN = {
    "mo-route-choice-v0": {
        "default": {"seed": 1, "num_agents": 12},
        "braess-3": {"seed": 2, "network": "Braess_3", "num_agents": 20, "slope": 10 / 4200},
        "ow": {"seed": 3, "network": "OW", "num_agents": 17, "toll_mode": "random", "od_counts": (6, 4, 3, 4)},
        "town": {"seed": 4, "network": TOWN, "num_agents": 8, "toll_mode": "random", "random_toll_percentage": 0.5},
    }
}
