"""Sections of pages of results: what result_pages.py makes pages of. A section yields blocks of Markdown of an archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from archives import Archive
from page_figures import fold, image
from pictures import ENDS

import momagames
from momagames.benchmark.choices import label_methods
from momagames.registry import format_id
from momagames.reports.data.panels import Panel
from momagames.reports.text.markdown_tables import draw_markdown, markdown_table
from momagames.reports.text.report_tables import RUNS, make_scores
from momagames.reports.text.table import Table
from momagames.wording import count

Section = Callable[[Archive], Iterable[str]]
ENDS_TEXT = """\
Learned policies for many weights spread over the front. Below each front, the trained policy of the package
(`champion`, trained longer than the budget) plays one position with all weight on one objective, and with all weight
on another one."""


def heading(text: str) -> Section:
    return lambda archive: [f"## {text}"]


def prose(text: str) -> Section:
    """Return a paragraph."""
    return lambda archive: [text]


def figure(kind: str, text: str) -> Section:
    """Return the figure of this kind, of all settings or the only one; nothing where there is none."""

    def show(archive: Archive) -> Iterator[str]:
        if name := archive.find_figure(kind):
            yield image(f"{text}: {archive.heading}" if archive.heading else text, f"{name}.svg")

    return show


def both_ends(archive: Archive) -> Iterator[str]:
    """Yield the front of a setting of each family, and games from both ends of that of its trained policy."""
    if blocks := list(_list_ends(archive)):
        yield from ("## Both ends of a front", ENDS_TEXT, *blocks)


def _list_ends(archive: Archive) -> Iterator[str]:
    for pictures in ENDS:
        first = pictures[0]
        canonical = format_id(first.id, momagames.spec(first.id, **first.params).params)
        if panel := next((one for one in archive.panels if one.canonical == canonical), None):
            yield f"**{panel.full_heading}**"
            yield from figure("front", "Fronts")(archive.select_setting(panel))
            yield table([one.text for one in pictures], [[f"![{one.text}](../_static/{one.file})" for one in pictures]])


def folded(title: str, *sections: Section) -> Section:
    """Return sections that are folded under a title, in which SETTING stands for the heading of the only setting."""
    return lambda archive: [fold(title.replace("SETTING", archive.heading), list_blocks(sections, archive))]


def each_setting(*sections: Section) -> Section:
    """Return the sections of one setting after the other."""
    return lambda archive: [block for panel in archive.panels for block in list_blocks(sections, archive.select_setting(panel))]


def list_blocks(sections: Iterable[Section], archive: Archive) -> Iterator[str]:
    for section in sections:
        yield from section(archive)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(markdown_table(head, list(rows)))


def bold_best(values: Mapping[str, float], left_out: Sequence[str] = ()) -> dict[str, str]:
    """Return values as text, bold where no other one is higher; `left_out`: those that take no part."""
    best = max((f"{value:.3f}" for name, value in values.items() if name not in left_out), default="")
    texts = {name: f"{value:.3f}" for name, value in values.items()}
    return {name: f"**{text}**" if text == best and name not in left_out else text for name, text in texts.items()}


def setting_heading(archive: Archive) -> Iterator[str]:
    yield f"## {archive.heading}"


def report_table(made: Table) -> Iterator[str]:
    """Yield a table of the report, and its caption."""
    yield "\n".join(draw_markdown(made))
    yield made.notes.replace("* marks", "bold marks")


def score_table(archive: Archive) -> Iterator[str]:
    """Yield the table of all scores of the only setting, and its caption."""
    return report_table(make_scores(archive.panel, 0, [*archive.panel.indicators]))


def scores_without_runs(archive: Archive) -> Iterator[str]:
    """Yield the same without the numbers of runs."""
    made = make_scores(archive.panel, 0, [*archive.panel.indicators])
    return report_table(made.with_columns([i for i, column in enumerate(made.columns) if column is not RUNS]))


def description(archive: Archive) -> Iterator[str]:
    yield archive.suite.description


def changed_methods(archive: Archive) -> Iterator[str]:
    """Yield a note on methods that have changed since."""
    if changed := archive.store.describe_changed_methods(archive.suite):
        yield f"```{{note}}\nThis version does not reproduce the rows of methods that have changed: {changed}.\n```"


def missing_settings(archive: Archive) -> Iterator[str]:
    """Yield a sentence on the settings that have no finished run yet, if any."""
    if archive.missing:
        yield f"Still to come: {'; '.join(name for _, name in archive.missing)}."


def missing_methods(archive: Archive) -> Iterator[str]:
    """Yield a sentence on the methods that have no finished run yet in settings that have some, if there are such methods."""
    experiments = {one.name: one for one in archive.suite.experiments}
    due = Counter(
        name
        for panel in archive.panels
        for name in label_methods(experiments[panel.experiment].methods).values()
        if name not in panel.points
    )
    if due:
        listed = ", ".join(f"`{name}` in {count(number, 'setting')}" for name, number in due.items())
        yield f"Not compared yet, since they have no run there: {listed}."


def fact_table(archive: Archive) -> Iterator[str]:
    yield table(["", ""], archive.facts)


facts = folded("Versions, machine, times and budgets", fact_table)


def seeds(archive: Archive) -> Iterator[str]:
    """Yield how many seeds are complete, and the commands that made the runs or run the others."""
    wanted, name = archive.suite.experiments[0].seeds, archive.name
    is_whole = not archive.missing
    complete = [seed for seed in wanted if is_whole and all(is_complete(panel, seed) for panel in archive.panels)]
    missing = [seed for seed in wanted if seed not in complete]
    finished = sum(len(found) for panel in archive.panels for found in panel.points.values())
    runs = len(archive.suite.list_runs(archive.store.read_versions()))
    listed = ", ".join(map(str, complete)) or "none"
    text = f"**{len(complete)} of {len(wanted)} seeds** are complete (seeds {listed}; {finished} of {runs} runs)."
    if not missing:
        yield "\n".join((text, *list_commands(archive)))
        return
    yield f"{text}\nThese commands go on from the archive with a seed, and write the archive and this page again:"
    yield "\n".join(
        (
            "```console",
            f"momagames bench run {name} --archive benchmarks/fronts/{name}.npz.xz -o {name}-results --seed {missing[0]}",
            f"python docs/make_results.py --archive {name}-results",
            "```",
        )
    )
    yield (
        "Other parts are chosen by `--experiment`, `--game`, `--method` and `--shard I/N`: see\n"
        "[Run a suite in parts](../benchmark.md#run-a-suite-in-parts). Finished runs are never run again."
    )


def is_complete(panel: Panel, seed: int) -> bool:
    return not panel.missing_runs.keys() - panel.points.keys() and all(seed in found for found in panel.points.values())


def commands(text: str) -> Section:
    """Return a paragraph that begins with the commands of the suite."""
    return lambda archive: ["\n".join((*list_commands(archive), text))]


def list_commands(archive: Archive) -> Iterator[str]:
    """Yield the lines with the commands that made the runs of a suite and that restore them."""
    name = archive.name
    yield f"`momagames bench run {name}` made the runs, which are archived in `benchmarks/fronts/{name}.npz.xz`."
    yield f"`python docs/make_results.py --suite {name} --unpack FOLDER` restores them, and `momagames bench report FOLDER`"
    yield "compares them."
