"""Scores of runs: reference fronts, indicators with intervals over seeds, and the utilities of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from momagames.analysis import indicators, utilities
from momagames.analysis.arrays import Array, filter_dominated, normalize
from momagames.analysis.episode_returns import esr_values, selected_value, ser_values
from momagames.analysis.indicators import Volume
from momagames.analysis.statistics import Interval, bootstrap
from momagames.analysis.utility_loss import maximum_utility_loss
from momagames.benchmark.plan import CONTROL_INDICATORS, Indicators
from momagames.contract import Game
from momagames.reports.data.points import Points, PolicyEpisodes


@dataclass(frozen=True)
class Reference:
    """The reference front of a seed and its normalization.

    tag      "exact" (proven), "best known" (the union of all methods here, and of the archived runs behind a front of the
             package), or "best known (NAME)": that of a set of the suite
    ref      the reference point, moved outwards by the margin
    ideal    the ideal point
    """

    values: Array
    tag: str
    ref: Array
    ideal: Array

    @cached_property
    def volume(self) -> Volume:
        """The hypervolume of the front, which takes long with many points."""
        return self.measure(self.values)

    def measure(self, values: Array) -> Volume:
        """Return the hypervolume of a front, which two indicators need."""
        key = values.tobytes()
        if key not in self._volumes:
            self._volumes[key] = indicators.hypervolume(values, self.ref)
        return self._volumes[key]

    @cached_property
    def _volumes(self) -> dict[bytes, Volume]:
        return {}

    def normalize(self, values: Array) -> Array:
        """Scale returns float[..., K] so that `ref` is 0 and `ideal` is 1."""
        return normalize(values.reshape(-1, values.shape[-1]), self.ref, self.ideal).reshape(values.shape)


@dataclass(frozen=True)
class Score:
    """An indicator over the seeds.

    approx    some hypervolume was estimated
    values    of each seed
    """

    interval: Interval
    approx: bool
    values: Mapping[int, float]


@dataclass(frozen=True)
class UserUtility:
    """Utility of a user: expected utility of an episode (esr), and utility of the mean return (ser)."""

    esr: Interval
    ser: Interval


def build_references(
    points: Mapping[str, Mapping[int, Points]],
    proven: Mapping[int, Array],
    game: Game,
    ideal: str,
    margin: float,
    archived: Mapping[int, Array] | None = None,
    pooled: bool = True,
    fixed: tuple[str, Array] | None = None,
) -> dict[int, Reference]:
    """Return the reference of each seed: the exact front, or the union of all points found here and in archived runs.

    pooled    the union is over all seeds, see `Experiment.pools_references`
    fixed     name of a set and its front, which takes the place of the union
    """
    seeds = sorted({seed for found in points.values() for seed in found})
    union = {
        seed: filter_dominated(
            np.concatenate([found[seed].values for found in points.values() if seed in found] + _of_archive(archived, seed))
        )
        for seed in seeds
    }
    if pooled and not proven:
        whole = filter_dominated(np.concatenate(list(union.values())))
        union = dict.fromkeys(seeds, whole)
    if fixed:
        union = dict.fromkeys(seeds, filter_dominated(fixed[1]))
    references = {}
    for seed in seeds:
        values = filter_dominated(proven[seed]) if seed in proven else union[seed]
        tag = "exact" if seed in proven else f"best known ({fixed[0]})" if fixed else "best known"
        references[seed] = make_reference(values, tag, game, ideal, margin)
    return references


def make_reference(values: Array, tag: str, game: Game, ideal: str, margin: float) -> Reference:
    """Return the reference of a front, float64[n, K]."""
    low = np.array(game.reference_point, np.float64)
    high = np.array([o.return_high for o in game.objectives]) if ideal == "declared" else values.max(axis=0)
    high = np.where(high > low, high, low + 1)  # an objective without any gain has no scale
    return Reference(values, tag, low - margin * (high - low), high)


def _of_archive(archived: Mapping[int, Array] | None, seed: int) -> list[Array]:
    return [archived[seed]] if archived and seed in archived else []


def score_method(
    found: Mapping[int, Points],
    known: Mapping[int, Reference],
    settings: Indicators,
    control: Mapping[int, Mapping[str, float]],
) -> dict[str, Score]:
    """Compute every indicator of a method over its seeds.

    control    seed -> indicators of its weight-conditioned policies, see `preference_control`; a method without them has no
               scores for these indicators
    """
    scores: dict[str, Score] = {}
    for name in settings.names:
        if name not in CONTROL_INDICATORS:
            scores[name] = _score_indicator(name, found, known, settings)
        elif values := {seed: Volume(control[seed][name], False) for seed in sorted(found) if name in control.get(seed, {})}:
            scores[name] = _average(values, settings)
    return scores


def _score_indicator(name: str, found: Mapping[int, Points], known: Mapping[int, Reference], settings: Indicators) -> Score:
    values = {seed: compute_indicator(name, points.values, known[seed]) for seed, points in sorted(found.items())}
    return _average(values, settings)


def _average(values: Mapping[int, Volume], settings: Indicators) -> Score:
    interval = bootstrap([v.value for v in values.values()], settings.confidence, settings.resamples)
    return Score(interval, any(v.approx for v in values.values()), {seed: v.value for seed, v in values.items()})


def compute_indicator(name: str, values: Array, reference: Reference) -> Volume:
    """Compute one indicator of one run, of normalized returns except for the raw hypervolume and the cardinality."""
    if name == "hypervolume":
        return reference.measure(values)
    if name == "hypervolume_ratio":
        if not reference.volume.value:
            return Volume(0.0, False)  # no point of any method is above the reference point
        return reference.measure(values).share_of(reference.volume)
    if name == "cardinality":
        return Volume(indicators.cardinality(values), False)
    own, known = reference.normalize(values), reference.normalize(reference.values)
    if name == "normalized_hypervolume":
        return indicators.hypervolume(np.minimum(own, 1.0), np.zeros(own.shape[1]))
    return Volume(NORMALIZED_INDICATORS[name](own, known), False)


# name -> function of normalized points and reference set
NORMALIZED_INDICATORS: dict[str, Callable[[Array, Array], float]] = {
    "igd_plus": indicators.igd_plus,
    "epsilon": indicators.epsilon,
    "expected_utility": lambda own, _: utilities.expected_utility(own, utilities.utility_weights(own.shape[1])),
    "sampled_utility": lambda own, _: utilities.expected_utility(own, utilities.sampled_weights(own.shape[1])),
    "maximum_utility_loss": lambda own, known: maximum_utility_loss(own, known).value,
    "rounded_cardinality": lambda own, _: indicators.rounded_cardinality(own),
    "sparsity": lambda own, _: indicators.sparsity(own),
}


def compute_user_utilities(
    episodes: Mapping[int, PolicyEpisodes], known: Mapping[int, Reference], settings: Indicators
) -> dict[str, UserUtility]:
    """Compute the utility of a method for users with different utility functions.

    Each user selects the best of all policies on the selection episodes (a policy that is dominated on average may be the best
    for single episodes) and gets its utility in the report episodes.
    """
    found: dict[str, tuple[list[float], list[float]]] = {}
    for seed, sets in sorted(episodes.items()):
        select, report = known[seed].normalize(sets.select), known[seed].normalize(sets.report)
        for utility in utilities.symmetric_utilities(report.shape[-1]):
            single, many = found.setdefault(utility.name, ([], []))
            single.append(selected_value(esr_values(select, utility), esr_values(report, utility)))
            many.append(selected_value(ser_values(select, utility), ser_values(report, utility)))
    intervals = {
        name: [bootstrap(values, settings.confidence, settings.resamples) for values in both] for name, both in found.items()
    }
    return {name: UserUtility(*both) for name, both in intervals.items()}
