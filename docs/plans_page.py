"""The page of plans for one instance, docs/results/plans.md, from its archive (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

from archives import Archive, read_archive
from page_figures import PageSet, fold, image, join_lines
from track_page import LEARNER, count_leaders, describe_seeds, find_experiment, name_figures, score_table

from momagames.baselines.checkpoint_policy import CHAMPION
from momagames.benchmark.plan import Indicators, PlansExperiment, Suite, expand_runs, method_names
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.verdicts import compare_methods, find_panel_leaders
from momagames.reports.text.captions import panel_caption
from momagames.reports.text.markdown_tables import markdown_table
from momagames.reports.text.verdicts import describe_verdict

EXACT = ("exact",)  # has no budget
FIGURES = ("overview", "anytime")


def make_track(name: str, file: Path) -> PageSet:
    """Make the page of an archived suite of plans, some of whose experiments have a budget of CPU time."""
    archive = read_archive(file)
    figures, names = name_figures(name, archive.data, FIGURES)
    text = join_lines(format_page(name, archive, names))
    settings = archive.data.settings
    leaders = count_leaders((panel.game, find_panel_leaders(panel, settings, EXACT)) for panel in archive.data.panels)
    return PageSet({name: text}, figures, leaders)


def format_page(name: str, archive: Archive, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the lines of the page. names: kind and title of a figure -> its file name without extension"""
    timed = {one.name for one in archive.suite.experiments if isinstance(one, PlansExperiment) and one.cpu_seconds}
    panels = archive.data.panels
    by_steps = [panel for panel in panels if panel.experiment not in timed]
    by_time = [panel for panel in panels if panel.experiment in timed]
    yield from ("# Track 2: plans for one instance", "")
    yield from (
        describe_message(by_steps, by_time, archive.data.settings) + describe_trained(archive.suite),
        "",
        *archive.describe_changed_methods(),
    )
    if figure := names.get(("overview", "")):
        yield from (image("Scores of every method in every setting", f"{figure}.svg"), "")
    yield from (*describe_seeds(name, archive), "")
    for title, group in (("At equal environment steps", by_steps), ("At equal CPU time", by_time)):
        yield from (f"## {title}", "", *ratio_table(group), "")
        for panel in group:
            if figure := names.get(("anytime", panel.full_heading)):
                yield from (image(f"Anytime performance: {panel.full_heading}", f"{figure}.svg"), "")
        for panel in group:
            lines = [*cost_table(archive, panel), "", *score_table(panel), "", panel_caption(panel)]
            yield from fold(f"{panel.full_heading}: steps, CPU time and all indicators", lines)
    yield from (
        "## How the numbers were made",
        "",
        archive.suite.description,
        "",
        "For a budget of CPU time the number of environment steps is chosen by trials on the machine, so that the time of the",
        "last search is 0.8 to 1.25 of the budget; methods that end on their own take less, and methods whose smallest budget",
        "needs more take more. The tables above print the steps and the CPU time of that search. What a search finds depends",
        "on its steps alone: with the stored number of steps every machine finds the same plans, except for learners.",
        "",
    )
    yield from fold("Versions, machine, times and budgets", markdown_table(["", ""], archive.facts))


def describe_message(by_steps: Sequence[Panel], by_time: Sequence[Panel], settings: Indicators) -> str:
    """Return sentences: the best methods at equal steps, and at equal CPU time."""
    sentences = []
    for kind, panels in (("environment steps", by_steps), ("CPU time", by_time)):
        common = select_common(panels) if panels else []
        if verdict := compare_methods(common, settings, EXACT):
            ratios = [rank_methods(panel).get(LEARNER) for panel in common]
            learner = "" if None in ratios else f" {LEARNER} reaches {fmean(ratios):.2f}."
            sentences.append(f"At equal {kind}, without known draws: {describe_verdict(verdict)}{learner}")
    return " ".join(sentences)


def describe_trained(suite: Suite) -> str:
    """Return a sentence about methods with a trained policy of the package, if there are any."""
    planned = [one for one in suite.experiments if isinstance(one, PlansExperiment)]
    found = ((method_names(one), method) for one in planned for method in one.methods if CHAMPION in method.options.values())
    trained = sorted({names[method.model_dump_json()] for names, method in found})
    listed = " and ".join(f"`{name}`" for name in trained)
    return f" Trained beforehand, on other boards, which no budget includes: {listed}." if trained else ""


def select_common(panels: Sequence[Panel]) -> list[Panel]:
    """Return the panels in which methods without foresight plan: those that share methods with the first one."""
    first = set(panels[0].points)
    return [panel for panel in panels if first & set(panel.points)]


def ratio_table(panels: Sequence[Panel]) -> Iterator[str]:
    """Yield the mean hypervolume ratios of all methods, the best one with a budget bold."""
    ratios = [rank_methods(panel) for panel in panels]
    methods = list(dict.fromkeys(name for one in ratios for name in one))
    rows = []
    for panel, one in zip(panels, ratios, strict=True):
        best = max(value for name, value in one.items() if name not in EXACT)
        texts = {name: bold(value, value == best and name not in EXACT) for name, value in one.items()}
        rows.append((panel.full_heading, *(texts.get(name, "") for name in methods)))
    return markdown_table(["setting", *methods], rows)


def bold(value: float, best: bool) -> str:
    return f"**{value:.3f}**" if best else f"{value:.3f}"


def cost_table(archive: Archive, panel: Panel) -> Iterator[str]:
    """Yield the median environment steps and CPU seconds of the searches of each method.

    With equal steps the first search of a game in a process also compiles.
    """
    experiment = find_experiment(archive.suite, panel)
    names = method_names(experiment)
    found: dict[str, list[dict[str, float]]] = {}
    for run in expand_runs(experiment, archive.store.read_versions()):
        if run.canonical == panel.canonical and archive.store.has_run(run):
            found.setdefault(names[run.method.model_dump_json()], []).append(archive.store.read_metadata(run)["facts"])
    rows = [
        (name, f"{median(one['steps'] for one in facts):,.0f}", f"{median(one['search_cpu_s'] for one in facts):.2f}")
        for name, facts in found.items()
    ]
    yield from markdown_table(["method", "environment steps", "CPU time (s)"], rows)
    if isinstance(experiment, PlansExperiment) and experiment.cpu_seconds is None:
        yield from ("", "Medians over seeds. The first search of a method in a process also compiles its code.")
