"""Cases of MO-Pommerman for the tests that every game shares; see tests/cases.py."""

from tests.games.pommerman.naive import Game

ORACLE = Game
SMALL = {
    "mo-pommerman-ffa-v0": [
        {"board_size": 7, "max_steps": 60, "num_rigid": 4, "num_wood": 8, "num_items": 8},
        {"board_size": 8, "max_steps": 60, "dead": "leave", "objectives": ["outcome", "explore", "survival", "movement"]},
    ],
    "mo-pommerman-ffa-collapse-v0": [{"board_size": 9, "max_steps": 40, "first_collapse": 8, "observation": "planes"}],
    "mo-pommerman-team-v0": [{"board_size": 8, "max_steps": 60, "agent_view_size": 2, "egocentric": True, "credit": "split"}],
    "mo-pommerman-team-full-v0": [{"board_size": 9, "max_steps": 60, "dead": "leave"}],
    "mo-pommerman-team-collapse-v0": [{"board_size": 8, "max_steps": 30, "first_collapse": 10}],
    "mo-pommerman-radio-v0": [
        {"board_size": 8, "max_steps": 60},
        {"board_size": 7, "max_steps": 60, "observation": "planes", "egocentric": True, "first_collapse": 20},
    ],
    "mo-pommerman-duel-v0": [{"board_size": 7, "max_steps": 60}],
}
GOLDEN = {
    "mo-pommerman-ffa-v0": {
        "default": {"seed": 1},
        "small-leave": {"seed": 2, "board_size": 8, "dead": "leave", "objectives": ("outcome", "self_kill", "explore", "wood")},
        "planes": {"seed": 3, "board_size": 7, "observation": "planes", "max_steps": 15, "num_rigid": 0},
    },
    "mo-pommerman-ffa-collapse-v0": {"early": {"seed": 4, "board_size": 9, "max_steps": 24, "first_collapse": 6}},
    "mo-pommerman-team-v0": {
        "fog": {"seed": 5, "board_size": 9},
        "egocentric-split": {"seed": 6, "board_size": 8, "agent_view_size": 2, "egocentric": True, "credit": "split"},
    },
    "mo-pommerman-team-full-v0": {"strong": {"seed": 7, "board_size": 9, "blast_strength": 4}},
    "mo-pommerman-team-collapse-v0": {"early": {"seed": 8, "board_size": 8, "max_steps": 30, "first_collapse": 4}},
    "mo-pommerman-radio-v0": {
        "words": {"seed": 9, "board_size": 8, "objectives": ("outcome", "comm", "comm_change", "mate_survival")},
        "collapse": {"seed": 10, "board_size": 8, "max_steps": 30, "first_collapse": 5, "dead": "leave"},
    },
    "mo-pommerman-duel-v0": {"default": {"seed": 1}, "wooden": {"seed": 11, "num_wood": 24, "num_rigid": 8}},
}


def letters(game, objective):
    """Letters in the formulas of SPEC.md."""
    params = {"W": "num_wood", "I": "num_items", "n": "board_size", "T": "max_steps"}
    enemies = sum(team != game.teams[0] for team in game.teams)
    return {"E": enemies, **{letter: game.params[name] for letter, name in params.items()}}
