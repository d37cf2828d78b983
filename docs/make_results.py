"""Write docs/results: the tables and figures of archived runs.

    python docs/make_results.py                      from benchmarks/fronts/paper.tar.xz and benchmarks/learning/results.json
    python docs/make_results.py --archive FOLDER     makes that archive of a results directory first

The archive is a packed results directory of `momagames bench run`; after extraction, every command of `momagames bench`
reads it. Figures need the extra `figures`, packed rows `analysis`.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from learning_page import NAME as LEARNING
from learning_page import PAGES, RESULTS, ROOT, write_learning
from tables import table

from momagames.analysis.statistics import Interval
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import Store
from momagames.reports.data.overview import RATIO, OverviewRow, list_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.run_facts import collect_run_facts
from momagames.reports.figures.paper_figures import figure_names, write_figures
from momagames.reports.report import Report, report
from momagames.reports.text.captions import overview_caption, panel_caption
from momagames.reports.text.labels import EXACT_MARK, format_score, heading

ARCHIVE = ROOT / "benchmarks" / "fronts" / "paper.tar.xz"
ARCHIVED = ("suite.json", "rows.parquet", "runs")  # of a results directory
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


# -------------------------------------------------------------------------------------------------------------- archives


def archive(folder: Path, file: Path) -> None:
    """Pack a results directory into one file, which is equal for equal results."""
    pack(folder)
    paths = [path for name in ARCHIVED for path in sorted([folder / name, *(folder / name).rglob("*")])]
    with tarfile.open(file, "w:xz", preset=9) as tar:
        for path in paths:
            if path.is_file():
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                content = path.read_bytes()
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


# ----------------------------------------------------------------------------------------------------------------- pages


def write_pages(file: Path, learned: Path, pages: Path, figures: bool = True) -> None:
    """Replace all pages by those of an archive and of training results."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with tarfile.open(file) as tar:
            tar.extractall(folder, filter="data")
        made = report(folder, replays=False)
        lines = collect_run_facts(Store(folder), Store(folder).suite())
        shutil.rmtree(pages, ignore_errors=True)
        pages.mkdir()
        if figures:
            write_figures(made, pages, forms=("svg",))
    for family in families(made):
        write(pages / f"{family}.md", family_page(family, made))
    write(pages / "index.md", first_page(made, lines))
    write_learning(learned, pages, figures)


def write(page: Path, lines: Iterable[str]) -> None:
    page.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


def families(made: Report) -> list[str]:
    """Return the suites of the collection in order."""
    return list(dict.fromkeys(family_of(panel.experiment) for panel in made.panels))


def family_of(experiment: str) -> str:
    return experiment.partition(": ")[0]


def first_page(made: Report, lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (
        "# Results",
        "",
        "Results of the methods of the package in the suite `paper` with ten seeds. `momagames bench run paper` computes them,",
        "`benchmarks/fronts/paper.tar.xz` archives them, and `python docs/make_results.py` generates these pages. The",
        "extracted archive is a results directory for `momagames bench report`, `compare` and `replay`.",
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
        overview_caption(made.overview, made.settings),
        "",
    )
    figures = figure_names(made)
    for kind, caption in TOGETHER.items():
        if name := figures.get((kind, "")):
            yield from (f"![{caption}]({name}.svg)", "")
    for family in families(made):
        own = [line for line in made.overview if family_of(line.title) == family]
        yield from (f"### {TITLES.get(family, family)}", "", *overview_table(own), "")
    yield from ("## Provenance", "", *table(["", ""], [(name, text) for name, text in lines]), "")


def overview_table(lines: Sequence[OverviewRow]) -> Iterator[str]:
    names = list_methods(lines)
    rows = [
        (
            line.title.partition(": ")[2] + (f" {EXACT_MARK}" if line.indicator == RATIO else ""),
            *(best(line, name) for name in names),
        )
        for line in lines
    ]
    return table(["game", *names], rows)


def best(line: OverviewRow, method: str) -> str:
    if method not in line.scores:
        return ""
    text = format_interval(line.scores[method])
    return f"**{text}**" if method in line.best else text


def format_interval(at: Interval) -> str:
    return f"{at.value:.3f}" + (f" [{at.low:.3f}, {at.high:.3f}]" if at.runs > 1 else "")


def family_page(family: str, made: Report) -> Iterator[str]:
    figures = figure_names(made)
    yield from (f"# {TITLES.get(family, family)}", "")
    for panel in made.panels:
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
                if name := figures.get((kind, panel.title)):
                    yield from (f"![{caption} {panel.title}]({name}.svg)", "")


def score_table(panel: Panel) -> Iterator[str]:
    names = list(next(iter(panel.scores.values()), {}))
    rows = [
        (method, str(len(panel.points[method])), *(" ".join(format_score(name, scores[name])).strip() for name in names))
        for method, scores in panel.scores.items()
    ]
    return table(["method", "runs", *(heading(name) for name in names)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help="Results directory to archive first.")
    given = parser.parse_args()
    if given.archive:
        archive(given.archive, ARCHIVE)
    write_pages(ARCHIVE, RESULTS, PAGES)


if __name__ == "__main__":
    main()
