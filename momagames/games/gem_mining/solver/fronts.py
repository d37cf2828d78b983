"""The exact front of the team as `momagames fronts` calls it, and convex coverage sets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from momagames.baselines.archive import is_nondominated
from momagames.baselines.front_solvers import Floats, SearchLimits, SolvedFront, check_no_checkpoint, compare_points
from momagames.contract import Game
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, InvalidState, invalid_value
from momagames.games.gem_mining.solver.elimination import Chain, ChainFront, solve_chain

MAX_ENUMERATED = 50_000  # joint actions
DECIMALS = 10  # equal sums of floats in another order
MARGIN = 1e-10  # by which a point of a coverage set is better for some weights


class TeamFront:
    """Solver of the expected gems that all villages can attain together."""

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `solve_chain`. Raises InvalidParameter for sampled gems and checkpoints."""
        check_no_checkpoint(limits.checkpoint, "a front of a chain, which takes seconds")
        found = solve_chain(read_chain(game, start), **limits.options, progress=limits.progress)
        values = found.values.astype(np.float32).astype(np.float64)  # as the engine pays
        rows = np.flatnonzero(is_nondominated(values))
        actions = found.actions[rows].tolist()
        return SolvedFront("variable elimination", values[rows], actions, found.states, found.bytes, found.seconds)

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Derive the front again from the other end of the chain, and of few joint actions by enumeration."""
        chain = read_chain(game, start)
        forward = self.solve(game, start, agent, opponent, limits).values
        compare_points(values, values, forward)
        stated = round_front(solve_chain(chain).values)
        derived = [solve_chain(chain.mirror()).values]
        if chain.joint_actions <= MAX_ENUMERATED:
            derived.append(np.array([chain.evaluate(actions) for actions in product(*map(range, chain.reach.tolist()))]))
        for found in derived:
            compare_points(stated, stated, round_front(found))


def round_front(values: Floats) -> Floats:
    """Return the front of rounded values."""
    rounded = np.round(values, DECIMALS)
    front: Floats = rounded[is_nondominated(rounded)]
    return front


def read_chain(game: Game, start: Any) -> Chain:
    """Return the chain of a start position."""
    if game.chance == "step":
        raise InvalidParameter(
            invalid_value(f"{game.id}: reward_mode", "sampled", "'expected': exact fronts are of expected gems")
        )
    state = load_state(game, start)[0]
    if state["over"]:
        raise InvalidState(f"{game.id}: invalid start position: expected one before the step")
    return Chain.from_state(state)


def find_coverage_set(game: Game, start: Any) -> ChainFront:
    """Return the convex coverage set of a start position: for all weights the largest weighted sums of expected gems.

    Each state of the elimination goes on with the points that are best for some weights, so that it reaches further than the
    Pareto front. A point counts if it is better than the others by more than 1e-10 for some weights. Errors as of the front
    """
    return solve_chain(read_chain(game, start), find_best_for_weights)


def find_best_for_weights(values: Floats) -> NDArray[np.bool_]:
    """Return which points are best for some weights, bool[n]: each joins that no point so far equals for some weights.

    Source: CPrune in Roijers, Whiteson and Oliehoek, "Computing convex coverage sets for faster multi-objective coordination",
    JAIR 2015.
    """
    left, chosen = np.flatnonzero(is_nondominated(values)).tolist(), np.zeros(len(values), np.bool_)
    if values.shape[1] == 2:
        chosen[find_upper_hull(values[left], left)] = True
        return chosen
    while left:
        weights = find_weights(values[left[-1]], values[chosen])
        if weights is None:
            left.pop()
            continue
        best = max(left, key=lambda i: (float(values[i] @ weights), values[i].tolist()))
        chosen[best] = True
        left.remove(best)
    return chosen


def find_upper_hull(points: Floats, rows: list[int]) -> list[int]:
    """Return the rows of the vertices of the upper hull of points that do not dominate each other, float64[n, 2]."""
    hull: list[int] = []
    for i in np.argsort(points[:, 0]).tolist():
        while len(hull) > 1:
            (ax, ay), (bx, by), (cx, cy) = points[hull[-2]], points[hull[-1]], points[i]
            if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < -MARGIN * MARGIN:  # a turn to the right
                break
            hull.pop()
        hull.append(i)
    return [rows[i] for i in hull]


def find_weights(point: Floats, others: Floats) -> Floats | None:
    """Return weights, float64[m], for which a point is better than all others; None if there are none."""
    size = len(point)
    if not len(others):
        return np.full(size, 1 / size)
    rows = np.column_stack([others - point, np.ones(len(others))])  # w . (other - point) + margin <= 0
    found = linprog(
        [0.0] * size + [-1.0], rows, np.zeros(len(others)), [[1.0] * size + [0.0]], [1.0], [(0, None)] * size + [(None, None)]
    )
    return found.x[:size] if found.success and found.x[size] > MARGIN else None


TEAM = TeamFront()
