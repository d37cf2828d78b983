"""From rows to panels: the fronts that methods found, compared by indicators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from momagames.contract import Game
from momagames.experiments import fronts
from momagames.experiments.plan import Indicators, PlansExperiment, PoliciesExperiment, Run, Suite, expand, method_names
from momagames.experiments.replays import points as front
from momagames.experiments.reports.points import History, Played, Points, history, plan_points, policy_games
from momagames.experiments.reports.scores import Reference, Score, Worth, references, scores, worth
from momagames.experiments.results.store import Store
from momagames.experiments.science.arrays import Array
from momagames.experiments.science.episodes import front_error


@dataclass(frozen=True)
class Panel:
    """One comparison: a game of an experiment, from one point of view.

    scope      which opponents and seats; empty for plans
    primary    whether it belongs into the short table
    points     method -> seed -> what was found
    scores     method -> indicator -> score; a method without finished runs is missing
    users      method -> utility function -> what a user of it gets; empty for plans, whose returns are certain
    played     method -> seed -> the episodes behind its points; empty for plans
    weights    method -> seed -> policy -> weights that it was told; those alone that were
    history    method -> seed -> what had been found on the way; empty for policies, and for what is proven, which no budget
               limits
    budget     steps of the engine for each run; 0 for policies
    episodes   of each policy that its values are taken from; 0 for plans
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
    users: Mapping[str, Mapping[str, Worth]]
    played: Mapping[str, Mapping[int, Played]]
    weights: Mapping[str, Mapping[int, Mapping[str, list[float]]]]
    history: Mapping[str, Mapping[int, History]]
    budget: int
    episodes: int
    missing: Mapping[str, int]
    seconds: Mapping[str, float]

    @property
    def title(self) -> str:
        return f"{self.experiment}: {short(self.game)}" + (f", {self.scope}" if self.scope else "")

    @property
    def front_error(self) -> float:
        """Standard error of the fronts: the largest of all points' in any objective, in shares of the range."""
        errors = [
            front_error(points.errors, self.references[seed].high - self.references[seed].low)
            for found in self.points.values()
            for seed, points in found.items()
        ]
        return max(errors, default=0.0)

    @property
    def clipped(self) -> bool:
        """Whether a point is beyond the utopia, where the normalised hypervolume is cut off."""
        return any(
            (points.values > self.references[seed].high + 1e-9 * np.abs(self.references[seed].high)).any()
            for found in self.points.values()
            for seed, points in found.items()
        )


def short(game: Game) -> str:
    """The id with the parameters that differ from their defaults."""
    defaults = {parameter.name: parameter.default for parameter in game.parameters}
    told = [f"{name}={value}" for name, value in game.params.items() if value != defaults.get(name)]
    return f"{game.id}({', '.join(told)})" if told else game.id


def panels(store: Store, suite: Suite, tell: Callable[[str], None] | None = None, primary_only: bool = False) -> list[Panel]:
    """Every comparison (or every primary one) of the suite for which there is at least one finished run. `tell` is told which
    one is in hand."""
    found, version = [], store.version()
    for experiment in suite.experiments:
        names = method_names(experiment)
        runs = [(run, names[run.method.model_dump_json()]) for run in expand(experiment, version)]
        for choice in experiment.games:
            own = [(run, name) for run, name in runs if run.game == choice]
            if any(store.has(run) for run, _ in own):
                if tell:
                    tell(f"comparing the runs of {experiment.name}: {choice.id}")
                found += _game_panels(store, suite.indicators, experiment, choice.game(), own, primary_only)
    return found


def _game_panels(
    store: Store,
    wanted: Indicators,
    experiment: PlansExperiment | PoliciesExperiment,
    game: Game,
    runs: list[tuple[Run, str]],
    primary_only: bool,
) -> list[Panel]:
    methods = dict.fromkeys(name for _, name in runs)
    missing = {m: sum(not store.has(run) for run, name in runs if name == m) for m in methods}
    done = [(run, name) for run, name in runs if store.has(run)]
    facts = {run.digest: store.metadata(run) for run, _ in done}
    seconds = {m: float(np.median([facts[r.digest]["wall_s"] for r, n in done if n == m] or [0.0])) for m in methods}
    views: list[View]
    proven: dict[int, Array] = {}
    archived: dict[int, Array] = {}
    histories: dict[str, dict[int, History]] = {}
    weights: dict[str, dict[int, Mapping[str, list[float]]]] = {}
    if isinstance(experiment, PlansExperiment):
        points: dict[str, dict[int, Points]] = {}
        for run, name in done:
            rows, told = list(store.rows(run)), facts[run.digest]["facts"]
            points.setdefault(name, {})[run.seed] = plan_points(rows).known_as(run.folder, (), plans=True)
            if told.get("complete"):
                proven[run.seed] = points[name][run.seed].values
            else:
                histories.setdefault(name, {})[run.seed] = history(rows, told.get("passed", ()))
        archived = _of_the_package([run for run, _ in done], proven)
        views = [View("", True, points, {})]
    else:
        views = list(islice(_policy_views(store, experiment, game, done), 1 if primary_only else None))
        for run, name in done:
            weights.setdefault(name, {})[run.seed] = facts[run.digest]["facts"].get("weights", {})
    return [
        _panel(view, wanted, experiment, game, runs[0][0].canonical, proven, archived, weights, histories, missing, seconds)
        for view in views
    ]


def _of_the_package(runs: Iterable[Run], proven: dict[int, Array]) -> dict[int, Array]:
    """Fronts that come with the package: proven ones join those that were proven here, the best known are returned."""
    archived: dict[int, Array] = {}
    for run in runs:
        if run.seed not in proven and (known := fronts.known(run.canonical, run.seed)) is not None:
            (proven if known.kind == "proven" else archived)[run.seed] = known.values
    return archived


def _panel(
    view: View,
    wanted: Indicators,
    experiment: PlansExperiment | PoliciesExperiment,
    game: Game,
    canonical: str,
    proven: Mapping[int, Array],
    archived: Mapping[int, Array],
    weights: Mapping[str, Mapping[int, Mapping[str, list[float]]]],
    histories: Mapping[str, Mapping[int, History]],
    missing: Mapping[str, int],
    seconds: Mapping[str, float],
) -> Panel:
    found = references(view.points, proven, game, experiment.utopia, wanted.margin, archived)
    return Panel(
        experiment=experiment.name,
        kind=experiment.kind,
        game=game,
        canonical=canonical,
        scope=view.scope,
        primary=view.primary,
        points=view.points,
        references=found,
        scores={name: scores(points, found, wanted) for name, points in view.points.items()},
        users={name: worth(played, found, wanted) for name, played in view.played.items()},
        played=view.played,
        weights=weights,
        history=histories,
        budget=experiment.budget if isinstance(experiment, PlansExperiment) else 0,
        episodes=experiment.report_episodes if isinstance(experiment, PoliciesExperiment) else 0,
        missing={name: count for name, count in missing.items() if count},
        seconds=seconds,
    )


# ---------------------------------------------------------------------------------------------------------------- views


@dataclass(frozen=True)
class View:
    """One point of view on the runs of a game; `points` and `played` are by method and seed."""

    scope: str
    primary: bool
    points: dict[str, dict[int, Points]]
    played: dict[str, dict[int, Played]]


def _policy_views(store: Store, experiment: PoliciesExperiment, game: Game, done: list[tuple[Run, str]]) -> Iterator[View]:
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
    fronts = {run.digest: front(store.place(run)) for run, _ in done}
    for scope, primary, who, where in scopes:
        played: dict[str, dict[int, Played]] = {}
        points: dict[str, dict[int, Points]] = {}
        for run, name in done:
            games = policy_games(rows[run.digest], who, where)
            played.setdefault(name, {})[run.seed] = games
            points.setdefault(name, {})[run.seed] = games.points().known_as(run.folder, fronts[run.digest], plans=False)
        yield View(scope, primary, points, played)


def _seats(seats: tuple[str, ...]) -> str:
    return f"as {seats[0]}" if len(seats) == 1 else f"mean of {len(seats)} seats"
