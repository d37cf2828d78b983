"""Figure of a head-to-head setting: ratings with intervals, and the matrix of wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momagames.reports.data.head_to_head import HeadToHeadScores
from momagames.reports.figures.paper_plots import DARK_BELOW, error_bars, marker_style, new_axes, wrap_opponent_name


def plot_head_to_head(scores: HeadToHeadScores, styles: Mapping[str, int]) -> Any:
    """Plot the ratings of the players, best first, and the share of games that each wins against each."""
    players = sorted(scores.players, key=lambda player: -scores.ratings[player].value)
    count = len(players)
    figure, (rating, matrix) = new_axes(3.0 + 0.55 * count, 1.3 + 0.36 * count, 2)
    figure.get_layout_engine() or figure.set_layout_engine("constrained")
    for row, player in enumerate(players):
        at = scores.ratings[player]
        rating.errorbar([at.value], [row], xerr=error_bars(at), **{**marker_style(styles[player]), "capsize": 3})
    rating.set_yticks(range(count), players)
    rating.set_ylim(count - 0.5, -0.5)
    rating.set_xlabel("rating (Elo points)")
    values = np.array([[scores.wins[a, b].value for b in players] for a in players])
    matrix.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    matrix.grid(False)
    for i in range(count):
        for j in range(count):
            color = "white" if values[i, j] < DARK_BELOW else "black"
            matrix.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", color=color, fontsize=7)
    matrix.set_xticks(range(count), [wrap_opponent_name(player) for player in players], rotation=45, ha="right", fontsize=8)
    matrix.set_title("share of games won by the row" if scores.two_sided else "share of games won by the row alone", fontsize=9)
    return figure
