"""Cases of MO-Ingenious for the tests that every game shares; see tests/cases.py."""

from tests.games.ingenious.naive import Ingenious

ORACLE = Ingenious
SMALL = {
    "mo-ingenious-v0": [
        {"num_agents": 2, "num_colors": 3, "rack_size": 2, "board_size": 4},
        {
            "num_agents": 4,
            "num_colors": 4,
            "rack_size": 3,
            "board_size": 4,
            "reward_mode": "two_teams",
            "fully_observable": True,
        },
        {"num_agents": 2, "num_colors": 2, "rack_size": 2, "board_size": 4, "objectives": ("color_2", "win")},
        {"num_agents": 2, "num_colors": 2, "rack_size": 2, "board_size": 4, "reward_mode": "collaborative", "fixed_bag": True},
    ]
}
GOLDEN = {
    "mo-ingenious-v0": {
        "default": {"seed": 1},
        "teams": {"seed": 2, "num_agents": 4, "num_colors": 4, "board_size": 4, "reward_mode": "two_teams"},
        "by-name": {"seed": 4, "num_colors": 3, "rack_size": 2, "board_size": 3, "objectives": ("color_3", "win", "color_1")},
        "fixed-bag": {
            "seed": 3,
            "num_agents": 3,
            "num_colors": 3,
            "rack_size": 2,
            "board_size": 3,
            "reward_mode": "collaborative",
            "fully_observable": True,
            "fixed_bag": True,
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    params = game.params
    agents, teams = params["num_agents"], {"competitive": params["num_agents"], "two_teams": 2, "collaborative": 1}
    return {"M": 18 * agents / teams[params["reward_mode"]], "N": (params["board_size"] or agents + 4) - 1}
