"""An HTML page with figures that needs no network: plotly.js is part of the page."""

from __future__ import annotations

import base64
import html
import zlib
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from momagames.files.json_data import canonical_json
from momagames.reports.figures.theme import DARK
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


def compress(text: str) -> str:
    """Return zlib-compressed text as base64, a quarter of its size, which cannot contain the end tag of its element."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _script_json(data: Any) -> str:
    """Return JSON that cannot end its script element."""
    return canonical_json(data).replace("</", "<\\/").replace("<!--", "<\\!--")
