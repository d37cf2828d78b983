"""Figures of a trade-off: what a set of learned policies covers (README.md), and what it means (the first page)."""

from __future__ import annotations

import io
from collections.abc import Callable

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
DOMINATED = "greedy"
OTHERS = {
    "ntuple": ("pattern tables", "D"),
    "greedy": ("greedy play", "s"),
    "uct": ("tree search", "^"),
    "random": ("random play", "o"),
}


def draw_front() -> Image.Image:
    """Draw what policies cover in the setting."""
    return draw_figure(draw_setting)


def draw_meaning() -> Image.Image:
    """Draw the policies of one network with what those at both ends do, and a policy that they dominate."""
    return draw_figure(draw_choice)


def draw_figure(draw: Callable[[Axes, Archive], None]) -> Image.Image:
    """Draw a figure from the archive of the suite."""
    archive = read_archive("policies", ARCHIVES["policies"], ())
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10}):
        figure = Figure(figsize=(6, 4), dpi=130, layout="constrained")
        draw(figure.add_subplot(), archive)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB")


def draw_choice(axes: Axes, archive: Archive) -> None:
    panel = next(one for one in archive.panels if one.experiment == EXPERIMENT)
    front = filter_dominated(panel.points[LEARNER][SEED].values)
    front = front[np.argsort(front[:, 0])]
    worse = max(panel.points[DOMINATED][SEED].values, key=np.sum)
    share = np.linspace(0, 1, len(front))
    axes.plot(front[:, 0], front[:, 1], "-", color="0.8", lw=2, zorder=1)
    axes.scatter(front[:, 0], front[:, 1], c=share, cmap="viridis", vmax=1.15, s=130, zorder=2, edgecolors="white")
    axes.plot(*worse, "s", color="0.6", ms=9)
    names = [one.name for one in panel.game.objectives]
    ends = (
        (f"weight on {names[1]}:\nwins late, takes\n{front[0, 1]:.0%} of the pieces", (-12, 0), "right"),
        (f"weight on {names[0]}:\nwins soon, takes\n{front[-1, 1]:.0%} of the pieces", (12, 0), "left"),
    )
    for point, (text, offset, side) in zip((front[0], front[-1]), ends, strict=True):
        axes.annotate(text, point, offset, textcoords="offset points", ha=side, va="center")
    axes.annotate(
        "greedy play: others\nare better in both",
        worse,
        (-10, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        color="0.4",
    )
    axes.annotate(
        "the user's weights\nchoose a policy", front[len(front) // 2], (14, 6), textcoords="offset points", weight="bold"
    )
    axes.set_xlabel(f"{names[0]} \u2192")
    axes.set_ylabel(f"{names[1]} \u2192")
    axes.set_title(f"One network, {len(front)} policies, no single best one", fontsize=11)
    axes.margins(x=0.65, y=0.15)
    axes.tick_params(labelbottom=False, labelleft=False, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


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
