"""Sphinx settings. Build with: sphinx-build -W -q docs docs/_build"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

from game_pages import write_pages  # noqa: E402

import momagames  # noqa: E402

project = "momagames"
author = "The momagames authors"
release = version = momagames.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"momagames {release}"
html_static_path = ["_static"] if (HERE / "_static").is_dir() else []
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


def setup(app: Any) -> None:
    write_pages(HERE / "games")
    app.connect("autodoc-process-docstring", docstring_as_written)
