"""Runs against references: indicators, their intervals over seeds, and what users get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from momagames.analysis import indicators, utilities
from momagames.analysis.arrays import Array, front, normalize
from momagames.analysis.episode_returns import delivered, esr_values, ser_values
from momagames.analysis.indicators import Volume
from momagames.analysis.statistics import Interval, bootstrap
from momagames.analysis.utility_loss import maximum_utility_loss
from momagames.benchmark.plan import Indicators
from momagames.contract import Game
from momagames.reports.data.points import Played, Points


@dataclass(frozen=True)
class Reference:
    """What results of a seed are measured against.

    tag       "exact" (proven) or "best known" (the union of all methods here, and of archived runs if a front of theirs
              comes with the package)
    low       the reference point, moved outwards by the margin;  high: the utopia
    """

    values: Array
    tag: str
    low: Array
    high: Array

    def shares(self, values: Array) -> Array:
        """Returns float[..., K] as shares of the way from `low` to `high`."""
        return normalize(values.reshape(-1, values.shape[-1]), self.low, self.high).reshape(values.shape)


@dataclass(frozen=True)
class Score:
    """An indicator over the seeds.

    approx    whether some hypervolume was estimated
    values    of each seed
    """

    interval: Interval
    approx: bool
    values: Mapping[int, float]


@dataclass(frozen=True)
class Worth:
    """What a user with a utility function gets: in one episode (esr), and from the mean of many (ser)."""

    esr: Interval
    ser: Interval


def references(
    points: Mapping[str, Mapping[int, Points]],
    proven: Mapping[int, Array],
    game: Game,
    utopia: str,
    margin: float,
    archived: Mapping[int, Array] | None = None,
) -> dict[int, Reference]:
    """For each seed the exact front, or the union of what was found here and, where there is an archive, in earlier runs.
    Policies meet the same game in every seed: there the union is over all of them."""
    seeds = sorted({seed for found in points.values() for seed in found})
    low = np.array(game.reference_point, np.float64)
    union = {
        seed: front(
            np.concatenate([found[seed].values for found in points.values() if seed in found] + _of_archive(archived, seed))
        )
        for seed in seeds
    }
    if utopia == "declared" and not proven:
        whole = front(np.concatenate(list(union.values())))
        union = dict.fromkeys(seeds, whole)
    references = {}
    for seed in seeds:
        values = front(proven[seed]) if seed in proven else union[seed]
        high = np.array([o.return_high for o in game.objectives]) if utopia == "declared" else values.max(axis=0)
        high = np.where(high > low, high, low + 1)  # an objective in which nothing was won has no scale of its own
        tag = "exact" if seed in proven else "best known"
        references[seed] = Reference(values, tag, low - margin * (high - low), high)
    return references


def _of_archive(archived: Mapping[int, Array] | None, seed: int) -> list[Array]:
    return [archived[seed]] if archived and seed in archived else []


def scores(found: Mapping[int, Points], known: Mapping[int, Reference], wanted: Indicators) -> dict[str, Score]:
    """Every wanted indicator of a method, over its seeds."""
    return {name: _score(name, found, known, wanted) for name in wanted.names}


def _score(name: str, found: Mapping[int, Points], known: Mapping[int, Reference], wanted: Indicators) -> Score:
    values = {seed: measure(name, points.values, known[seed]) for seed, points in sorted(found.items())}
    interval = bootstrap([v.value for v in values.values()], wanted.confidence, wanted.resamples)
    return Score(interval, any(v.approx for v in values.values()), {seed: v.value for seed, v in values.items()})


def measure(name: str, values: Array, reference: Reference) -> Volume:
    """One indicator of one run. All but the raw volume and the number of points are in normalized coordinates."""
    if name == "hypervolume":
        return indicators.hypervolume(values, reference.low)
    if name == "hypervolume_ratio":
        return indicators.hypervolume_ratio(values, reference.low, reference.values)
    if name == "cardinality":
        return Volume(indicators.cardinality(values), False)
    own, known = reference.shares(values), reference.shares(reference.values)
    if name == "normalized_hypervolume":
        return indicators.hypervolume(np.minimum(own, 1.0), np.zeros(own.shape[1]))
    return Volume(NORMALIZED[name](own, known), False)


# name -> function of normalized points and reference set
NORMALIZED: dict[str, Callable[[Array, Array], float]] = {
    "igd_plus": indicators.igd_plus,
    "epsilon": indicators.epsilon,
    "expected_utility": lambda own, _: utilities.expected_utility(own, utilities.utility_weights(own.shape[1])),
    "sampled_utility": lambda own, _: utilities.expected_utility(own, utilities.sampled_weights(own.shape[1])),
    "maximum_utility_loss": lambda own, known: maximum_utility_loss(own, known).value,
    "rounded_cardinality": lambda own, _: indicators.rounded_cardinality(own),
    "sparsity": lambda own, _: indicators.sparsity(own),
}


def worth(played: Mapping[int, Played], known: Mapping[int, Reference], wanted: Indicators) -> dict[str, Worth]:
    """What users get from a method: each takes the policy that suits a utility function best in the episodes for selection,
    of all policies (one that is dominated on average may be the best for single episodes), and gets its value in the
    others."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for seed, games in sorted(played.items()):
        select, report = known[seed].shares(games.select), known[seed].shares(games.report)
        for utility in utilities.family(report.shape[-1]):
            single, many = found.setdefault(utility.name, ([], []))
            single.append(delivered(esr_values(select, utility), esr_values(report, utility)))
            many.append(delivered(ser_values(select, utility), ser_values(report, utility)))
    intervals = {
        name: [bootstrap(values, wanted.confidence, wanted.resamples) for values in both] for name, both in found.items()
    }
    return {name: Worth(*both) for name, both in intervals.items()}
