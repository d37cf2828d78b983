"""From rows to panels: the fronts that methods found, compared by indicators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.baselines.archive import undominated
from momagames.contract import Game
from momagames.experiments.plan import Indicators, PlansExperiment, PoliciesExperiment, Run, Suite, expand
from momagames.experiments.science import indicators, utilities
from momagames.experiments.science.arrays import Array, front, normalize
from momagames.experiments.science.statistics import Interval, bootstrap
from momagames.experiments.store import Store


@dataclass(frozen=True)
class Points:
    """What a run offers: values float64[n, K], and for each what it is (a policy's name, or a plan's actions)."""

    values: Array
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """What results of a seed are measured against.

    tag       "exact" (proven) or "best known" (the union of all methods here)
    low       the reference point, moved outwards by the margin;  high: the utopia
    """

    values: Array
    tag: str
    low: Array
    high: Array


@dataclass(frozen=True)
class Score:
    """An indicator over the seeds; approx says that some hypervolume was estimated."""

    interval: Interval
    approx: bool


@dataclass(frozen=True)
class Panel:
    """One comparison: a game of an experiment, from one point of view.

    scope      which opponents and seats; empty for plans
    primary    whether it belongs into the short table
    points     method -> seed -> what was found
    scores     method -> indicator -> score; a method without finished runs is missing
    missing    method -> number of runs that are not finished
    seconds    method -> median time of a run (the first one may have compiled the game)
    """

    experiment: str
    kind: str
    game: Game
    canonical: str
    scope: str
    primary: bool
    points: Mapping[str, Mapping[int, Points]]
    references: Mapping[int, Reference]
    scores: Mapping[str, Mapping[str, Score]]
    missing: Mapping[str, int]
    seconds: Mapping[str, float]

    @property
    def title(self) -> str:
        return f"{self.experiment}: {short(self.game)}" + (f", {self.scope}" if self.scope else "")


def short(game: Game) -> str:
    """The id with the parameters that differ from their defaults."""
    defaults = {parameter.name: parameter.default for parameter in game.parameters}
    told = [f"{name}={value}" for name, value in game.params.items() if value != defaults.get(name)]
    return f"{game.id}({', '.join(told)})" if told else game.id


def panels(store: Store, suite: Suite) -> list[Panel]:
    """Every comparison of the suite for which there is at least one finished run."""
    found = []
    for experiment in suite.experiments:
        names = method_names(experiment)
        runs = [(run, names[run.method.model_dump_json()]) for run in expand(experiment)]
        for choice in experiment.games:
            own = [(run, name) for run, name in runs if run.game == choice]
            if any(store.has(run) for run, _ in own):
                found += _game_panels(store, suite.indicators, experiment, choice.game(), own)
    return found


def method_names(experiment: PlansExperiment | PoliciesExperiment) -> dict[str, str]:
    """Labels of the methods: their names, with options where one name stands twice."""
    names = [chosen.name for chosen in experiment.methods]
    return {
        chosen.model_dump_json(): chosen.name
        if names.count(chosen.name) == 1
        else f"{chosen.name}({', '.join(f'{k}={v}' for k, v in chosen.options.items())})"
        for chosen in experiment.methods
    }


def _game_panels(
    store: Store,
    wanted: Indicators,
    experiment: PlansExperiment | PoliciesExperiment,
    game: Game,
    runs: list[tuple[Run, str]],
) -> list[Panel]:
    methods = dict.fromkeys(name for _, name in runs)
    missing = {m: sum(not store.has(run) for run, name in runs if name == m) for m in methods}
    done = [(run, name) for run, name in runs if store.has(run)]
    facts = {run.digest: store.metadata(run) for run, _ in done}
    seconds = {m: float(np.median([facts[r.digest]["wall_s"] for r, n in done if n == m] or [0.0])) for m in methods}
    views: list[tuple[str, bool, dict[str, dict[int, Points]]]]
    proven: dict[int, Array] = {}
    if isinstance(experiment, PlansExperiment):
        points: dict[str, dict[int, Points]] = {}
        for run, name in done:
            points.setdefault(name, {})[run.seed] = plan_points(store.rows(run))
            if facts[run.digest]["facts"].get("complete"):
                proven[run.seed] = points[name][run.seed].values
        views = [("", True, points)]
    else:
        views = list(_policy_views(store, experiment, game, done))
    return [
        Panel(
            experiment=experiment.name,
            kind=experiment.kind,
            game=game,
            canonical=runs[0][0].canonical,
            scope=scope,
            primary=primary,
            points=points,
            references=(references := _references(points, proven, game, experiment.utopia, wanted.margin)),
            scores={name: _scores(found, references, wanted) for name, found in points.items()},
            missing={name: count for name, count in missing.items() if count},
            seconds=seconds,
        )
        for scope, primary, points in views
    ]


# --------------------------------------------------------------------------------------------------------------- points


def plan_points(rows: Iterable[Mapping[str, Any]]) -> Points:
    """The plans of a run: their returns are certain, so each is a point."""
    kept = list(rows)
    labels = tuple(f"{row['policy']}: {' '.join(map(str, row['actions']))}" for row in kept)
    return Points(np.array([row["return"] for row in kept], np.float64), labels)


def policy_points(rows: Iterable[Mapping[str, Any]], opponents: tuple[str, ...], seats: tuple[str, ...]) -> Points:
    """The policies of a run that are non-dominated in the games for selection, with their mean returns in the other games.

    Taking both from the same games would favour luck: the best of several noisy means is too high.
    """
    sums: dict[str, dict[str, list[list[float]]]] = {}
    for row in rows:
        if row["opponent"] in opponents and row["seat"] in seats:
            sums.setdefault(row["policy"], {"select": [], "report": []})[row["set"]].append(row["return"])
    chosen = undominated(np.array([np.mean(games["select"], axis=0) for games in sums.values()]))
    values = np.array([np.mean(games["report"], axis=0) for games in sums.values()])
    labels = [label for label, stays in zip(sums, chosen, strict=True) if stays]
    return Points(values[chosen], tuple(labels))


def _policy_views(
    store: Store, experiment: PoliciesExperiment, game: Game, done: list[tuple[Run, str]]
) -> Iterable[tuple[str, bool, dict[str, dict[int, Points]]]]:
    """All opponents and seats together first; then each opponent, and each seat, by itself."""
    opponents = tuple(opponent.label for opponent in experiment.opponents) or ("nobody",)
    seats = experiment.seats or game.agents
    everyone = f"against {' and '.join(opponents)}" if opponents != ("nobody",) else ""
    scopes = [(", ".join(filter(None, [everyone, _seats(seats)])), True, opponents, seats)]
    if len(opponents) > 1:
        scopes += [(f"against {one}, {_seats(seats)}", False, (one,), seats) for one in opponents]
    if len(seats) > 1:
        scopes += [(f"{everyone}, as {seat}", False, opponents, (seat,)) for seat in seats]
    rows = {run.digest: list(store.rows(run)) for run, _ in done}
    for scope, primary, who, where in scopes:
        points: dict[str, dict[int, Points]] = {}
        for run, name in done:
            points.setdefault(name, {})[run.seed] = policy_points(rows[run.digest], who, where)
        yield scope, primary, points


def _seats(seats: tuple[str, ...]) -> str:
    return f"as {seats[0]}" if len(seats) == 1 else f"mean of {len(seats)} seats"


# --------------------------------------------------------------------------------------------------------------- scores


def _references(
    points: Mapping[str, Mapping[int, Points]], proven: Mapping[int, Array], game: Game, utopia: str, margin: float
) -> dict[int, Reference]:
    """For each seed the exact front, or the union of what was found. Policies meet the same game in every seed: there the
    union is over all of them."""
    seeds = sorted({seed for found in points.values() for seed in found})
    low = np.array(game.reference_point, np.float64)
    union = {seed: front(np.concatenate([found[seed].values for found in points.values() if seed in found])) for seed in seeds}
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


def _scores(found: Mapping[int, Points], references: Mapping[int, Reference], wanted: Indicators) -> dict[str, Score]:
    columns: dict[str, list[indicators.Volume]] = {name: [] for name in wanted.names}
    for seed, points in sorted(found.items()):
        for name in wanted.names:
            columns[name].append(measure(name, points.values, references[seed]))
    return {
        name: Score(bootstrap([v.value for v in column], wanted.confidence, wanted.resamples), any(v.approx for v in column))
        for name, column in columns.items()
    }


def measure(name: str, values: Array, reference: Reference) -> indicators.Volume:
    """One indicator of one run. Distances, utilities and the normalised hypervolume are in normalised coordinates."""
    if name == "hypervolume":
        return indicators.hypervolume(values, reference.low)
    if name == "hypervolume_ratio":
        return indicators.hypervolume_ratio(values, reference.low, reference.values)
    if name == "cardinality":
        return indicators.Volume(indicators.cardinality(values), False)
    own = normalize(values, reference.low, reference.high)
    known = normalize(reference.values, reference.low, reference.high)
    if name == "normalized_hypervolume":
        return indicators.hypervolume(np.minimum(own, 1.0), np.zeros(own.shape[1]))
    if name == "igd_plus":
        return indicators.Volume(indicators.igd_plus(own, known), False)
    if name == "epsilon":
        return indicators.Volume(indicators.epsilon(own, known), False)
    weights = utilities.utility_weights(own.shape[1])
    return indicators.Volume(utilities.expected_utility(own, weights), False)
