"""Policies of MO-RoboticMail."""

from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.robotmail.agents import robot_kernels
from momagames.games.robotmail.rules.state import MAX_STANDS

RULES = ("robotmail",)

NEAREST = CompiledPolicy("nearest", robot_kernels.nearest, rules=RULES)
"""Robot that takes the shortest path to its task.

With a low battery it goes to a charger, with a mail to its receiver, otherwise to a green cell, around the other robots. Where
there is no path around them it waits, and where it may not wait it moves at random.

Source: our own; breadth-first search as in Cormen et al., "Introduction to Algorithms".
"""

ASTAR = CompiledPolicy("astar", robot_kernels.astar, robot_kernels.astar_memory, RULES)
"""The scripted agent of the original, corrected for every layout.

Its target is the charger, receiver or green cell at the least Manhattan distance, or another one if that is crowded. It finds
its path by A* search around the other robots.

Source: the built-in agent of rbgame 0.0.3, from a description of its behavior and its recorded games; Hart, Nilsson and
Raphael, "A formal basis for the heuristic determination of minimum cost paths", 1968.
"""


def make_energy_saver(game: Game, patience: int = 0, fair: bool = False) -> CompiledPolicy:
    """Return a policy that uses little energy for each mail: few moves, late charging, no detours around robots about to leave.

    patience    steps that it stands before each move, which cost only time
    fair        hold the mail while the robot has delivered more than another of the team

    Source: our own.
    """
    if not isinstance(patience, int) or not 0 <= patience <= MAX_STANDS:
        raise InvalidParameter(invalid_value("energy_saver: patience", patience, f"0..{MAX_STANDS}"))
    initial = (("patience", patience), ("fair", int(fair)))
    return CompiledPolicy("energy_saver", robot_kernels.energy_saver, robot_kernels.energy_saver_memory, RULES, initial)


ENERGY_SAVER = PolicyFactory(
    make_energy_saver,
    {**{f"patience {patience}": {"patience": patience} for patience in (0, 1, 2, 3, 5)}, "fair": {"fair": True}},
)
