"""Cases of MO-RouteChoice for the tests that every game shares; see tests/cases.py."""

from tests.games.route_choice.naive import RouteChoice

ORACLE = RouteChoice
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
        {"network": "Braess_2", "num_agents": 5},
        {"network": TOWN, "num_agents": 6, "toll_mode": "random", "random_toll_percentage": 0.5},
    ]
}
GOLDEN = {
    "mo-route-choice-v0": {
        "braess": {"seed": 1, "num_agents": 12},
        "two-pairs": {"seed": 2, "network": "BBraess_1", "num_agents": 9, "od_counts": (4, 5)},
        "ow": {
            "seed": 3,
            "network": "OW",
            "num_agents": 17,
            "toll_mode": "random",
            "random_toll_percentage": 0.3,
            "demand": (600, 400, 300, 400),
            "instance_seed": 5,
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    return {"n": game.params["num_agents"]}
