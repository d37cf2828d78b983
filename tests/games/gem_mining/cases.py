"""Cases of MO-GemMining for the tests that every game shares; see tests/cases.py."""

from tests.games.gem_mining.naive import GemMining

ORACLE = GemMining
SMALL = {
    "mo-gem-mining-v0": [
        {"num_agents": 4},
        {"num_agents": 3, "num_objectives": 3, "max_connectivity": 3, "min_prob": 0.1, "reward_mode": "expected"},
    ]
}
GOLDEN = {
    "mo-gem-mining-v0": {
        "default": {"seed": 1},
        "expected": {"seed": 2, "num_agents": 6, "num_objectives": 3, "instance_seed": 7, "reward_mode": "expected"},
        "many-gems": {
            "seed": 3,
            "num_agents": 5,
            "num_objectives": 8,
            "min_connectivity": 1,
            "max_connectivity": 2,
            "min_prob": 0.3,
            "max_prob": 0.9,
            "correlated_objectives": False,
            "bonus_exponent": "all",
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    return {"n": game.params["num_agents"]}
