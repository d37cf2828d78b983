"""The page of generalization, docs/results/generalization.md, from its archive (see make_results.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from archives import Archive, read_archive
from page_figures import PageSet, fold, image, join_lines
from track_page import count_leaders, describe_archive, find_experiment

from momagames.benchmark.plan import Indicators, Suite, expand_runs, method_names
from momagames.benchmark.store.store import Store
from momagames.contract.titles import join_words
from momagames.reports.data.generalization import RATIO, REGRET, InstanceScore, list_intervals
from momagames.reports.data.panels import Panel
from momagames.reports.data.verdicts import find_leaders
from momagames.reports.figures.paper_figures import list_figures
from momagames.reports.text.captions import GENERALIZATION_CAPTION, panel_caption
from momagames.reports.text.labels import describe_interval, format_score, generalization_heads
from momagames.reports.text.markdown_tables import markdown_table

NAME = "generalization"


def make_track(name: str, file: Path) -> PageSet:
    """Make the page of the archived suite."""
    archive = read_archive(file)
    figures = list_figures(archive.data, (NAME,))
    names = {(figure.kind, figure.title): key for key, figure in figures.items()}
    text = join_lines(format_page(archive, names))
    settings = archive.data.settings
    leaders = count_leaders((panel.game, find_regret_leaders(archive.suite, panel, settings)) for panel in archive.data.panels)
    return PageSet({name: text}, figures, leaders)


def format_page(archive: Archive, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the lines of the page. names: kind and title of a figure -> its file name without extension."""
    store, suite, data = archive.store, archive.suite, archive.data
    first, *_ = data.panels
    yield from ("# Track 4: generalization to unseen instances", "", describe_message(suite, first, data.settings), "")
    yield from archive.describe_changed_methods()
    for panel in data.panels:
        if name := names.get((NAME, panel.full_heading)):
            yield from (f"## {panel.full_heading}", "", image(f"Generalization: {panel.full_heading}", f"{name}.svg"), "")
        yield from fold("Scores against exact fronts", [*generalization_table(panel), "", GENERALIZATION_CAPTION])
        yield from fold("Indicators of mean returns", [*score_table(panel), "", panel_caption(panel)])
        yield from fold("Environment steps of an episode", steps_table(store, suite, panel))
    yield from (
        "## How the numbers were made",
        "",
        *describe_archive(NAME),
        "The exact fronts are computed again by the method `exact` and stored in the cache of the package; their witnesses are",
        "played again whenever they are read. The training instances of an experiment with fewer of them are the first of",
        "those with more, and the test instances are the same. Definitions:",
        "[Metrics](../metrics.md#generalization-over-instances).",
        "",
        *markdown_table(["", ""], archive.facts),
        "",
    )


def select_trained(suite: Suite, panel: Panel) -> dict[str, Mapping[str, InstanceScore]]:
    """Return the scores of the methods that are trained on the instances of the experiment."""
    experiment = find_experiment(suite, panel)
    names = method_names(experiment)
    trained = [names[one.model_dump_json()] for one in experiment.methods if one.make_method(panel.game).trains]
    return {name: panel.generalization[name] for name in trained if name in panel.generalization}


def find_regret_leaders(suite: Suite, panel: Panel, settings: Indicators) -> list[str]:
    """Return the trained methods that lead on test instances by regret."""
    scores = select_trained(suite, panel)
    negated = {name: {seed: -value for seed, value in one[REGRET].tests.items()} for name, one in scores.items()}
    return find_leaders(negated, settings)


def describe_message(suite: Suite, panel: Panel, settings: Indicators) -> str:
    """Return two sentences: the best trained methods on unseen instances, and the method with the largest gap."""
    experiment, scores = find_experiment(suite, panel), select_trained(suite, panel)
    best, *level = find_regret_leaders(suite, panel, settings)
    worst, *alike = find_leaders({name: found[REGRET].gaps for name, found in scores.items()}, settings)
    best_ones, worst_ones = f"`{best}`{describe_level(level)}", f"`{worst}`{describe_level(alike)}"
    others = [found[REGRET].gap.value for name, found in scores.items() if name != worst]
    comparison = f", users of other trained methods at most {max(others):.3f}" if others else ""
    ratio, regret, gap = (
        describe_interval(at) for at in (scores[best][RATIO].test, scores[best][REGRET].test, scores[worst][REGRET].gap)
    )
    return (
        f"Of the methods that are trained on {experiment.select_episodes} instances alone, {best_ones} has the "
        f"smallest regret on {experiment.report_episodes} unseen ones: it reaches {ratio} of the hypervolume of the proven "
        f"front of each, and the policies that users choose are {regret} of normalized utility below the best of the front"
        f"{describe_control(panel.generalization)}. {worst_ones} has the largest gap: its users lose {gap} more on unseen "
        f"instances than on those of its training{comparison}."
    )


def describe_level(names: Sequence[str]) -> str:
    """Return the names of methods that are level with another one in brackets."""
    return f" (level with {join_words(f'`{name}`' for name in names)})" if names else ""


def describe_control(scores: Mapping[str, Mapping[str, InstanceScore]]) -> str:
    """Return the results of random play in brackets, where there is any."""
    if "random" not in scores:
        return ""
    return f" (random play: {scores['random'][RATIO].test.value:.3f} and {scores['random'][REGRET].test.value:.3f})"


def generalization_table(panel: Panel) -> Iterator[str]:
    missing = {name: f" ({count} missing)" for name, count in panel.missing_runs.items()}
    rows = [
        (name, f"{len(panel.points[name])}{missing.get(name, '')}", *map(describe_interval, list_intervals(scores)))
        for name, scores in panel.generalization.items()
    ]
    return markdown_table(["method", "runs", *generalization_heads()], rows)


def score_table(panel: Panel) -> Iterator[str]:
    rows = [
        (name, *(" ".join(format_score(one, scores.get(key))).strip() for key, one in panel.indicators.items()))
        for name, scores in panel.scores.items()
    ]
    return markdown_table(["method", *(one.heading for one in panel.indicators.values())], rows)


def steps_table(store: Store, suite: Suite, panel: Panel) -> list[str]:
    """Return the mean number of environment steps of an episode, look-ahead included, by method."""
    experiment = find_experiment(suite, panel)
    names, found = method_names(experiment), {}
    for run in expand_runs(experiment, store.read_versions()):
        if store.has_run(run):
            facts = store.read_metadata(run)["facts"]
            rounds = math.ceil((run.plays or 1) / facts["policies"])
            episodes = facts["policies"] * rounds * ((run.select_episodes or 0) + (run.report_episodes or 0))
            steps = (facts["steps"] - facts.get("training_steps", 0)) / episodes
            found.setdefault(names[run.method.model_dump_json()], []).append(steps)
    return list(markdown_table(["method", "steps"], [(name, f"{np.mean(steps):,.0f}") for name, steps in found.items()]))
