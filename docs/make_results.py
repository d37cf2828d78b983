"""Writes the pages of docs/results, tables of archived runs; the figures on them are drawn when the site is built.

    python docs/make_results.py                      from benchmarks/fronts/paper.npz.xz and benchmarks/learning/reached.json
    python docs/make_results.py --archive FOLDER     makes that archive of a directory of results first
    python docs/make_results.py --unpack FOLDER      restores that directory instead, for `momagames bench`

Figures need the extra `figures`, archives `analysis`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import learning_page
from learning_page import NAME as LEARNING
from learning_page import PAGES, REACHED, ROOT
from tables import image, table

from momagames.experiments.reports.analysis import Panel
from momagames.experiments.reports.origin import facts
from momagames.experiments.reports.overview import PROVEN, RATIO, Line, caption, methods
from momagames.experiments.reports.papers import Figure, figures, save_figures
from momagames.experiments.reports.reporting import Analysis, analyze, cell, heading
from momagames.experiments.reports.reporting import caption as panel_caption
from momagames.experiments.results.archive import pack_archive, unpack_archive
from momagames.experiments.results.store import Store
from momagames.experiments.science.statistics import Interval

ARCHIVE = ROOT / "benchmarks" / "fronts" / "paper.npz.xz"
DRAWN = ".drawn"  # beside the figures: the hash of all that they were made of
FIGURES = {"front": "Fronts of", "budget": "Hypervolume over the budget of", "crossplay": "Who against whom in"}
TOGETHER = {
    "overview": "Every game by every method",
    "overall": "All games together: interquartile means, and gaps to 1",
    "profiles": "Performance profiles: the share of runs and games above each HV ratio",
}
TITLES = {
    "samegame": "MO-SameGame",
    "breakthrough": "MO-Breakthrough",
    "pommerman": "MO-Pommerman",
    "tileblast": "MO-TileBlast",
    "robotmail": "MO-RoboticMail",
    "evolution": "Trained policies",
}


@dataclass(frozen=True)
class Results:
    """What the pages show.

    texts      name of a page -> its text
    drawings   name of a figure -> figure of an archive
    targets    name of a target -> what was learned (see `learning_page`)
    """

    texts: Mapping[str, str]
    drawings: Mapping[str, Figure]
    targets: Mapping[str, Any]

    def write(self, pages: Path) -> None:
        """Write the pages in place of those that are there."""
        pages.mkdir(exist_ok=True)
        for page in pages.glob("*.md"):
            page.unlink()
        for name, text in self.texts.items():
            (pages / name).write_text(text, encoding="utf-8")

    def draw(self, pages: Path) -> None:
        """Draw the figures in place of those that are there."""
        for figure in pages.glob("*.svg"):
            figure.unlink()
        save_figures(self.drawings, pages, ["svg"])
        for name, target in self.targets.items():
            learning_page.draw(target, pages / f"{LEARNING}-{name}.svg")


def results(archive: Path, learned: Path) -> Results:
    """The pages and figures of an archive and of what was learned."""
    with tempfile.TemporaryDirectory() as place:
        unpack_archive(archive, place)
        store = Store(place)
        suite = store.suite()
        made, lines = analyze(store, suite, primary_only=True), facts(store, suite)
    drawings, targets = figures(made), json.loads(learned.read_text())
    names = {(figure.kind, figure.title): name for name, figure in drawings.items()}
    pages = {family: family_page(family, made, names) for family in families(made)}
    pages |= {"index": first_page(made, names, lines), LEARNING: learning_page.page(targets)}
    texts = {f"{name}.md": "\n".join(page).rstrip("\n") + "\n" for name, page in pages.items()}
    return Results(texts, drawings, targets)


def draw_figures(pages: Path) -> list[str]:
    """Draw the figures of the pages in a folder, unless they are up to date; returns the pages that differ from the archive."""
    parts = [ARCHIVE, REACHED, *pages.glob("*.md"), *ROOT.glob("docs/*.py"), *ROOT.glob("momagames/**/*.py")]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(parts))).hexdigest()
    mark = pages / DRAWN
    if mark.is_file() and mark.read_text() == key:
        return []
    found = results(ARCHIVE, REACHED)
    found.draw(pages)
    there = {page.name: page.read_text(encoding="utf-8") for page in pages.glob("*.md")}
    wrong = sorted(name for name in {*there, *found.texts} if there.get(name) != found.texts.get(name))
    if not wrong:
        mark.write_text(key)
    return wrong


def families(made: Analysis) -> list[str]:
    """The suites of the collection, in their order."""
    return list(dict.fromkeys(family_of(panel.experiment) for panel in made.panels))


def family_of(experiment: str) -> str:
    return experiment.partition(": ")[0]


def first_page(made: Analysis, names: Mapping[tuple[str, str], str], lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (
        "# Results",
        "",
        "What the methods of the package reach in the suite `paper`, with ten seeds: made by `momagames bench run paper`, kept",
        "in `benchmarks/fronts/paper.npz.xz`, and written here by `python docs/make_results.py`; nothing on these pages is",
        "typed by hand. `python docs/make_results.py --unpack FOLDER` restores the results directory for `momagames bench`.",
        "The figures are drawn from the archive when the site is built (`sphinx-build docs docs/_build`).",
        "",
        "```{toctree}",
        ":maxdepth: 1",
        "",
        *families(made),
        LEARNING,
        "```",
        "",
        "## All games",
        "",
        caption(made.overview, made.wanted),
        "",
    )
    for kind, told in TOGETHER.items():
        if name := names.get((kind, "")):
            yield from (image(told, f"{name}.svg"), "")
    for family in families(made):
        own = [line for line in made.overview if family_of(line.title) == family]
        yield from (f"### {TITLES.get(family, family)}", "", *overview_table(own), "")
    yield from ("## Where the numbers come from", "", *table(["", ""], [(name, text) for name, text in lines]), "")


def overview_table(lines: Sequence[Line]) -> Iterator[str]:
    names = methods(lines)
    rows = [
        (
            line.title.partition(": ")[2] + (f" {PROVEN}" if line.indicator == RATIO else ""),
            *(best(line, name) for name in names),
        )
        for line in lines
    ]
    return table(["game", *names], rows)


def best(line: Line, method: str) -> str:
    if method not in line.scores:
        return ""
    told = spelled(line.scores[method])
    return f"**{told}**" if method in line.best else told


def spelled(at: Interval) -> str:
    return f"{at.value:.3f}" + (f" [{at.low:.3f}, {at.high:.3f}]" if at.runs > 1 else "")


def family_page(family: str, made: Analysis, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    yield from (f"# {TITLES.get(family, family)}", "")
    for panel in made.panels:
        if panel.primary and family_of(panel.experiment) == family:
            yield from (
                f"## {panel.title.partition(': ')[2]}",
                "",
                *score_table(panel),
                "",
                f"{sentence(panel_caption(panel))}",
                "",
            )
            for kind, told in FIGURES.items():
                if name := names.get((kind, panel.title)):
                    yield from (image(f"{told} {panel.title}", f"{name}.svg"), "")


def score_table(panel: Panel) -> Iterator[str]:
    names = list(next(iter(panel.scores.values()), {}))
    rows = [
        (method, str(len(panel.points[method])), *(" ".join(cell(name, scores[name])).strip() for name in names))
        for method, scores in panel.scores.items()
    ]
    return table(["method", "runs", *(heading(name) for name in names)], rows)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help="results to archive first")
    parser.add_argument("--unpack", type=Path, metavar="FOLDER", help="where to restore the archived results")
    given = parser.parse_args()
    if given.unpack:
        unpack_archive(ARCHIVE, given.unpack)
        return
    if given.archive:
        pack_archive(given.archive, ARCHIVE)
    results(ARCHIVE, REACHED).write(PAGES)


if __name__ == "__main__":
    main()
