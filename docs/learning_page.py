"""The page of what MOPPO reaches, docs/results/learning.md, from benchmarks/learning/reached.json (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from tables import image, table

from momagames import registry
from momagames.baselines.learn.method import USUAL
from momagames.experiments.reports.analysis import short
from momagames.experiments.reports.looks import COLORS
from momagames.experiments.reports.papers import LOOK, SAVED
from momagames.experiments.science.statistics import bootstrap

ROOT = Path(__file__).resolve().parents[1]
REACHED, PAGES = ROOT / "benchmarks" / "learning" / "reached.json", ROOT / "docs" / "results"
NAME = "learning"
OWN = {"self_play": "itself", "pool": "earlier versions of itself"}  # whom it meets, by the option that says how often
SIZE = (5.2, 2.6)  # inches, of a figure of curves


def page(every: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        "# Learning",
        "",
        "What `moppo` was asked to reach, and what it did: trained by `python benchmarks/learning/targets.py NAME --seeds N`,",
        "kept in `benchmarks/learning/reached.json`, and written here by `python docs/make_results.py`. Every line is a",
        "training of its own with the seed given, which is the seed of the deal too where all games are one; options were",
        "chosen with other seeds. What is reported was played afterwards, in games of its own. The interval is a percentile",
        "bootstrap over the trainings, which is too narrow for so few. Curves are of what was played during training: fewer",
        "games, by the policies of a coarser lattice of weights. Minutes are of a machine that others used too (load).",
        "",
    )
    for name, target in every.items():
        yield from section(name, target)


def section(name: str, target: dict[str, Any]) -> Iterator[str]:
    runs = target["runs"]
    head = runs[0]["head"]
    measures = list(runs[0]["reached"])
    game = short(registry.spec(head["game"], **head["params"]))
    yield from (f"## {name}", "", f"`{game}`. Asked for: {target['asked']}.", "")
    if target["remark"]:
        yield from (target["remark"], "")
    if head["opponents"]:
        met = ", ".join(one["name"] for one in head["opponents"])
        own = [word for option, word in OWN.items() if head["options"][option]]
        yield from (f"Opponents in training{', beside ' * bool(own)}{' and '.join(own)}: {met}.", "")
    rows = [
        [
            str(run["head"]["seed"]),
            *(number(run["reached"][m]) for m in measures),
            f"{run['minutes']:.1f}",
            f"{run['load']:.1f}",
        ]
        for run in runs
    ]
    if len(runs) > 1:
        means = [bootstrap([run["reached"][m] for run in runs]) for m in measures]
        told = [f"**{number(mean.value)}** [{number(mean.low)}, {number(mean.high)}]" for mean in means]
        rows.append(["**mean**", *told, "", ""])
    yield from table(["seed", *measures, "minutes", "load"], rows)
    options = ", ".join(f"{option}={value}" for option, value in head["options"].items() if USUAL.get(option) != value)
    yield from (
        "",
        image(f"{shown(target)} over the steps of training of {name}", f"{NAME}-{name}.svg"),
        "",
        f"{head['budget']:,} steps; options other than the usual ones: {options or 'none'}; momagames {head['version']}, "
        f"PyTorch {runs[0]['torch']}, threads: {runs[0]['threads']}.",
        "",
    )


def number(value: float) -> str:
    whole = float(value).is_integer() and abs(value) > 1
    return f"{value:.0f}" if whole or abs(value) >= 1000 else f"{value:.3f}"


def shown(target: dict[str, Any]) -> str:
    """What the curves are of."""
    return "Hypervolume" if target["curve"] == "hypervolume" else f"Best mean of {target['curve']!r}"


def draw(target: dict[str, Any], file: Path) -> None:
    """A line for each seed; hypervolumes of single deals as shares of the exact ones, since these differ from seed to seed."""
    share = "exact hypervolume" in target["runs"][0]["reached"]
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        for run, color in zip(target["runs"], COLORS, strict=False):
            steps, values = np.array(run["curve"]).T
            axes.plot(
                steps,
                values / (run["reached"]["exact hypervolume"] if share else 1),
                color=color,
                label=str(run["head"]["seed"]),
            )
        axes.set_xlabel("steps")
        axes.set_ylabel("share of the exact hypervolume" if share else shown(target))
        axes.legend(title="seed", ncols=2, fontsize=7)
        figure.savefig(file, **SAVED["svg"])
