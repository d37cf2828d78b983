"""Definitions of the columns of the page's tables."""

from __future__ import annotations

import html

from momagames.analysis.named_indicators import WEIGHT_INDICATORS
from momagames.benchmark.plan import Suite
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.team_fairness import measure_team_fairness
from momagames.reports.text.labels import STATISTIC_LABELS

STATISTIC_MEANINGS = {
    "iqm": "interquartile mean: mean of the scores without the lowest and the highest quarter",
    "mean": "mean over runs and games",
    "median": "median over runs and games",
    "lower_quartile_mean": "mean of the lowest quarter of the scores",
    "optimality_gap": "mean shortfall of the scores from 1; scores above 1 do not compensate for scores below",
}
RUN_MEANINGS = {
    "runs": "number of finished runs, one for each seed, and of missing runs",
    "median s / run": "median wall time of a run in seconds, which may include compilation",
    "attainment surfaces (in a figure)": "the front attained by half of the runs, and a band from the front attained by all "
    "runs to that attained by at least one; for plans, each seed has another start position, which widens the band",
}
CRITERION_MEANINGS = {
    "ESR": "expected scalarized return: mean utility of an episode, for users who evaluate each episode separately",
    "SER": "scalarized expected return: utility of the mean return, for users who average over many episodes",
}
POLICY_SET_MEANINGS = {
    "policies": "number of policies of the method",
    "on the front": "number of policies that are non-dominated by their mean returns (SER)",
    "ESR set": "number of policies that are non-dominated in distribution; for up to three objectives",
}
FAIRNESS_MEANINGS = {
    "mean utility": "mean over the agents of a team of the weighted sum of their normalized returns; those below 0 count as 0",
    "Gini": "inequality of these utilities: 0 where they are equal, nearly 1 where one agent has all",
    "Nash welfare": "geometric mean of these utilities; 0 where one agent has none",
    "worst agent": "lowest of these utilities",
    "Lorenz front": "number of policies that no other dominates for a user who prefers more utility and equal division",
}
CROSSPLAY_MEANINGS = {
    "seat": "the agent that the method plays; team mates play the same policy, the opponent plays all others",
    "against (an opponent)": "win rate, or normalized hypervolume of the method's front, against that opponent",
    "player": "the policy of a method with the most wins, or an opponent; a method with one policy is the opponent of its name",
    "Elo ↑": "Bradley-Terry rating; a difference of 400 means odds of ten to one",
}
PAIR_MEANINGS = {
    "P(better)": "probability that a run of the first method beats a run of the second on a random game; a tie counts half",
    "IQM difference": "interquartile mean of the first method minus that of the second",
    "p": "p value of a permutation test on runs paired by seed, with Holm's correction for all pairs",
}


def column_help(suite: Suite, data: ReportData) -> str:
    """Return the definitions of all columns that the page has."""
    meanings = {one.heading: one.meaning for one in suite.indicators.list_indicators().values()}
    meanings |= RUN_MEANINGS
    if any(panel.user_utilities for panel in data.panels):
        meanings |= CRITERION_MEANINGS | POLICY_SET_MEANINGS
        meanings |= {one.heading: one.meaning for one in WEIGHT_INDICATORS.values()}
    if any(panel.primary and measure_team_fairness(panel, data.settings) for panel in data.panels):
        meanings |= FAIRNESS_MEANINGS
    if data.crossplay:
        meanings |= CROSSPLAY_MEANINGS
    if data.aggregate:
        meanings |= {STATISTIC_LABELS[name]: text for name, text in STATISTIC_MEANINGS.items()} | PAIR_MEANINGS
    terms = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in meanings.items())
    return f"<details><summary>Definitions of the columns</summary><dl>{terms}</dl></details>"
