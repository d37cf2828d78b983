"""Verdicts as sentences."""

from __future__ import annotations

from momagames.analysis.statistics import Interval
from momagames.reports.data.verdicts import Verdict


def describe_verdict(verdict: Verdict) -> str:
    """Return a sentence: who wins, where, and by how much of the hypervolume of the reference front."""
    name, score = verdict.winner
    if verdict.runner_up is None or verdict.lead is None:
        return f"{name} alone was run: hypervolume ratio {score.value:.2f}."
    other, below = verdict.runner_up
    if verdict.is_clear or (score.runs == 1 and verdict.lead.value > 0):
        place = _describe_settings(verdict.won, verdict.settings)
        return f"{name} is best{place}: hypervolume ratio {score.value:.2f}, {_format(verdict.lead)} ahead of {other}."
    ratios = f"{score.value:.2f} and {below.value:.2f}"
    return f"{name} and {other} are level: hypervolume ratios {ratios}, difference {_format(verdict.lead)}."


def _describe_settings(won: int, settings: int) -> str:
    if settings == 1:
        return ""
    every = "both" if settings == 2 else f"all {settings}"
    return f" in {every} settings" if won == settings else f" on average, and in {won} of {settings} settings"


def _format(at: Interval) -> str:
    value, low, high = (f"{bound:.2f}".replace("-0.00", "0.00") for bound in (at.value, at.low, at.high))
    return value + (f" [{low}, {high}]" if at.runs > 1 else "")
