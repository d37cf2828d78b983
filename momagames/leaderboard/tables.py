"""Tables of the leaderboard: the entries of each setting, scored together as the reports of suites score methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import momagames
from momagames.analysis.named_indicators import INDICATORS, Indicator
from momagames.analysis.reference import Reference
from momagames.benchmark.suites import PoliciesExperiment
from momagames.leaderboard.entries import Entry
from momagames.leaderboard.settings import Setting
from momagames.reports.data.panels import find_references
from momagames.reports.data.scores import Score, score_method

STATED = {"setting", "method", "description", "paper", "code", "date", "budget", "hardware"}  # by the submitter


@dataclass(frozen=True)
class Row:
    """An entry and its scores by indicator."""

    entry: Entry
    scores: Mapping[str, Score]

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain data. Claimed numbers are there beside the computed ones."""
        entry, metadata = self.entry, self.entry.metadata
        return {
            "entry": entry.name,
            **metadata.model_dump(mode="json", include=STATED),
            "exceeds_budget": entry.exceeds_budget,
            "indicators": {
                name: {"mean": one.interval.value, "low": one.interval.low, "high": one.interval.high,
                       "values": {str(seed): value for seed, value in one.values.items()}, "approx": one.approx}
                for name, one in self.scores.items()
            },
            "claims": {
                name: {"claimed": value, "computed": self.scores[name].interval.value if name in self.scores else None}
                for name, value in metadata.claims.items()
            },
            "plans" if metadata.plans else "policies": {str(seed): count for seed, count in entry.counts.items()},
            "files": dict(entry.files),
            "sha256": entry.sha256,
            "returns_sha256": entry.returns_sha256,
            "fresh_seed": entry.fresh_seed,
            "momagames": momagames.__version__,
        }  # fmt: skip


@dataclass(frozen=True)
class Table:
    """The entries of a setting, the best hypervolume ratio first.

    references     by seed
    provisional    indicators that change with further entries: they depend on a best-known front
    """

    setting: Setting
    rows: Sequence[Row]
    references: Mapping[int, Reference]
    provisional: tuple[str, ...]

    @property
    def indicators(self) -> dict[str, Indicator]:
        """Its columns, those of reports. Entries have no weights by policy, which some indicators need."""
        columns = self.setting.indicators.list_columns()
        return {name: one for name, one in columns.items() if not one.needs_weights and name in self.rows[0].scores}

    @property
    def first(self) -> Indicator:
        """The indicator by which the rows are sorted."""
        return next(iter(self.indicators.values()))


def make_tables(entries: Iterable[Entry]) -> list[Table]:
    """Return a table for each setting, in the order of the suites."""
    settings: dict[Any, list[Entry]] = {}
    for entry in entries:
        settings.setdefault(entry.setting.key, []).append(entry)
    return [_make_table(settings[key]) for key in sorted(settings)]


def _make_table(entries: Sequence[Entry]) -> Table:
    setting = entries[0].setting
    experiment, settings = setting.experiment, setting.indicators
    points = {str(i): entry.points for i, entry in enumerate(entries)}
    references = find_references(experiment, setting.game, points, setting.runs, settings.margin)
    rows = []
    for entry in entries:
        scores = score_method(entry.points, references, settings, {})
        rows.append(Row(entry, {name: scores[name] for name in settings.list_columns() if name in scores}))
    return Table(setting, sorted(rows, key=_sort_key), references, tuple(_list_provisional(setting, references)))


def _sort_key(row: Row) -> tuple[float, str, str]:
    name, score = next(iter(row.scores.items()))
    value = score.interval.value
    return value if INDICATORS[name].more_is_better is False else -value, row.entry.metadata.method, row.entry.name


def _list_provisional(setting: Setting, references: Mapping[int, Reference]) -> Iterator[str]:
    fixed = isinstance(setting.experiment, PoliciesExperiment) and setting.experiment.reference_set is not None
    if fixed or all(reference.tag == "exact" for reference in references.values()):
        return
    final = ("points", "range") if setting.experiment.ideal_point == "declared" else ("points",)
    known = setting.indicators.list_columns().items()
    yield from (name for name, one in known if one.depends_on not in final and not one.needs_weights)
