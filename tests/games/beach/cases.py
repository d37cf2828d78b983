"""Cases of MO-Beach for the tests that every game shares; see tests/cases.py."""

from math import e

from tests.games.beach.naive import Beach

ORACLE = Beach
SMALL = {
    "mo-beach-v0": [
        {"num_agents": 5, "sections": 3, "capacity": 2, "num_timesteps": 6},
        {"num_agents": 4, "num_timesteps": 5, "type_counts": [1, 2, 1], "reward_mode": "team"},
    ]
}
GOLDEN = {
    "mo-beach-v0": {
        "default": {"seed": 1, "num_agents": 12, "num_timesteps": 3},
        "team": {
            "seed": 2,
            "num_agents": 9,
            "num_timesteps": 4,
            "type_counts": (2, 3, 4),
            "position_distribution": (1.0, 0.0, 2.0, 1.0),
            "sections": 4,
            "capacity": 2,
            "reward_mode": "team",
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    params = game.params
    types = len(params["type_counts"] or params["type_distribution"])
    return {"q": params["sections"] if params["reward_mode"] == "team" else 1, "e": e, "k": types}
