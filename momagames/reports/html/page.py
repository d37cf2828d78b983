"""The report as one HTML page that needs no network: plotly.js is written into it once."""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from momagames.benchmark.plan import Indicators, Run, Suite, canonical_json
from momagames.benchmark.store.store import Store
from momagames.reports.data import overview
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.origin import origin
from momagames.reports.data.overview import OverviewRow
from momagames.reports.data.panels import Panel
from momagames.reports.figures import budgets, charts
from momagames.reports.figures.fronts import figure, spread
from momagames.reports.figures.surfaces import PROJECTED, pairs
from momagames.reports.figures.theme import DARK
from momagames.reports.html import crossplay_section
from momagames.reports.html.compressed_text import packed
from momagames.reports.html.page_tables import overall, reading, users
from momagames.reports.html.pickers import picker
from momagames.reports.report import caption, cell, count, heading

LISTED = 60  # points listed for each method


def page(
    store: Store,
    suite: Suite,
    panels: Sequence[Panel],
    together: Aggregate | None,
    lines: Sequence[OverviewRow],
    met: Sequence[CrossPlay],
    errors: Sequence[tuple[Run, str]],
    command: str,
) -> str:
    """The whole page."""
    from plotly.offline import get_plotlyjs

    template = Template((files("momagames.reports") / "templates" / "page.html").read_text(encoding="utf-8"))
    figures = [figure(panel) for panel in panels]  # what more there is comes behind these, in any order
    contents = [(f"p{i}", panel.title) for i, panel in enumerate(panels)]
    sections = [_panel(i, panel, suite.indicators, figures) for i, panel in enumerate(panels)]
    for number, one in enumerate(met):
        figures.append(crossplay_section.figure(one))
        contents.append((f"x{number}", f"who against whom: {one.title}"))
        sections.append(crossplay_section.section(one, number, len(figures) - 1, figures[-1]["views"]))
    if together:
        contents.insert(0, ("overall", "all games together"))
        sections.insert(0, overall(together, len(figures)))
        figures += [charts.overall(together), charts.profiles(together)]
    runs = suite.runs(store.version())
    done = sum(store.has(run) for run in runs)
    return template.substitute(
        name=html.escape(suite.name),
        description=html.escape(suite.description),
        counts=html.escape(_counts(len(runs), done, errors)),
        contents="".join(f'<li><a href="#{place}">{html.escape(title)}</a></li>' for place, title in contents),
        overview=overview.section(lines, suite.indicators) if lines else "",
        panels="".join(sections),
        errors="".join(_error(run, text) for run, text in errors),
        provenance=origin(store, suite, command),
        reading=html.escape(_reading(suite)),
        columns=reading(suite, any(panel.user_utilities for panel in panels), together is not None, bool(met)),
        plotly=packed(get_plotlyjs()),
        picker=(files("momagames.reports") / "templates" / "picker.js").read_text(encoding="utf-8"),
        dark=_script(DARK),
        figures=packed(canonical_json(figures)),
    )


def _script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return canonical_json(data).replace("</", "<\\/").replace("<!--", "<\\!--")


def _counts(whole: int, done: int, errors: Sequence[tuple[Run, str]]) -> str:
    text = f"{done} of {whole} runs finished"
    return text + (f", {len(errors)} failed" if errors else "")


def _panel(number: int, panel: Panel, settings: Indicators, figures: list[dict[str, Any]]) -> str:
    """The section of a panel; `figures` takes up those that it has besides its fronts."""
    few = [m for m, points in panel.points.items() if len(points) < 10]
    told = caption(panel)
    warning = " Fewer than 10 runs: the intervals are too narrow." if few else ""
    goals = panel.game.objectives
    return f"""
<section id="p{number}">
<h2>{html.escape(panel.title)}</h2>
<p class="id">{html.escape(panel.canonical)}</p>
{picker(number, figures[number]["views"], goals if len(goals) > 2 else ())}
<div class="figure" id="f{number}" role="group" aria-label="Fronts of {html.escape(panel.title)}; see its lists of points">
</div>
{_scores(panel)}
<p class="caption">{html.escape(told[0].upper() + told[1:])}.{warning}</p>
{_pairs(panel, figures)}
{_curves(panel, wanted, figures)}
{users(panel, wanted)}
{_lists(panel)}
</section>"""


def _pairs(panel: Panel, figures: list[dict[str, Any]]) -> str:
    drawn = pairs(panel)
    return _more(figures, drawn, "Pairs of objectives", "Median surfaces in pairs of objectives", PROJECTED) if drawn else ""


def _curves(panel: Panel, settings: Indicators, figures: list[dict[str, Any]]) -> str:
    found = budgets.curves(panel, settings)
    if not found:
        return ""
    drawn = budgets.figure(found, {method: style for style, method in enumerate(panel.points)})
    return _more(
        figures, drawn, "Over the budget", "What had been found by each point of the budget", budgets.caption(panel, settings)
    )


def _more(figures: list[dict[str, Any]], drawn: dict[str, Any], title: str, label: str, told: str) -> str:
    """A further figure of a section, with its caption."""
    figures.append(drawn)
    place = f'<div class="figure" id="f{len(figures) - 1}" role="group" aria-label="{html.escape(label)}"></div>'
    return f'<h3>{html.escape(title)}</h3>{place}<p class="caption">{html.escape(told)}</p>'


def _scores(panel: Panel) -> str:
    names = list(next(iter(panel.scores.values()), {}))
    head = "".join(f'<th scope="col">{html.escape(heading(name))}</th>' for name in names)
    lines = []
    for method, scores in panel.scores.items():
        cells = ""
        for name in names:
            mean, span = cell(name, scores[name])
            cells += f"<td>{mean}<small>{span}</small></td>"
        lost = panel.missing_runs.get(method, 0)
        runs = f"{len(panel.points[method])}" + (f" <small>{lost} missing</small>" if lost else "")
        lines.append(
            f"<tr><th>{html.escape(method)}</th><td>{runs}</td>{cells}<td>{panel.median_seconds[method]:.2f}</td></tr>"
        )
    for method, lost in panel.missing_runs.items():
        if method not in panel.scores:
            lines.append(
                f'<tr><th>{html.escape(method)}</th><td colspan="{len(names) + 2}">{count(lost, "run")} missing</td></tr>'
            )
    body = "\n".join(lines)
    top = f"<tr><th>method</th><th>runs</th>{head}<th>median s / run</th></tr>"
    return f'<div class="wide" tabindex="0"><table>{top}{body}</table></div>'


def _lists(panel: Panel) -> str:
    """The points behind the figure, for the first seed of each method."""
    parts = []
    for method, by_seed in panel.points.items():
        seed = min(by_seed)
        points = by_seed[seed]
        head = "".join(f"<th>{html.escape(o.name)}</th>" for o in panel.game.objectives)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{spread(v, e)}</td>" for v, e in zip(value, error, strict=True))
            + f'<td class="what">{html.escape(label)}</td></tr>'
            for value, error, label in list(zip(points.values.tolist(), points.errors.tolist(), points.labels, strict=True))[
                :LISTED
            ]
        )
        more = f" (the first {LISTED})" if len(points.values) > LISTED else ""
        parts.append(
            f"<details><summary>{html.escape(method)}: {count(len(points.values), 'point')} of seed {seed}{more}</summary>"
            f'<div class="wide" tabindex="0"><table><tr>{head}<th>policy or plan</th></tr>{body}</table></div></details>'
        )
    return "".join(parts)


def _error(run: Run, text: str) -> str:
    return (
        f"<details open><summary>{html.escape(run.method.name)}, seed {run.seed}, {html.escape(run.canonical)}</summary>"
        f"<pre>{html.escape(text)}</pre></details>"
    )


def _reading(suite: Suite) -> str:
    settings = suite.indicators
    return (
        f"Every objective is maximized. Numbers are means over runs (one seed each) with a {wanted.confidence:.0%} bootstrap "
        f"interval. Volumes reach down to the declared reference point, moved outwards by {wanted.margin:.0%} of the range, "
        "so that extreme points count; the range ends at the declared bound of each objective, or at the best of the "
        "reference front, as the suite says. The HV ratio is the share of the reference front's volume. IGD+, epsilon, "
        "expected utility and the normalized volume use shares of that range. A ~ marks an estimated volume. "
        "An exact reference is proven; a best-known one is the union of what the methods here found, and says "
        "nothing about what is possible."
    )
