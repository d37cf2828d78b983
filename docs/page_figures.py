"""Pages of results: blocks of Markdown (paragraphs, tables, folded parts) with their figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from momagames.reports.figures.paper_figures import Figure, save_figures

IMAGE = re.compile(r"^<!-- (!\[.*\]\((.*)\)) -->$", re.MULTILINE)


@dataclass(frozen=True)
class PageSet:
    """The pages of one archive and their figures.

    texts      name of a page -> its text
    figures    file name without extension -> figure
    leaders    game -> method -> number of settings in which it is best; empty for pages that compare within other limits
    facts      provenance for the index: name and value
    """

    texts: Mapping[str, str]
    figures: Mapping[str, Figure]
    leaders: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    facts: Sequence[tuple[str, str]] = ()

    def draw_figures(self, folder: Path) -> None:
        save_figures(self.figures, folder, ["svg"])


def join_blocks(blocks: Iterable[str]) -> str:
    """Return the text of a page."""
    return "\n\n".join(blocks) + "\n"


def image(text: str, file: str) -> str:
    """Return a figure as a comment: its file exists only after the site is built (see `show_images`)."""
    return f"<!-- ![{text}]({file}) -->"


def is_image(line: str) -> bool:
    """Return whether a line is a comment of `image`."""
    return IMAGE.fullmatch(line) is not None


def show_images(page: str, folder: Path | None = None) -> str:
    """Replace the comments of `image` by images; `folder`: only those whose files are in this folder."""
    return IMAGE.sub(lambda match: match[1] if folder is None or (folder / match[2]).is_file() else match[0], page)


def fold(title: str, blocks: Iterable[str]) -> str:
    """Return blocks that are folded under a title."""
    return "\n\n".join((f"<details>\n<summary>{title}</summary>", *blocks, "</details>"))
