"""The pages of docs/results: each is a list of sections over an archive in benchmarks/fronts (see make_results.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path

import headlines
import page_tables
from archives import GAMES, Archive, read_archive
from page_figures import PageSet, fold, image, join_blocks
from sections import (
    ENDS_TEXT,
    Section,
    both_ends,
    changed_methods,
    commands,
    description,
    each_setting,
    fact_table,
    facts,
    figure,
    folded,
    heading,
    list_blocks,
    missing_methods,
    missing_settings,
    prose,
    score_table,
    scores_without_runs,
    seeds,
    setting_heading,
)

from momagames.reports.figures.kinds import list_kinds
from momagames.reports.figures.paper_figures import list_figures
from momagames.reports.text.captions import HEAD_TO_HEAD_CAPTION, ratings_caption
from momagames.reports.text.markdown_tables import draw_markdown
from momagames.reports.text.report_tables import make_head_to_head

COLLECTION = "paper"  # suite with a page for each family of games
TITLES = {
    "samegame": "MO-SameGame",
    "breakthrough": "MO-Breakthrough",
    "pommerman": "MO-Pommerman",
    "tileblast": "MO-TileBlast",
    "robotmail": "MO-RoboticMail",
    "connect4": "MO-Connect4",
    "beach": "MO-Beach",
    "item_gathering": "MO-ItemGathering",
    "gem_mining": "MO-GemMining",
    "route_choice": "MO-RouteChoice",
    "ingenious": "MO-Ingenious",
    "evolution": "Trained policies",
}

STANDING = """\
Mean hypervolume ratios in the seeds that both have (pairs); the baseline is the best of all methods except `champion`, whose
training is longer than the budget, with two seeds or more. It is chosen on the same results, which favors it. Win or loss: the
interval of the difference, paired by seeds, is above or below zero. These intervals are over trainings alone, since all
methods play the same report episodes. Below ten pairs they are
[too narrow](../metrics.md#statistics-over-runs-and-games), and nothing corrects for the number of settings: a difference near
zero says little. Where the baseline has 0.000, no other method has a point above the reference point. Other indicators, in the
folded tables, may order methods otherwise. Weights steer `moppo` least in MO-TileBlast; `grpo` and, with
more training, `champion` follow them better there.

`moppo` learns from demonstrations of a scripted player in MO-RoboticMail, MO-Pommerman and MO-Breakthrough (`expert`), and
plays no action that the game calls unsafe in the first two (`caution`); other methods have neither option.
[What they contribute](ablations.md#demonstrations-and-safe-actions)."""
FRONTS = """\
Measured on the reference front of each setting. It is proven for MO-ItemGathering, and elsewhere the union of earlier runs of
methods of this track, `moppo` and `champion` among them, in the same report episodes: the tables below name those on it. In
MO-TileBlast learners of other libraries are not in this union: some hardly tap at all, and no move is best in `move`. Its
ends set the reference point, 0.1 of the range below the worst values on it. A set of policies far from these ends has 0; the
column "declared HV" has the reference point that the game declares. [Metrics](../policy-metrics.md#what-a-setting-must-show)
defines the columns and their limits, and [How the settings were chosen](../settings.md) has the search. One policy: the
largest share of the hypervolume that a single point has. Least loss: what the best policy for an objective loses in another
one, as a share of the range. Simple: the share of all policies that neither train nor look ahead. Untrained: with those that
look ahead (`greedy`, `alphabeta`, `uct`), which is not judged: where it is high, a setting compares learners with a search."""
COLUMNS = """\
[Metrics](../metrics.md#indicators-of-one-front) defines the columns. Points are those of the method's own front, so that their
number is at most that of its policies; "points at 0.01" differ after rounding to a hundredth of the range."""
CPU_TIME = """\
For a budget of CPU time the number of environment steps is chosen by trials on the machine, so that the time of the
last search is 0.8 to 1.25 of the budget; methods that end on their own take less, and methods whose smallest budget
needs more take more. The tables above print the steps and the CPU time of that search. What a search finds depends
on its steps alone: with the stored number of steps every machine finds the same plans, except for learners."""
ESTIMATE = """\
`momagames bench estimate head_to_head` measures the CPU-hours of the whole suite before it runs. Definitions:
[Metrics](../multi-agent-metrics.md#games-between-learners)."""
EXACT_FRONTS = """\
The exact fronts are computed again by the method `exact` and stored in the cache of the package; their witnesses are
played again whenever they are read. The training instances of an experiment with fewer of them are the first of
those with more, and the test instances are the same. Definitions:
[Metrics](../policy-metrics.md#generalization-over-instances)."""


@dataclass(frozen=True)
class Page:
    """A page of an archived suite.

    figures    kinds of its figures
    prefix     of their names
    leaders    who leads each setting, for the index; none for pages that compare within other limits
    """

    title: str
    parts: Sequence[Section]
    figures: Sequence[str]
    prefix: str = ""
    leaders: Callable[[Archive], headlines.Leaders] = lambda archive: ()


def take_ends(blocks: Sequence[str]) -> Sequence[str]:
    """Return the blocks of a page that `both_ends` made, without their heading."""
    first = blocks.index(ENDS_TEXT) if ENDS_TEXT in blocks else len(blocks)
    return list(takewhile(lambda block: not block.startswith("## "), blocks[first:]))


def make_page(name: str, file: Path, page: Page) -> PageSet:
    """Make a page of an archive."""
    archive = read_archive(name, file, page.figures, page.prefix)
    text = join_blocks((f"# {page.title}", *list_blocks(page.parts, archive)))
    return PageSet({name: text}, archive.figures, headlines.count_leaders(page.leaders(archive)))


def group_of_settings(title: str, is_timed: bool) -> Section:
    """Return the settings of plans with a budget of CPU time, or of environment steps: a table, figures, folded tables."""

    def show(archive: Archive) -> Iterator[str]:
        parts = (
            heading(title), page_tables.ratios, each_setting(figure("anytime", "Anytime performance")),
            each_setting(folded("SETTING: steps, CPU time and all indicators", page_tables.costs, score_table)),
        )  # fmt: skip
        panels = headlines.select_panels(archive, is_timed)
        return list_blocks(parts, archive.select(panels)) if panels else iter(())

    return show


def missing_matches(archive: Archive) -> Iterator[str]:
    """Yield how many settings that have runs have no seed with all players, if any."""
    total = len(archive.panels)
    if missing := total - len(headlines.list_matches(archive)):
        yield f"Of {total} settings {missing} have no seed with all players yet."


def matches(archive: Archive) -> Iterator[str]:
    """Yield the settings in which methods meet each other: a figure, and folded tables."""
    for crossplay in archive.data.crossplay:
        if scores := crossplay.head_to_head:
            one = replace(archive, heading=crossplay.title)
            yield f"## {scores.full_heading}"
            yield image(f"Ratings and wins: {scores.full_heading}", f"{one.find_figure(GAMES)}.svg")
            played = (
                f"Seeds {', '.join(map(str, scores.seeds))}." if len(scores.seeds) > 1 else f"Seed {scores.seeds[0]} alone."
            )
            remark = f"{played} {HEAD_TO_HEAD_CAPTION} Last columns: mean returns against all players."
            ratings = ("\n".join(draw_markdown(make_head_to_head(scores, crossplay.title))), remark, ratings_caption(crossplay))
            yield fold("Ratings, results, responses and returns", ratings)
            yield fold("Every pair", page_tables.list_pairs(scores))


PAGES = {
    "policies": Page(
        "Track 1: policies for all weights",
        (
            headlines.policies,
            changed_methods,
            missing_settings,
            figure("overall", "All settings: interquartile means and optimality gaps"),
            figure("overview", "Scores of every method in every setting"),
            heading("MOPPO beside the strongest baseline"),
            prose(STANDING),
            missing_methods,
            headlines.standings,
            heading("What each setting shows"),
            prose(FRONTS),
            page_tables.tradeoffs,
            both_ends,
            heading("Fronts and all indicators"),
            prose(COLUMNS),
            each_setting(folded("SETTING", figure("front", "Fronts"), score_table)),
            heading("Settings and provenance"),
            description,
            seeds,
            facts,
        ),
        ("overall", "overview", "front"),
        "policies-",
        headlines.find_ratio_leaders,
    ),
    "plans": Page(
        "Track 2: plans for one instance",
        (
            headlines.plans,
            changed_methods,
            missing_settings,
            figure("overview", "Scores of every method in every setting"),
            seeds,
            group_of_settings("At equal environment steps", is_timed=False),
            group_of_settings("At equal CPU time", is_timed=True),
            heading("How the numbers were made"),
            description,
            prose(CPU_TIME),
            facts,
        ),
        ("overview", "anytime"),
        "plans-",
        headlines.find_ratio_leaders,
    ),
    "head_to_head": Page(
        "Track 3: games between learners",
        (
            headlines.matches,
            changed_methods,
            missing_settings,
            seeds,
            missing_matches,
            matches,
            heading("How the numbers were made"),
            description,
            prose(ESTIMATE),
            facts,
        ),
        (GAMES,),
        "head_to_head-",
        headlines.find_rating_leaders,
    ),
    "generalization": Page(
        "Track 4: generalization to unseen instances",
        (
            headlines.generalization,
            changed_methods,
            missing_settings,
            each_setting(
                setting_heading,
                figure("generalization", "Generalization"),
                folded("Scores against exact fronts", page_tables.generalization),
                folded("Indicators of mean returns", scores_without_runs),
                folded("Environment steps of an episode", page_tables.episode_steps),
            ),
            heading("How the numbers were made"),
            commands(EXACT_FRONTS),
            fact_table,
        ),
        ("generalization",),
        leaders=headlines.find_regret_leaders,
    ),
}  # in the order of the index


# ------------------------------------------------------------------------------------------------------------ families


def list_family_figures() -> dict[str, str]:
    """Return the kinds of figures of a setting with their titles."""
    kinds = [kind for scope in ("panel", "crossplay") for kind in list_kinds(scope)]
    return {kind.name: kind.title for kind in kinds if kind.in_papers}


def settings_of_family(archive: Archive) -> Iterator[str]:
    """Yield figures and all scores of each setting; the first one of an experiment is unfolded."""
    unfolded: set[str] = set()
    drawn = [figure(kind, text) for kind, text in list_family_figures().items()]
    parts = (*drawn, folded("All indicators", page_tables.game_id, score_table))
    for one in map(archive.select_setting, archive.panels):
        if one.panel.experiment in unfolded:
            yield fold(one.heading, list_blocks(parts, one))
        else:
            yield from list_blocks((setting_heading, *parts), one)
        unfolded.add(one.panel.experiment)


FAMILY = (
    headlines.family,
    missing_settings,
    figure("overview", "Hypervolume ratios of every method in every setting"),
    folded("Hypervolume ratios", page_tables.overview),
    settings_of_family,
)


def find_family(experiment: str) -> str:
    """Return the suite of an experiment in a collection of suites."""
    return experiment.partition(": ")[0]


def make_family_pages(name: str, file: Path) -> PageSet:
    """Make the pages of the families of games in an archived collection of suites."""
    archive = read_archive(name, file, list_family_figures())
    figures, texts = dict(archive.figures), {}
    for family in dict.fromkeys(find_family(experiment.name) for experiment in archive.suite.experiments):
        one = archive.select([panel for panel in archive.panels if find_family(panel.experiment) == family])
        one = replace(one, missing=[setting for setting in archive.missing if find_family(setting[0]) == family])
        overview = {f"{kind}-{family}": drawn for kind, drawn in list_figures(one.data, ["overview"]).items()}
        figures |= overview
        sections = FAMILY if one.panels else (missing_settings,)
        blocks = list_blocks(sections, replace(one, figures=overview | one.figures))
        texts[family] = join_blocks((f"# Results: {TITLES.get(family, family)}", *blocks))
    return PageSet(texts, figures, facts=archive.facts)


MAKERS: Mapping[str, Callable[[str, Path], PageSet]] = {
    **{name: partial(make_page, page=page) for name, page in PAGES.items()},
    COLLECTION: make_family_pages,
}
