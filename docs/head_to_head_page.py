"""The page of games between learners, docs/results/head_to_head.md, from its archive (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from archives import Archive, read_archive
from page_figures import PageSet, fold, image, join_lines
from track_page import count_leaders, describe_seeds

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.head_to_head import HeadToHeadScores
from momagames.reports.data.verdicts import count_leads
from momagames.reports.figures.comparisons import draw_head_to_head
from momagames.reports.figures.paper_figures import Figure
from momagames.reports.text.captions import HEAD_TO_HEAD_CAPTION, ratings_caption
from momagames.reports.text.markdown_tables import draw_markdown, markdown_table
from momagames.reports.text.report_tables import make_head_to_head
from momagames.reports.text.verdicts import describe_leads


def make_track(name: str, file: Path) -> PageSet:
    """Make the page of an archived suite of head-to-head experiments."""
    archive = read_archive(file)
    found = {f"{name}-{number}": one for number, one in enumerate(archive.data.crossplay, 1) if one.head_to_head}
    text = join_lines(format_page(name, archive, found))
    styles = archive.data.styles
    drawn = {key: Figure(name, one.title, partial(draw_head_to_head, one.head_to_head, styles)) for key, one in found.items()}
    scores = [one.head_to_head for one in found.values() if one.head_to_head]
    return PageSet({name: text}, drawn, count_leaders((one.game, one.leaders) for one in scores))


def format_page(name: str, archive: Archive, found: dict[str, CrossPlay]) -> Iterator[str]:
    """Yield the lines of the page. found: name of a figure -> its setting"""
    settings = [one.head_to_head for one in found.values() if one.head_to_head]
    yield from (
        "# Track 3: games between learners",
        "",
        describe_message(settings),
        "",
        *archive.describe_changed_methods(),
        *describe_seeds(name, archive),
        "",
    )
    total = sum(len(experiment.games) for experiment in archive.suite.experiments)
    if len(settings) < total:
        yield from (f"Of {total} settings {total - len(settings)} have no seed with all players yet.", "")
    for figure, crossplay in found.items():
        scores = crossplay.head_to_head
        assert scores
        yield from (f"## {scores.full_heading}", "", image(f"Ratings and wins: {scores.full_heading}", f"{figure}.svg"), "")
        seeds = f"Seeds {', '.join(map(str, scores.seeds))}." if len(scores.seeds) > 1 else f"Seed {scores.seeds[0]} alone."
        remark = f"{seeds} {HEAD_TO_HEAD_CAPTION} Last columns: mean returns against all players."
        lines = [*draw_markdown(make_head_to_head(scores, crossplay.title)), "", remark]
        yield from fold("Ratings, results, responses and returns", [*lines, "", ratings_caption(crossplay)])
        yield from fold("Every pair", pair_table(scores))
    yield from (
        "## How the numbers were made",
        "",
        archive.suite.description,
        "",
        f"`momagames bench estimate {name}` measures the CPU-hours of the whole suite before it runs. Definitions:",
        "[Metrics](../metrics.md#games-between-learners).",
        "",
    )
    yield from fold("Versions, machine, times and budgets", markdown_table(["", ""], archive.facts))


def describe_message(settings: Sequence[HeadToHeadScores]) -> str:
    """Return two sentences: who leads in how many settings, and how well responses do against the leaders."""
    leads = describe_leads(count_leads(one.leaders for one in settings), len(settings))
    gains = [max(0.0, one.gain[one.leaders[0]].value) for one in settings]
    found = sum(gain > 0 for gain in gains)
    answer = (
        f"In {found} of them the best response that was searched or trained against the player with the highest rating alone "
        f"wins more games than that player wins against itself (by {max(gains):.2f} at most); a lower bound of its "
        "exploitability."
        if found
        else "In none of them does a response that was searched or trained against the player with the highest rating alone "
        "win more games than that player wins against itself, which does not show that there is none: responses had small "
        "budgets."
    )
    return f"Rating above those of all others: {leads}. {answer}"


def pair_table(scores: HeadToHeadScores) -> Iterator[str]:
    """Yield the table of all pairs, best player first: wins, or wins, ties and losses of the row."""
    players = sorted(scores.players, key=lambda player: -scores.ratings[player].value)

    def cell(a: str, b: str) -> str:
        won, lost = scores.wins[a, b].value, scores.wins[b, a].value
        if not scores.two_sided:
            return f"{won:.2f}"
        if a == b:
            return f"{won:.2f} / {max(0.0, 1 - 2 * won):.2f} / {won:.2f}"
        return f"{won:.2f} / {max(0.0, 1 - won - lost):.2f} / {lost:.2f}"

    yield from markdown_table(["player", *players], [(a, *(cell(a, b) for b in players)) for a in players])
    meaning = "wins / ties / losses of the row" if scores.two_sided else "wins of the row alone against several of the column"
    yield from ("", f"Shares of the games, mean of the seats and seeds: {meaning}.")
