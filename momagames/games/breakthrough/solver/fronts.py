"""The solvers as `momagames fronts` calls them, see `momagames.baselines.front_solvers`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from momagames.baselines.front_solvers import Floats, Progress, SolvedFront, compare_points
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter
from momagames.games.breakthrough.solver.best_response import best_response_value, response_strategy, solve_best_responses
from momagames.games.breakthrough.solver.guarantees import (
    Board,
    can_guarantee,
    guarantee_strategy,
    minimal_uncovered,
    solve_guaranteed_front,
)

ROUNDING = 1e-12  # of expected returns, which are sums of many products


class Guaranteed:
    """Solver of the vectors that an agent can guarantee."""

    method: ClassVar[str] = "backward induction"

    def solve(
        self,
        game: Game,
        start: Any,
        agent: int,
        opponent: Floats | None,
        *,
        max_states: int,
        max_bytes: int,
        progress: Progress | None = None,
    ) -> SolvedFront:
        """See `solve_guaranteed_front`."""
        found = solve_guaranteed_front(game, start, agent, max_states=max_states, max_bytes=max_bytes, progress=progress)
        walks = [guarantee_strategy(found, point) for point in found.points]
        values = np.array([walked.worst for walked, _ in walks])
        return SolvedFront(values, [actions for _, actions in walks], found.states, found.bytes, found.seconds)

    def prove(
        self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, *, max_states: int, max_bytes: int
    ) -> None:
        """Verify by backward induction over fronts, and by one game for each point and for each vector just beyond them."""
        found = solve_guaranteed_front(game, start, agent, max_states=max_states, max_bytes=max_bytes)
        board = found.board
        stated = board.to_units(values)
        compare_points(values, stated.astype(np.float64), found.points.astype(np.float64))
        least = board.to_units(np.array([objective.return_low for objective in game.objectives]))
        most = board.to_units(np.array([objective.return_high for objective in game.objectives]))
        for number in np.flatnonzero(~can_guarantee(board, stated)):
            raise InvalidFile(f"point {number} cannot be guaranteed")
        beyond = minimal_uncovered(stated, least, most)
        for vector in beyond[can_guarantee(board, beyond)] / board.units:
            raise InvalidFile(f"points: {vector.tolist()} can be guaranteed as well")


class Response:
    """Solver of the best responses of an agent to a random or greedy opponent, for two objectives."""

    method: ClassVar[str] = "convex hull backward induction"

    def solve(
        self,
        game: Game,
        start: Any,
        agent: int,
        opponent: Floats | None,
        *,
        max_states: int,
        max_bytes: int,
        progress: Progress | None = None,
    ) -> SolvedFront:
        """See `solve_best_responses`."""
        limits = {"max_states": max_states, "max_bytes": max_bytes}
        found = solve_best_responses(game, start, agent, _check_opponent(opponent), **limits, progress=progress)
        walks = [response_strategy(found, weights) for weights in found.corner_weights]
        values = np.array([walked.expected for walked, _ in walks])
        return SolvedFront(values, [actions for _, actions in walks], found.states, found.bytes, found.seconds)

    def prove(
        self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, *, max_states: int, max_bytes: int
    ) -> None:
        """Verify that no return vector lies beyond the line from each point to the next.

        For the weights at which two neighbors are equally good, and for each objective alone, no policy is better than the
        points. The best value for given weights is found by scalar dynamic programming.
        """
        values = values[np.argsort(values[:, 0])]
        edges = np.diff(values, axis=0)
        normals = np.concatenate([[[0.0, 1.0]], np.stack([-edges[:, 1], edges[:, 0]], axis=1), [[1.0, 0.0]]])
        normals /= normals.sum(axis=1, keepdims=True)
        slopes = normals[:, 0]
        if (np.diff(slopes) <= 0).any():
            raise InvalidFile(f"point {int(np.argmax(np.diff(slopes) <= 0))}: it is no corner of the convex hull")
        board, weights = Board(game, start, agent), _check_opponent(opponent)
        for normal in normals:
            best, found = best_response_value(board, weights, normal), float((values @ normal).max())
            if abs(best - found) > ROUNDING:
                raise InvalidFile(
                    f"points: with weights {normal.tolist()} a policy gets {best!r}; the best of the points is {found!r}"
                )


def _check_opponent(weights: Floats | None) -> Floats:
    """Return the weights of the opponent, or raise InvalidParameter."""
    if weights is None:
        raise InvalidParameter("a best response needs an opponent")
    return weights


GUARANTEED, RESPONSE = Guaranteed(), Response()
