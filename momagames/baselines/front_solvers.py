"""Solvers of fronts that belong to a game: their interface, see `Solvers.fronts` of a game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact.checkpoint import Checkpoint
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter, one_of
from momagames.plugins import load_object

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]  # (positions solved, bytes used)


@dataclass(frozen=True)
class SolvedFront:
    """A proven front with a strategy for each point.

    method        its name in front files
    values        float64[n, K]
    strategies    for each point the actions of the agent, see `strategies`
    states        positions that were solved
    bytes         of the tables at their largest
    opponent_strategies    for each point the actions of the second agent, for equilibria
    """

    method: str
    values: Floats
    strategies: Sequence[Sequence[int]]
    states: int
    bytes: int
    seconds: float
    opponent_strategies: Sequence[Sequence[int]] = ()


@dataclass(frozen=True)
class SearchLimits:
    """Limits of a search, and its progress callback.

    progress      called several times a second with (positions solved, bytes used)
    checkpoint    file of solved positions from which an interrupted search resumes; for the claims "returns" and "guaranteed"
    """

    max_states: int
    max_bytes: int
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    @property
    def options(self) -> dict[str, Any]:
        return {"max_states": self.max_states, "max_bytes": self.max_bytes}


class FrontSolver(Protocol):
    """A solver for one claim."""

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """Solve the game from a position, for an agent by index.

        opponent    weights float64[K] of the greedy opponent, all zero: of the random one; None for claims without opponent
        Raises      InvalidParameter for another game, and for a checkpoint if the search has none; TooLarge beyond the limits;
                    InvalidState
        """

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Derive a front again, by other means where there are any; InvalidFile if it is not `values`, float64[n, K]."""


def find_front_solver(game: Game, claim: str) -> FrontSolver:
    """Return the solver of a game for a claim, or raise InvalidParameter."""
    if claim not in game.solvers.fronts:
        known = f"it has solvers for {one_of(game.solvers.fronts)}" if game.solvers.fronts else "it has no solvers of its own"
        raise InvalidParameter(f"{game.id} has no solver for the claim {claim!r}; {known}")
    solver: FrontSolver = load_object(game.solvers.fronts[claim])
    return solver


def check_no_checkpoint(checkpoint: Checkpoint | None, what: str) -> None:
    """Raise InvalidParameter for a checkpoint of a search that has none."""
    if checkpoint is not None:
        raise InvalidParameter(f"invalid checkpoint={str(checkpoint.path)!r}: expected None for {what}")


def compare_points(values: Floats, stated: NDArray[Any], solved: NDArray[Any]) -> None:
    """Raise InvalidFile unless two fronts are the same set of rows.

    values    float64[n, K], the points of the file, for the message
    stated    the same in the form that is compared
    """
    has, needs = ({tuple(row) for row in rows.tolist()} for rows in (stated, solved))
    for number, row in enumerate(stated.tolist()):
        if tuple(row) not in needs:
            raise InvalidFile(f"point {number}: {tuple(values[number].tolist())} is not on the front that the solver finds")
    if missing := sorted(needs - has):
        raise InvalidFile(f"points: {len(missing)} points of the front are missing, such as {list(missing[0])}")
