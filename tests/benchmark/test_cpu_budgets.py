"""Searches with a budget of CPU time: the number of environment steps is chosen by trials."""

from types import SimpleNamespace

import numpy as np
import pytest

from momagames.baselines.base import Plans
from momagames.benchmark import cpu_budgets, run_suite
from momagames.benchmark.cpu_budgets import search_for_seconds
from momagames.benchmark.estimates import estimate_cost
from momagames.benchmark.evaluate import evaluate_run
from momagames.reports.report import report
from tests.benchmark.tiny import RANDOM, plans, suite


class Clock:
    """A method whose searches take `cost` seconds for a budget on a clock of its own; `most`: steps that it can use."""

    def __init__(self, cost, most=2**60, complete=False):
        self.cost, self.most, self.complete, self.now, self.budgets = cost, most, complete, 0.0, []

    def process_time(self):
        return self.now

    def plan(self, game, start, budget, seed):
        self.budgets.append(budget)
        steps = min(budget, self.most)
        self.now += self.cost(steps)
        return Plans((), steps, self.complete)


def search(method, monkeypatch, first=100, seconds=10.0):
    monkeypatch.setattr(cpu_budgets, "time", SimpleNamespace(process_time=method.process_time))
    return search_for_seconds(method, None, None, first, seconds, 0)


def test_steps_grow_until_the_time_is_spent(monkeypatch):
    method = Clock(lambda steps: steps * 1e-3)
    found = search(method, monkeypatch)
    assert method.budgets == [100, 100, 1600, 10000]  # the first one compiles; 16 times as many at most
    assert (found.budget, found.seconds) == (10000, pytest.approx(10))


def test_steps_shrink_after_a_trial_that_takes_too_long(monkeypatch):
    method = Clock(lambda steps: (steps / 1000) ** 2)  # 3.16 times the steps take ten times as long
    found = search(method, monkeypatch)
    assert 8 <= found.seconds <= 12.5
    assert max(method.budgets) > found.budget


def test_fixed_costs_do_not_end_the_search_for_steps(monkeypatch):
    """A method that needs 1.5 seconds in any case, somewhat less in a later trial, and then 1 ms for 1,000 steps."""
    times = iter([1.6, 1.5, 1.4, 1.45])
    method = Clock(lambda steps: next(times, 1.5) + steps * 1e-6)
    found = search(method, monkeypatch)
    assert 8 <= found.seconds <= 12.5
    assert found.budget > 6_000_000


def test_a_method_that_has_no_use_for_more_steps_ends(monkeypatch):
    method = Clock(lambda steps: steps * 1e-3, most=500)
    assert search(method, monkeypatch).plans.steps == 500
    assert method.budgets == [100, 100, 1600]
    method = Clock(lambda steps: 3.0, complete=True)
    assert search(method, monkeypatch).seconds == 3
    assert len(method.budgets) == 2


def test_a_method_that_needs_more_time_for_its_least_budget_ends(monkeypatch):
    method = Clock(lambda steps: 50.0)
    assert search(method, monkeypatch).seconds == 50
    assert method.budgets == [100, 100]


def test_the_nearest_trial_is_taken_where_none_fits(monkeypatch):
    method = Clock(lambda steps: 5.0 if steps < 1000 else 40.0)
    found = search(method, monkeypatch)
    assert found.seconds == 5
    assert 3 < len(method.budgets) <= 1 + cpu_budgets.MAX_TRIALS


@pytest.fixture(scope="module")
def timed():
    return suite(plans([RANDOM]) | {"budget": 100, "cpu_seconds": 0.05})


def test_runs_of_a_suite_store_steps_and_time(timed, tmp_path):
    run = timed.list_runs()[0]
    facts = {}
    rows = list(evaluate_run(run, facts))
    assert facts["budget"] > 100
    assert facts["steps"] >= facts["budget"] / 2
    assert 0 < facts["search_cpu_s"] < 1
    plain = run.model_copy(update={"cpu_seconds": None, "budget": facts["budget"]})
    again = list(evaluate_run(plain, {}))  # what was found does not depend on the time, but on these steps
    assert [row["return"] for row in again] == [row["return"] for row in rows]
    assert run.digest != suite(plans([RANDOM]) | {"budget": 100}).list_runs()[0].digest
    assert not run_suite(timed, tmp_path).failed
    (panel, *_) = report(tmp_path, replays=False).panels
    assert panel.points
    assert not panel.search_history  # steps do not compare


def test_searches_without_a_time_store_theirs():
    facts = {}
    list(evaluate_run(suite(plans([RANDOM])).list_runs()[0], facts))
    assert facts["search_cpu_s"] > 0
    assert "budget" not in facts
    assert np.isfinite(facts["search_cpu_s"])


def test_costs_are_estimated_as_shares_of_the_time():
    (found,) = estimate_cost(suite({**plans([RANDOM], seeds=(0,)), "budget": 100, "cpu_seconds": 0.2}).list_runs(), 0.02)
    assert not found.error
    assert 0.02 < found.seconds < 20  # a search of 0.2 s and its trials, on any machine
