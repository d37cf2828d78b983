"""Comparison panels: the fronts of all methods on one game, with their indicators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from momagames import fronts
from momagames.analysis.arrays import Array
from momagames.analysis.episode_returns import front_standard_error
from momagames.analysis.named_indicators import Indicator
from momagames.analysis.reference import Reference
from momagames.benchmark.choices import label_methods
from momagames.benchmark.reference_sets import load_reference_set
from momagames.benchmark.runs import PoliciesRun, Run
from momagames.benchmark.store.store import RESULTS, Store
from momagames.benchmark.store.thinning import THINNED
from momagames.benchmark.suites import Experiment, Indicators, PlansExperiment, PoliciesExperiment, Suite
from momagames.contract import Game
from momagames.contract.titles import describe_variant, join_words, list_changed_parameters
from momagames.files.reading import refuse_content
from momagames.reports.data.generalization import InstanceScore, measure_generalization
from momagames.reports.data.method_styles import number_methods
from momagames.reports.data.points import (
    Points,
    PolicyEpisodes,
    SearchHistory,
    read_plan_points,
    read_policy_episodes,
    read_search_history,
)
from momagames.reports.data.scores import (
    Score,
    UserUtility,
    build_references,
    compute_user_utilities,
    find_weighted_policies,
    score_method,
)

NO_OPPONENT = "none"  # the opponent in the rows of games without one


@dataclass(frozen=True)
class Panel:
    """One comparison of methods: a game of an experiment, with some opponents and seats.

    scope              the opponents and seats; empty for plans
    primary            the panel belongs to the overview and the short tables
    points             method -> seed -> points; a method without finished runs is missing
    settings           those of the scores
    scores             method -> indicator -> score
    missing_runs       method -> number of unfinished runs
    median_seconds     method -> median wall time of a run, which may include compilation
    roles              method -> name in comparisons over several games, of methods whose name there is another
    styles             method -> number of its color and symbol, see `data.method_styles`
    policy_episodes    method -> seed -> the episodes behind the points; empty for plans
    weights            method -> seed -> policy -> the weights that the policy is conditioned on, where there are any
    generalization     method -> indicator -> score against the exact front of each instance, see `data.generalization`; empty
                       for other experiments, and for panels that are not primary
    search_history     method -> seed -> archived points by environment steps; empty for policies, for budgets of CPU time, and
                       for exact search, which has no budget
    budget             environment steps of each run; 0 for policies
    budgets            method -> environment steps of its training, of methods that have another budget than the experiment
    num_episodes       report episodes of each policy and match; 0 for plans
    stored_episodes    how many of them are stored one by one; None: all
    """

    experiment: str
    kind: str
    game: Game
    canonical: str
    scope: str
    primary: bool
    points: Mapping[str, Mapping[int, Points]]
    references: Mapping[int, Reference]
    settings: Indicators
    scores: Mapping[str, Mapping[str, Score]]
    missing_runs: Mapping[str, int]
    median_seconds: Mapping[str, float]
    roles: Mapping[str, str]
    styles: Mapping[str, int]
    policy_episodes: Mapping[str, Mapping[int, PolicyEpisodes]] = field(default_factory=dict)
    weights: Mapping[str, Mapping[int, Mapping[str, list[float]]]] = field(default_factory=dict)
    generalization: Mapping[str, Mapping[str, InstanceScore]] = field(default_factory=dict)
    search_history: Mapping[str, Mapping[int, SearchHistory]] = field(default_factory=dict)
    budget: int = 0
    budgets: Mapping[str, int] = field(default_factory=dict)
    num_episodes: int = 0
    stored_episodes: int | None = None

    @cached_property
    def user_utilities(self) -> Mapping[str, Mapping[str, UserUtility]]:
        """Method -> utility function -> utility; empty for plans, whose returns are deterministic."""
        runs = self.policy_episodes.items()
        return {name: compute_user_utilities(found, self.references, self.settings) for name, found in runs}

    @property
    def by_role(self) -> dict[str, str]:
        """Methods by their names in comparisons over several games."""
        return {self.roles.get(name, name): name for name in self.scores}

    @property
    def indicators(self) -> dict[str, Indicator]:
        """The indicators that some method has, by name, in the order of tables."""
        has_values = {name for scores in self.scores.values() for name in scores}
        return {name: one for name, one in self.settings.list_columns().items() if name in has_values}

    @property
    def title(self) -> str:
        """The experiment, the id with its parameters, and the scope; `full_heading` is for people."""
        return f"{self.experiment}: {short_name(self.game)}" + (f", {self.scope}" if self.scope else "")

    @property
    def heading(self) -> str:
        """What tells the comparison from others of its family of games, for people: "5x5, small boards".

        In a collection of suites, names of experiments begin with that of the suite, which is left out.
        """
        return name_setting(self.game, self.experiment)

    @property
    def full_heading(self) -> str:
        """The family and `heading`: "MO-SameGame 5x5, small boards"; the scope follows if there are panels of other scopes."""
        return f"{self.game.title} {self.heading}" + ("" if self.primary else f", {self.scope}")

    @property
    def front_error(self) -> float:
        """Standard error of the fronts: the largest of all points and objectives, as a share of the range."""
        errors = [
            front_standard_error(points.errors, self.references[seed].ideal - self.references[seed].ref)
            for runs in self.points.values()
            for seed, points in runs.items()
        ]
        return max(errors, default=0.0)

    @property
    def exceeds_ideal(self) -> bool:
        """Whether some point is beyond the ideal point, where the normalized hypervolume is clipped."""
        return any(
            (points.values > self.references[seed].ideal + 1e-9 * np.abs(self.references[seed].ideal)).any()
            for runs in self.points.values()
            for seed, points in runs.items()
        )


def name_setting(game: Game, experiment: str) -> str:
    """Return what tells a setting from others of its family of games, see `Panel.heading`."""
    return ", ".join(filter(None, [describe_variant(game), experiment.rpartition(": ")[2]]))


def short_name(game: Game) -> str:
    """Return the id with the parameters that differ from their defaults."""
    given = [f"{name}={value}" for name, value in list_changed_parameters(game).items()]
    return f"{game.id}({', '.join(given)})" if given else game.id


def build_panels(
    store: Store, suite: Suite, progress: Callable[[str], None] | None = None, primary_only: bool = False
) -> list[Panel]:
    """Build every panel of the suite, or every primary one, that has at least one finished run.

    progress    called with the current step
    """
    panels, versions = list[Panel](), store.read_versions()
    styles = number_methods(suite)
    for experiment in suite.experiments:
        names = label_methods(experiment.methods)
        runs = [(run, names[run.method.key]) for run in experiment.list_runs(versions)]
        for choice in experiment.games:
            game_runs = [(run, name) for run, name in runs if run.game == choice]
            if any(store.has_run(run) for run, _ in game_runs):
                if progress:
                    progress(f"comparing the runs of {experiment.name}: {choice.id}")
                game = choice.make_game()
                with refuse_content(store.folder, RESULTS):
                    found = _build_game_panels(store, suite.indicators, experiment, game, game_runs, styles)
                    panels += islice(found, 1 if primary_only else None)
    return panels


def _build_game_panels(
    store: Store,
    settings: Indicators,
    experiment: PlansExperiment | PoliciesExperiment,
    game: Game,
    runs: list[tuple[Run, str]],
    styles: Mapping[str, int],
) -> Iterator[Panel]:
    """Yield the panels of a game of an experiment, the primary one first."""
    methods = dict.fromkeys(name for _, name in runs)
    missing = {m: sum(not store.has_run(run) for run, name in runs if name == m) for m in methods}
    finished = [(run, name) for run, name in runs if store.has_run(run)]
    metadata = {run.digest: store.read_metadata(run) for run, _ in finished}
    common = {
        "experiment": experiment.name,
        "kind": experiment.kind,
        "game": game,
        "canonical": runs[0][0].canonical,
        "settings": settings,
        "missing_runs": {m: count for m, count in missing.items() if count},
        "median_seconds": {
            m: float(np.median([metadata[run.digest]["wall_s"] for run, name in finished if name == m] or [0.0]))
            for m in methods
        },
        "roles": experiment.roles,
        "styles": {m: styles[m] for m in methods},
    }
    facts = {digest: data["facts"] for digest, data in metadata.items()}
    if isinstance(experiment, PlansExperiment):
        yield _build_plans_panel(store, experiment, finished, facts, common)
    else:
        yield from _build_policies_panels(store, experiment, runs[0][0], finished, facts, common)


def _build_plans_panel(
    store: Store, experiment: PlansExperiment, finished: list[tuple[Run, str]], facts: Mapping[str, Any], common: dict[str, Any]
) -> Panel:
    game, settings = common["game"], common["settings"]
    points: dict[str, dict[int, Points]] = {}
    histories: dict[str, dict[int, SearchHistory]] = {}
    proven: dict[int, Array] = {}
    for run, name in finished:
        rows, found = list(store.read_rows(run)), facts[run.digest]
        points.setdefault(name, {})[run.seed] = read_plan_points(rows, run.folder)
        if found.get("complete"):
            proven[run.seed] = points[name][run.seed].values
        elif experiment.cpu_seconds is None:
            histories.setdefault(name, {})[run.seed] = read_search_history(rows, found.get("dominated", ()))
    references = find_references(experiment, game, points, [run for run, _ in finished], settings.margin, proven)
    return Panel(
        **common,
        scope="",
        primary=True,
        points=points,
        references=references,
        scores={name: score_method(found, references, settings, {}) for name, found in points.items()},
        search_history=histories,
        budget=experiment.budget,
    )


def find_references(
    experiment: Experiment,
    game: Game,
    points: Mapping[str, Mapping[int, Points]],
    runs: Iterable[Run],
    margin: float,
    proven: Mapping[int, Array] | None = None,
) -> dict[int, Reference]:
    """Return the reference of each seed in a setting: what reports and the leaderboard measure against.

    runs      of the setting, whose start positions may have a front in the package
    proven    exact fronts by seed that were found in these runs
    Raises    as `load_reference_set`
    """
    if isinstance(experiment, PoliciesExperiment):
        return build_references(points, {}, experiment, game, margin, fixed=load_reference_set(experiment, game))
    known = dict(proven or {})
    archived = add_packaged_fronts(runs, known)
    return build_references(points, known, experiment, game, margin, archived)


def add_packaged_fronts(runs: Iterable[Run], proven: dict[int, Array]) -> dict[int, Array]:
    """Add the proven fronts of the package to `proven`; return its best-known fronts by seed."""
    archived: dict[int, Array] = {}
    for run in runs:
        found = run.seed in proven or run.seed in archived
        if not found and (front := fronts.find_packaged_front(run.canonical, run.seed)) is not None:
            (proven if front.kind == "proven" else archived)[run.seed] = front.values
    return archived


def _build_policies_panels(
    store: Store,
    experiment: PoliciesExperiment,
    first: Run,
    finished: list[tuple[Run, str]],
    facts: Mapping[str, Any],
    common: dict[str, Any],
) -> Iterator[Panel]:
    """Yield the panel of each of `_list_scopes`; `first`: any run of the game."""
    game, settings = common["game"], common["settings"]
    weights: dict[str, dict[int, Mapping[str, list[float]]]] = {}
    for run, name in finished:
        weights.setdefault(name, {})[run.seed] = facts[run.digest].get("weights", {})
    rows = {run.digest: list(store.read_rows(run)) for run, _ in finished}
    stored_fronts = {
        run.digest: [] if "policies" in store.read_metadata(run).get(THINNED, ()) else store.read_front(run)
        for run, _ in finished
    }
    for number, (scope, opponents, seats) in enumerate(_list_scopes(experiment, game)):
        played: dict[str, dict[int, PolicyEpisodes]] = {}
        points: dict[str, dict[int, Points]] = {}
        for run, name in finished:
            episodes = read_policy_episodes(rows[run.digest], opponents, seats)
            played.setdefault(name, {})[run.seed] = episodes
            front = episodes.nondominated_points()
            points.setdefault(name, {})[run.seed] = front.with_front_indices(run.folder, stored_fronts[run.digest])
        if number:  # a part of the opponents or seats, of which no set has fronts
            references = build_references(points, {}, experiment, game, settings.margin)
        else:
            references = find_references(experiment, game, points, (), settings.margin)
        generalization: Mapping[str, Mapping[str, InstanceScore]] = {}
        if experiment.generalization and number == 0 and isinstance(first, PoliciesRun):
            ideal = experiment.ideal_point
            generalization = measure_generalization(first, game, played, experiment.generalization, ideal, settings)
        conditioned = {name: find_weighted_policies(played[name], references, weights[name]) for name in points}
        yield Panel(
            **common,
            scope=scope,
            primary=number == 0,
            points=points,
            references=references,
            scores={name: score_method(found, references, settings, conditioned[name]) for name, found in points.items()},
            policy_episodes=played,
            weights=weights,
            generalization=generalization,
            budgets={
                name: experiment.budgets[run.method.name] for run, name in finished if run.method.name in experiment.budgets
            },
            num_episodes=experiment.report_episodes,
            stored_episodes=experiment.stored_episodes,
        )


def _list_scopes(experiment: PoliciesExperiment, game: Game) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return label, opponents and seats of each panel: all of them, then each opponent, and each seat."""
    opponents = tuple(opponent.label for opponent in experiment.opponents) or (NO_OPPONENT,)
    seats = experiment.seats or game.agents
    if experiment.head_to_head:
        opponents, seats = tuple(label_methods(experiment.methods).values()), experiment.head_to_head.list_seats(game)
    names = _shorten_names(opponents)
    against_all = f"against {join_words(names.values())}" if opponents != (NO_OPPONENT,) else ""
    against_all = "head to head" if experiment.head_to_head else against_all
    scopes = [(", ".join(filter(None, [against_all, _describe_seats(seats)])), opponents, seats)]
    if len(opponents) > 1:
        scopes += [(f"against {short}, {_describe_seats(seats)}", (name,), seats) for name, short in names.items()]
    if len(seats) > 1:
        scopes += [(f"{against_all}, as {seat}", opponents, (seat,)) for seat in seats]
    return scopes


def _shorten_names(opponents: Sequence[str]) -> dict[str, str]:
    """Return the opponents with their names for people: without options, unless two differ in these alone."""
    bases = [name.partition("(")[0] for name in opponents]
    return {name: base if bases.count(base) == 1 else name for name, base in zip(opponents, bases, strict=True)}


def _describe_seats(seats: tuple[str, ...]) -> str:
    return f"as {seats[0]}" if len(seats) == 1 else f"mean of {len(seats)} seats"
