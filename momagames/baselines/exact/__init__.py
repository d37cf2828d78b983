"""Exact Pareto fronts of deterministic games of one agent."""

from __future__ import annotations

from momagames.baselines.exact.solve import Front, Progress, pareto_front

__all__ = ["Front", "Progress", "pareto_front"]
