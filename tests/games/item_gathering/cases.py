"""Cases of MO-ItemGathering for the tests that every game shares; see tests/cases.py."""

from tests.games.item_gathering.naive import ItemGathering

ORACLE = ItemGathering
CROWD = ["1.2", "313", ".21"]
SMALL = {
    "mo-item-gathering-v0": [
        {"initial_map": CROWD, "num_timesteps": 6, "pickup_probabilities": [0.5, 1.0]},
        {"initial_map": ["1...2.", "..3.1.", "2....3"], "num_timesteps": 8, "reward_mode": "team"},
        {"initial_map": ["2.1", "33.", ".12"], "num_timesteps": 6, "control": "central"},
        {"initial_map": [[1, 0, 2, 5, 5]], "num_timesteps": 5, "objectives": ["item_2"]},
    ]
}
GOLDEN = {
    "mo-item-gathering-v0": {
        "default": {"seed": 1, "num_timesteps": 30},
        "crowd": {"seed": 2, "initial_map": CROWD, "num_timesteps": 20, "pickup_probabilities": (0.25, 0.5)},
        "central": {"seed": 4, "num_timesteps": 12, "control": "central", "initial_map": ["..2..", "31.1.", ".3..2"]},
        "team": {
            "seed": 3,
            "initial_map": [".1....4", "..22...", ".3.1.3.", "..2..1.", "1.....2", "..3..4."],
            "num_timesteps": 25,
            "randomise": True,
            "reward_mode": "team",
            "objectives": ("item_3", "item_1"),
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    index = int(objective.removeprefix("item_"))
    return {"A": int(game.blank_state["agents"]), "c_t": int((game.blank_state["map"] == index).sum())}
