"""Cases of MO-TileBlast for the tests that every game shares; see tests/cases.py."""

from momagames.games.tileblast.levels import loader
from tests.games.tileblast.naive import Naive

ORACLE = Naive
SMALL = {
    "mo-tileblast-v0": [
        {"level": 4, "max_taps": 60, "observation": "dict", "channels": 27},
        {"level": 5, "invalid": "raise", "num_agents": 3, "max_taps": 40},
    ],
    "mo-tileblast-goals-v0": [{"level": 12, "axes": "cyx", "num_agents": 2, "team_rewards": True}],
    "mo-tileblast-playtest-v0": [{"level": 2, "normalize": True, "axes": "yxc"}],
    "mo-tileblast-colors-v0": [{"level": 10, "strict_moves": False, "max_taps": 50}],
}
GOLDEN = {
    "mo-tileblast-v0": {
        "powers": {"seed": 1, "level": 2},
        "drops": {"seed": 2, "level": 5, "observation": "dict", "channels": 27, "max_taps": 25},
    },
    "mo-tileblast-goals-v0": {"party": {"seed": 3, "level": 12, "num_agents": 2, "team_rewards": True, "max_taps": 25}},
    "mo-tileblast-playtest-v0": {"cages": {"seed": 4, "level": 7, "axes": "cyx", "invalid": "raise"}},
    "mo-tileblast-colors-v0": {"weeds": {"seed": 5, "level": 10, "axes": "yxc", "normalize": True}},
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md, A_k that of the goal in the row of this objective."""
    level, taps = loader.load(game.params["level"]), game.max_episode_steps
    valid = level.moves if game.params["strict_moves"] else taps
    amounts = loader.goal_bounds(level, valid)
    amount = amounts[int(objective[-1]) - 1] if objective.startswith("goal_") else 0
    feeds = sum(feed.total for feed in level.feeds)
    return {"G": sum(amounts), "A_k": amount, "M": level.moves, "V": valid, "F": feeds, "T": taps}
