"""Suites of runs, their results, and reports on them; matches of policies against each other.

from momagames.experiments import load_suite, report, run_suite

results = run_suite(load_suite("quick"), "results")
page = report("results").page
"""

from momagames.experiments.matches import Match, match
from momagames.experiments.plan import Suite
from momagames.experiments.reports.reporting import report
from momagames.experiments.runner import run_suite
from momagames.experiments.suite_files import load_suite, suites

__all__ = ["Match", "Suite", "load_suite", "match", "report", "run_suite", "suites"]
