"""The report on a folder of results: a table for the terminal and one page for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from momagames.errors import BadFile
from momagames.experiments.analysis import Panel, Score, panels
from momagames.experiments.store import Store, write_whole

# indicator -> (heading, whether more is better, format)
HEADINGS: dict[str, tuple[str, bool | None, str]] = {
    "hypervolume": ("hypervolume", True, ".4g"),
    "normalized_hypervolume": ("normalised HV", True, ".3f"),
    "hypervolume_ratio": ("HV ratio", True, ".3f"),
    "igd_plus": ("IGD+", False, ".3f"),
    "epsilon": ("epsilon+", False, ".3f"),
    "expected_utility": ("expected utility", True, ".3f"),
    "cardinality": ("points", None, ".1f"),
}


@dataclass(frozen=True)
class Report:
    """What `report` made: the page, and the comparisons on it."""

    page: Path
    panels: Sequence[Panel]

    def table(self, every: bool = False) -> Group:
        """The comparisons for a terminal: the primary ones, or every one."""
        return Group(*(_table(panel) for panel in self.panels if every or panel.primary))


def report(folder: str | Path, command: str = "") -> Report:
    """Analyse the results in a folder and write `report.html` there.

    command    how the results were made, for the page
    Raises     BadFile if there is nothing to report on
    """
    from momagames.experiments.page import page

    store = Store(folder)
    suite = store.suite()
    found = panels(store, suite)
    errors = [(run, error) for run in suite.runs() if (error := store.error(run))]
    if not found and not errors:
        raise BadFile(f"{folder}: no run of {suite.name!r} is finished yet; start `momagames bench run` again")
    place = store.folder / "report.html"
    write_whole(place, page(store, suite, found, errors, command))
    return Report(place, found)


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
    return f"{what}; reference: {' or '.join(tags)} front of {size}"


def _table(panel: Panel) -> Table:
    """The scores of a panel in 80 columns: means, with their intervals below; the raw volume is on the page."""
    table = Table(
        title=panel.title,
        title_justify="left",
        title_style="bold",
        caption=caption(panel),
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("method", no_wrap=True)
    table.add_column("runs", justify="right")
    names = [name for name in next(iter(panel.scores.values()), {}) if name != "hypervolume"]
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
    mean, _ = cell(name, score)
    interval = score.interval
    form = ".0f" if name == "cardinality" else ".2f"
    return Text.assemble(mean, (f"\n{interval.low:{form}}–{interval.high:{form}}" if interval.runs > 1 else "", "dim"))
