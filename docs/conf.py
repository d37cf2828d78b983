"""Sphinx settings. Build with: sphinx-build -W docs docs/_build

-D compute_results=0    take the pages of results as they are, without computing them and without figures that are not there
"""

from __future__ import annotations

import dataclasses
import gc
import re
import sys
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

gc.disable()  # it takes a quarter of the time of a build, which ends before it needs the memory
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

from command_page import write_command_page  # noqa: E402
from game_pages import write_pages  # noqa: E402
from make_results import ARCHIVES, PAGES, compare_pages, make_results  # noqa: E402
from page_figures import show_images  # noqa: E402
from proven_gallery import write_gallery  # noqa: E402
from release_metadata import list_names, read_citation  # noqa: E402
from sphinx.util import logging  # noqa: E402

import momagames  # noqa: E402
from momagames.contract.titles import join_words  # noqa: E402

project = "momagames"
author = join_words(list_names(read_citation()))
copyright = f"2026, {author}; MIT license"
release = version = momagames.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "paper"]
html_theme = "furo"
html_title = f"momagames {release}"
html_static_path = ["_static"] if (HERE / "_static").is_dir() else []
html_logo, html_favicon = "logo.svg", "logo.svg"
html_css_files = ["results.css"]
smartquotes = False
autodoc_mock_imports = [  # modules of the reference that need them are imported without
    library
    for library in ("stable_baselines3", "torchrl", "tensordict", "torch", "benchmarl", "ray", "textarena", "verifiers")
    if find_spec(library) is None
]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
add_module_names = False
LOGGER = logging.getLogger(__name__)


def escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("`", "``")


def read_columns(rows: list[str]) -> list[tuple[str, str]]:
    """Return names and texts of rows "name    text", whose texts may go on in indented rows; none if they have another form."""
    entries: list[tuple[str, str]] = []
    for row in rows:
        if row.startswith(" ") and entries:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {row.strip()}")
        elif found := re.fullmatch(r"(\S.*?) {2,}(\S.*)", row):
            entries.append((found[1], found[2]))
        else:
            return []
    return entries


def docstring_as_written(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text: paragraphs of prose, and aligned columns of names and their meaning."""
    lines_out: list[str] = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        rows = paragraph.strip("\n").split("\n")
        if columns := read_columns(rows):
            lines_out += [".. list-table::", "   :class: names", "   :widths: auto", ""]
            for term, text in columns:
                lines_out += [f"   * - {escape(term)}", f"     - {escape(text)}"]
            lines_out += [""]
        elif any(row.startswith(" ") or "   " in row for row in rows) or "import " in rows[0]:
            lines_out += [".. code-block:: text", "", *("   " + row for row in rows), ""]
        else:
            lines_out += [re.sub(r"\b(Returns|Raises|Source) {1,2}(?=\S)", r"\1: ", escape(row)) for row in rows] + [""]
    lines[:] = lines_out


def dataclass_signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: Any) -> Any:
    """Show the fields of dataclasses with their types as they are written."""
    if what != "class" or not dataclasses.is_dataclass(obj):
        return None
    parts = []
    for field in dataclasses.fields(obj):
        default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
        if field.default_factory is not dataclasses.MISSING or "<" in default:
            default = " = ..."
        parts.append(f"{field.name}: {field.type}{default}")
    return f"({', '.join(parts)})", returns


def update_results(app: Any) -> None:
    """Draw the figures of docs/results, and warn about pages that differ from the archive."""
    if app.config.compute_results:
        for name in compare_pages(PAGES, make_results(ARCHIVES, PAGES, LOGGER.info)):
            LOGGER.warning("results/%s differs from the archive: run python docs/make_results.py", name)
    else:
        LOGGER.info("results: taken as they are")


def add_figures(app: Any, page: str, source: list[str]) -> None:
    """Add the figures to a page of docs/results."""
    if page.startswith(f"{PAGES.name}/"):
        source[0] = show_images(source[0], None if app.config.compute_results else PAGES)


def setup(app: Any) -> None:
    written = write_pages(HERE / "games"), write_gallery(HERE / "proven-fronts.md"), write_command_page(HERE / "commands.md")
    for name in chain(*written):
        LOGGER.info("%s: written", name)
    app.add_config_value("compute_results", True, "env", bool)
    app.connect("builder-inited", update_results)
    app.connect("source-read", add_figures)
    app.connect("autodoc-process-docstring", docstring_as_written)
    app.connect("autodoc-process-signature", dataclass_signature)
