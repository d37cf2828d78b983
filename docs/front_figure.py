"""The figure of a trade-off in README.md: what a set of learned policies covers, and what the best of them covers alone."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
from archives import Archive, read_archive
from make_results import ARCHIVES
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from momagames.analysis.arrays import Array, filter_dominated
from momagames.analysis.indicators import hypervolume
from momagames.reports.figures.drawing import stair_corners
from momagames.reports.figures.theme import style_color

EXPERIMENT, SEED, LEARNER = "pieces against speed", 0, "moppo"
OTHERS = {
    "ntuple": ("pattern tables", "D"),
    "greedy": ("greedy play", "s"),
    "uct": ("tree search", "^"),
    "random": ("random play", "o"),
}


def draw_front() -> Image.Image:
    """Draw the setting from the archive of the suite."""
    archive = read_archive("policies", ARCHIVES["policies"], ())
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10}):
        figure = Figure(figsize=(6, 4), dpi=130, layout="constrained")
        draw_setting(figure.add_subplot(), archive)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB")


def draw_setting(axes: Axes, archive: Archive) -> None:
    panel = next(one for one in archive.panels if one.experiment == EXPERIMENT)
    low = panel.references[SEED].ref
    color, front = style_color(panel.styles[LEARNER]), filter_dominated(panel.points[LEARNER][SEED].values)
    best = front[[(front - low).clip(0).prod(axis=1).argmax()]]
    share = hypervolume(best, low).value / hypervolume(front, low).value
    fill_covered(axes, front, low, color=color, alpha=0.2, lw=0, label=f"covered by the {len(front)} policies of one network")
    alone = f"covered by the best of them alone: {share:.0%}"
    fill_covered(axes, best, low, fc="none", ec=color, hatch="///", lw=0, label=alone)
    axes.plot(front[:, 0], front[:, 1], "o", color=color, ms=6, label=LEARNER)
    for name, (label, marker) in OTHERS.items():
        values = panel.points[name][SEED].values
        axes.plot(values[:, 0], values[:, 1], marker, color=style_color(panel.styles[name]), ms=6, mfc="none", label=label)
    objectives = panel.game.objectives
    axes.set_xlabel(f"{objectives[0].name}: {objectives[0].unit}")
    axes.set_ylabel(f"{objectives[1].name}: {objectives[1].unit}")
    axes.set_title("MO-Breakthrough 6x6 against greedy play and tree search", fontsize=10)
    axes.legend(frameon=False, loc="upper left", fontsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def fill_covered(axes: Axes, front: Array, low: Array, **style: object) -> None:
    """Fill what the points cover above the reference point; its edge has stairs."""
    axes.fill(*np.concatenate([stair_corners(front, low), [low]]).T, **style)
