"""Labels of scores and their format."""

from __future__ import annotations

from momagames.analysis.named_indicators import Indicator
from momagames.analysis.statistics import Interval
from momagames.reports.data.generalization import MORE_IS_BETTER
from momagames.reports.data.scores import Score

EXACT_MARK = "="  # marks games whose reference front is exact
NO_SCORE = "–"  # of a method without weight-conditioned policies
SAME_NAME_MARK = "◇"  # marks a method against the opponent of its name


def generalization_heads() -> list[str]:
    """Return the labels of `generalization.list_intervals`: "exact HV ratio, training ↑"."""
    arrows = {name: "↑" if up else "↓" for name, up in MORE_IS_BETTER.items()}
    return [f"{name}, {part}" for name, arrow in arrows.items() for part in (f"training {arrow}", f"test {arrow}", "gap ↓")]


def format_score(indicator: Indicator, score: Score | None) -> tuple[str, str]:
    """Return the mean and the interval of a score, "" if it has no width; without a score the mean is a dash."""
    if score is None:
        return NO_SCORE, ""
    mean = ("~" if score.approx else "") + format(score.interval.value, indicator.form)
    return mean, format_bounds(score.interval, indicator.form)


def format_bounds(at: Interval, form: str) -> str:
    """Return the bounds of an interval in brackets; "" if it has no width."""
    return f"[{at.low:{form}}, {at.high:{form}}]" if at.has_width else ""


def describe_interval(at: Interval, form: str = ".3f") -> str:
    """Return a value with its interval in brackets."""
    return f"{at.value:{form}} {format_bounds(at, form)}".rstrip()
