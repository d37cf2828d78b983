"""Labels of indicators and statistics, and the format of scores."""

from __future__ import annotations

from momagames.analysis.statistics import Interval
from momagames.reports.data.generalization import MORE_IS_BETTER
from momagames.reports.data.scores import Score

# indicator -> (label, True if more is better, False if less, None without direction; format)
INDICATOR_LABELS: dict[str, tuple[str, bool | None, str]] = {
    "hypervolume": ("hypervolume", True, ".4g"),
    "normalized_hypervolume": ("norm. HV", True, ".3f"),
    "hypervolume_ratio": ("HV ratio", True, ".3f"),
    "igd_plus": ("IGD+", False, ".3f"),
    "epsilon": ("epsilon+", False, ".3f"),
    "expected_utility": ("expected utility", True, ".3f"),
    "sampled_utility": ("sampled utility", True, ".3f"),
    "maximum_utility_loss": ("utility loss", False, ".3f"),
    "cardinality": ("points", None, ".1f"),
    "rounded_cardinality": ("points at 0.01", None, ".1f"),
    "sparsity": ("sparsity", None, ".3f"),
    "controllability": ("controllability", True, ".3f"),
    "ordering_score": ("ordering score", True, ".3f"),
    "delivered_utility": ("delivered utility", True, ".3f"),
    "coverage_utility": ("coverage utility", True, ".3f"),
    "utility_regret": ("utility regret", False, ".3f"),
}
STATISTIC_LABELS = {
    "iqm": "IQM ↑",
    "mean": "mean ↑",
    "median": "median ↑",
    "lower_quartile_mean": "lower-quartile mean ↑",
    "optimality_gap": "optimality gap ↓",
}
EXACT_MARK = "="  # marks games whose reference front is exact
NO_SCORE = "–"  # of a method without weight-conditioned policies
SAME_NAME_MARK = "◇"  # marks a method against the opponent of its name


def generalization_heads() -> list[str]:
    """Return the labels of `generalization.list_intervals`: "exact HV ratio, training ↑"."""
    arrows = {name: "↑" if up else "↓" for name, up in MORE_IS_BETTER.items()}
    return [f"{name}, {part}" for name, arrow in arrows.items() for part in (f"training {arrow}", f"test {arrow}", "gap ↓")]


def heading(name: str) -> str:
    """Return the label of an indicator with an arrow in the better direction."""
    label, up, _ = INDICATOR_LABELS[name]
    return label if up is None else f"{label} {'↑' if up else '↓'}"


def format_score(name: str, score: Score | None) -> tuple[str, str]:
    """Return the mean and the interval of a score, "" if it has no width; without a score the mean is a dash."""
    if score is None:
        return NO_SCORE, ""
    form = INDICATOR_LABELS[name][2]
    interval = score.interval
    mean = ("~" if score.approx else "") + format(interval.value, form)
    return mean, format_bounds(interval, form)


def format_bounds(at: Interval, form: str) -> str:
    """Return the bounds of an interval in brackets; "" if it has no width."""
    return f"[{at.low:{form}}, {at.high:{form}}]" if at.has_width else ""


def describe_interval(at: Interval, form: str = ".3f") -> str:
    """Return a value with its interval in brackets."""
    return f"{at.value:{form}} {format_bounds(at, form)}".rstrip()
