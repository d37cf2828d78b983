"""Cases of MO-SameGame for the tests that every game shares; see tests/cases.py."""

from tests.games.samegame.naive import SameGame

ORACLE = SameGame
SMALL = {
    "mo-samegame-v0": [
        {"board_width": 4, "board_height": 6, "num_colors": 3},
        {"board_width": 6, "board_height": 4, "num_agents": 3},
        {"board_width": 3, "board_height": 5, "num_colors": 3, "num_agents": 2, "move_rewards": True},
    ]
}
GOLDEN = {
    "mo-samegame-v0": {
        "default": {"seed": 1},
        "wide-team": {"seed": 2, "board_width": 9, "board_height": 5, "num_agents": 3, "team_rewards": True, "num_colors": 4},
        "tall-points": {
            "seed": 3,
            "board_width": 4,
            "board_height": 8,
            "num_agents": 2,
            "color_rewards": False,
            "num_colors": 3,
        },
        "clear-bonus": {"seed": 5, "board_width": 3, "board_height": 4, "num_colors": 2, "clear_bonus": 1000.0},
    }
}
PERFT = {
    "mo-samegame-v0": [
        ({"board_width": 3, "board_height": 3, "num_colors": 2}, ["121", "211", "221"], 0, 9),
        ({"board_width": 4, "board_height": 4, "num_colors": 3}, ["1233", "1122", "3312", "2231"], 0, 9),
        ({"board_width": 7, "board_height": 3, "num_colors": 3, "num_agents": 3}, ["1122331", "2113312", "2212113"], 1, 3),
        ({"board_width": 3, "board_height": 6, "num_colors": 4}, ["1.1", "412", "423", "233", "132", "111"], 0, 5),
        ({"board_width": 6, "board_height": 5, "num_colors": 10}, ["a99...", "a88...", "776655", "776a55", "444a33"], 0, 4),
    ]
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    params = game.params
    sharing = 1 if params["team_rewards"] else params["num_agents"]
    return {"W": params["board_width"], "H": params["board_height"], "C": params["num_colors"], "N": sharing}
