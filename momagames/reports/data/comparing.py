"""Folders of results side by side: the same games and methods, of other code, machines or days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Experiment, Indicators, Suite
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile, InvalidParameter
from momagames.reports.data.panels import Panel, panels
from momagames.reports.data.points import Points
from momagames.reports.data.scores import Score, references, scores


@dataclass(frozen=True)
class Comparison:
    """One game and method in several folders, all measured against one reference front: that of all these folders.

    seeds          those that every folder has
    scores         for each folder: indicator -> score
    differences    for each folder after the first: indicator -> its value less the first folder's, seed by seed
    """

    title: str
    method: str
    seeds: tuple[int, ...]
    scores: Sequence[Mapping[str, Score]]
    differences: Sequence[Mapping[str, Interval]]


def compare(folders: Sequence[str | Path]) -> list[Comparison]:
    """The games and methods that all folders have in common.

    Raises     InvalidParameter for fewer than two folders; InvalidFile if there is nothing in common, or if an experiment of one
               name has other budgets, opponents, seats, episodes or utopias in one of them
    """
    if len(folders) < 2:
        raise InvalidParameter(f"compare needs two folders or more; given: {len(folders)}")
    stores = [Store(folder) for folder in folders]
    suites = [store.suite() for store in stores]
    for store, suite in zip(stores, suites, strict=True):
        _check(stores[0], suites[0], store, suite)
    found = [{_key(panel): panel for panel in panels(store, suite) if panel.primary} for store, suite in _pairs(stores, suites)]
    common = [key for key in found[0] if all(key in other for other in found)]
    compared = []
    for key in common:
        experiment = next(one for one in suites[0].experiments if one.name == key[0])
        compared += _panel([one[key] for one in found], experiment, suites[0].indicators)
    if not compared:
        told = "; ".join(f"{store.folder} has {_told(one)}" for store, one in zip(stores, found, strict=True))
        raise InvalidFile(f"these folders have no finished runs of one game, method and seed in common: {told}")
    return compared


def _pairs(stores: list[Store], suites: list[Suite]) -> list[tuple[Store, Suite]]:
    return list(zip(stores, suites, strict=True))


def _key(panel: Panel) -> tuple[str, str, str]:
    return panel.experiment, panel.canonical, panel.scope


def _told(found: Mapping[tuple[str, str, str], Panel]) -> str:
    games = dict.fromkeys(f"{panel.experiment!r}: {panel.game.id}" for panel in found.values())
    return ", ".join(games) or "none"


# what decides about a result beside game, method and seed
CONDITIONS = ("kind", "utopia", "budget", "opponents", "seats", "select_episodes", "report_episodes")


def _check(first: Store, one: Suite, second: Store, other: Suite) -> None:
    """InvalidFile if experiments of one name are not the same in what they ask."""
    for mine in one.experiments:
        for theirs in other.experiments:
            for name in CONDITIONS if mine.name == theirs.name else ():
                here, there = getattr(mine, name, None), getattr(theirs, name, None)
                if here != there:
                    raise InvalidFile(
                        f"{second.folder} cannot be compared with {first.folder}: {name} of {mine.name!r} is {_plain(there)} "
                        f"there and {_plain(here)} here"
                    )


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(getattr(one, 'label', str(one)) for one in value)}]"
    return "not there" if value is None else str(value)


def _panel(found: Sequence[Panel], experiment: Experiment, wanted: Indicators) -> list[Comparison]:
    """The methods that stand in every one of these panels."""
    points: dict[str, Mapping[int, Points]] = {}
    proven: dict[int, Array] = {}
    for number, panel in enumerate(found):
        points |= {f"{number} {method}": runs for method, runs in panel.points.items()}
        proven |= {seed: known.values for seed, known in panel.references.items() if known.tag == "exact"}
    known = references(points, proven, found[0].game, experiment.utopia, wanted.margin)
    compared = []
    for method in found[0].points:
        runs = [panel.points.get(method, {}) for panel in found]
        seeds = tuple(sorted(set(runs[0]).intersection(*runs[1:])))
        if seeds:
            each = [scores({seed: one[seed] for seed in seeds}, known, wanted) for one in runs]
            less = [_differences(each[0], one, wanted) for one in each[1:]]
            compared.append(Comparison(found[0].title, method, seeds, each, less))
    return compared


def _differences(first: Mapping[str, Score], second: Mapping[str, Score], wanted: Indicators) -> dict[str, Interval]:
    """The second less the first, seed by seed."""
    found: dict[str, Interval] = {}
    for name in wanted.names:
        values = [value - first[name].values[seed] for seed, value in second[name].values.items()]
        found[name] = bootstrap(values, wanted.confidence, wanted.resamples)
    return found
