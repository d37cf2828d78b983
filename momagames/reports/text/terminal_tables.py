"""How tables look in a terminal."""

from __future__ import annotations

import re

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from momagames.analysis.statistics import Interval


def frame(title: str, told: str) -> Table:
    """An empty table with its title above and what is told of it below."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=told,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )


def span(interval: Interval, form: str = ".3f") -> Text:
    """A value with its interval below."""
    return Text.assemble(format(interval.value, form), (bounds(interval, ".2f" if form == ".3f" else form), "dim"))


def bounds(interval: Interval, form: str = ".2f") -> str:
    """The interval for a line of its own, without zeros before the point: ".88–.97"; empty for one run."""
    low, high = (re.sub(r"^(-?)0\.", r"\1.", format(bound, form)) for bound in (interval.low, interval.high))
    return f"\n{low}–{high}" if interval.runs > 1 else ""
