"""Sphinx settings. Build with: sphinx-build -W -q docs docs/_build"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

from game_pages import write_pages  # noqa: E402
from learning_page import PAGES  # noqa: E402
from make_results import update_figures  # noqa: E402
from page_figures import show_images  # noqa: E402
from sphinx.util import logging  # noqa: E402

import momagames  # noqa: E402

project = "momagames"
author = "The momagames authors"
release = version = momagames.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "paper"]
html_theme = "furo"
html_title = f"momagames {release}"
html_static_path = ["_static"] if (HERE / "_static").is_dir() else []
html_css_files = ["results.css"]
smartquotes = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False


def docstring_as_written(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text: paragraphs of prose, and paragraphs with aligned columns, which stay as they are."""
    lines_out: list[str] = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        rows = paragraph.strip("\n").split("\n")
        if any(row.startswith(" ") or "   " in row for row in rows):
            lines_out += [".. code-block:: text", "", *("   " + row for row in rows), ""]
        else:
            escaped = [row.replace("\\", "\\\\").replace("*", "\\*").replace("`", "``") for row in rows]
            lines_out += [re.sub(r"\b(Returns|Raises|Source) {1,2}(?=\S)", r"\1: ", row) for row in escaped] + [""]
    lines[:] = lines_out


def draw_results(app: Any) -> None:
    """Draw the figures of docs/results, and warn about pages that differ from the archive."""
    for name in update_figures(PAGES):
        logging.getLogger(__name__).warning("results/%s differs from the archive: run python docs/make_results.py", name)


def add_figures(app: Any, page: str, source: list[str]) -> None:
    """Add the figures to a page of docs/results."""
    if page.startswith(f"{PAGES.name}/"):
        source[0] = show_images(source[0])


def setup(app: Any) -> None:
    write_pages(HERE / "games")
    app.connect("builder-inited", draw_results)
    app.connect("source-read", add_figures)
    app.connect("autodoc-process-docstring", docstring_as_written)
