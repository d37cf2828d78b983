"""The page of training results, docs/results/learning.md, from benchmarks/learning/results.json (see make_results.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from page_figures import PageSet, fold, image, join_lines

from momagames import registry
from momagames.analysis.statistics import bootstrap
from momagames.baselines.learners import LEARNERS, find_learner
from momagames.contract import Game
from momagames.contract.titles import describe_game
from momagames.reports.data.method_styles import assign_numbers
from momagames.reports.data.panels import short_name
from momagames.reports.figures.paper_figures import RC_PARAMS, SAVE_OPTIONS
from momagames.reports.figures.theme import style_color
from momagames.reports.text.markdown_tables import markdown_table

ROOT = Path(__file__).resolve().parents[1]
RESULTS, PAGES = ROOT / "benchmarks" / "learning" / "results.json", ROOT / "docs" / "results"
NAME = "learning"
FIGURE_SIZE = (5.2, 2.6)  # inches

Runs = Sequence[Mapping[str, Any]]


def make_pages(name: str, file: Path) -> PageSet:
    """Make the page of training results."""
    targets = json.loads(file.read_text(encoding="utf-8"))
    figures = {f"{NAME}-{key}": partial(draw_curves, target) for key, target in targets.items()}
    return PageSet({name: join_lines(format_page(targets))}, figures)


def format_page(targets: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page: the message, figures of the targets, folded tables, how they were made."""
    rows = [row for target in targets.values() for row in format_bars(target)]
    linked = [[f"[{title}](#{make_anchor(title)})", *rest] for title, *rest in rows]
    yield from ("# Training: learners with the budgets that they need", "", describe_bars(rows), "")
    yield from fold("All bars", markdown_table(["target", "result", "bar", "mean", "seeds", ""], linked))
    for name, target in targets.items():
        yield from format_section(name, target)
    yield from (
        "## How the numbers were made",
        "",
        "`python -m benchmarks.learning.targets NAME --seeds N` trains, `benchmarks/learning/results.json` holds the results,",
        "and `python docs/make_results.py` writes this page. Options and budgets were chosen with other",
        "seeds, unless a target says on which. Results are from separate episodes that chose nothing, beside policies without",
        "training and other learners: `maskable_ppo` of sb3-contrib has the CPU time, the scale of rewards and the discount",
        "factor of the target's own learner.",
        "Intervals are percentile bootstrap intervals over the trainings, which are too narrow for so few. Decisions per",
        "second include updates. Curves are evaluations during training, with fewer episodes. Times were measured on shared",
        "machines (load) of different speed: `maskable_ppo` had one of the slower ones.",
        "",
    )


def describe_bars(rows: Sequence[Sequence[str]]) -> str:
    """Return two sentences: how many bars the trained methods meet, and where they miss some."""
    missed = [row for row in rows if row[-1] == "missed"]
    names = "; ".join(dict.fromkeys(row[0] for row in missed))
    met = f"With long training, the package's learners meet {len(rows) - len(missed)} of {len(rows)} bars."
    return met + (f" They miss a bar in {names}." if missed else "")


def group_by_learner(target: Mapping[str, Any]) -> dict[str, Runs]:
    """Return the runs of each learner; those of the target's own are first."""
    learners = dict.fromkeys(run["learner"] for run in target["runs"])
    return {learner: [run for run in target["runs"] if run["learner"] == learner] for learner in learners}


def format_bars(target: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield a row for each bar that was measured, with the mean of the first learner that has the result."""
    title = make_title(target)
    for result, bar in target["bars"].items():
        measured = [runs for runs in group_by_learner(target).values() if result in runs[0]["results"]]
        if not measured:
            continue
        mean = float(np.mean([run["results"][result] for run in measured[0]]))
        met = "met" if mean >= bar else "missed"
        yield [title, result, format_number(bar), format_number(mean), str(len(measured[0])), met]


def make_title(target: Mapping[str, Any]) -> str:
    """Return the game of a target in words, without its objectives; that of several games has no variant."""
    head = target["runs"][0]["head"]
    game = registry.spec(head["game"], **{name: value for name, value in head["params"].items() if name != "objectives"})
    return game.title if head["other_games"] else describe_game(game)


def make_anchor(title: str) -> str:
    """Return the anchor of a heading with this title."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def format_section(name: str, target: Mapping[str, Any]) -> Iterator[str]:
    groups, title, head = group_by_learner(target), make_title(target), target["runs"][0]["head"]
    game = registry.spec(head["game"], **head["params"])
    described = describe_game(game)
    played = f"Target `{name}`" + ("" if described == title else f", {described}")
    yield from (f"## {title}", "", f"{played}. {target['remark']}", "")
    if any(run["curve"] for run in target["runs"]):
        yield from (image(f"{axis_label(target)} over the training steps, {title}", f"{NAME}-{name}.svg"), "")
    for learner, runs in groups.items():
        head = [learner, "mean", *(f"seed {run['head']['seed']}" for run in runs)]
        training = f"`{short_name(game)}`; {describe_training(game, runs[0])}."
        yield from fold(f"Results of {learner}", [*markdown_table(head, list(format_runs(runs))), "", training])


def format_runs(runs: Runs) -> Iterator[list[str]]:
    """Yield a row for each result, with the mean, its interval and the value of each training; then the times."""
    for measure in runs[0]["results"]:
        values = [run["results"][measure] for run in runs]
        mean = bootstrap(values)
        interval = f" [{format_number(mean.low)}, {format_number(mean.high)}]" if mean.low < mean.high else ""
        yield [measure, f"**{format_number(mean.value)}**{interval}", *map(format_number, values)]
    for measure in ("minutes", "CPU-minutes", "load"):
        if any(measure in run for run in runs):  # older reports have no CPU time
            yield [measure, "", *(f"{run[measure]:.1f}" if measure in run else "" for run in runs)]


def describe_training(game: Game, run: Mapping[str, Any]) -> str:
    """Return steps, opponents, options and version as text."""
    head = run["head"]
    defaults = find_learner(head["method"]).default_options(game) if head["method"] in LEARNERS else {}
    changed = [f"{option}={value}" for option, value in head["options"].items() if defaults.get(option) != value]
    parts = [f"{run['steps']:,} environment steps"]
    if head["other_games"]:
        parts.append(f"{1 + len(head['other_games'])} games that differ in start positions")
    if head["opponents"]:
        parts.append(f"opponents {', '.join(one['name'] for one in head['opponents'])}")
    parts += [f"options that differ from the defaults: {', '.join(changed)}"] if changed else []
    parts += [f"results of {run['episodes']} episodes"] if "episodes" in run else []  # older reports have those of the target
    return "; ".join((*parts, f"threads: {run['threads']}", f"momagames {run['version']}"))


def format_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def axis_label(target: Mapping[str, Any]) -> str:
    """Return the name of the metric of the curves."""
    return "hypervolume" if target["runs"][0]["head"]["weights"] is None else "weighted mean return"


def draw_curves(target: Mapping[str, Any], file: Path) -> None:
    """Draw a line for each training with evaluations; one color for each learner."""
    with mpl.rc_context(RC_PARAMS):
        figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
        axes = figure.add_subplot()
        groups = group_by_learner(target)
        styles = assign_numbers(groups)
        for learner, runs in groups.items():
            for label, run in zip((learner, *[None] * len(runs)), runs, strict=False):
                if run["curve"]:
                    steps, values = np.array(run["curve"]).T
                    axes.plot(steps, values, color=style_color(styles[learner]), label=label)
        axes.set_xlabel("environment steps")
        axes.set_ylabel(axis_label(target))
        axes.legend(fontsize=7)
        figure.savefig(file, **SAVE_OPTIONS["svg"])
