"""Sections of pages of results that have one table: what some pages compare beside the indicators (see sections.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean, median

import numpy as np
from archives import Archive
from sections import bold_best, report_table, table

from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.benchmark.choices import label_methods
from momagames.benchmark.suites import PlansExperiment, PoliciesExperiment
from momagames.benchmark.tradeoffs import list_untrained_methods
from momagames.reports.data.head_to_head import HeadToHeadScores
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import short_name
from momagames.reports.text.labels import NO_SCORE
from momagames.reports.text.report_tables import make_generalization, make_overview

EXACT = ("exact",)  # has no budget


def overview(archive: Archive) -> Iterator[str]:
    """Yield the hypervolume ratios of all methods with their intervals, a row for each setting, below the caption."""
    made = make_overview(archive.data.overview, archive.data.settings)
    titled = replace(made, columns=[replace(made.columns[0], heading="setting"), *made.columns[1:]])
    return reversed([*report_table(titled)])


def ratios(archive: Archive) -> Iterator[str]:
    """Yield the mean hypervolume ratios of all methods, a row for each setting, the best one with a budget bold."""
    ratios = [rank_methods(panel) for panel in archive.panels]
    methods = list(dict.fromkeys(name for one in ratios for name in one))
    rows = []
    for panel, one in zip(archive.panels, ratios, strict=True):
        texts = bold_best(one, EXACT)
        rows.append((panel.full_heading, *(texts.get(name, "") for name in methods)))
    yield table(["setting", *methods], rows)


def tradeoffs(archive: Archive) -> Iterator[str]:
    """Yield what the reference front of each setting shows, and the shares that policies without training have of it."""
    rows = []
    for panel, one in ((panel, archive.select_setting(panel)) for panel in archive.panels):
        assert isinstance(one.experiment, PoliciesExperiment)
        labels = label_methods(one.experiment.methods)
        methods = list_untrained_methods(one.experiment, panel.game)
        played = [[at.values for one in part for at in panel.points.get(labels[one.key], {}).values()] for part in methods]
        front = next(iter(panel.references.values())).values
        found = measure_tradeoffs(front, *(np.concatenate(values) if values else None for values in played))
        shares = [NO_SCORE if share is None else f"{share:.2f}" for share in (found.simple_share, found.untrained_share)]
        numbers = f"{found.single_share:.2f}", str(found.points), f"{min(found.losses):.2f}", *shares
        rows.append((panel.full_heading, *numbers, ", ".join(found.list_failures()) or "a trade-off"))
    yield table(["setting", "one policy", "points", "least loss", "simple", "untrained", "verdict"], rows)


def costs(archive: Archive) -> Iterator[str]:
    """Yield the median environment steps and CPU seconds of the searches of each method.

    With equal steps the first search of a game in a process also compiles.
    """
    rows = [
        (
            name,
            f"{median(facts['steps'] for _, facts in runs):,.0f}",
            f"{median(facts['search_cpu_s'] for _, facts in runs):.2f}",
        )
        for name, runs in archive.read_facts().items()
    ]
    yield table(["method", "environment steps", "CPU time (s)"], rows)
    if isinstance(archive.experiment, PlansExperiment) and archive.experiment.cpu_seconds is None:
        yield "Medians over seeds. The first search of a method in a process also compiles its code."


def game_id(archive: Archive) -> Iterator[str]:
    yield f"`{short_name(archive.panel.game)}`"


def generalization(archive: Archive) -> Iterator[str]:
    """Yield the scores against the exact front of each instance."""
    return report_table(make_generalization(archive.panel, 0))


def episode_steps(archive: Archive) -> Iterator[str]:
    """Yield the mean number of environment steps of an episode, look-ahead included, by method."""
    rows = []
    for name, runs in archive.read_facts().items():
        steps = []
        for run, facts in runs:
            rounds = math.ceil((run.plays or 1) / facts["policies"])
            episodes = facts["policies"] * rounds * ((run.select_episodes or 0) + (run.report_episodes or 0))
            steps.append((facts["steps"] - facts.get("training_steps", 0)) / episodes)
        rows.append((name, f"{fmean(steps):,.0f}"))
    yield table(["method", "steps"], rows)


def list_pairs(scores: HeadToHeadScores) -> Iterator[str]:
    """Yield the table of all pairs, best player first: wins, or wins, ties and losses of the row."""
    players = sorted(scores.players, key=lambda player: -scores.ratings[player].value)

    def cell(a: str, b: str) -> str:
        won, lost = scores.wins[a, b].value, scores.wins[b, a].value
        if not scores.two_sided:
            return f"{won:.2f}"
        if a == b:
            return f"{won:.2f} / {max(0.0, 1 - 2 * won):.2f} / {won:.2f}"
        return f"{won:.2f} / {max(0.0, 1 - won - lost):.2f} / {lost:.2f}"

    yield table(["player", *players], [(a, *(cell(a, b) for b in players)) for a in players])
    meaning = "wins / ties / losses of the row" if scores.two_sided else "wins of the row alone against several of the column"
    yield f"Shares of the games, mean of the seats and seeds: {meaning}."
