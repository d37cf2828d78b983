"""Pages of the tracks: docs/results/policies.md from benchmarks/fronts/policies.npz.xz (see make_results.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from archives import Archive, read_archive
from page_figures import PageSet, fold, image, join_lines

from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Experiment, Suite
from momagames.contract import Game
from momagames.reports.data.overview import compute_ratios, rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.verdicts import count_leads, find_panel_leaders, is_ahead
from momagames.reports.figures.paper_figures import Figure, list_figures
from momagames.reports.text.captions import panel_caption
from momagames.reports.text.labels import describe_interval, format_score
from momagames.reports.text.markdown_tables import markdown_table
from momagames.wording import count

LEARNER, MORE_TRAINING = "moppo", "champion"  # the method of the standing; not an equal budget
TITLES = {"policies": "Track 1: policies over instances"}
FIGURES = {
    "overall": "All settings: interquartile means and optimality gaps",
    "overview": "Scores of every method in every setting",
}


def count_leaders(leaders: Iterable[tuple[Game, Sequence[str]]]) -> dict[str, dict[str, int]]:
    """Count the settings that each method leads, by the title of the game.

    leaders    game of a setting and its leaders, of `find_leaders`
    """
    found: dict[str, list[Sequence[str]]] = {}
    for game, methods in leaders:
        found.setdefault(game.title, []).append(methods)
    return {title: count_leads(every) for title, every in found.items()}


@dataclass(frozen=True)
class Standing:
    """The learner beside the strongest baseline of a setting.

    own, best    mean hypervolume ratios
    lead         difference, paired by seeds
    """

    panel: Panel
    own: float
    baseline: str
    best: float
    lead: Interval

    @property
    def result(self) -> str:
        if is_ahead(self.lead):
            return "win"
        return "loss" if self.lead.runs > 1 and self.lead.high < 0 else "level"


def make_track(name: str, archive: Path) -> PageSet:
    """Make the page of an archived suite."""
    found = read_archive(archive)
    found = replace(found, data=replace(found.data, min_games=len(found.data.panels)))
    data = found.data
    figures = list_figures(data, FIGURES)
    text = join_lines(format_track(name, found))
    leaders = count_leaders((panel.game, find_panel_leaders(panel, data.settings)) for panel in data.panels)
    return PageSet({name: text}, {f"{name}-{kind}": figure for kind, figure in figures.items()}, leaders)


def name_figures(name: str, data: ReportData, kinds: Collection[str]) -> tuple[dict[str, Figure], dict[tuple[str, str], str]]:
    """Return the figures of some kinds by file name, which begins with that of the page, and file names by kind and title."""
    figures = {f"{name}-{key}": figure for key, figure in list_figures(data, kinds).items()}
    return figures, {(figure.kind, figure.title): key for key, figure in figures.items()}


def find_experiment(suite: Suite, panel: Panel) -> Experiment:
    return next(one for one in suite.experiments if one.name == panel.experiment)


def compare_learner(data: ReportData) -> list[Standing]:
    """Compare the learner with the method of the highest mean in each setting, but for those with more training."""
    found = []
    for panel in data.panels:
        ranked = {method: mean for method, mean in rank_methods(panel).items() if method not in (LEARNER, MORE_TRAINING)}
        if LEARNER not in panel.points or not ranked:
            continue
        baseline = next(iter(ranked))
        own, other = compute_ratios(panel, LEARNER), compute_ratios(panel, baseline)
        pairs = [own[seed] - other[seed] for seed in sorted(own) if seed in other]
        lead = bootstrap(pairs, data.settings.confidence, data.settings.resamples)
        found.append(Standing(panel, float(np.mean(list(own.values()))), baseline, ranked[baseline], lead))
    return found


def format_track(name: str, archive: Archive) -> Iterator[str]:
    suite, data = archive.suite, archive.data
    standings, every = compare_learner(data), data.aggregate
    tags = sorted({reference.tag for panel in data.panels for reference in panel.references.values()})
    assert every
    means = {method: found["iqm"].value for method, found in every.statistics.items()}
    ranked = sorted(means, key=lambda method: -means[method])
    roles = {method: f"the {method} (`{'`, `'.join(played)}`)" for method, played in every.roles.items()}
    names = [roles.get(method, f"`{method}`") for method in ranked]
    order = "before" if is_ahead(every.pairs[ranked[0], ranked[1]].difference.interval) else "level with"
    counts = {result: sum(one.result == result for one in standings) for result in ("win", "level", "loss")}
    yield from (
        f"# {TITLES[name]}",
        "",
        f"Of the {len(ranked)} methods that play all {count(len(every.games), 'setting')}, {names[0]} has the highest",
        f"interquartile mean of the hypervolume ratio ({means[ranked[0]]:.2f}), {order} {names[1]} ({means[ranked[1]]:.2f});",
        f"{count(every.runs, 'seed')}, reference front: {', '.join(tags)}.",
        *describe_trained(data),
        f"Against the strongest method with no more training in each setting, `{LEARNER}` wins {counts['win']}, is level in "
        f"{counts['level']} and loses {counts['loss']}.",
        "",
        *archive.describe_changed_methods(),
        image(FIGURES["overall"], f"{name}-overall.svg"),
        "",
        image(FIGURES["overview"], f"{name}-overview.svg"),
        "",
        f"## {LEARNER.upper()} beside the strongest baseline",
        "",
        f"Mean hypervolume ratios; the baseline is the best of all methods except `{MORE_TRAINING}`, whose training is longer",
        "than the budget. It is chosen on the same results, which favors it. Win or loss: the interval of the difference,",
        "paired by seeds, is above or below zero.",
        f"Budgets and the networks of {LEARNER} were cut for two cores and not tuned: [Training](learning.md) has",
        "learners with the training that they need.",
        "",
    )
    rows = [
        (a.panel.full_heading, f"{a.own:.3f}", a.baseline, f"{a.best:.3f}", describe_interval(a.lead, "+.3f"), a.result)
        for a in standings
    ]
    head = ["setting", LEARNER, "strongest baseline", "its ratio", "difference", "result"]
    yield from fold("Wins and losses in every setting", markdown_table(head, rows))
    yield from ("## All indicators", "")
    for panel in data.panels:
        yield from fold(panel.full_heading, [*score_table(panel), "", panel_caption(panel)])
    yield from ("## Settings and provenance", "", suite.description, "", *describe_seeds(name, archive), "")
    yield from fold("Versions, machine, times and budgets", markdown_table(["", ""], archive.facts))


def describe_trained(data: ReportData) -> Iterator[str]:
    """Yield how often the trained policies of the package lead, if they play."""
    played = [find_panel_leaders(panel, data.settings) for panel in data.panels if MORE_TRAINING in panel.points]
    if played:
        yield f"The trained policies of the package, `{MORE_TRAINING}`, lead {played.count([MORE_TRAINING])} of the"
        yield f"{count(len(played), 'setting')} that they play; their training was longer than the budget of the others."


def describe_seeds(name: str, archive: Archive) -> Iterator[str]:
    """Yield how many seeds are complete, and the commands that made the runs or run the others."""
    suite, data = archive.suite, archive.data
    seeds = suite.experiments[0].seeds
    complete = [seed for seed in seeds if all(is_complete(panel, seed) for panel in data.panels)]
    missing = [seed for seed in seeds if seed not in complete]
    finished = sum(len(found) for panel in data.panels for found in panel.points.values())
    runs = len(suite.list_runs(archive.store.read_versions()))
    listed = ", ".join(map(str, complete)) or "none"
    yield f"**{len(complete)} of {len(seeds)} seeds** are complete (seeds {listed}; {finished} of {runs} runs)."
    if missing:
        yield from (
            "These commands restore the archived runs, add a seed, and write the archive and this page again:",
            "",
            "```console",
            f"python docs/make_results.py --unpack {name}-results --suite {name}",
            f"momagames bench run {name} -o {name}-results --seed {missing[0]}",
            f"python docs/make_results.py --archive {name}-results",
            "```",
            "",
            "Several machines run seeds or shards (`--shard I/N`) into folders of their own, and `momagames bench merge` joins",
            "these with the restored one before the last command. Finished runs are never run again.",
        )
    else:
        yield from describe_archive(name)


def describe_archive(name: str) -> Iterator[str]:
    """Yield the commands that made the runs of a suite and that restore them."""
    yield from (
        f"`momagames bench run {name}` made the runs, which are archived in `benchmarks/fronts/{name}.npz.xz`.",
        f"`python docs/make_results.py --suite {name} --unpack FOLDER` restores them, and `momagames bench report FOLDER`",
        "compares them.",
    )


def is_complete(panel: Panel, seed: int) -> bool:
    return not panel.missing_runs.keys() - panel.points.keys() and all(seed in found for found in panel.points.values())


def score_table(panel: Panel) -> Iterator[str]:
    """Yield the table of all scores of a panel."""
    columns = panel.indicators.items()
    rows = [
        (
            method,
            str(len(panel.points[method])),
            *(" ".join(format_score(one, scores.get(key))).strip() for key, one in columns),
        )
        for method, scores in panel.scores.items()
    ]
    return markdown_table(["method", "runs", *(one.heading for _, one in columns)], rows)
