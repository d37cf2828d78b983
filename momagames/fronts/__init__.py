"""Pareto fronts as files: proven fronts with a witness for each point, and best-known fronts from archived runs.

from momagames import fronts

front = fronts.load_front("mo-samegame-v0-7x7x3-0")
fronts.verify(front)
print(front.statement, front.values)
"""

from momagames.baselines.front_solvers import SearchLimits
from momagames.fronts.environment_front import (
    EnvironmentChoice,
    EnvironmentClaim,
    EnvironmentFront,
    read_front,
    solve_environment,
)
from momagames.fronts.front_content import write_front
from momagames.fronts.game_front import GameFront
from momagames.fronts.generation import (
    clairvoyant_front,
    equilibrium_front,
    guaranteed_front,
    response_front,
    returns_front,
)
from momagames.fronts.packaged import find_packaged_front, load_front, packaged_fronts
from momagames.fronts.union import union_fronts
from momagames.fronts.verify import explain_missing_start, prove, verify

__all__ = [
    "EnvironmentChoice",
    "EnvironmentClaim",
    "EnvironmentFront",
    "GameFront",
    "SearchLimits",
    "clairvoyant_front",
    "equilibrium_front",
    "explain_missing_start",
    "find_packaged_front",
    "guaranteed_front",
    "load_front",
    "packaged_fronts",
    "prove",
    "read_front",
    "response_front",
    "returns_front",
    "solve_environment",
    "union_fronts",
    "verify",
    "write_front",
]
