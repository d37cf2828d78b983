"""Normalized indicators of trained policies beside those of policies without training, and who delivers more utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array, filter_dominated, normalize
from momagames.analysis.controllability import compute_controllability, ordering_score
from momagames.analysis.indicators import hypervolume
from momagames.analysis.utilities import delivered_utility, expected_utility, utility_regret
from momagames.benchmark.training_comparison import NamedFront, PlayedSet
from momagames.contract import Game
from momagames.errors import InvalidParameter

CLEAR = 2.0  # standard errors from which a difference counts


@dataclass(frozen=True)
class SetEvaluation:
    """Indicators of normalized mean returns of a set of policies: 0 is the reference point, 1 the ideal point.

    name                      of the set
    policies                  number of its policies, or of the points of a front
    normalized_hypervolume    with returns clipped at 1
    coverage_utility          mean over the weights of the best weighted sum
    delivered_utility         mean weighted sum of the policies under their own weights
    utility_regret            the former minus the latter
    controllability           rank correlation of weight and return, in the mean over the objectives
    ordering_score            see `analysis.controllability`
    best                      objective -> best normalized return
    lead                      how much more utility the trained policies deliver than this set: (mean, standard error) over
                              episodes; of a set without weights the best policy for each weight counts

    None where the policies are not conditioned on weights, or on a single weight vector where several are needed. `lead` is
    None for the trained policies, and for fronts, which have no episodes.
    """

    name: str
    policies: int
    normalized_hypervolume: float
    coverage_utility: float
    delivered_utility: float | None
    utility_regret: float | None
    controllability: float | None
    ordering_score: float | None
    best: dict[str, float]
    lead: tuple[float, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all values as JSON-able data; a standard error that one episode does not have is None."""
        found = asdict(self)
        if self.lead is not None:
            mean, error = self.lead
            found["lead"] = {"mean": mean, "standard_error": error if np.isfinite(error) else None}
        return found


def evaluate_sets(game: Game, played: Sequence[PlayedSet], reference: NamedFront | None = None) -> list[SetEvaluation]:
    """Evaluate the trained policies, which are first, and the sets beside them, all for the weights of the former.

    reference    a front, evaluated last. Its best returns are the ideal point; else the upper bounds of the returns are
    """
    weights = played[0].weights
    if weights is None:
        raise InvalidParameter(f"invalid weights of {played[0].name}: expected those of trained policies")
    low, high = _find_range(game, reference)
    normalized = [(one.returns - low) / (high - low) for one in played]
    own = _utility_by_episode(normalized[0], weights, conditioned=True)
    found = []
    for one, returns in zip(played, normalized, strict=True):
        lead = None
        if one is not played[0]:
            lead = _mean_with_error(own - _utility_by_episode(returns, weights, conditioned=one.weights is not None))
        found.append(_evaluate_points(game, one.name, returns.mean(axis=1), weights, one.weights is not None, lead))
    if reference is not None:
        points = normalize(reference.points, low, high)
        found.append(_evaluate_points(game, reference.name, points, weights, conditioned=False, lead=None))
    return found


def describe_lead(evaluations: Sequence[SetEvaluation]) -> str:
    """Return a sentence: which of the other sets the first one beats in delivered utility, and its share of fronts."""
    own, others = evaluations[0], [one for one in evaluations[1:] if one.lead is not None]
    groups: dict[str, list[str]] = {"beats": [], "does not clearly beat": [], "loses to": []}
    for one in others:
        mean, error = one.lead or (0.0, np.inf)
        verdict = "beats" if mean > CLEAR * error else "loses to" if mean < -CLEAR * error else "does not clearly beat"
        utility = one.coverage_utility if one.delivered_utility is None else one.delivered_utility
        groups[verdict].append(f"{one.name} ({utility:.3f})")
    parts = [f"{verdict} {_join(names)}" for verdict, names in groups.items() if names]
    shares = [
        f"it has {own.normalized_hypervolume / one.normalized_hypervolume:.1%} of the hypervolume of the {one.name}"
        for one in evaluations[1:]
        if one.lead is None and one.normalized_hypervolume > 0
    ]
    return "; ".join([f"{own.name} {', '.join(parts)} in delivered utility ({own.delivered_utility:.3f})", *shares]) + "."


def _evaluate_points(
    game: Game, name: str, points: Array, weights: Array, conditioned: bool, lead: tuple[float, float] | None
) -> SetEvaluation:
    ordered = ordering_score(weights, points) if conditioned else None
    return SetEvaluation(
        name=name,
        policies=len(points),
        normalized_hypervolume=hypervolume(filter_dominated(np.minimum(points, 1.0)), np.zeros(points.shape[1])).value,
        coverage_utility=expected_utility(points, weights),
        delivered_utility=delivered_utility(points, weights) if conditioned else None,
        utility_regret=utility_regret(points, weights) if conditioned else None,
        controllability=None if ordered is None else float(compute_controllability(weights, points).mean()),
        ordering_score=ordered,
        best={one.name: float(best) for one, best in zip(game.objectives, points.max(axis=0), strict=True)},
        lead=lead,
    )


def _find_range(game: Game, reference: NamedFront | None) -> tuple[Array, Array]:
    """Return the reference point and the ideal point, float64[K] each; an objective without any gain has the range 1."""
    low = np.array(game.reference_point, np.float64)
    bounds = np.array([one.return_high for one in game.objectives], np.float64)
    high = bounds if reference is None else reference.points.max(axis=0)
    return low, np.where(high > low, high, low + 1)


def _utility_by_episode(returns: Array, weights: Array, conditioned: bool) -> Array:
    """Return the mean utility over the weights in each episode, float64[E], of returns float64[n, E, K]."""
    best = np.arange(len(weights)) if conditioned else (weights @ returns.mean(axis=1).T).argmax(axis=1)
    return np.asarray(np.einsum("wk,wek->e", weights, returns[best]) / len(weights))


def _mean_with_error(values: Array) -> tuple[float, float]:
    """Return the mean and its standard error, which is infinite for one value."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
    return float(values.mean()), error


def _join(names: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
