"""Cases of MO-GemMining for the tests that every game shares; see tests/cases.py."""

from tests.games.gem_mining.naive import GemMining

ORACLE = GemMining
SMALL = {
    "mo-gem-mining-v0": [
        {"num_agents": 5, "instance_seed": 3},
        {
            "num_agents": 3,
            "num_objectives": 3,
            "min_connectivity": 1,
            "instance_seed": 5,
            "reward_mode": "expected",
            "bonus_exponent": "all",
        },
    ]
}
GOLDEN = {
    "mo-gem-mining-v0": {
        "default": {"seed": 1},
        "expected": {
            "seed": 2,
            "num_agents": 6,
            "num_objectives": 4,
            "min_connectivity": 1,
            "max_connectivity": 6,
            "min_workers": 0,
            "max_workers": 30,
            "trunc_probability": 0.6,
            "w_bonus": 1.2,
            "correlated_objectives": False,
            "reward_mode": "expected",
            "bonus_exponent": "all",
        },
        "given": {
            "seed": 3,
            "num_agents": 2,
            "max_connectivity": 3,
            "workers": (2, 0),
            "connectivity": (2, 3),
            "probabilities": ((0.5, 0.25), (1.0, 0.0), (0.125, 0.75), (0.0, 0.0)),
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    params = game.params
    return {"q": sum([params["trunc_probability"] if params["reward_mode"] == "expected" else 1.0] * params["num_agents"])}
