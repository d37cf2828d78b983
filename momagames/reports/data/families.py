"""The comparisons of a report by families of games: the order of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.panels import Panel


@dataclass(frozen=True)
class Setting:
    """A game of an experiment.

    panel       index of the primary panel
    secondary   indices of the panels of single opponents and seats
    crossplay   index of the head-to-head results; None without
    """

    panel: int
    secondary: tuple[int, ...]
    crossplay: int | None


@dataclass(frozen=True)
class Family:
    """The settings of the games of one title; `place` is the name of its section in links."""

    title: str
    place: str
    settings: tuple[Setting, ...]


def group_by_family(panels: Sequence[Panel], crossplay: Sequence[CrossPlay]) -> list[Family]:
    """Return the families of games in order of appearance."""
    tables = {one.title: index for index, one in enumerate(crossplay)}
    found: dict[str, list[Setting]] = {}
    for index, panel in enumerate(panels):
        if panel.primary:
            same = [
                i
                for i, other in enumerate(panels)
                if not other.primary and (other.experiment, other.canonical) == (panel.experiment, panel.canonical)
            ]
            found.setdefault(panel.game.title, []).append(Setting(index, tuple(same), tables.get(panel.full_heading)))
    return [Family(title, _make_place(title), tuple(settings)) for title, settings in found.items()]


def _make_place(title: str) -> str:
    return "family-" + re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
