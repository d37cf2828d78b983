"""The report as one HTML page that needs no network: plotly.js is written into it once."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from momagames.experiments.plan import Run, Suite, canonical_json
from momagames.experiments.reports import charts
from momagames.experiments.reports.aggregate import Aggregate
from momagames.experiments.reports.analysis import Panel
from momagames.experiments.reports.figures import figure, spread
from momagames.experiments.reports.looks import DARK
from momagames.experiments.reports.page_tables import overall, reading, users
from momagames.experiments.reports.reporting import caption, cell, count, heading
from momagames.experiments.results.store import Store

LISTED = 60  # points listed for each method


def page(
    store: Store,
    suite: Suite,
    panels: Sequence[Panel],
    together: Aggregate | None,
    errors: Sequence[tuple[Run, str]],
    command: str,
) -> str:
    """The whole page."""
    from plotly.offline import get_plotlyjs

    template = Template((files("momagames.experiments") / "page.html").read_text(encoding="utf-8"))
    figures = [figure(panel) for panel in panels]
    contents = [(f"p{i}", panel.title) for i, panel in enumerate(panels)]
    sections = [_panel(i, panel, figures[i]["views"]) for i, panel in enumerate(panels)]
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
        panels="".join(sections),
        errors="".join(_error(run, text) for run, text in errors),
        provenance=_provenance(store, suite, command),
        reading=html.escape(_reading(suite)),
        columns=reading(suite, any(panel.users for panel in panels), together is not None),
        plotly=get_plotlyjs(),
        dark=_script(DARK),
        figures=_script(figures),
    )


def _script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return canonical_json(data).replace("</", "<\\/").replace("<!--", "<\\!--")


def _counts(whole: int, done: int, errors: Sequence[tuple[Run, str]]) -> str:
    text = f"{done} of {whole} runs finished"
    return text + (f", {len(errors)} failed" if errors else "")


def _panel(number: int, panel: Panel, views: Sequence[dict[str, Any]]) -> str:
    few = [m for m, points in panel.points.items() if len(points) < 10]
    told = caption(panel)
    warning = " Fewer than 10 runs: the intervals are too narrow." if few else ""
    return f"""
<section id="p{number}">
<h2>{html.escape(panel.title)}</h2>
<p class="id">{html.escape(panel.canonical)}</p>
{_picker(number, views)}
<div class="figure" id="f{number}" role="group" aria-label="Fronts of {html.escape(panel.title)}; see its lists of points">
</div>
{_scores(panel)}
<p class="caption">{html.escape(told[0].upper() + told[1:])}.{warning}</p>
{users(panel)}
{_lists(panel)}
</section>"""


def _picker(number: int, views: Sequence[dict[str, Any]]) -> str:
    """A list from which to choose what the figure shows; an element of the page, so that keys and screen readers reach it."""
    if not views:
        return ""
    options = "".join(f'<option value="{i}">{html.escape(view["label"])}</option>' for i, view in enumerate(views))
    return f'<p class="picker"><label>show <select data-figure="{number}">{options}</select></label></p>'


def _scores(panel: Panel) -> str:
    names = list(next(iter(panel.scores.values()), {}))
    head = "".join(f'<th scope="col">{html.escape(heading(name))}</th>' for name in names)
    lines = []
    for method, scores in panel.scores.items():
        cells = ""
        for name in names:
            mean, span = cell(name, scores[name])
            cells += f"<td>{mean}<small>{span}</small></td>"
        lost = panel.missing.get(method, 0)
        runs = f"{len(panel.points[method])}" + (f" <small>{lost} missing</small>" if lost else "")
        lines.append(f"<tr><th>{html.escape(method)}</th><td>{runs}</td>{cells}<td>{panel.seconds[method]:.2f}</td></tr>")
    for method, lost in panel.missing.items():
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


def _provenance(store: Store, suite: Suite, command: str) -> str:
    """Versions, machines, times and the suite itself."""
    sealed = [store.metadata(run) for run in suite.runs(store.version()) if store.has(run)]
    facts: dict[str, set[str]] = {}
    for data in sealed:
        packages = ", ".join(f"{name} {version}" for name, version in data["packages"].items())
        machine = data["machine"]
        for name, value in (
            ("momagames", data["momagames"]),
            ("commit", data["commit"] or "unknown"),
            ("Python", data["python"]),
            ("packages", packages),
            ("machine", f"{machine['processor']}, {machine['cores']} cores, {machine['system']} {machine['architecture']}"),
        ):
            facts.setdefault(name, set()).add(value)
    lines = [(name, "; ".join(sorted(values))) for name, values in facts.items()]
    if sealed:
        lines.append(("runs started", f"{min(d['started'] for d in sealed)} to {max(d['started'] for d in sealed)}"))
        lines.append(
            ("time of all runs", f"{sum(d['wall_s'] for d in sealed):.1f} s, CPU {sum(d['cpu_s'] for d in sealed):.1f} s")
        )
        lines.append(("steps of the engine", f"{sum(d['facts'].get('steps', 0) for d in sealed):,}"))
    if command:
        lines.append(("command", command))
    for experiment in suite.experiments:
        budget = f", budget {experiment.budget:,} steps a run" if experiment.kind == "plans" else ""
        lines.append((f"seeds of {experiment.name}", f"{', '.join(map(str, experiment.seeds))}{budget}"))
    table = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in lines)
    whole = html.escape(json.dumps(suite.model_dump(mode="json"), indent=1))
    return f"""<table class="facts">{table}</table>
<h3>To repeat it</h3>
<p>Save the suite below as <code>{html.escape(suite.name)}.yaml</code>, then:</p>
<pre id="repeat">{html.escape(_repeat(store, suite))}</pre>
<details><summary>the suite</summary><pre id="suite">{whole}</pre></details>"""


def _repeat(store: Store, suite: Suite) -> str:
    """The commands that make this page again, on any machine."""
    return "\n".join(
        [
            f"pip install momagames=={store.version()}",
            f"momagames bench run {suite.name}.yaml --out {suite.name}",
            f"momagames bench report {suite.name}",
        ]
    )


def _reading(suite: Suite) -> str:
    wanted = suite.indicators
    return (
        f"Every objective is maximised. Numbers are means over runs (one seed each) with a {wanted.confidence:.0%} bootstrap "
        f"interval. Volumes reach down to the declared reference point, moved outwards by {wanted.margin:.0%} of the range, "
        "so that extreme points count; the range ends at the declared bound of each objective, or at the best of the "
        "reference front, as the suite says. The HV ratio is the share of the reference front's volume. IGD+, epsilon, "
        "expected utility and the normalised volume use shares of that range. A ~ marks an estimated volume. "
        "An exact reference is proven; a best-known one is the union of what the methods here found, and says "
        "nothing about what is possible."
    )
