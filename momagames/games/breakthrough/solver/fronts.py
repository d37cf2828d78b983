"""The solvers as `momagames fronts` calls them, see `momagames.baselines.front_solvers`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines import layer_solvers
from momagames.baselines.front_solvers import Floats, SearchLimits, SolvedFront, check_no_checkpoint, compare_points
from momagames.contract import Game
from momagames.engine.positions import load_state
from momagames.errors import InvalidFile, InvalidParameter
from momagames.games.breakthrough.solver.best_response import best_response_value, response_strategy, solve_best_responses
from momagames.games.breakthrough.solver.equilibria import solve_equilibria
from momagames.games.breakthrough.solver.guarantees import (
    Board,
    can_guarantee,
    count_cells,
    guarantee_strategy,
    minimal_uncovered,
    solve_guaranteed_front,
)
from momagames.games.breakthrough.solver.proof_number import Limits
from momagames.games.breakthrough.solver.threshold_fronts import ThresholdOracle, bound_returns, solve_threshold_front

BACKWARD_CELLS = 15
ROUNDING = 1e-12  # of expected returns, which are sums of many products


class Guaranteed:
    """Solver of the vectors that an agent can guarantee.

    Boards of up to 15 cells are solved by backward induction, larger ones by proof-number search.
    """

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `solve_guaranteed_front` and `solve_threshold_front`; `max_states` also limits the nodes of the latter."""
        if count_cells(game) <= BACKWARD_CELLS:
            check_no_checkpoint(limits.checkpoint, f"a board of at most {BACKWARD_CELLS} cells, which takes seconds")
            found = solve_guaranteed_front(game, start, agent, **limits.options, progress=limits.progress)
            walks = [guarantee_strategy(found, point) for point in found.points]
            values = np.array([walked.worst for walked, _ in walks])
            strategies = [actions for _, actions in walks]
            return SolvedFront("backward induction", values, strategies, found.states, found.bytes, found.seconds)
        nodes = Limits(limits.max_states, limits.max_bytes)
        front = solve_threshold_front(Board(game, start, agent), nodes, limits.progress, limits.checkpoint)
        walks = [front.oracle.guarantee(point) for point in front.points]
        values = np.array([walked.worst for walked, _ in walks])
        search = front.oracle.search
        return SolvedFront(
            "proof-number search", values, [actions for _, actions in walks], search.nodes, search.bytes, front.seconds
        )

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Verify that the points can be guaranteed, and that no vector beyond them can.

        Up to 15 cells by backward induction over fronts, and by one game for each point and for each minimal vector beyond
        the points. On larger boards strategies of the opponent that prevent these vectors are played against every reply;
        the strategies of the points are in the file.
        """
        board = Board(game, start, agent, limits.max_states)
        stated = board.to_units(values)
        beyond = minimal_uncovered(stated, *bound_returns(board))
        if count_cells(game) > BACKWARD_CELLS:
            _prevent_vectors(ThresholdOracle(board, Limits(max_bytes=limits.max_bytes)), beyond)
            return
        found = solve_guaranteed_front(game, start, agent, **limits.options)
        compare_points(values, stated.astype(np.float64), found.points.astype(np.float64))
        for number in np.flatnonzero(~can_guarantee(board, stated)):
            raise InvalidFile(f"point {number} cannot be guaranteed")
        for vector in beyond[can_guarantee(board, beyond)] / board.units:
            raise InvalidFile(f"points: {vector.tolist()} can be guaranteed as well")


def _prevent_vectors(oracle: ThresholdOracle, beyond: NDArray[np.int64]) -> None:
    """Play strategies that prevent vectors, int64[n, K]; InvalidFile if one can be guaranteed."""
    for vector in beyond:
        if oracle.can_guarantee(vector):
            raise InvalidFile(f"points: {(vector / oracle.board.units).tolist()} can be guaranteed as well")
        outcomes = oracle.board.to_units(oracle.prevent(vector).outcomes)
        if (outcomes >= vector).all(axis=1).any():
            raise InvalidFile(f"points: {(vector / oracle.board.units).tolist()} is not prevented by the strategy against it")


class Response:
    """Solver of the best responses of an agent to a random or greedy opponent, for two objectives."""

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `solve_best_responses`."""
        check_no_checkpoint(limits.checkpoint, "the claim response")
        weights = _check_opponent(opponent)
        found = solve_best_responses(game, start, agent, weights, **limits.options, progress=limits.progress)
        walks = [response_strategy(found, weights) for weights in found.corner_weights]
        values = np.array([walked.expected for walked, _ in walks])
        strategies = [actions for _, actions in walks]
        return SolvedFront("convex hull backward induction", values, strategies, found.states, found.bytes, found.seconds)

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
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


@dataclass(frozen=True)
class Equilibrium(layer_solvers.Equilibrium):
    """Solver of the Pareto-Nash equilibria for the objectives win and captures, with symmetry and packed positions."""

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `solve_equilibria`."""
        check_no_checkpoint(limits.checkpoint, "equilibria")
        found = solve_equilibria(game, start, **limits.options, with_strategies=True, progress=limits.progress)
        strategies = dict(zip(found.pareto_nash, found.strategies, strict=True))
        pairs = [strategies[outcome] for outcome in (found.subgame_perfect if self.perfect else found.pareto_nash)]
        record = load_state(game, start)
        return layer_solvers.make_equilibrium_front(game, record, pairs, found.states, found.bytes, found.seconds)

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Derive all outcomes again from the rules of the environment, without symmetry and packed positions."""
        # max_states has one position for two mirror images, and for all numbers of moves
        all_states = 2 * game.max_episode_steps * limits.max_states
        super().prove(game, start, agent, opponent, values, replace(limits, max_states=all_states))


GUARANTEED, RESPONSE = Guaranteed(), Response()
EQUILIBRIUM, SUBGAME_PERFECT = Equilibrium(perfect=False), Equilibrium(perfect=True)
