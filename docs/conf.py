"""Sphinx settings. Build with: sphinx-build -W -q docs docs/_build"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

import momagames  # noqa: E402
from game_pages import write_pages  # noqa: E402

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
autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False


def docstring_as_written(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text: the first paragraph is prose, the rest has aligned columns and stays as it is."""
    end = lines.index("") if "" in lines else len(lines)
    prose, rest = lines[:end], lines[end + 1 :]
    aligned = any("   " in line.strip() for line in prose)
    shown = [] if aligned else [line.replace("\\", "\\\\").replace("*", "\\*").replace("`", "``") for line in prose]
    literal = lines if aligned else rest
    if any(line.strip() for line in literal):
        shown += ["", ".. code-block:: text", "", *("   " + line for line in literal), ""]
    lines[:] = shown


def setup(app: Any) -> None:
    write_pages(HERE / "games")
    app.connect("autodoc-process-docstring", docstring_as_written)
