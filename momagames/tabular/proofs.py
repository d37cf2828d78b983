"""Second derivations: checks of fronts that do not rest on the search that found them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from momagames.errors import InvalidFile
from momagames.tabular.coverage_set import find_cell, is_vertex
from momagames.tabular.evaluation import Policy, WeightedSolver
from momagames.tabular.explore import Clock, Limits
from momagames.tabular.model import END, Outcome, TabularModel, Vector, dot, weakly_dominates
from momagames.tabular.pareto_front import bound_by_components, find_reachable_gains
from momagames.tabular.ways import find_front_by_ways, fits_ways

MAX_INDUCTION = 10_000  # actions to go


def list_corners(vectors: Sequence[Vector]) -> dict[Vector, Fraction]:
    """Return the weights at which K or more cells of the vectors meet, in ascending order, and the best weighted sum there.

    Raises    InvalidFile with the number of a vector that is not better than all others for any range of weights
    """
    found: dict[Vector, Fraction] = {}
    for number, vector in enumerate(vectors):
        others = [other for i, other in enumerate(vectors) if i != number]
        if not is_vertex(vector, others):
            raise InvalidFile(f"point {number}: {list(map(float, vector))} is no vertex of the convex coverage set")
        for weights in find_cell(vector, others):
            found[weights] = dot(weights, vector)
    return dict(sorted(found.items()))


def check_coverage_set(
    model: TabularModel, gamma: Fraction, vectors: Sequence[Vector], policies: Sequence[Policy], limits: Limits
) -> None:
    """Check that no policy exceeds the surface of the vectors at any weights, exactly; InvalidFile.

    policies    int64[S], one for each of `list_corners`, in this order. The values of a policy must be a feasible solution of
                the dual linear program (`WeightedSolver.improve`) and equal to the surface in the start state

    The optimum is convex in the weights, and the surface is linear in the cell of each vector. So the optimum does not exceed
    the surface in a cell if it does not at its corners.
    """
    corners = list_corners(vectors)
    if len(policies) != len(corners):
        raise InvalidFile(f"{len(policies)} certificates: expected {len(corners)}, one for each corner of the surface")
    solver = WeightedSolver(model, gamma, Clock(limits, "certificates checked"))
    for number, ((weights, height), policy) in enumerate(zip(corners.items(), policies, strict=True)):
        place = f"certificate {number}, weights {[round(float(w), 6) for w in weights]}"
        if policy.shape != (model.num_states,) or not solver.is_legal(policy):
            raise InvalidFile(f"{place}: expected a legal action for each of {model.num_states} states")
        values = solver.evaluate(policy, weights)
        if solver.improve(policy, values, weights) is not None:
            raise InvalidFile(f"{place}: a better policy exists")
        if values[0] != height:
            raise InvalidFile(f"{place}: the optimum is {float(values[0])}: expected {float(height)}, the best of the points")


def check_pareto_front(model: TabularModel, gamma: Fraction, vectors: Sequence[Vector], limits: Limits) -> None:
    """Derive a Pareto front again by backward induction over sets of vectors, exactly; InvalidFile if a vector differs.

    The set of a state after n steps has the returns of all episodes from there that end within n actions (White,
    "Multi-objective infinite-horizon discounted Markov decision processes", 1982). The induction ends when one vector of the
    front is at least what longer episodes can reach in each objective. Large models with few rewards are derived by the
    induction over `ways` again, without what the search has stored.
    """
    if fits_ways(model, gamma) and (derived := find_front_by_ways(model, gamma, limits)):
        compare_fronts(derived[0], vectors)
        return
    clock = Clock(limits, "vectors of the backward induction")
    size, zero = model.num_objectives, (Fraction(0),) * model.num_objectives
    edges = [[one for a in model.legal_actions(s) for one in model.outcomes(s, a)] for s in range(model.num_states)]
    sets: list[list[Vector]] = [[] for _ in edges]
    changed = [True] * (len(edges) + 1)  # the last one stands for END
    # For each state and objective: the best of episodes that do not end within n actions; None if all end
    bounds: list[list[Fraction] | None] = [list(vector) for vector in _bound_returns(model, gamma)]
    for number in range(MAX_INDUCTION):
        updated = [
            _extend(found, sets, gamma, zero) if number == 0 or any(changed[one.next_state] for one in found) else sets[state]
            for state, found in enumerate(edges)
        ]
        changed = [*(one != other for one, other in zip(updated, sets, strict=True)), False]
        sets = updated
        clock.check(sum(map(len, sets)))
        following: list[list[Fraction] | None] = []
        for found in edges:
            longer = [(one.reward, bounds[one.next_state]) for one in found if one.next_state != END]
            best = [
                [x + gamma * y for x, y in zip(reward, after, strict=True)] for reward, after in longer if after is not None
            ]
            following.append([max(vector[k] for vector in best) for k in range(size)] if best else None)
        bounds = following
        limit = bounds[0]
        if limit is None or any(weakly_dominates(vector, limit) for vector in sets[0]):
            break
    else:
        raise InvalidFile(f"the backward induction does not end within {MAX_INDUCTION:,} actions")
    compare_fronts(sets[0], vectors)


def compare_fronts(derived: Sequence[Vector], vectors: Sequence[Vector]) -> None:
    """Raise InvalidFile unless a front that was derived again has the same vectors."""
    missing, extra = set(derived) - set(vectors), set(vectors) - set(derived)
    if missing or extra:
        raise InvalidFile(f"{len(missing)} points of the front are missing and {len(extra)} points are not in it")


def _extend(found: list[Outcome], sets: list[list[Vector]], gamma: Fraction, zero: Vector) -> list[Vector]:
    """Return the non-dominated returns of one action and what follows it."""
    return nondominated(
        [
            tuple(x + gamma * y for x, y in zip(one.reward, vector, strict=True))
            for one in found
            for vector in ([zero] if one.next_state == END else sets[one.next_state])
        ]
    )


def _bound_returns(model: TabularModel, gamma: Fraction) -> list[Vector]:
    """Return upper bounds of the return from each state, exact."""
    if gamma == 1:
        return bound_by_components(model)
    highest = [max(Fraction(0), *(reward[k] for reward in model.rewards)) / (1 - gamma) for k in range(model.num_objectives)]
    return [
        tuple(bound if can_gain else Fraction(0) for bound, can_gain in zip(highest, row, strict=True))
        for row in find_reachable_gains(model).tolist()
    ]


def nondominated(vectors: Sequence[Vector]) -> list[Vector]:
    """Return the distinct vectors that no other one dominates, in descending order."""
    found: list[Vector] = []
    for vector in sorted(set(vectors), reverse=True):  # a vector is dominated by greater ones only
        if not any(weakly_dominates(other, vector) for other in found):
            found.append(vector)
    return found
