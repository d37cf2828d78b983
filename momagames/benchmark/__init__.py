"""Suites of runs, their results, and matches between policies.

from momagames.benchmark import load_suite, run_suite
from momagames.reports import report

results = run_suite(load_suite("quick"), "results")
page = report("results").page
"""

from momagames.benchmark.matches import Match, match
from momagames.benchmark.runner import run_suite
from momagames.benchmark.suite_files import list_suites, load_suite
from momagames.benchmark.suites import Suite

__all__ = ["Match", "Suite", "list_suites", "load_suite", "match", "run_suite"]
