"""Pages of results with their figures and folded parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from momagames.reports.figures.paper_figures import Figure, save_figures

IMAGE = re.compile(r"^<!-- (!\[.*\]\((.*)\)) -->$", re.MULTILINE)


@dataclass(frozen=True)
class PageSet:
    """The pages of one archive and their figures.

    texts      name of a page -> its text
    figures    file name without extension -> figure, or a function that draws it into a file
    leaders    game -> method -> number of settings in which it is best; empty for pages that compare within other limits
    facts      provenance for the index: name and value
    """

    texts: Mapping[str, str]
    figures: Mapping[str, Figure | Callable[[Path], None]]
    leaders: Mapping[str, Counter[str]] = field(default_factory=dict)
    facts: Sequence[tuple[str, str]] = ()

    def draw_figures(self, folder: Path) -> None:
        for name, figure in self.figures.items():
            if isinstance(figure, Figure):
                save_figures({name: figure}, folder, ["svg"])
            else:
                figure(folder / f"{name}.svg")


def join_lines(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def image(text: str, file: str) -> str:
    """Return a figure as a comment: its file exists only after the site is built (see `show_images`)."""
    return f"<!-- ![{text}]({file}) -->"


def is_image(line: str) -> bool:
    """Return whether a line is a comment of `image`."""
    return IMAGE.fullmatch(line) is not None


def show_images(page: str, folder: Path | None = None) -> str:
    """Replace the comments of `image` by images; `folder`: only those whose files are in this folder."""
    return IMAGE.sub(lambda match: match[1] if folder is None or (folder / match[2]).is_file() else match[0], page)


def fold(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that are folded under a title."""
    yield from ("<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>", "")
