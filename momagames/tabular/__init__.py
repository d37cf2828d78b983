"""Exact Pareto fronts and convex coverage sets of small Gymnasium environments with vector rewards.

from fractions import Fraction
from momagames import tabular

env = tabular.make_environment("deep-sea-treasure-v0")
model = tabular.explore(tabular.make_simulator(env), tabular.Limits(), {})
front = tabular.find_pareto_front(model, Fraction(99, 100), tabular.Limits())
"""

from momagames.tabular.coverage_set import Certificate, CoverageSet, find_coverage_set
from momagames.tabular.environments import make_environment
from momagames.tabular.evaluation import evaluate_policy
from momagames.tabular.explore import Limits, explore
from momagames.tabular.model import END, Outcome, TabularModel, limit_horizon, to_fraction
from momagames.tabular.pareto_front import ParetoFront, find_pareto_front
from momagames.tabular.proofs import check_coverage_set, check_pareto_front
from momagames.tabular.simulators import Simulator, make_simulator

__all__ = [
    "END",
    "Certificate",
    "CoverageSet",
    "Limits",
    "Outcome",
    "ParetoFront",
    "Simulator",
    "TabularModel",
    "check_coverage_set",
    "check_pareto_front",
    "evaluate_policy",
    "explore",
    "find_coverage_set",
    "find_pareto_front",
    "limit_horizon",
    "make_environment",
    "make_simulator",
    "to_fraction",
]
