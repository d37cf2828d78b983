"""Cases of MO-RouteChoice for the tests that every game shares; see tests/cases.py."""

from tests.games.route_choice.naive import RouteChoice

ORACLE = RouteChoice
DETOUR = {  # BPR latencies, whole numbers as names, a pair without routes, and positions that are not given
    "links": [[0, 1, 10, 0.15, 4, 2], [1, 2, 5, 1.0, 0, 3], [0, 2, 2.0, 1.0], [2, 0, 0.5, 3]],
    "od_pairs": [[0, 2], [2, 1], [1, 0]],
    "routes": [[[0, 1, 2], [0, 2]], [[2, 0, 1]], []],
    "demand": [3, 1, 0],
}
SMALL = {
    "mo-route-choice-v0": [
        {"num_agents": 4},
        {"num_agents": 3, "network": "BBraess_1", "instance_seed": 9},
        {"num_agents": 6, "network": DETOUR, "toll_mode": "random", "random_toll_percentage": 0.6, "instance_seed": 1},
    ]
}
GOLDEN = {
    "mo-route-choice-v0": {
        "default": {"seed": 1, "num_agents": 12},
        "braess-3": {"seed": 2, "network": "Braess_3", "num_agents": 20, "slope": 10 / 4200},
        "ow": {"seed": 3, "network": "OW", "num_agents": 17, "toll_mode": "random", "od_counts": (6, 4, 3, 4)},
        "detour": {"seed": 4, "network": DETOUR, "num_agents": 8, "toll_mode": "random", "random_toll_percentage": 0.5},
    }
}
