"""Cases of MO-ItemGathering for the tests that every game shares; see tests/cases.py."""

from tests.games.item_gathering.naive import ItemGathering

ORACLE = ItemGathering
CROWD = ["1.12.", "3.1.1", "12.14"]
ROOM = ["......", ".2..1.", "..13..", "..2.5.", "......", "1....."]
SMALL = {
    "mo-item-gathering-v0": [
        {"initial_map": ROOM, "num_timesteps": 7, "randomise": True, "pickup_probabilities": [0.5, 1, 0.25]},
        {"initial_map": CROWD, "num_timesteps": 8, "reward_mode": "team"},
        {"initial_map": ["2.1", "33.", ".12"], "num_timesteps": 6, "control": "central"},
        {"initial_map": [[1, 0, 2, 5, 5]], "num_timesteps": 5, "objectives": ["item_2"]},
    ]
}
GOLDEN = {
    "mo-item-gathering-v0": {
        "default": {"seed": 1, "num_timesteps": 30},
        "crowd": {"seed": 2, "initial_map": CROWD, "num_timesteps": 12, "pickup_probabilities": (0.25, 0.5, 1.0)},
        "central": {"seed": 4, "num_timesteps": 12, "control": "central", "initial_map": ["..2..", "31.1.", ".3..2"]},
        "team": {
            "seed": 3,
            "initial_map": ROOM,
            "num_timesteps": 15,
            "randomise": True,
            "reward_mode": "team",
            "objectives": ("item_3", "item_1"),
        },
    }
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    kind = int(objective.removeprefix("item_"))
    count = int((game.blank_state["map"] == kind).sum())
    shared = game.blank_state["team"] or game.blank_state["central"]
    return {"c_t": count, "q": min(int(game.blank_state["agents"]), count) if shared else 1}
