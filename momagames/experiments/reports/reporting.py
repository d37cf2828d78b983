"""The report on a folder of results: a table for the terminal and one page for the browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from momagames.errors import BadFile
from momagames.experiments.plan import Indicators, Suite
from momagames.experiments.reports.aggregate import Aggregate, aggregate, comparable
from momagames.experiments.reports.analysis import Panel, panels
from momagames.experiments.reports.crossplay import CrossPlay, crossplay
from momagames.experiments.reports.crossplay_text import tables as crossplay_tables
from momagames.experiments.reports.frames import bounds, frame, span
from momagames.experiments.reports.overview import Line, overview
from momagames.experiments.reports.overview import tables as overview_tables
from momagames.experiments.reports.scores import Score
from momagames.experiments.results.files import write_whole
from momagames.experiments.results.store import Store
from momagames.experiments.science.episodes import episodes_for

# indicator -> (heading, whether more is better, format)
HEADINGS: dict[str, tuple[str, bool | None, str]] = {
    "hypervolume": ("hypervolume", True, ".4g"),
    "normalized_hypervolume": ("norm. HV", True, ".3f"),
    "hypervolume_ratio": ("HV ratio", True, ".3f"),
    "igd_plus": ("IGD+", False, ".3f"),
    "epsilon": ("epsilon+", False, ".3f"),
    "expected_utility": ("expected utility", True, ".3f"),
    "sampled_utility": ("sampled utility", True, ".3f"),
    "maximum_utility_loss": ("utility loss", False, ".3f"),
    "cardinality": ("points", None, ".1f"),
    "rounded_cardinality": ("points at 0.01", None, ".1f"),
    "sparsity": ("sparsity", None, ".3f"),
}
STATISTIC_HEADINGS = {
    "iqm": "IQM ↑",
    "mean": "mean ↑",
    "median": "median ↑",
    "cvar": "worst quarter ↑",
    "optimality_gap": "gap to 1 ↓",
}
ON_PAGE_ONLY = ("hypervolume", "sampled_utility", "rounded_cardinality", "sparsity")  # 80 columns do not hold everything
GOOD = 0.01  # standard error of a front, as a share of the range, for which captions say what it takes


@dataclass(frozen=True)
class Analysis:
    """The comparisons of a directory of results, and one over all games if there are enough.

    overview     a line for each primary comparison
    crossplay    of each game of policies experiments
    """

    wanted: Indicators
    panels: Sequence[Panel]
    aggregate: Aggregate | None
    overview: Sequence[Line]
    crossplay: Sequence[CrossPlay]

    def table(self, every: bool = False) -> Group:
        """The overview and the comparisons for a terminal: the primary ones, or every one, who does how well against whom,
        and what users of single episodes get; then all games together where methods were run on enough of them."""
        tables: list[RenderableType] = overview_tables(self.overview, self.wanted)
        tables += [_table(panel) for panel in self.panels if every or panel.primary]
        if every:
            tables += [_users(panel) for panel in self.panels if panel.primary and panel.users]
            tables += [table for one in self.crossplay for table in crossplay_tables(one)]
        if self.aggregate:
            tables += [_overall(self.aggregate), *([_pairs(self.aggregate)] if self.aggregate.pairs else [])]
        return Group(*tables)


@dataclass(frozen=True)
class Report(Analysis):
    """What `report` made: the comparisons, and the page that shows them."""

    page: Path


def analyze(store: Store, suite: Suite, tell: Callable[[str], None] | None = None, primary_only: bool = False) -> Analysis:
    """Compare the results in a directory, in all comparisons or the primary ones. `tell` is told how far we are."""
    found = panels(store, suite, tell, primary_only)
    primary = [panel for panel in found if panel.primary]
    wanted = suite.indicators
    overall = aggregate(primary, wanted.confidence, wanted.resamples) if comparable(primary)[0] else None
    met = [one for panel in primary if (one := crossplay(panel, wanted))]
    return Analysis(wanted, found, overall, overview(found, wanted), met)


def report(folder: str | Path, command: str = "", replays: bool = True, tell: Callable[[str], None] | None = None) -> Report:
    """Analyze the results in a directory and write `report.html` there.

    command    how the results were made, for the page
    replays    let the policies behind points play on the page
    tell       is told how far we are
    Raises     BadFile if there is nothing to report on
    """
    from momagames.experiments.reports.page import page
    from momagames.experiments.reports.player import with_player

    store = Store(folder)
    suite = store.suite()
    found = analyze(store, suite, tell)
    errors = [(run, error) for run in suite.runs(store.version()) if (error := store.error(run))]
    if not found.panels and not errors:
        raise BadFile(f"{folder}: no run of {suite.name!r} is finished yet; start `momagames bench run` again")
    place = store.folder / "report.html"
    text = page(store, suite, found.panels, found.aggregate, found.overview, found.crossplay, errors, command)
    write_whole(place, with_player(text, store, found.panels, tell) if replays else text)
    return Report(**vars(found), page=place)


def heading(name: str) -> str:
    """An indicator's name with the direction that is better."""
    text, up, _ = HEADINGS[name]
    return text if up is None else f"{text} {'↑' if up else '↓'}"


def cell(name: str, score: Score) -> tuple[str, str]:
    """A score as its mean and its interval (empty for one run)."""
    form = HEADINGS[name][2]
    interval = score.interval
    mean = ("~" if score.approx else "") + format(interval.value, form)
    return mean, f"[{interval.low:{form}}, {interval.high:{form}}]" if interval.runs > 1 else ""


def count(number: int, noun: str) -> str:
    """ "1 point", "2 points" """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def caption(panel: Panel) -> str:
    """What the numbers of a panel mean."""
    tags = sorted({reference.tag for reference in panel.references.values()})
    sizes = sorted(len(reference.values) for reference in panel.references.values())
    size = count(sizes[0], "point") if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]} points"
    luck = ", found with all draws to come known" if panel.game.chance == "step" else ""
    what = (
        f"each point is the certain return of a plan from the dealt position{luck}"
        if panel.kind == "plans"
        else "each point is a policy's mean return (SER) in games other than those by which it was chosen"
    )
    return "; ".join(filter(None, [what, f"reference: {' or '.join(tags)} front of {size}", _error(panel), _beyond(panel)]))


def _error(panel: Panel) -> str:
    """The standard error of the fronts, and what it would take to have a small one."""
    if panel.kind == "plans":
        return ""
    found = panel.front_error
    if not np.isfinite(found):
        return "one episode of each policy: no standard error"
    text = f"standard error of the points up to {found:.2g} of the range, with {count(panel.episodes, 'episode')} a match"
    needed = episodes_for(GOOD, found, panel.episodes)
    return f"{text}; {GOOD} needs about {_round_up(needed):,}" if needed > panel.episodes else text


def _round_up(number: int) -> int:
    """To two digits: more would pretend to be exact."""
    unit = int(10 ** max(0, len(str(number)) - 2))
    return (number + unit - 1) // unit * unit


def _beyond(panel: Panel) -> str:
    return "some points lie beyond the utopia, where the normalised HV is cut off" if panel.clipped else ""


def _table(panel: Panel) -> Table:
    """The scores of a panel in 80 columns: means, with their intervals below; the page has all indicators."""
    table = frame(panel.title, caption(panel))
    table.add_column("method", no_wrap=True)
    table.add_column("runs", justify="right")
    names = [name for name in next(iter(panel.scores.values()), {}) if name not in ON_PAGE_ONLY]
    for name in names:
        table.add_column(heading(name), justify="right")
    for method, scores in panel.scores.items():
        lost = panel.missing.get(method, 0)
        runs = f"{len(panel.points[method])}" + (f" (-{lost})" if lost else "")
        table.add_row(method, runs, *(_two_lines(name, scores[name]) for name in names))
    for method, lost in panel.missing.items():
        if method not in panel.scores:
            table.add_row(method, f"0 (-{lost})", *[""] * len(names))
    return table


def _two_lines(name: str, score: Score) -> Text:
    return Text.assemble(cell(name, score)[0], (bounds(score.interval, ".0f" if name == "cardinality" else ".2f"), "dim"))


def _users(panel: Panel) -> Table:
    """What users get who live through one episode, beside those of many."""
    told = (
        "utility of normalised returns: ESR is its mean over single episodes, SER that of the mean return; each with the "
        "policy that was best by the games for selection"
    )
    table = frame(f"{panel.title}: users", told)
    table.add_column("method", no_wrap=True)
    for name in next(iter(panel.users.values())):
        table.add_column(name.replace("(", "\n(") + " ↑", justify="right")
    for method, worths in panel.users.items():
        cells = [f"ESR {worth.esr.value:.3f}\nSER {worth.ser.value:.3f}" for worth in worths.values()]
        table.add_row(method, *cells)
    return table


def _overall(found: Aggregate) -> Table:
    intervals = [interval for statistics in found.statistics.values() for interval in statistics.values()]
    warning = f"; {intervals[0].warning}" if intervals[0].warning else ""
    told = f"HV ratios of {count(found.runs, 'run')} on each of {len(found.games)} games, each game alike{warning}"
    table = frame("all games together", told)
    table.add_column("method", no_wrap=True)
    for name in next(iter(found.statistics.values())):
        table.add_column(STATISTIC_HEADINGS[name], justify="right")
    for method, statistics in found.statistics.items():
        table.add_row(method, *(span(interval) for interval in statistics.values()))
    return table


def _pairs(found: Aggregate) -> Table:
    told = "how often a run of the first method beats one of the second, and by how much; p by exchange of runs, after Holm"
    table = frame("pairs of methods", told)
    for name in ("first", "second"):
        table.add_column(name, no_wrap=True)
    for name in ("P(better)", "IQM difference", "p"):
        table.add_column(name, justify="right")
    for (first, second), pair in found.pairs.items():
        table.add_row(first, second, span(pair.improvement), span(pair.difference.interval), f"{pair.p:.2g}")
    return table
