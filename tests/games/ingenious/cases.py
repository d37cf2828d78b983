"""Cases of MO-Ingenious for the tests that every game shares; see tests/cases.py."""

from tests.games.ingenious.naive import Ingenious

ORACLE = Ingenious
SMALL = {
    "mo-ingenious-v0": [
        {"board_size": 3, "num_colors": 3, "rack_size": 2},
        {"board_size": 4, "num_agents": 4, "num_colors": 4, "rack_size": 3, "reward_mode": "two_teams", "fixed_bag": True},
    ]
}
GOLDEN = {
    "mo-ingenious-v0": {
        "default": {"seed": 1},
        "bonus-turns": {"seed": 2, "num_colors": 2, "rack_size": 2},
        "collaborative": {
            "seed": 3,
            "num_agents": 3,
            "num_colors": 4,
            "rack_size": 4,
            "board_size": 4,
            "reward_mode": "collaborative",
            "fully_observable": True,
            "fixed_bag": True,
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    oracle = Ingenious(**game.params)
    return {"M": oracle.cap, "N": oracle.n}
