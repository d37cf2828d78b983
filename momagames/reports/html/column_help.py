"""Definitions of the columns of the page's tables."""

from __future__ import annotations

import html

from momagames.benchmark.plan import CONTROL_INDICATORS, Suite
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.team_fairness import measure_team_fairness
from momagames.reports.text.labels import INDICATOR_LABELS, STATISTIC_LABELS, heading

INDICATOR_MEANINGS = {
    "hypervolume": "volume that the points dominate above the reference point, in raw units",
    "normalized_hypervolume": "hypervolume of normalized returns, clipped at the ideal point; between 0 and 1",
    "hypervolume_ratio": "hypervolume divided by that of the reference front; noise of the episodes can raise it above 1",
    "igd_plus": "modified inverted generational distance: mean shortfall of the nearest point from the reference front",
    "epsilon": "additive epsilon: smallest shift of all objectives after which the points dominate the reference front",
    "expected_utility": "mean over a lattice of weights of the best weighted sum: the utility of a user with unknown weights",
    "sampled_utility": "expected utility for 1,024 weights sampled uniformly from the simplex; for six objectives or more",
    "maximum_utility_loss": "largest loss of a weighted sum against the reference front, over all weights",
    "cardinality": "number of non-dominated points",
    "rounded_cardinality": "number of non-dominated points after rounding normalized returns to 0.01",
    "sparsity": "mean squared gap between neighboring values; for comparison with older work, not for ranking",
    "controllability": "rank correlation of the weight of an objective and the return in it, over the weight-conditioned "
    "policies, in the mean over the objectives; 0 if weights do not steer them",
    "ordering_score": "share of order: whether returns rise with the weight of their objective where the other weights stay in "
    "proportion; 0.5 for a random order, 1 also for policies that are all alike",
    "delivered_utility": "mean weighted sum of normalized returns of weight-conditioned policies under their own weights",
    "coverage_utility": "the same with the policy of the set that is best for each weight in the selection episodes",
    "utility_regret": "coverage utility minus delivered utility: the loss from a wrong choice of policy",
}
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
    meanings = {heading(name): INDICATOR_MEANINGS[name] for name in INDICATOR_LABELS if name in suite.indicators.names}
    meanings |= RUN_MEANINGS
    if any(panel.user_utilities for panel in data.panels):
        meanings |= CRITERION_MEANINGS | POLICY_SET_MEANINGS
        meanings |= {heading(name): INDICATOR_MEANINGS[name] for name in CONTROL_INDICATORS}
    if any(panel.primary and measure_team_fairness(panel, data.settings) for panel in data.panels):
        meanings |= FAIRNESS_MEANINGS
    if data.crossplay:
        meanings |= CROSSPLAY_MEANINGS
    if data.aggregate:
        meanings |= {STATISTIC_LABELS[name]: text for name, text in STATISTIC_MEANINGS.items()} | PAIR_MEANINGS
    terms = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in meanings.items())
    return f"<details><summary>Definitions of the columns</summary><dl>{terms}</dl></details>"
