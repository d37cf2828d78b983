"""Style of tables in the terminal."""

from __future__ import annotations

import re

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from momagames.analysis.statistics import Interval


def new_table(title: str, caption: str) -> Table:
    """Return an empty table with its title above and its caption below."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )


def format_interval(interval: Interval, form: str = ".3f") -> Text:
    """Return a value with its interval in the line below."""
    return Text.assemble(format(interval.value, form), (format_bounds(interval, ".2f" if form == ".3f" else form), "dim"))


def format_bounds(interval: Interval, form: str = ".2f") -> str:
    """Return the bounds in a line of their own, without leading zeros: ".88–.97"; empty without a width."""
    low, high = (re.sub(r"^(-?)0\.", r"\1.", format(bound, form)) for bound in (interval.low, interval.high))
    return f"\n{low}–{high}" if interval.has_width else ""
