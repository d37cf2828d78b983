"""The overview: every game by every method, one number each."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Indicators
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import measure
from momagames.reports.text.terminal_tables import frame, span

TOGETHER = 5  # methods beside each other in a terminal; more are told in a table of their own
PROVEN = "="  # marks lines whose front is proven
RATIO, VOLUME = "hypervolume_ratio", "normalized_hypervolume"


@dataclass(frozen=True)
class Line:
    """One comparison in one number for each method.

    panel        its place among those of the report
    indicator    "hypervolume_ratio" where the fronts are proven, else "normalized_hypervolume"
    best         the methods with the highest mean, as it is printed
    """

    panel: int
    title: str
    indicator: str
    scores: Mapping[str, Interval]
    best: frozenset[str]


def overview(panels: Sequence[Panel], wanted: Indicators) -> list[Line]:
    """A line for each primary panel."""
    lines = []
    for place, panel in enumerate(panels):
        if panel.primary and panel.points:
            name = primary_indicator(panel)
            scores = {method: _score(panel, method, name, wanted) for method in panel.points}
            top = max(round(at.value, 3) for at in scores.values())
            best = frozenset(method for method, at in scores.items() if round(at.value, 3) == top)
            lines.append(Line(place, panel.title, name, scores, best))
    return lines


def primary_indicator(panel: Panel) -> str:
    """The share of the reference front's volume where that front is proven for every seed; else the volume as a share of the
    range, which does not depend on what other methods found (apart from a utopia of the reference's)."""
    return RATIO if all(reference.tag == "exact" for reference in panel.references.values()) else VOLUME


def _score(panel: Panel, method: str, name: str, wanted: Indicators) -> Interval:
    known = panel.scores[method].get(name)
    if known:
        return known.interval
    values = [measure(name, points.values, panel.references[seed]).value for seed, points in panel.points[method].items()]
    return bootstrap(values, wanted.confidence, wanted.resamples)


def methods(lines: Sequence[Line]) -> list[str]:
    """All methods, in the order in which they come."""
    return list(dict.fromkeys(method for line in lines for method in line.scores))


def caption(lines: Sequence[Line], wanted: Indicators) -> str:
    """What the numbers are."""
    used = {line.indicator for line in lines}
    told = {
        VOLUME: "normalized hypervolume, the share of the box from reference point to utopia",
        RATIO: f"marked {PROVEN}, hypervolume ratio, the share of the proven front's volume",
    }
    what = "; ".join(text for name, text in told.items() if name in used)
    return (
        f"Mean over runs of the {what}; more is better; * marks the best of a line. {wanted.confidence:.0%} bootstrap "
        "intervals over runs (n). Criterion: SER, the values of mean returns; plans are certain, so that SER and ESR agree."
    )


# ------------------------------------------------------------------------------------------------------------ on the page


def section(lines: Sequence[Line], wanted: Indicators) -> str:
    """The table of the page, which scrolls sideways under a first column that stays."""
    names = methods(lines)
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row"><a href="#p{line.panel}">{html.escape(line.title)}</a> '
        f"{PROVEN if line.indicator == RATIO else ''}</th>{''.join(_cell(line, name) for name in names)}</tr>"
        for line in lines
    )
    return (
        '<section id="overview"><h2>Overview</h2><div class="wide" tabindex="0" role="region" aria-label="Overview">'
        f'<table class="overview"><caption>{html.escape(caption(lines, wanted))}</caption>'
        f"<thead><tr><th>game</th>{head}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _cell(line: Line, method: str) -> str:
    if method not in line.scores:
        return "<td></td>"
    at = line.scores[method]
    below = f"[{at.low:.3f}, {at.high:.3f}] " if at.runs > 1 else ""
    value = f"{at.value:.3f}"
    told = f'<strong>{value}<span aria-label="best">*</span></strong>' if method in line.best else value
    return f"<td>{told}<small>{below}n={at.runs}</small></td>"


# --------------------------------------------------------------------------------------------------------- in a terminal


def tables(lines: Sequence[Line], wanted: Indicators) -> list[RenderableType]:
    """The same in 80 columns: a table for games that have their methods in common, and few methods beside each other."""
    if not lines:
        return []
    made: list[RenderableType] = [Text("overview", "bold")]
    for names in dict.fromkeys(tuple(line.scores) for line in lines):
        for first in range(0, len(names), TOGETHER):
            few = names[first : first + TOGETHER]
            table = frame("", "")
            table.add_column("game", overflow="fold", max_width=28)
            for name in few:
                table.add_column(name, justify="right", overflow="fold")
            for line in lines:
                if tuple(line.scores) == names:
                    title = line.title + (f" {PROVEN}" if line.indicator == RATIO else "")
                    table.add_row(title, *(_text(line, name) for name in few))
            made.append(table)
    return [*made, Text(f"{caption(lines, wanted)}\n", "dim italic")]


def _text(line: Line, method: str) -> Text:
    at = span(line.scores[method])
    return Text.assemble(("*", "bold"), at) if method in line.best else at
