"""Write the pages of docs/results, tables of archived runs, and draw their figures.

    python docs/make_results.py                      pages whose archive (in benchmarks/fronts) or code has changed
    python docs/make_results.py --force              all pages
    python docs/make_results.py --archive FOLDER     add this results directory of one of the suites to its archive first, as
                                                     `momagames bench archive --thinned` does
    python docs/make_results.py --unpack FOLDER      restore the archived results directory for `momagames bench`; write no page
    ... --suite NAME                                 that archive instead of the one of the suite paper

Figures need the extra `figures`, archives the extra `analysis`.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import result_pages
from page_cache import PageRecord, hash_inputs, read_record, write_record
from page_figures import fold, is_image, join_blocks
from result_pages import COLLECTION, MAKERS
from sections import table

from momagames.benchmark.executors.processes import count_cores
from momagames.benchmark.store.archive_file import pack_archive, unpack_archive
from momagames.benchmark.store.store import Store
from momagames.errors import MomagamesError, invalid_value, nearest, one_of
from momagames.files.writing import write_page
from momagames.reports.text.verdicts import describe_leads

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "results"
HISTORY = ("ablations.md", "learning.md")  # pages of measurements of version 0.1.0, which are not made again
ARCHIVES = {suite: ROOT / "benchmarks" / "fronts" / f"{suite}.npz.xz" for suite in MAKERS}


def make_results(
    sources: Mapping[str, Path], folder: Path, say: Callable[[str], None] = print, force: bool = False
) -> dict[str, str]:
    """Return the text of each page by file name, and draw the figures in a folder.

    sources    file of results by the name of its pages in `MAKERS`; some may be missing
    say        called with a line for each of them
    force      make the pages also if nothing that they depend on has changed
    """
    folder.mkdir(exist_ok=True)
    digests = {name: hash_inputs(file, Path(result_pages.__file__), ROOT) for name, file in sources.items()}
    old = [name for name in sources if force or not read_record(folder, name, digests[name])]
    for name in sources:
        say(f"results of {name}: {'computing' if name in old else 'reused'}")
    if old:
        spawn = get_context("spawn")  # polars may deadlock after a fork
        # the garbage collector would go through millions of living rows again and again
        with ProcessPoolExecutor(count_cores(), spawn, initializer=gc.disable) as pool:
            tasks = {pool.submit(write_pages, name, sources[name], folder, digests[name]): name for name in old}
            for task in as_completed(tasks):
                say(f"results of {tasks[task]}: made in {task.result():.0f} s of CPU time")
    records = {name: record for name in MAKERS if name in sources and (record := read_record(folder, name, digests[name]))}
    drawn = {figure for record in records.values() for figure in record.figures}
    for file in folder.glob("*.svg"):
        if file.name not in drawn:
            file.unlink()
    texts = {name: text for record in records.values() for name, text in record.texts.items()}
    texts["index"] = join_blocks(first_page(texts, records))
    return {f"{name}.md": text for name, text in texts.items()}


def write_pages(name: str, file: Path, folder: Path, digest: str) -> float:
    """Make pages, draw their figures and write their record; return the seconds of CPU time."""
    start = process_time()
    write_record(folder, name, digest, MAKERS[name](name, file))
    return process_time() - start


def compare_pages(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """Return the names of the pages in a folder that differ from these texts."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in folder.glob("*.md") if page.name not in HISTORY}
    return sorted(name for name in {*pages, *texts} if pages.get(name) != texts.get(name))


INTRODUCTION = """\
What the package's methods reach, in short; each title leads to figures and tables. Where nothing else is named,
scores are hypervolume ratios: the hypervolume of what a method finds, divided by that of the exact front or of the
best one that is known. A setting is a game with its parameters, objectives and opponents. A policy acts on what an
agent observes; a plan is a list of actions from one position. [Methods](../methods.md) explains the
methods, `champion` is the [trained policy of the package](../training.md#champions), and the
[glossary](../glossary.md) has the other words."""
LEADERS = """\
Methods that lead, and in how many settings of a game. A method leads if it is ahead of every other one: the interval
of the difference in runs of equal seeds is above zero. Else the first ones are level. `champion`, which was trained
longer than the budget, takes part in games alone. In the last column are methods that are trained on instances."""
COMMANDS = """\
The results of the games are those of the suite `paper` with ten seeds, or with fewer so far, as tables say in the
column `runs`. The runs were made by `momagames bench run paper` and are archived in `benchmarks/fronts/paper.npz.xz`.
`python docs/make_results.py` computes all numbers and writes all pages of this section. `--unpack FOLDER` restores its
results directory for `momagames bench report`, `compare` and `replay`, and `--suite policies --unpack FOLDER` that of
another suite. The archives are without most actions of
plans and parameters of trained policies, which some replays need and no page does: `momagames bench status` says what
is left out. The figures are drawn when the site is built (`sphinx-build docs docs/_build`). Each run of the tests
computes another random sample of the archived rows again (`pytest --long tests/test_archived_rows.py`)."""


def first_page(texts: Mapping[str, str], records: Mapping[str, PageRecord]) -> Iterator[str]:
    """Yield the blocks of the index: the best methods, title and message of each page, and how the pages are made."""
    yield from ("# Results", INTRODUCTION)
    yield from leader_table({name: record for name, record in records.items() if record.leaders})
    for name, text in texts.items():
        title, message, *blocks = text.split("\n\n")
        yield f"**[{title.removeprefix('# ')}]({name}.md)**: {message}"
        if name in result_pages.PAGES:
            yield from list(filter(is_image, blocks))[:1]
            yield from result_pages.take_ends(blocks)
    yield "\n".join(("```{toctree}", ":hidden:", "", *texts, "```"))
    yield from ("## How the pages are made", COMMANDS)
    yield fold("Provenance of the suite paper", [table(["", ""], records[COLLECTION].facts)])


def leader_table(records: Mapping[str, PageRecord]) -> Iterator[str]:
    """Yield the methods that lead in each track, by game."""
    games = dict.fromkeys(game for record in records.values() for game in record.leaders)
    titles = {name: record.texts[name].splitlines()[0] for name, record in records.items()}
    heads = [f"[{title.removeprefix('# ').rpartition(': ')[2]}]({name}.md)" for name, title in titles.items()]
    rows = [(game, *(describe_leaders(record.leaders.get(game, {})) for record in records.values())) for game in games]
    yield from (LEADERS, table(["game", *heads], rows))


def describe_leaders(leaders: Mapping[str, int]) -> str:
    return describe_leads(leaders, sum(leaders.values())) if leaders else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--archive", type=Path, metavar="FOLDER", help="results directory of a suite to add to its archive first"
    )
    parser.add_argument("--unpack", type=Path, metavar="FOLDER", help="directory for the restored results")
    parser.add_argument("--suite", choices=ARCHIVES, default="paper", help="suite to restore (paper)")
    parser.add_argument("--force", action="store_true", help="make all pages again")
    args = parser.parse_args()
    try:
        if args.unpack:
            unpack_archive(ARCHIVES[args.suite], args.unpack)
            return
        if args.archive:
            name = Store(args.archive).read_suite().name
            if name not in ARCHIVES:
                parser.error(f"{args.archive}: {invalid_value('suite', name, one_of(ARCHIVES), nearest(name, ARCHIVES))}")
            print("\n".join(pack_archive(args.archive, ARCHIVES[name], thinned=True).describe()))
    except MomagamesError as error:
        parser.error(str(error))
    texts = make_results(ARCHIVES, PAGES, force=args.force)
    for page in compare_pages(PAGES, texts):
        if page in texts:
            write_page(PAGES / page, texts[page])
        else:
            (PAGES / page).unlink()


if __name__ == "__main__":
    main()
