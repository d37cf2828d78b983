"""Write the pages of docs/results: tables of archived runs. Their figures are drawn when the site is built.

    python docs/make_results.py                      from the archives in benchmarks/fronts and benchmarks/learning/results.json
    python docs/make_results.py --archive FOLDER     archive this results directory of one of the suites first
    python docs/make_results.py --unpack FOLDER      restore the archived results directory for `momagames bench`; write no page
    ... --suite NAME                                 that archive instead of the one of the suite paper

Figures need the extra `figures`, archives the extra `analysis`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import generalization_page
import head_to_head_page
import morl_page
import plans_page
import track_page
from archives import open_archive
from family_page import FIGURES as PANEL_FIGURES
from family_page import format_family, list_families, make_overview_figure
from learning_page import NAME as LEARNING
from learning_page import PAGES, RESULTS, ROOT, draw_curves, format_page
from page_figures import fold, is_image
from track_page import Track

from momagames.benchmark.executors.processes import count_cores
from momagames.benchmark.store.archive_file import pack_archive, unpack_archive
from momagames.benchmark.store.store import Store
from momagames.errors import invalid_value, nearest, one_of
from momagames.reports.figures.paper_figures import Figure, list_figures, save_figures
from momagames.reports.text.markdown_tables import markdown_table

TRACKS = {  # suites with a page of their own -> the function that makes it
    "policies": track_page.make_track,
    "plans": plans_page.make_track,
    "head_to_head": head_to_head_page.make_track,
    "generalization": generalization_page.make_track,
    "morl": morl_page.make_track,
}
# suites whose archives have no trained policies, which are larger than all rows
LEAN = ("policies", "plans", "head_to_head", "morl")
ARCHIVES = {suite: ROOT / "benchmarks" / "fronts" / f"{suite}.npz.xz" for suite in ("paper", *TRACKS)}
DIGEST = ".digest"  # file beside the figures: the hash of everything that they depend on


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
    with ProcessPoolExecutor(count_cores(), get_context("spawn")) as pool:  # polars may deadlock after a fork
        tasks = [pool.submit(make, name, archives[name]) for name, make in TRACKS.items() if name in archives]
        with open_archive(archives["paper"]) as paper:
            data, facts = paper.data, paper.facts
        tracks = [task.result() for task in tasks]
    targets, families = json.loads(learning.read_text()), list_families(data)
    figures = {name: figure for name, figure in list_figures(data).items() if figure.kind in PANEL_FIGURES}
    figures |= {f"overview-{family}": make_overview_figure(family, data) for family in families}
    names = {(figure.kind, figure.title): name for name, figure in figures.items()}
    pages = {family: list(format_family(family, data, names)) for family in families}
    pages[LEARNING] = list(format_page(targets))
    texts = {name: join_lines(lines) for name, lines in pages.items()}
    for track in tracks:
        texts[track.name] = track.text
        figures |= track.figures
    order = [*(track.name for track in tracks), *families, LEARNING]
    texts["index"] = join_lines(first_page(texts, order, tracks, facts))
    return Results({f"{name}.md": text for name, text in texts.items()}, figures, targets)


def join_lines(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


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


def first_page(
    texts: Mapping[str, str], order: Sequence[str], tracks: Sequence[Track], facts: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield the lines of the index: the best methods, title and message of each page, and how the pages are made."""
    yield from (
        "# Results",
        "",
        "What the package's methods reach, in short; each title leads to figures and tables. Where nothing else is named,",
        "scores are hypervolume ratios: the hypervolume of what a method finds, divided by that of the exact front or of the",
        "best one that is known. A setting is a game with its parameters, objectives and opponents. A policy acts on what an",
        "agent observes; a plan is a list of actions from one position. [Benchmark](../benchmark.md#methods) explains the",
        "methods, `champion` is the [trained policy of the package](../training.md#champions), and the",
        "[glossary](../glossary.md) has the other words.",
        "",
    )
    yield from leader_table([track for track in tracks if track.leaders])
    for name in order:
        title, message = texts[name].split("\n\n")[:2]
        yield from (f"**[{title.removeprefix('# ')}]({name}.md)**: {message}", "")
        if name in TRACKS and (figure := next(filter(is_image, texts[name].splitlines()), "")):
            yield from (figure, "")
    yield from (
        "```{toctree}",
        ":hidden:",
        "",
        *order,
        "```",
        "",
        "## How the pages are made",
        "",
        "The results of the games are those of the suite `paper` with ten seeds. The runs were made by",
        "`momagames bench run paper` and are archived in `benchmarks/fronts/paper.npz.xz`. `python docs/make_results.py`",
        "writes all pages of this section. `python docs/make_results.py --unpack FOLDER` restores the results directory for",
        "`momagames bench report`, `compare` and `replay`. The figures are drawn when the site is built",
        "(`sphinx-build docs docs/_build`). Each run of the tests computes another random sample of the archived rows again",
        "(`pytest --long tests/test_archived_rows.py`).",
        "",
        *fold("Provenance of the suite paper", markdown_table(["", ""], facts)),
    )


def leader_table(tracks: Sequence[Track]) -> Iterator[str]:
    """Yield a table of the methods that lead in each track, by game."""
    games = dict.fromkeys(game for track in tracks for game in track.leaders)
    heads = [f"[{track.text.splitlines()[0].removeprefix('# ').rpartition(': ')[2]}]({track.name}.md)" for track in tracks]
    rows = [(game, *(describe_leaders(track.leaders.get(game, Counter())) for track in tracks)) for game in games]
    yield from (
        "Methods with the best mean, and in how many settings of a game:",
        "",
        *markdown_table(["game", *heads], rows),
        "",
    )


def describe_leaders(leaders: Counter[str]) -> str:
    return ", ".join(f"`{method}` {number} of {leaders.total()}" for method, number in leaders.most_common()) or "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help="results directory of a suite to archive first")
    parser.add_argument("--unpack", type=Path, metavar="FOLDER", help="directory for the restored results")
    parser.add_argument("--suite", choices=ARCHIVES, default="paper", help="suite to restore (paper)")
    args = parser.parse_args()
    if args.unpack:
        unpack_archive(ARCHIVES[args.suite], args.unpack)
        return
    if args.archive:
        name = Store(args.archive).read_suite().name
        if name not in ARCHIVES:
            parser.error(f"{args.archive}: {invalid_value('suite', name, one_of(ARCHIVES), nearest(name, ARCHIVES))}")
        pack_archive(args.archive, ARCHIVES[name], policies=name not in LEAN)
    make_results(ARCHIVES, RESULTS).write_pages(PAGES)


if __name__ == "__main__":
    main()
