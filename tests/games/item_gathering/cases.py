"""Cases of MO-ItemGathering for the tests that every game shares; see tests/cases.py."""

from tests.games.item_gathering.naive import ItemGathering

ORACLE = ItemGathering
CROWD = ["1.12.", "3.1.1", "12.14"]
ROOM = ["......", ".2..1.", "..13..", "..2.5.", "......", "1....."]
SMALL = {
    "mo-item-gathering-v0": [
        {"initial_map": "\n".join(CROWD), "num_timesteps": 8, "reward_mode": "team"},
        {
            "initial_map": "\n".join(ROOM),
            "num_timesteps": 7,
            "randomise": True,
            "pickup_probabilities": [0.5, 1, 0.25],
        },
    ]
}
GOLDEN = {
    "mo-item-gathering-v0": {
        "default": {"seed": 1},
        "crowd": {"seed": 2, "initial_map": "\n".join(CROWD), "num_timesteps": 12, "pickup_probabilities": [0.5, 0.5, 1]},
        "team": {"seed": 3, "randomise": True, "reward_mode": "team", "num_timesteps": 20, "objectives": ("item_3", "item_1")},
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    oracle = ItemGathering(game.params["initial_map"])
    return {"A": len(game.agents), "c_t": oracle.totals[int(objective.removeprefix("item_"))]}
