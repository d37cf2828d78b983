"""Cost of a suite before it runs."""

import pytest

from momagames.benchmark import estimates
from momagames.errors import InvalidParameter, TooLarge
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite

LONG = {**POLICIES, "select_episodes": 1024, "report_episodes": 2048}


@pytest.fixture
def samples(monkeypatch):
    """Record the samples; each costs 1 s, and 100 s times its share of the report episodes or budget."""
    recorded = []

    def measure(run, share):
        recorded.append((run.method.name, share))
        if run.method.name == "greedy" and share < 0.01:
            raise InvalidParameter("too few")
        return 1 + 100 * share

    monkeypatch.setattr(estimates, "measure_sample", measure)
    return recorded


def test_samples_grow_until_they_are_long_enough(samples):
    runs = suite(LONG).list_runs()
    found = list(estimates.estimate_cost(runs, 5))
    assert [(len(one.runs), one.runs[0].method.name) for one in found] == [(2, "random"), (2, "greedy")]
    assert len(found) == estimates.count_groups(runs) == 2
    for one in found:
        assert one.seconds == pytest.approx(101)
        assert one.total == pytest.approx(202)
    assert [one.share for one in found] == [1 / 16, 1 / 4]  # the first sample of greedy has a share of 1/64
    shares = [share for name, share in samples if name == "random"]
    assert shares == [1 / 1024, 1 / 1024, 1 / 256, 1 / 64, 1 / 16]  # the first compiles


def test_fixed_costs_do_not_grow_with_the_budget(samples):
    for one in estimates.estimate_cost(suite(LONG).list_runs(), 0.5):  # each first sample is long enough
        assert one.seconds == pytest.approx(101)


def test_budgets_below_an_update_of_a_learner_do_not_tell_its_costs(monkeypatch):
    def measure(run, share):
        return 3.0 * max(1, int(512 * share)) + 0.01 * share  # an update of 3 s is the least

    monkeypatch.setattr(estimates, "measure_sample", measure)
    for one in estimates.estimate_cost(suite(LONG).list_runs(), 0.5):
        assert one.seconds == pytest.approx(3 * 512, rel=0.01)


def test_a_whole_run_is_the_largest_sample(samples):
    (one, _) = estimates.estimate_cost(suite(LONG).list_runs(), 1000)
    assert (one.share, one.seconds) == (1, 101)


def test_a_sample_has_a_share_of_budget_and_episodes(monkeypatch):
    recorded = []
    monkeypatch.setattr(estimates.evaluate, "evaluate_run", lambda run, facts: iter([recorded.append(run)]))
    training = {**LONG, "methods": [{"name": "ntuple", "options": {}}], "budget": 4096, "seeds": [0]}
    for run in (*suite(training).list_runs(), suite(plans([RANDOM], seeds=[0])).list_runs()[0]):
        assert estimates.measure_sample(run, 1 / 1000) >= 0
    assert [(run.budget, run.select_episodes, run.report_episodes) for run in recorded] == [(4, 1, 2), (1, None, None)]


def test_real_samples():
    found = list(estimates.estimate_cost(suite(plans([RANDOM, GREEDY], seeds=[0, 1])).list_runs(), 0.001))
    assert all(one.seconds > 0 and not one.error for one in found)


def test_methods_that_cannot_play_have_an_error(monkeypatch):
    def fail(run, share):
        raise TooLarge("too large") if run.method.name == "random" else InvalidParameter(f"needs more than {share:g}")

    monkeypatch.setattr(estimates, "measure_sample", fail)
    found = list(estimates.estimate_cost(suite(LONG).list_runs()))
    assert [(one.seconds, one.total, one.error) for one in found] == [(None, 0, "too large"), (None, 0, "needs more than 1")]
    with pytest.raises(InvalidParameter, match="seconds"):
        list(estimates.estimate_cost([], 0))
