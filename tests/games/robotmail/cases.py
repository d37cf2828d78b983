"""Cases of MO-RoboticMail for the tests that every game shares; see tests/cases.py."""

from tests.games.robotmail.naive import Game

ORACLE = Game
EMPTY_MASKS = {"always_legal": False}  # as the original
SMALL = {
    "mo-robotmail-v0": [
        {"layout": "mini6", "num_players": 3, "num_robots_per_player": 2, "max_step": 120, "objectives": "team", **EMPTY_MASKS},
        {"layout": "tall", "with_battery": False, "random_num_steps": True, "max_step": 80, "observation": "dict"},
        {"num_players": 1, "max_step": 60, "objectives": "clock"},
    ],
    "mo-robotmail-2-v0": [{"layout": "tiny", "required_mail": 1, "max_step": 150, "objectives": "versus"}],
    "mo-robotmail-4-v0": [{"layout": "wide12", "max_step": 90, "objectives": ["energy", "charge", "blocked", "blocking"]}],
    "mo-robotmail-6-v0": [{"max_step": 70, "random_num_steps": True, "objectives": "energy"}],
    "mo-robotmail-12-v0": [{"layout": "ring", "max_step": 60}],
}
GOLDEN = {
    "mo-robotmail-v0": {
        "default": {"seed": 1, "by": "nearest", "required_mail": 3, **EMPTY_MASKS},
        "legal": {"seed": 8, "layout": "mini6", "num_robots_per_player": 3, "max_step": 80},
        "tall-fields": {
            "seed": 2,
            "by": "astar",
            "layout": "tall",
            "num_players": 3,
            "with_battery": False,
            "random_num_steps": True,
            "required_mail": 1,
            "observation": "dict",
            "objectives": ("outcome", "time", "blocking", "rivalry"),
            **EMPTY_MASKS,
        },
        "alone": {"seed": 3, "layout": "tiny", "num_players": 1, "required_mail": 2, "max_step": 60},
    },
    "mo-robotmail-2-v0": {
        "street": {"seed": 4, "by": "astar", "layout": "street", "required_mail": 2, "objectives": "versus", **EMPTY_MASKS}
    },
    "mo-robotmail-4-v0": {
        "crowded": {
            "seed": 5,
            "by": "nearest",
            "layout": "mini6",
            "objectives": ("energy", "charge", "pickup"),
            "max_step": 100,
            **EMPTY_MASKS,
        }
    },
    "mo-robotmail-6-v0": {
        "turns": {"seed": 6, "by": "astar", "random_num_steps": True, "required_mail": 2, "objectives": "team", **EMPTY_MASKS}
    },
    "mo-robotmail-12-v0": {
        "ring": {"seed": 7, "by": "nearest", "layout": "ring", "max_step": 60, "objectives": "clock", **EMPTY_MASKS}
    },
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    return {"P": game.params["num_players"], "R": game.params["required_mail"], "T": game.params["max_step"]}
