"""Captions of tables and figures, shared by the terminal, the page and the documentation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momagames.analysis.episode_returns import required_episodes
from momagames.benchmark.suites import Indicators
from momagames.contract.titles import join_words
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.crossplay import WIN_RATE, CrossPlay
from momagames.reports.data.overview import OverviewRow
from momagames.reports.data.panels import Panel
from momagames.reports.text.labels import EXACT_MARK, SAME_NAME_MARK, describe_interval
from momagames.wording import count

TARGET_ERROR = 0.01  # standard error of a front, as a share of the range, for which captions state the number of episodes

GENERALIZATION_CAPTION = (
    "Means over instances, each measured against its own proven front. HV ratio: of all episodes of a method in the instance, "
    "equally many for each method. Regret: best utility of the front minus that of the policy that a user has chosen in the "
    "training instances, for all weights. Gap: how much worse the method is in test than in training instances; the two sets "
    "also differ in difficulty, so compare gaps with those of methods that were not trained."
)
PROFILES_CAPTION = (
    "A method whose profile is nowhere below that of another is stochastically better. The bands are pointwise: they cover "
    "each threshold separately, not the curve as a whole."
)
OBJECTIVE_PAIRS_CAPTION = (
    "Median attainment surface in each pair of objectives, ignoring the others. A point that is non-dominated in all "
    "objectives may be dominated in a pair."
)
UTILITY_CAPTION = (
    "Utility of normalized returns: ESR is its mean over single episodes, SER the utility of the mean return. The policy of "
    "each cell is the best one in the selection episodes."
)
CONTROL_NOTE = (
    "Controllability is the rank correlation of weight and return, of methods with policies for weights: 1 where the weights "
    "steer the policies, 0 where they do nothing. "
)
CONTROL_CAPTION = (
    "Whether returns are in the order of the weights, and the utility of policies under their own weights (delivered) beside "
    "that of the best policy of the set for each weight (coverage)."
)
PAIRS_CAPTION = (
    "P(better): probability that a run of the first method beats a run of the second; IQM difference: first minus second; p: "
    "permutation test with Holm's correction."
)
FAIRNESS_CAPTION = (
    "Fairness over the agents of a team that one policy plays, by the utility of each: means over the policies of the method."
)


def overview_caption(rows: Sequence[OverviewRow], settings: Indicators) -> str:
    """Return the caption of the overview."""
    marked = f" ({EXACT_MARK}: proven)" if any(row.is_exact for row in rows) else ""
    return (
        f"Mean over runs of the hypervolume ratio, the hypervolume as a share of that of the reference front{marked}, with the "
        f"{settings.confidence:.0%} bootstrap interval over runs below. It says how far runs of other seeds would differ, not "
        "other games, instances or episodes; one run and runs that are all equal have none. Higher is better; * marks the best "
        "method of a game. "
        f"{CONTROL_NOTE if any(row.control for row in rows) else ''}"
        "Criterion: SER (utility of the mean return); for plans, whose returns are deterministic, SER and ESR are equal."
    )


def panel_caption(panel: Panel) -> str:
    """Return the caption of the scores of a panel: opponents and seats, what a point is, and what it is compared with."""
    tags = sorted({reference.tag for reference in panel.references.values()})
    sizes = sorted(len(reference.values) for reference in panel.references.values())
    size = count(sizes[0], "point") if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]} points"
    chance = ", with all random draws known in advance" if panel.game.chance == "step" else ""
    points = (
        f"Each point is the return of a plan from the start position{chance}"
        if panel.kind == "plans"
        else "Each point is the mean return of a policy (SER) in other episodes than those on which it was selected"
    )
    beyond = "Some points exceed the ideal point, where the normalized HV is clipped" if panel.exceeds_ideal else ""
    methods = dict.fromkeys(name for one in panel.references.values() for name in one.methods)
    reference = f"Reference: {' or '.join(tags)} front of {size}{f', by {join_words([*methods])}' if methods else ''}"
    scope = panel.scope[:1].upper() + panel.scope[1:]
    shorter = ", ".join(f"{method} was trained with {steps:,} steps" for method, steps in panel.budgets.items())
    return ". ".join(filter(None, [scope, points, reference, shorter, _describe_error(panel), beyond])) + "."


def _describe_error(panel: Panel) -> str:
    """Return the standard error of the fronts, and the number of episodes for a small one; "" for plans."""
    if panel.kind == "plans":
        return ""
    error = panel.front_error
    if not np.isfinite(error):
        return "No standard error with one episode per policy"
    text = f"Standard error up to {error:.2g} of the range with {count(panel.num_episodes, 'episode')} per match"
    if panel.stored_episodes:
        text += f" (utilities and wins of single episodes: the first {panel.stored_episodes})"
    needed = required_episodes(TARGET_ERROR, error, panel.num_episodes)
    if needed <= panel.num_episodes:
        return text
    return f"{text}; an error of {TARGET_ERROR} needs about {_round_up(needed):,} episodes"


def _round_up(number: int) -> int:
    """Round up to two significant digits."""
    unit = int(10 ** max(0, len(str(number)) - 2))
    return (number + unit - 1) // unit * unit


def aggregate_caption(aggregate: Aggregate) -> str:
    """Return the caption of the statistics over all games."""
    interval = next(iter(next(iter(aggregate.statistics.values())).values()))
    warning = f"; {interval.warning}" if interval.warning else ""
    roles = "".join(f"; {role}: {', '.join(methods)}" for role, methods in aggregate.roles.items())
    games = count(len(aggregate.games), "game")
    return f"HV ratios of {count(aggregate.runs, 'run')} on each of {games}, weighted equally{roles}{warning}"


def anytime_caption(panel: Panel, settings: Indicators) -> str:
    """Return the caption of the anytime curves, with the methods that have none."""
    text = (
        f"Mean over runs of the indicator of all points found within the budget, with pointwise {settings.confidence:.0%} "
        "bootstrap bands. Points that were dominated later count until then."
    )
    missing = [method for method in panel.points if method not in panel.search_history]
    return text + (f" Not shown because they have no budget: {', '.join(missing)}." if missing else "")


def crossplay_caption(crossplay: CrossPlay) -> str:
    """Return the caption of head-to-head tables."""
    parts = []
    if WIN_RATE in crossplay.tables:
        parts.append(
            f"Win rate: share of the report episodes in which {crossplay.objective!r} ends above the middle of its range (at "
            "the middle: half a win), for the policy of each method with the most wins in the selection episodes"
        )
    parts.append("Normalized HV: of the method's front against this opponent from this seat (SER)")
    if crossplay.same_name:
        parts.append(f"{SAME_NAME_MARK}: the opponent has the method's own name")
    for name, gap in crossplay.same_name_gaps.items():
        parts.append(f"{name} against the own name minus the others: {describe_interval(gap, '+.3f')}")
    return ". ".join(parts) + "."


HEAD_TO_HEAD_CAPTION = (
    "Wins, ties and losses: shares of the games against all other players. Response: share of the games that the best response "
    "wins against the player. It is the policy with the most wins in the selection episodes, of methods that search or are "
    "trained against the player with the stated budget. Exploitability: the same minus what the player wins against itself; a "
    "lower bound, because there may be better responses."
)


def ratings_caption(crossplay: CrossPlay) -> str:
    """Return the caption of the ratings, with the clearest cycle; "" without ratings."""
    ratings = crossplay.ratings
    if ratings is None:
        return ""
    anchor = next((name for name, rating in ratings.by_player.items() if rating.value == 0), "")
    text = (
        f"Bradley-Terry model of all episodes with {anchor!r} at 0; 400 points are odds of ten to one. The prior is half a win "
        "each way for every pair that met, so that the rating of a player that won every game depends on the number of games. "
        f"Intervals are over {'seeds, which share neither training nor random numbers' if ratings.seeds > 1 else 'episodes'}"
    )
    if ratings.cycle is None:
        return f"{text}. No three players beat each other in a cycle."
    players, shares = ratings.cycle
    pairs = zip(players, (*players[1:], players[0]), shares, strict=True)
    beaten = [f"{first} beats {second} in {describe_interval(share)}" for first, second, share in pairs]
    return (
        f"{text}. Clearest cycle, which ratings cannot represent: {join_words(beaten)} of the games that are no ties. In a "
        "cycle each player wins more than half of these against the next, and the interval is above one half."
    )
