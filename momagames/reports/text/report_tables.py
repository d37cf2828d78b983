"""The tables of a report, each made once for the terminal, the page, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from momagames.analysis.named_indicators import INDICATORS, LEADING, WEIGHT_INDICATORS, Indicator
from momagames.benchmark.suites import Indicators
from momagames.errors import InvalidParameter, invalid_value, nearest, one_of
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.generalization import MORE_IS_BETTER, RATIO, REGRET, list_intervals
from momagames.reports.data.head_to_head import HeadToHeadScores
from momagames.reports.data.overview import CONTROL, OverviewRow, find_control, list_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.policy_sets import summarize_policy_sets
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.scores import Score
from momagames.reports.data.team_fairness import measure_team_fairness
from momagames.reports.text import captions
from momagames.reports.text.labels import EXACT_MARK, SAME_NAME_MARK, describe_interval, generalization_heads
from momagames.reports.text.table import MEDIA, PAGE, PAPER, SITE, TERMINAL, Cell, Column, Number, Runs, Table


def _make_column(one: Indicator, break_at: str = "") -> Column:
    media = MEDIA if one.is_main else (PAGE, PAPER, SITE)
    short = "control ↑" if one is INDICATORS[CONTROL] else ""  # which stands beside many columns
    return Column(one.heading, one.meaning, one.more_is_better, break_at=break_at, media=media, short=short)


METHOD = Column("method", is_text=True, wrap="never")
CONTROLLABILITY = _make_column(INDICATORS[CONTROL])
SEAT = Column(
    "seat", "the agent that the method plays; team mates play the same policy, the opponent plays all others", is_text=True
)
PLAYER = Column(
    "player",
    "the policy of a method with the most wins, or an opponent; a method with one policy is the opponent of its name",
    is_text=True,
)
RUNS = Column("runs", "number of finished runs, one for each seed, and of missing runs")
SECONDS = Column("median s / run", "median wall time of a run in seconds, which may include compilation", media=(PAGE,))
ELO = Column("Elo ↑", "Bradley-Terry rating; a difference of 400 means odds of ten to one", more_is_better=True)
AGAINST = "win rate, or normalized hypervolume of the method's front, against that opponent"
RESULTS = (
    Column("wins ↑", "share of the games won against all other players"),
    Column("ties", "share of the games against all other players that end in a tie"),
    Column("losses ↓", "share of the games lost against all other players"),
)
RESPONSE = (
    Column("response ↓", "share of the games that the best response that was found wins against the player"),
    Column("exploitability ↓", "the response's share minus what the player wins against itself; a lower bound"),
)
GENERALIZATION_HELP = {
    RATIO: "mean over instances of the hypervolume as a share of that of the proven front of the instance",
    REGRET: "mean over instances of the best utility of the front minus that of the policy chosen in training instances",
}
UTILITY_HELP = {
    "ESR": "expected scalarized return: mean utility of an episode, for users who evaluate each episode separately",
    "SER": "scalarized expected return: utility of the mean return, for users who average over many episodes",
}
FAIRNESS = (
    Column(
        "mean utility",
        "mean over the agents of a team of the weighted sum of their normalized returns; those below 0 count as 0",
        True,
    ),
    Column("Gini", "inequality of these utilities: 0 where they are equal, nearly 1 where one agent has all", False),
    Column("Nash welfare", "geometric mean of these utilities; 0 where one agent has none", True),
    Column("worst agent", "lowest of these utilities", True),
    Column("Lorenz front", "number of policies that no other dominates for a user who prefers more utility and equal division"),
)
POLICY_SETS = (
    Column("policies", "number of policies of the method"),
    Column("on the front", "number of policies that are non-dominated by their mean returns (SER)"),
    Column("ESR set", "number of policies that are non-dominated in distribution; for up to three objectives"),
)
STATISTICS = {
    "iqm": Column("IQM ↑", "interquartile mean: mean of the scores without the lowest and the highest quarter", True),
    "mean": Column("mean ↑", "mean over runs and games", True),
    "median": Column("median ↑", "median over runs and games", True),
    "lower_quartile_mean": Column("lower-quartile mean ↑", "mean of the lowest quarter of the scores", True),
    "optimality_gap": Column(
        "optimality gap ↓", "mean shortfall of the scores from 1; scores above 1 do not compensate for scores below", False
    ),
}
PAIRS = (
    Column(
        "P(better)", "probability that a run of the first method beats a run of the second on a random game; a tie counts half"
    ),
    Column("IQM difference", "interquartile mean of the first method minus that of the second"),
    Column("p", "p value of a permutation test on runs paired by seed, with Holm's correction for all pairs"),
)


def list_tables(data: ReportData, medium: str, every: bool = False, names: Sequence[str] = ()) -> Iterator[Table]:
    """Yield the tables of the overview, the primary panels, and the aggregate over all games.

    every     add the other panels, the ESR and SER utilities, the fairness over agents, and the head-to-head results
    names     the indicators of the panels; empty: all that the suite names
    Raises    InvalidParameter for an indicator that no panel has
    """
    known = list(dict.fromkeys(name for panel in data.panels for name in panel.indicators))
    for name in names:
        if name not in known:
            raise InvalidParameter(invalid_value("indicator", name, one_of(known), nearest(name, known)))
    return (table for table in _list_tables(data, every, names) if medium in table.media and table.rows)


def _list_tables(data: ReportData, every: bool, names: Sequence[str]) -> Iterator[Table]:
    if data.overview:
        yield make_overview(data.overview, data.settings)
    for number, panel in enumerate(data.panels, 1):
        if every or panel.primary:
            if names:
                yield make_scores(panel, number, [name for name in names if name in panel.indicators])
            else:
                yield make_scores(panel, number)
                yield make_control(panel, number)
            yield make_generalization(panel, number)
        if every and panel.primary:
            yield from make_utilities(panel, number)
            yield make_fairness(panel, data.settings, number)
    for number, crossplay in enumerate(data.crossplay if every else (), 1):
        yield from make_crossplay(crossplay, number)
    if data.aggregate:
        yield make_statistics(data.aggregate)
        yield make_method_pairs(data.aggregate)


def make_overview(rows: Sequence[OverviewRow], settings: Indicators) -> Table:
    """Return the hypervolume ratios of all methods, and the controllability beside them, a row for each comparison."""
    heads = [
        (method, is_control)
        for method in list_methods(rows)
        for is_control in (False, True)
        if not is_control or any(method in row.control for row in rows)
    ]
    return Table(
        "overview",
        "",
        [
            Column("game", is_text=True, wrap="letters"),
            *(
                replace(CONTROLLABILITY, heading=f"{method}: {CONTROL}", short=f"{method}: control")
                if is_control
                else Column(method, wrap="letters")
                for method, is_control in heads
            ),
        ],
        [
            [row.title + (f" {EXACT_MARK}" if row.is_exact else ""), *(_make_overview_cell(row, *head) for head in heads)]
            for row in rows
        ],
        captions.overview_caption(rows, settings),
        "Overview",
        notes_apart=True,
        best_of_rows=True,
        links=[f"p{row.panel}" for row in rows],
    )


def _make_overview_cell(row: OverviewRow, method: str, is_control: bool) -> Cell:
    """Return the hypervolume ratio or the controllability of a method; "" without a run, or if no method of the row has any."""
    if method not in row.scores or (is_control and not row.control):
        return ""
    if is_control:
        return Number(row.control[method]) if method in row.control else None
    return Number(row.scores[method], is_best=method in row.best)


def make_scores(panel: Panel, number: int, names: Sequence[str] | None = None) -> Table:
    """Return indicators of a panel: those of these names, or all but those of `make_control`."""
    known = panel.indicators
    chosen = {name: known[name] for name in names or [name for name, one in known.items() if not _is_control(name, one)]}
    rows: list[list[Cell]] = [
        [
            method,
            _count_runs(panel, method),
            *_list_scores(chosen, scores),
            f"{panel.median_seconds[method]:.2f}",
        ]
        for method, scores in panel.scores.items()
    ]
    rows += [
        [method, Runs(0, missing), *[""] * len(chosen), ""]
        for method, missing in panel.missing_runs.items()
        if method not in panel.scores
    ]
    columns = [METHOD, RUNS, *map(_make_column, chosen.values()), SECONDS]
    return Table(f"scores-{number}", panel.full_heading, columns, rows, captions.panel_caption(panel))


def make_control(panel: Panel, number: int) -> Table:
    """Return the other indicators of weight-conditioned policies; no rows if the suite names none, or no method has any."""
    chosen = {name: one for name, one in panel.indicators.items() if _is_control(name, one)}
    rows: list[list[Cell]] = [
        [method, Runs(len(panel.points[method])), *_list_scores(chosen, scores)] for method, scores in panel.scores.items()
    ]
    columns = [METHOD, replace(RUNS, media=(PAPER,)), *(_make_column(one, " ") for one in chosen.values())]
    return Table(
        f"control-{number}",
        panel.full_heading,
        columns,
        rows if chosen else [],
        captions.CONTROL_CAPTION,
        "weight-conditioned policies",
        media=(TERMINAL, PAPER),
    )


def _is_control(name: str, one: Indicator) -> bool:
    """Return whether an indicator of weight-conditioned policies is in a table of its own, not beside the hypervolume."""
    return one.needs_weights and name not in LEADING


def _count_runs(panel: Panel, method: str) -> Runs:
    return Runs(len(panel.points[method]), panel.missing_runs.get(method, 0))


def _list_scores(indicators: Mapping[str, Indicator], scores: Mapping[str, Score]) -> Iterator[Cell]:
    for name, one in indicators.items():
        score = scores.get(name)
        yield None if score is None else Number(score.interval, one.form, score.approx)


def make_generalization(panel: Panel, number: int) -> Table:
    """Return the scores against the exact front of each instance; no rows in other experiments."""
    directions = [up for better in MORE_IS_BETTER.values() for up in (better, better, False)]
    heads = zip(generalization_heads(), directions, strict=True)
    scores = [Column(head, GENERALIZATION_HELP[head.split(", ")[0]], up, break_at=", ") for head, up in heads]
    ratios = sum(RATIO in column.heading for column in scores)
    control = find_control(panel)
    beside = [CONTROLLABILITY] if control else []
    rows: list[list[Cell]] = []
    for method, one in panel.generalization.items():
        numbers = [*map(Number, list_intervals(one))]
        steering = [Number(control[method]) if method in control else None for _ in beside]
        rows.append([method, _count_runs(panel, method), *numbers[:ratios], *steering, *numbers[ratios:]])
    return Table(
        f"generalization-{number}",
        panel.full_heading,
        [METHOD, replace(RUNS, media=(SITE,)), *scores[:ratios], *beside, *scores[ratios:]],
        rows,
        captions.GENERALIZATION_CAPTION,
        "exact fronts of instances",
    )


def make_utilities(panel: Panel, number: int) -> Iterator[Table]:
    """Yield the ESR and SER utilities of a panel of policies, without intervals in the terminal."""
    found = panel.user_utilities
    if found:
        names, title = list(next(iter(found.values()))), f"{panel.full_heading}: ESR and SER"
        heads = [(name, criterion) for name in names for criterion in UTILITY_HELP]
        columns = [METHOD, *(Column(f"{name}, {criterion} ↑", UTILITY_HELP[criterion], True) for name, criterion in heads)]
        rows: list[list[Cell]] = [
            [method, *(Number(getattr(own[name], criterion.lower())) for name, criterion in heads)]
            for method, own in found.items()
        ]
        yield Table(f"utilities-{number}", title, columns, rows, captions.UTILITY_CAPTION, media=(PAGE, PAPER))
        columns = [METHOD, *(Column(name.replace("(", "\n(") + " ↑") for name in names)]
        short: list[list[Cell]] = [
            [method, *(f"ESR {one.esr.value:.3f}\nSER {one.ser.value:.3f}" for one in own.values())]
            for method, own in found.items()
        ]
        yield Table("", title, columns, short, captions.UTILITY_CAPTION, media=(TERMINAL,))


def make_policy_sets(panel: Panel, settings: Indicators) -> Table:
    """Return the sizes of policy sets, and the indicators of weight-conditioned policies."""
    rows: list[list[Cell]] = []
    for method, one in summarize_policy_sets(panel, settings).items():
        numbers = [one.policies, one.front, one.esr, *(one.control.get(name) for name in WEIGHT_INDICATORS)]
        rows.append([method, *(None if at is None else Number(at, ".3g") for at in numbers)])
    return Table("", "", [METHOD, *POLICY_SETS, *map(_make_column, WEIGHT_INDICATORS.values())], rows, media=(PAGE,))


def make_fairness(panel: Panel, settings: Indicators, number: int) -> Table:
    """Return the fairness over the agents of teams; no rows without a team of several evaluated agents."""
    measured = measure_team_fairness(panel, settings)
    rows: list[list[Cell]] = [
        [method, *(Number(found[column.heading]) for column in FAIRNESS)] for method, found in measured.items()
    ]
    title = f"{panel.full_heading}: fairness over agents"
    return Table(f"fairness-{number}", title, [METHOD, *FAIRNESS], rows, captions.FAIRNESS_CAPTION)


def make_crossplay(crossplay: CrossPlay, number: int) -> Iterator[Table]:
    """Yield the head-to-head tables of a game, and its ratings."""
    opponents = [Column(f"against {name}", AGAINST, more_is_better=True, break_at=" ") for name in crossplay.opponents]
    for kind, (name, cells) in enumerate(crossplay.tables.items(), 1):
        rows: list[list[Cell]] = [
            [seat, m, *(Number(cells[seat, m, o], mark=_mark_same(crossplay, m, o)) for o in crossplay.opponents)]
            for seat in crossplay.seats
            for m in crossplay.methods
        ]
        yield Table(
            f"crossplay-{number}-{kind}",
            f"{crossplay.title}: {name}",
            [SEAT, METHOD, *opponents],
            rows,
            captions.crossplay_caption(crossplay),
            notes_apart=True,
            notes_follow=kind < len(crossplay.tables),
            is_grouped=True,
        )
    if crossplay.ratings:
        ranked = sorted(crossplay.ratings.by_player.items(), key=lambda item: -item[1].value)
        title, caption = f"{crossplay.title}: ratings", captions.ratings_caption(crossplay)
        ranked_rows: list[list[Cell]] = [[name, Number(at, ".0f")] for name, at in ranked]
        yield Table(f"ratings-{number}", title, [PLAYER, ELO], ranked_rows, caption, notes_apart=True)
    if crossplay.head_to_head:
        yield make_head_to_head(crossplay.head_to_head, crossplay.title)


def _mark_same(crossplay: CrossPlay, method: str, opponent: str) -> str:
    return SAME_NAME_MARK if (method, opponent) in crossplay.same_name else ""


def make_head_to_head(scores: HeadToHeadScores, title: str) -> Table:
    """Return rating, results, response and mean returns of each player, best first."""
    results = RESULTS if scores.two_sided else RESULTS[:1]
    objectives = [Column(one.name, "mean return against all players") for one in scores.game.objectives]
    rows: list[list[Cell]] = []
    for player, rating in sorted(scores.ratings.items(), key=lambda item: -item[1].value):
        shares = [f"{share:.3f}" for share in scores.total(player)[: len(results)]]
        response = describe_interval(scores.response[player]), describe_interval(scores.gain[player], "+.3f")
        returns = (describe_interval(at, ".3g") for at in scores.returns[player])
        rows.append([player, describe_interval(rating, ".0f"), *shares, *response, *returns])
    columns, notes = [PLAYER, ELO, *results, *RESPONSE, *objectives], captions.HEAD_TO_HEAD_CAPTION
    return Table("", f"{title}: wins and responses", columns, rows, notes, notes_apart=True, media=(TERMINAL, PAGE))


def make_statistics(aggregate: Aggregate) -> Table:
    """Return the statistics over all games."""
    first, *others = STATISTICS
    beside = [CONTROLLABILITY] if aggregate.control else []
    rows: list[list[Cell]] = [
        [
            method,
            Number(found[first]),
            *(Number(aggregate.control[method]) if method in aggregate.control else None for _ in beside),
            *(Number(found[name]) for name in others),
        ]
        for method, found in aggregate.statistics.items()
    ]
    columns = [METHOD, STATISTICS[first], *beside, *(STATISTICS[name] for name in others)]
    return Table("aggregate", "All games", columns, rows, f"{captions.aggregate_caption(aggregate)}.")


def make_method_pairs(aggregate: Aggregate) -> Table:
    """Return the comparison of all pairs of methods over all games."""
    rows: list[list[Cell]] = [
        [first, second, Number(pair.improvement), Number(pair.difference.interval), f"{pair.p:.2g}"]
        for (first, second), pair in aggregate.pairs.items()
    ]
    names = [Column(name, is_text=True, wrap="never") for name in ("first", "second")]
    return Table("pairs", "Pairwise comparison of methods", [*names, *PAIRS], rows, captions.PAIRS_CAPTION)
