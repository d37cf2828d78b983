"""Verdicts as sentences."""

from __future__ import annotations

from collections.abc import Mapping

from momagames.analysis.statistics import Interval
from momagames.contract.titles import join_words
from momagames.reports.data.verdicts import LEVEL, Verdict
from momagames.wording import count


def describe_verdict(verdict: Verdict) -> str:
    """Return sentences: who leads, where, and by how much of the hypervolume of the reference front; who is left out."""
    others = f" Left out: {join_words(verdict.others)}, in some of these settings only." if verdict.others else ""
    return f"{_describe_lead(verdict)}.{others}"


def describe_leads(counts: Mapping[str, int], settings: int) -> str:
    """Return how many settings each method leads, of `count_leads`, such as "`a` in 2 of 5 settings, `b` in 1, level in 2"."""
    if not counts:
        return f"none in {count(settings, 'setting')}"
    names = [LEVEL if name == LEVEL else f"`{name}`" for name in counts]
    first, *rest = [f"{name} in {number}" for name, number in zip(names, counts.values(), strict=True)]
    return ", ".join([f"{first} of {count(settings, 'setting')}", *rest])


def _describe_lead(verdict: Verdict) -> str:
    name, score = verdict.winner
    if verdict.runner_up is None or verdict.lead is None:
        return f"{name} alone was run: hypervolume ratio {score.value:.2f}"
    other, below = verdict.runner_up
    if verdict.is_clear:
        place = _describe_settings(verdict.won, verdict.settings)
        return f"{name} is best{place}: hypervolume ratio {score.value:.2f}, {_format(verdict.lead)} ahead of {other}"
    ratios = f"hypervolume ratios {score.value:.2f} and {below.value:.2f}"
    if score.runs == 1:
        return f"{name} is first and {other} second in a single run, which shows no lead: {ratios}"
    return f"{name} and {other} are level: {ratios}, difference {_format(verdict.lead)}"


def _describe_settings(won: int, settings: int) -> str:
    if settings == 1:
        return ""
    if won == settings:
        return " in both settings" if settings == 2 else f" in all {settings} settings"
    return f" on average, {f'and in {won}' if won else 'but in none'} of {settings} settings"


def _format(at: Interval) -> str:
    value, low, high = (f"{bound:.2f}".replace("-0.00", "0.00") for bound in (at.value, at.low, at.high))
    return value + (f" [{low}, {high}]" if at.has_width else "")
