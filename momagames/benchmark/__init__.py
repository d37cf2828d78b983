"""Suites of runs, their results, and reports on them; matches of policies against each other.

from momagames.benchmark import load_suite, report, run_suite

results = run_suite(load_suite("quick"), "results")
page = report("results").page
"""

from momagames.benchmark.matches import Match, match
from momagames.benchmark.plan import Suite
from momagames.benchmark.runner import run_suite
from momagames.benchmark.suite_files import load_suite, suites
from momagames.reports.report import report

__all__ = ["Match", "Suite", "load_suite", "match", "report", "run_suite", "suites"]
