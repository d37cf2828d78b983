"""Tables of the page besides the scores: users of policies, all games together, and what the columns mean."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from momagames.analysis.statistics import Interval
from momagames.benchmark.plan import Indicators, Suite
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.panels import Panel
from momagames.reports.data.policy_families import summarize_policy_sets
from momagames.reports.report import HEADINGS, STATISTIC_HEADINGS, count, heading

# column -> what it says
MEANINGS = {
    "hypervolume": "volume of the returns above the reference point that a point of the front dominates, in raw units",
    "normalized_hypervolume": "the same of normalized returns, cut off at 1",
    "hypervolume_ratio": "hypervolume as a share of the reference front's; above 1 is possible by luck of the episodes",
    "igd_plus": "mean over the reference front of the distance by which the nearest point found falls short",
    "epsilon": "the least shift in all objectives after which the points dominate the whole reference front",
    "expected_utility": "mean over a lattice of weights of the best weighted sum: what a user with unknown weights gets",
    "sampled_utility": "the same for 1,024 weights drawn evenly from the simplex; better for six objectives or more",
    "maximum_utility_loss": "what the user with the worst weights loses against the reference front; exact over all weights",
    "cardinality": "non-dominated points",
    "rounded_cardinality": "the same after normalized returns are rounded to 0.01: a cloud of noise counts once",
    "sparsity": "squared gaps between neighboring values; for comparison with older work, it ranks nothing",
}
STATISTIC_MEANINGS = {
    "iqm": "interquartile mean: the mean without the lowest and the highest quarter of all scores",
    "mean": "mean over runs and games",
    "median": "median over runs and games",
    "lower_quartile_mean": "mean of the worst quarter of the scores: what happens when things go wrong",
    "optimality_gap": "mean shortfall from 1; what is above 1 does not make up for what is below",
}
RUN_MEANINGS = {
    "runs": "finished runs, one for each seed, and those that are missing",
    "median s / run": "median wall time of a run; the first one may have compiled the game",
    "all runs (in a figure)": "what half of the runs attained, and a band from what every run did to what one did; plans of "
    "different seeds are for different deals, so that the band is luck of the deal, too",
}
USER_MEANINGS = {
    "ESR": "mean utility of single episodes: for a user to whom every episode counts for itself",
    "SER": "utility of the mean return: for a user to whom many episodes count together",
}
FAMILY_MEANINGS = {
    "policies": "that the method offers",
    "on the front": "of these non-dominated by their mean returns (SER)",
    "ESR set": "of these not dominated in distribution; for up to three objectives",
    "delivered": "mean utility of policies that are told weights, for a user with these weights; returns are normalized",
    "offered": "the same by the best of the method's policies for these weights; less what is delivered, it is the price of "
    "picking badly",
}
CROSS_MEANINGS = {
    "seat": "the agent that the method plays; its team mates play the same policy, the opponent all others",
    "against (an opponent)": "win rate, or normalized hypervolume of the method's front, against that opponent",
    "entrant": "a method by its policy that wins most, or an opponent; a method with one policy is the opponent of its name",
    "Elo ↑": "rating by the Bradley-Terry model; 400 more means ten wins to one",
}
PAIR_MEANINGS = {
    "P(better)": "chance that a run of the first method beats one of the second, on a game taken at random; a tie counts half",
    "IQM difference": "interquartile mean of the first less that of the second",
    "p": "chance of a difference as large if both were the same, by exchange of runs of one seed; after Holm, for all pairs",
}


def users(panel: Panel, settings: Indicators) -> str:
    """ESR beside SER for each utility function; nothing for plans, whose returns are certain."""
    if not panel.user_utilities:
        return ""
    names = list(next(iter(panel.user_utilities.values())))
    rows = [
        [method, kind, *(interval(getattr(worths[name], kind.lower())) for name in names)]
        for method, worths in panel.user_utilities.items()
        for kind in USER_MEANINGS
    ]
    opened = " open" if panel.primary else ""
    told = "Utility of normalized returns, by the policy that was best for it in the games for selection; more is better."
    return (
        f"<details{opened}><summary>users who live through one episode (ESR) or many (SER)</summary>"
        f'{table(["method", "", *names], rows)}<p class="caption">{told}</p>'
        f"{_families(panel, wanted) if panel.primary else ''}</details>"
    )


def _families(panel: Panel, settings: Indicators) -> str:
    """What the methods' policies are as families."""
    rows = [
        [
            method,
            *(interval(at, ".3g") for at in (one.policies, one.front)),
            *map(_maybe, (one.esr, one.realized, one.attainable)),
        ]
        for method, one in summarize_policy_sets(panel, settings).items()
    ]
    return table(["method", *FAMILY_MEANINGS], rows)


def _maybe(at: Interval | None) -> str:
    return "–" if at is None else interval(at, ".3g")


def overall(found: Aggregate, first: int) -> str:
    """The section on all games together; its figures have the numbers `first` and `first + 1`."""
    rows = [[name, *map(interval, statistics.values())] for name, statistics in found.statistics.items()]
    names = list(next(iter(found.statistics.values())))
    pairs = [
        [a, b, interval(pair.improvement), interval(pair.difference.interval), f"{pair.p:.2g}"]
        for (a, b), pair in found.pairs.items()
    ]
    warning = next(iter(next(iter(found.statistics.values())).values())).warning
    games = "".join(f"<li>{html.escape(game)}</li>" for game in found.games)
    told = f"HV ratios of {count(found.runs, 'run')} on each of {len(found.games)} games, each game alike" + (
        f"; {warning}." if warning else "."
    )
    return f"""
<section id="overall">
<h2>All games together</h2>
{table(["method", *(STATISTIC_HEADINGS[name] for name in names)], rows)}
<p class="caption">{told}</p>
<div class="figure" id="f{first}" role="group" aria-label="Interquartile means and gaps to 1, as in the table above">
</div>
<h3>Performance profiles</h3>
<div class="figure" id="f{first + 1}" role="group" aria-label="Share of the runs above each HV ratio, with bands"></div>
<p class="caption">A method whose curve is nowhere below another's is better in distribution. Each band holds at its own
threshold, not for the curve as a whole.</p>
{f'<h3>Pairs of methods</h3><div class="pairs">{table(["first", "second", *PAIR_MEANINGS], pairs)}</div>' if pairs else ""}
<details><summary>the games</summary><ul>{games}</ul></details>
</section>"""


def reading(suite: Suite, policies: bool, together: bool, met: bool) -> str:
    """What every column of the page's tables says."""
    meanings = {heading(name): MEANINGS[name] for name in HEADINGS if name in suite.indicators.names} | RUN_MEANINGS
    if policies:
        meanings |= USER_MEANINGS | FAMILY_MEANINGS
    if met:
        meanings |= CROSS_MEANINGS
    if together:
        meanings |= {STATISTIC_HEADINGS[name]: told for name, told in STATISTIC_MEANINGS.items()} | PAIR_MEANINGS
    listed = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(told)}</dd>" for name, told in meanings.items())
    return f"<details><summary>what the columns mean</summary><dl>{listed}</dl></details>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names the rows; see `_cell`."""
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>' + "".join(f"<td>{_cell(text)}</td>" for text in row[1:]) + "</tr>"
        for row in rows
    )
    return f'<div class="wide" tabindex="0"><table><tr>{top}</tr>{lines}</table></div>'


def _cell(text: str) -> str:
    """Text with what stands below it, after a line break, in small letters."""
    first, _, below = text.partition("\n")
    return html.escape(first) + (f"<small>{html.escape(below)}</small>" if below else "")


def interval(at: Interval, form: str = ".3f") -> str:
    """A value with its interval below, for `table`."""
    return f"{at.value:{form}}" + (f"\n[{at.low:{form}}, {at.high:{form}}]" if at.runs > 1 else "")
