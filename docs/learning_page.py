"""The page of training results, docs/results/learning.md, from benchmarks/learning/results.json (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from tables import image, table

from momagames import registry
from momagames.analysis.statistics import bootstrap
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.reports.data.panels import short_name
from momagames.reports.figures.paper_figures import RC_PARAMS, SAVE_OPTIONS
from momagames.reports.figures.theme import COLORS

ROOT = Path(__file__).resolve().parents[1]
RESULTS, PAGES = ROOT / "benchmarks" / "learning" / "results.json", ROOT / "docs" / "results"
NAME = "learning"
OWN = {"self_play": "self-play", "opponent_pool_size": "earlier versions"}  # opponents in training, by option
FIGURE_SIZE = (5.2, 2.6)  # inches


def format_page(targets: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        "# Results: training",
        "",
        "Performance targets of `moppo` and the results: trained with `python benchmarks/learning/targets.py NAME --seeds N`,",
        "stored in `benchmarks/learning/results.json`, and written to this page by `python docs/make_results.py`. Each row is",
        "one training. Its seed is also that of the instance where all episodes start from one. Options were chosen with other",
        "seeds. Results are from separate evaluation episodes. Intervals are percentile bootstrap intervals over the",
        "trainings, which are too narrow for so few. Curves show the evaluations during training, with fewer episodes and a",
        "coarser lattice of weights. Times were measured on a shared machine (load).",
        "",
    )
    for name, target in targets.items():
        yield from format_section(name, target)


def format_section(name: str, target: dict[str, Any]) -> Iterator[str]:
    runs = target["runs"]
    head = runs[0]["head"]
    measures = list(runs[0]["results"])
    game = short_name(registry.spec(head["game"], **head["params"]))
    yield from (f"## {name}", "", f"`{game}`. Target: {target['target']}.", "")
    if target["remark"]:
        yield from (target["remark"], "")
    if head["opponents"]:
        opponents = [one["name"] for one in head["opponents"]]
        opponents += [description for option, description in OWN.items() if head["options"][option]]
        yield from (f"Opponents in training: {', '.join(opponents)}.", "")
    rows = [
        [
            str(run["head"]["seed"]),
            *(format_number(run["results"][m]) for m in measures),
            f"{run['minutes']:.1f}",
            f"{run['load']:.1f}",
        ]
        for run in runs
    ]
    if len(runs) > 1:
        means = [bootstrap([run["results"][m] for run in runs]) for m in measures]
        cells = [f"**{format_number(mean.value)}** [{format_number(mean.low)}, {format_number(mean.high)}]" for mean in means]
        rows.append(["**mean**", *cells, "", ""])
    yield from table(["seed", *measures, "minutes", "load"], rows)
    options = ", ".join(
        f"{option}={value}" for option, value in head["options"].items() if DEFAULT_OPTIONS.get(option) != value
    )
    yield from (
        "",
        image(f"{axis_label(target)} over the training steps of {name}", f"{NAME}-{name}.svg"),
        "",
        f"{head['budget']:,} steps; options that differ from the defaults: {options or 'none'}; momagames {head['version']}, "
        f"PyTorch {runs[0]['torch']}, threads: {runs[0]['threads']}.",
        "",
    )


def format_number(value: float) -> str:
    whole = float(value).is_integer() and abs(value) > 1
    return f"{value:.0f}" if whole or abs(value) >= 1000 else f"{value:.3f}"


def axis_label(target: dict[str, Any]) -> str:
    """Return the name of the metric of the curves."""
    return "Hypervolume" if target["curve"] == "hypervolume" else f"Best mean of {target['curve']!r}"


def draw_curves(target: dict[str, Any], file: Path) -> None:
    """Draw a line for each seed; hypervolumes of single instances as shares of the exact ones, which differ between seeds."""
    share = "exact hypervolume" in target["runs"][0]["results"]
    with mpl.rc_context(RC_PARAMS):
        figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
        axes = figure.add_subplot()
        for run, color in zip(target["runs"], COLORS, strict=False):
            steps, values = np.array(run["curve"]).T
            axes.plot(
                steps,
                values / (run["results"]["exact hypervolume"] if share else 1),
                color=color,
                label=str(run["head"]["seed"]),
            )
        axes.set_xlabel("steps")
        axes.set_ylabel("share of the exact hypervolume" if share else axis_label(target))
        axes.legend(title="seed", ncols=2, fontsize=7)
        figure.savefig(file, **SAVE_OPTIONS["svg"])
