"""Comparison of results directories: the same games and methods, run by different code or on different machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.analysis.arrays import Array
from momagames.analysis.named_indicators import Indicator
from momagames.analysis.statistics import Interval
from momagames.benchmark.reference_sets import load_reference_set
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Experiment, Indicators, PoliciesExperiment, Suite
from momagames.errors import InvalidFile, InvalidParameter
from momagames.reports.data.panels import Panel, build_panels
from momagames.reports.data.points import Points
from momagames.reports.data.scores import Score, build_references, find_weighted_policies, score_method


@dataclass(frozen=True)
class Comparison:
    """One game and method in several directories, measured against one reference front.

    It is the exact front, or that of the reference set of the first directory's experiment, or else that of all directories.

    seeds          that every directory has
    scores         for each directory: indicator -> score
    reference      what this front is: "exact", "best known (NAME)" or "best known"; several for different seeds
    differences    for each directory after the first: indicator -> its value minus that of the first, seed by seed
    indicators     of the scores that every directory has, by name
    """

    title: str
    method: str
    seeds: tuple[int, ...]
    reference: str
    scores: Sequence[Mapping[str, Score]]
    differences: Sequence[Mapping[str, Interval]]
    indicators: Mapping[str, Indicator]


def compare_results(folders: Sequence[str | Path]) -> list[Comparison]:
    """Compare the games and methods that all results directories have in common.

    Raises     InvalidParameter for fewer than two directories; InvalidFile if they have nothing in common, or if experiments of
               one name differ in budgets, opponents, seats, episodes or the ideal point
    """
    if len(folders) < 2:
        raise InvalidParameter(f"invalid number of results directories {len(folders)}: expected 2 or more")
    stores = [Store(folder) for folder in folders]
    suites = [store.read_suite() for store in stores]
    for store, suite in zip(stores, suites, strict=True):
        _check_conditions(stores[0], suites[0], store, suite)
    found = [
        {_key(panel): panel for panel in build_panels(store, suite) if panel.primary}
        for store, suite in zip(stores, suites, strict=True)
    ]
    common = [key for key in found[0] if all(key in other for other in found)]
    compared = []
    for key in common:
        experiment = next(one for one in suites[0].experiments if one.name == key[0])
        compared += _compare_panels([one[key] for one in found], experiment, suites[0].indicators)
    if not compared:
        games = "; ".join(f"{store.folder} has {_describe_games(one)}" for store, one in zip(stores, found, strict=True))
        raise InvalidFile(f"the results directories have no finished run of one game, method and seed in common: {games}")
    return compared


def _key(panel: Panel) -> tuple[str, str, str]:
    return panel.experiment, panel.canonical, panel.scope


def _describe_games(found: Mapping[tuple[str, str, str], Panel]) -> str:
    games = dict.fromkeys(f"{panel.experiment!r}: {panel.game.id}" for panel in found.values())
    return ", ".join(games) or "none"


# settings of an experiment that must be equal for a comparison
CONDITIONS = (
    "kind",
    "ideal_point",
    "budget",
    "opponents",
    "seats",
    "select_episodes",
    "report_episodes",
    "episode_set",
    "generalization",
    "head_to_head",
    "cpu_seconds",
)


def _check_conditions(first: Store, first_suite: Suite, second: Store, second_suite: Suite) -> None:
    """Raise InvalidFile if experiments of one name have different settings."""
    for a in first_suite.experiments:
        for b in second_suite.experiments:
            for name in CONDITIONS if a.name == b.name else ():
                first_value, second_value = getattr(a, name, None), getattr(b, name, None)
                if first_value != second_value:
                    raise InvalidFile(
                        f"{second.folder} cannot be compared with {first.folder}: {name} of {a.name!r} is "
                        f"{_format_condition(second_value)} in the former and {_format_condition(first_value)} in the latter"
                    )


def _format_condition(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(getattr(one, 'label', str(one)) for one in value)}]"
    return "missing" if value is None else str(value)


def _compare_panels(found: Sequence[Panel], experiment: Experiment, settings: Indicators) -> list[Comparison]:
    """Compare the methods that every one of these panels has."""
    points: dict[str, Mapping[int, Points]] = {}
    proven: dict[int, Array] = {}
    for number, panel in enumerate(found):
        points |= {f"{number} {method}": runs for method, runs in panel.points.items()}
        proven |= {seed: known.values for seed, known in panel.references.items() if known.tag == "exact"}
    game, fixed = found[0].game, None
    if isinstance(experiment, PoliciesExperiment):
        fixed = load_reference_set(experiment, game)
    known = build_references(points, proven, experiment, game, settings.margin, fixed=fixed)
    compared = []
    for method in found[0].points:
        runs = [panel.points.get(method, {}) for panel in found]
        seeds = tuple(sorted(set(runs[0]).intersection(*runs[1:])))
        if seeds:
            each = [
                score_method(
                    {seed: one[seed] for seed in seeds},
                    known,
                    settings,
                    find_weighted_policies(panel.policy_episodes.get(method, {}), known, panel.weights.get(method, {})),
                )
                for panel, one in zip(found, runs, strict=True)
            ]
            less = [_differences(each[0], one, settings) for one in each[1:]]
            tags = " and ".join(sorted({known[seed].tag for seed in seeds}))
            names = {name: one for name, one in settings.list_columns().items() if all(name in scores for scores in each)}
            compared.append(Comparison(found[0].title, method, seeds, tags, each, less, names))
    return compared


def _differences(first: Mapping[str, Score], second: Mapping[str, Score], settings: Indicators) -> dict[str, Interval]:
    """Return the second score minus the first, seed by seed."""
    found: dict[str, Interval] = {}
    for name in [one for one in first if one in second]:
        values = [value - first[name].values[seed] for seed, value in second[name].values.items()]
        found[name] = settings.bootstrap(values)
    return found
