"""The page of learners of other libraries, docs/results/morl.md, from its archive (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from archives import Archive, read_archive
from page_figures import PageSet, fold, image, join_lines
from track_page import describe_seeds, find_experiment, name_figures, score_table

from momagames.baselines.morl.method import LibraryLearner
from momagames.benchmark.plan import Indicators, method_names
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.verdicts import count_leads, find_panel_leaders
from momagames.reports.text.captions import panel_caption
from momagames.reports.text.markdown_tables import markdown_table
from momagames.reports.text.verdicts import describe_leads
from momagames.wording import count

FIGURES = {"overview": "Scores of every method in every setting", "front": "Fronts"}
OWN = "momagames"
TOO_EASY = 0.99  # mean hypervolume ratio of random play in settings that do not tell methods apart


@dataclass(frozen=True)
class Setting:
    """A setting with the libraries of its methods, and their mean hypervolume ratios, the highest first."""

    panel: Panel
    libraries: Mapping[str, str]
    ratios: Mapping[str, float]

    @property
    def is_easy(self) -> bool:
        return self.ratios.get("random", 0) >= TOO_EASY

    def list_methods(self, own: bool) -> list[str]:
        """Return the methods of the package, or of the other libraries, the highest mean first."""
        return [name for name in self.ratios if (self.libraries[name] == OWN) == own]


def make_track(name: str, file: Path) -> PageSet:
    """Make the page of the archived suite."""
    archive = read_archive(file)
    figures, names = name_figures(name, archive.data, FIGURES)
    text = join_lines(format_page(name, archive, names))
    return PageSet({name: text}, figures)


def find_setting(archive: Archive, panel: Panel) -> Setting:
    experiment = find_experiment(archive.suite, panel)
    names = method_names(experiment)
    libraries = {}
    for one in experiment.methods:
        method = one.make_method(panel.game)
        library = method.package.replace("_", "-") if isinstance(method, LibraryLearner) else OWN
        libraries[names[one.model_dump_json()]] = library
    return Setting(panel, libraries, rank_methods(panel))


def format_page(name: str, archive: Archive, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the lines of the page. names: kind and title of a figure -> its file name without extension"""
    settings = [find_setting(archive, panel) for panel in archive.data.panels]
    yield from (
        "# Other libraries: learners at equal budgets",
        "",
        describe_message(settings, archive.data.settings),
        "",
        *archive.describe_changed_methods(),
    )
    if figure := names.get(("overview", "")):
        yield from (image(FIGURES["overview"], f"{figure}.svg"), "")
    yield from ("## Mean hypervolume ratios", "", *ratio_table(settings), "")
    yield from (
        "The best one is bold. [Learners of other libraries](../morl.md) says what each method can play and how it is adapted,",
        "and has published figures that the same code reproduces.",
        "",
        *describe_seeds(name, archive),
        "",
    )
    for panel in archive.data.panels:
        yield from (f"## {panel.full_heading}", "")
        if figure := names.get(("front", panel.full_heading)):
            yield from (image(f"Fronts: {panel.full_heading}", f"{figure}.svg"), "")
        times = [(method, f"{panel.median_seconds[method]:,.0f}") for method in panel.points]
        yield from fold("All indicators", [*score_table(panel), "", panel_caption(panel)])
        remark = "Medians over seeds of the time that passed, which may include compilation."
        yield from fold("Seconds of a run", [*markdown_table(["method", "seconds"], times), "", remark])
    yield from ("## Settings and provenance", "", archive.suite.description, "")
    yield from fold("Versions, machine, times and budgets", markdown_table(["", ""], archive.facts))


def describe_message(settings: Sequence[Setting], indicators: Indicators) -> str:
    """Return the leading learners of other libraries, where they lead the package, and settings that do not tell."""
    hard, easy = ([one for one in settings if one.is_easy == wanted] for wanted in (False, True))
    leads = count_leads(find_panel_leaders(one.panel, indicators, one.list_methods(own=True)) for one in hard)
    learners, own = ([one.list_methods(own=own)[0] for one in hard] for own in (False, True))
    ahead = sum(
        find_panel_leaders(one.panel, indicators, {*one.ratios} - {learner, best}) == [learner]
        for one, learner, best in zip(hard, learners, own, strict=True)
    )
    seeds = count(max(map(len, hard[0].panel.points.values())), "seed")
    text = (
        f"Leads among the learners of other libraries: {describe_leads(leads, len(hard))} ({seeds}). Those with the highest "
        f"mean, {_list_names(learners)}, are ahead of the best method of the package with as many steps ({_list_names(own)}) "
        f"in {ahead}."
    )
    names = ", ".join(one.panel.full_heading for one in easy)
    return text + (f" Random play reaches {TOO_EASY} or more in {names}, which does not tell methods apart." if easy else "")


def _list_names(methods: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(methods))


def ratio_table(settings: Sequence[Setting]) -> Iterator[str]:
    """Yield the mean ratios of all methods by library, those of the package first."""
    methods = dict(item for one in settings for item in one.libraries.items())
    rows = []
    for library in sorted({*methods.values()}, key=lambda name: (name != OWN, name)):
        rows.append((f"*{library}*", *("" for _ in settings)))
        rows += [(name, *(format_ratio(one, name) for one in settings)) for name in methods if methods[name] == library]
    heads = [f"{one.panel.game.title}, {one.panel.experiment}" for one in settings]
    return markdown_table(["method", *heads], rows)


def format_ratio(setting: Setting, method: str) -> str:
    if method not in setting.ratios:
        return ""
    text, best = (f"{ratio:.3f}" for ratio in (setting.ratios[method], max(setting.ratios.values())))
    return f"**{text}**" if text == best else text
