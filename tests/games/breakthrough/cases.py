"""Cases of MO-Breakthrough for the tests that every game shares; see tests/cases.py."""

from tests.games.breakthrough.naive import Breakthrough

ORACLE = Breakthrough
SMALL = {
    "mo-breakthrough-v0": [
        {"board_width": 3, "board_height": 5},
        {"board_width": 6, "board_height": 5, "canonical": True, "num_objectives": 3},
    ]
}
GOLDEN = {
    "mo-breakthrough-v0": {
        "default": {"seed": 1},
        "tall": {"seed": 2, "board_width": 4, "board_height": 7},
        "wide-canonical": {"seed": 3, "board_width": 9, "board_height": 5, "canonical": True},
        "by-name": {"seed": 4, "board_width": 5, "board_height": 6, "objectives": ("captures", "losses", "win")},
    }
}
PERFT = {
    "mo-breakthrough-v0": [
        ({"board_width": 3, "board_height": 5}, ["111", "111", "...", "222", "222"], 0, 5),
        (
            {"board_width": 8, "board_height": 8},
            ["11111111", "11111111", "........", "........", "........", "........", "22222222", "22222222"],
            0,
            3,
        ),
        ({"board_width": 4, "board_height": 6}, ["1...", ".11.", "2.21", "1.2.", "22.2", ".2.."], 1, 4),
        (
            {"board_width": 9, "board_height": 8},
            ["111111111", "111111111", ".........", ".........", ".........", ".........", "222222222", "222222222"],
            0,
            3,
        ),
        ({"board_width": 5, "board_height": 5}, ["1....", "2.1..", "..2.1", ".1..2", "...2."], 0, 7),
    ]
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    return {"W": game.params["board_width"], "H": game.params["board_height"]}
