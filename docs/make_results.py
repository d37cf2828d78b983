"""Write the pages of docs/results: tables of archived runs. Their figures are drawn when the site is built.

    python docs/make_results.py                      from the archives in benchmarks/fronts and benchmarks/learning/results.json
    python docs/make_results.py --archive FOLDER     archive this results directory first
    python docs/make_results.py --unpack FOLDER      restore the archived results directory for `momagames bench`; write no page
    ... --suite NAME                                 that archive instead of the one of the suite paper

Figures need the extra `figures`, archives the extra `analysis`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import generalization_page
import head_to_head_page
import plans_page
import track_page
from archives import open_archive
from learning_page import NAME as LEARNING
from learning_page import PAGES, RESULTS, ROOT, draw_curves, format_page
from page_figures import image
from track_page import Track, score_table

from momagames.analysis.statistics import Interval
from momagames.benchmark.store.archive_file import pack_archive, unpack_archive
from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.paper_figures import Figure, list_figures, save_figures
from momagames.reports.text.captions import overview_caption, panel_caption
from momagames.reports.text.labels import EXACT_MARK
from momagames.reports.text.markdown_tables import markdown_table

TRACKS = {  # suites with a page of their own -> the function that makes it
    "policies": track_page.make_track,
    "plans": plans_page.make_track,
    "head_to_head": head_to_head_page.make_track,
    "generalization": generalization_page.make_track,
}
LEAN = ("policies", "plans", "head_to_head")  # suites whose archives have no trained policies, which are larger than all rows
ARCHIVES = {suite: ROOT / "benchmarks" / "fronts" / f"{suite}.npz.xz" for suite in ("paper", *TRACKS)}
DIGEST = ".digest"  # file beside the figures: the hash of everything that they depend on
FIGURES = {"front": "Fronts of", "anytime": "Anytime performance in", "crossplay": "Head-to-head results in"}
TOGETHER = {
    "overview": "Scores of every method in every game",
    "overall": "All games: interquartile means and optimality gaps",
    "profiles": "Performance profiles: share of the scores above each HV ratio",
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
    """Pages of results with their figures.

    texts      file name of a page -> its text
    figures    file name without extension -> figure of an archive
    targets    name of a training target -> its runs (see `learning_page`)
    """

    texts: Mapping[str, str]
    figures: Mapping[str, Figure]
    targets: Mapping[str, Any]

    def write_pages(self, folder: Path) -> None:
        """Write the pages and remove all others from the folder."""
        folder.mkdir(exist_ok=True)
        for page in folder.glob("*.md"):
            page.unlink()
        for name, text in self.texts.items():
            (folder / name).write_text(text, encoding="utf-8")

    def draw_figures(self, folder: Path) -> None:
        """Draw the figures and remove all others from the folder."""
        for figure in folder.glob("*.svg"):
            figure.unlink()
        save_figures(self.figures, folder, ["svg"])
        for name, target in self.targets.items():
            draw_curves(target, folder / f"{LEARNING}-{name}.svg")


def make_results(archives: Mapping[str, Path], learning: Path) -> Results:
    """Make the pages and figures of the archives, by suite, and of training results; tracks may be missing."""
    tracks = [make(name, archives[name]) for name, make in TRACKS.items() if name in archives]
    with open_archive(archives["paper"]) as paper:
        data, facts = paper.data, paper.facts
    figures, targets = list_figures(data), json.loads(learning.read_text())
    names = {(figure.kind, figure.title): name for name, figure in figures.items()}
    pages = {family: list(family_page(family, data, names)) for family in families(data)}
    pages |= {"index": list(first_page(data, names, facts, tracks)), LEARNING: list(format_page(targets))}
    texts = {f"{name}.md": "\n".join(lines).rstrip("\n") + "\n" for name, lines in pages.items()}
    for track in tracks:
        texts[f"{track.name}.md"] = track.text
        figures |= track.figures
    return Results(texts, figures, targets)


def update_figures(folder: Path) -> list[str]:
    """Draw the figures of the pages in a folder unless they are up to date; return the pages that differ from the archive."""
    inputs = [*ARCHIVES.values(), RESULTS, *folder.glob("*.md"), *ROOT.glob("docs/*.py"), *ROOT.glob("momagames/**/*.py")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(inputs))).hexdigest()
    file = folder / DIGEST
    if file.is_file() and file.read_text() == digest:
        return []
    results = make_results(ARCHIVES, RESULTS)
    results.draw_figures(folder)
    pages = {page.name: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}
    different = sorted(name for name in {*pages, *results.texts} if pages.get(name) != results.texts.get(name))
    if not different:
        file.write_text(digest)
    return different


def families(data: ReportData) -> list[str]:
    """Return the suites of the collection, in their order."""
    return list(dict.fromkeys(family_of(panel.experiment) for panel in data.panels))


def family_of(experiment: str) -> str:
    return experiment.partition(": ")[0]


def first_page(
    data: ReportData, names: Mapping[tuple[str, str], str], facts: Sequence[tuple[str, str]], tracks: Sequence[Track]
) -> Iterator[str]:
    yield from (
        "# Results",
        "",
        "Results of the package's methods in the suite `paper` with ten seeds. The runs were made by",
        "`momagames bench run paper` and are archived in `benchmarks/fronts/paper.npz.xz`. `python docs/make_results.py`",
        "writes all pages of this section. `python docs/make_results.py --unpack FOLDER` restores the results directory for",
        "`momagames bench report`, `compare` and `replay`. The figures are drawn when the site is built",
        "(`sphinx-build docs docs/_build`). Each run of the tests computes another random sample of the archived rows again",
        "(`pytest --long tests/test_archived_rows.py`).",
        "",
        "```{toctree}",
        ":maxdepth: 1",
        "",
        *(track.name for track in tracks),
        *families(data),
        LEARNING,
        "```",
        "",
        "## All games",
        "",
        overview_caption(data.overview, data.settings),
        "",
    )
    for kind, caption in TOGETHER.items():
        if name := names.get((kind, "")):
            yield from (image(caption, f"{name}.svg"), "")
    for family in families(data):
        rows = [row for row in data.overview if family_of(row.title) == family]
        yield from (f"### {TITLES.get(family, family)}", "", *overview_table(rows), "")
    yield from ("## Provenance", "", *markdown_table(["", ""], facts), "")


def overview_table(rows: Sequence[OverviewRow]) -> Iterator[str]:
    methods = list_methods(rows)
    cells = [
        (
            row.title.partition(": ")[2] + (f" {EXACT_MARK}" if row.is_exact else ""),
            *(format_cell(row, method) for method in methods),
        )
        for row in rows
    ]
    return markdown_table(["game", *methods], cells)


def format_cell(row: OverviewRow, method: str) -> str:
    if method not in row.scores:
        return ""
    text = format_interval(row.scores[method])
    return f"**{text}**" if method in row.best else text


def format_interval(at: Interval) -> str:
    return f"{at.value:.3f}" + (f" [{at.low:.3f}, {at.high:.3f}]" if at.runs > 1 else "")


def family_page(family: str, data: ReportData, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    yield from (f"# Results: {TITLES.get(family, family)}", "")
    for panel in data.panels:
        if panel.primary and family_of(panel.experiment) == family:
            yield from (
                f"## {panel.title.partition(': ')[2]}",
                "",
                *score_table(panel),
                "",
                panel_caption(panel),
                "",
            )
            for kind, caption in FIGURES.items():
                if name := names.get((kind, panel.title)):
                    yield from (image(f"{caption} {panel.title}", f"{name}.svg"), "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help="results directory to archive first")
    parser.add_argument("--unpack", type=Path, metavar="FOLDER", help="directory for the restored results")
    parser.add_argument("--suite", choices=ARCHIVES, default="paper", help="suite of the archive (paper)")
    args = parser.parse_args()
    if args.unpack:
        unpack_archive(ARCHIVES[args.suite], args.unpack)
        return
    if args.archive:
        pack_archive(args.archive, ARCHIVES[args.suite], policies=args.suite not in LEAN)
    make_results(ARCHIVES, RESULTS).write_pages(PAGES)


if __name__ == "__main__":
    main()
