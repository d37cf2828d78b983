"""Cases of MO-Connect4 for the tests that every game shares; see tests/cases.py."""

from tests.games.connect4.naive import Connect4

ORACLE = Connect4
SMALL = {
    "mo-connect4-v0": [
        {"board_width": 4, "board_height": 4},
        {"board_width": 5, "board_height": 4, "column_objectives": False},
    ]
}
GOLDEN = {
    "mo-connect4-v0": {
        "default": {"seed": 1},
        "tall": {"seed": 2, "board_width": 4, "board_height": 9},
        "wide": {"seed": 3, "board_width": 13, "board_height": 6, "column_objectives": False},
        "by-name": {"seed": 4, "board_width": 5, "board_height": 5, "objectives": ("column_4", "win", "column_0")},
    }
}
PERFT = {
    "mo-connect4-v0": [
        ({"board_width": 4, "board_height": 4}, ["....", "....", "....", "...."], 0, 6),
        ({"board_width": 7, "board_height": 6}, ["......."] * 6, 0, 4),
        ({"board_width": 7, "board_height": 6}, [".......", ".......", ".......", ".2...2.", ".111.1.", ".212.12"], 1, 4),
        ({"board_width": 4, "board_height": 5}, ["1...", "2...", "2.1.", "121.", "1122"], 1, 8),
    ]
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    return {"W": game.params["board_width"], "H": game.params["board_height"]}
