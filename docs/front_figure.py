"""The figure of a Pareto front in README.md: a board of MO-SameGame, its exact front, and the points of four methods."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import momagames
from momagames.baselines import method
from momagames.engine.playouts import generate_starts
from momagames.reports.data.method_styles import assign_numbers
from momagames.reports.figures.theme import REFERENCE_COLOR, style_color

BOARD = {"board_width": 12, "board_height": 12, "num_colors": 2}
INSTANCE, BUDGET = 0, 1_000
METHODS = {
    "random play": ("random", {}, "o"),
    "greedy play": ("greedy", {"divisions": 10}, "s"),
    "local search": ("local_search", {"divisions": 8, "keep": 0.5, "greed": 0.0, "patience": 50}, "D"),
    "beam search": ("beam", {"width": 64, "estimate": "present"}, "^"),
}


def draw_front() -> Image.Image:
    """Run the methods and draw their fronts beside the exact one."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = generate_starts(game, np.array([INSTANCE], np.uint64))
    exact = method("exact")(max_states=3 * 10**8, max_bytes=2**33).plan(game, start, 10**9, 0).values
    exact = exact[np.argsort(exact[:, 0])]
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10}):
        figure = Figure(figsize=(6, 4), dpi=130, layout="constrained")
        axes = figure.add_subplot()
        label = f"exact front ({len(exact)} points)"
        axes.plot(exact[:, 0], exact[:, 1], "-", color=REFERENCE_COLOR, lw=1, marker=".", label=label)
        styles = assign_numbers(name for name, _, _ in METHODS.values())
        for label, (name, options, marker) in METHODS.items():
            values = method(name)(**options).plan(game, start, BUDGET, 0).values
            axes.plot(values[:, 0], values[:, 1], marker, color=style_color(styles[name]), ms=6, mfc="none", label=label)
        axes.set_xlabel("return of color 1")
        axes.set_ylabel("return of color 2")
        axes.set_title(f"MO-SameGame 12x12 with two colors, {BUDGET:,} environment steps", fontsize=10)
        axes.legend(frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB")
