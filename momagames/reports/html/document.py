"""An HTML page with figures that needs no network: plotly.js is part of the page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from momagames.benchmark.plan import canonical_json
from momagames.reports.figures.theme import DARK
from momagames.reports.html.compressed_text import compress
from momagames.wording import show_all_controls

TEMPLATES = files("momagames.reports") / "templates"


def render_document(title: str, body: str, figures: Sequence[dict[str, Any]]) -> str:
    """Return a page.

    body      HTML; figure i is drawn in its element with the id "fi"
    figures   for plotly.js, in light colors
    """
    from plotly.offline import get_plotlyjs

    template = Template((TEMPLATES / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=html.escape(title),
        body=body,
        plotly=compress(get_plotlyjs()),
        picker=(TEMPLATES / "picker.js").read_text(encoding="utf-8"),
        dark=_script_json(DARK),
        figures=compress(canonical_json(show_all_controls(figures))),
    )


def add_figure(
    figures: list[dict[str, Any]], figure: dict[str, Any], title: str, label: str, caption: str, folded: bool = False
) -> str:
    """Append a figure; return its place on the page with title and caption."""
    figures.append(figure)
    place = f'<div class="figure" id="f{len(figures) - 1}" role="group" aria-label="{html.escape(label)}"></div>'
    content = f'{place}<p class="caption">{html.escape(caption)}</p>'
    if folded:
        return f"<details><summary>{html.escape(title)}</summary>{content}</details>"
    return f"<h3>{html.escape(title)}</h3>{content}"


def _script_json(data: Any) -> str:
    """Return JSON that cannot end its script element."""
    return canonical_json(data).replace("</", "<\\/").replace("<!--", "<\\!--")
