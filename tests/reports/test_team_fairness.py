"""Fairness over the agents of teams in panels, by hand and from stored runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from momagames.analysis.reference import Reference
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.team_fairness import FAIRNESS_COLUMNS, measure_team_fairness
from momagames.reports.text.report_tables import make_fairness
from tests.reports.test_crossplay import SETTINGS

SEATS = ("a", "b", "c", "d")
GAME = SimpleNamespace(agents=SEATS, teams=(0, 1, 0, 1), objectives=("deliveries", "energy"))
REFERENCE = Reference(np.array([[4.0, 4.0]]), "best known", np.array([0.0, 0.0]), np.array([4.0, 4.0]))


def panel(returns, seats, labels=("one",), weights=None):
    """Return a panel of one method: returns by policy and seat against each of two opponents, in two equal episodes."""
    matches = tuple((opponent, seat) for opponent in ("greedy", "random") for seat in seats)
    values = np.repeat(np.array(returns, float)[:, None], 2, axis=1)
    report = np.concatenate([values + 1, values - 1], axis=2)
    episodes = PolicyEpisodes(labels, report * 0, report, matches)
    return SimpleNamespace(
        full_heading="made up",
        game=GAME,
        policy_episodes={"greedy": {0: episodes}},
        references={0: REFERENCE},
        weights={"greedy": {0: weights or {}}},
    )


def test_fairness_by_hand():
    """The policy for deliveries has utilities 0.25 and 0.75 for a and c, that without weights 0.5 and 0.5; b has no c."""
    made = panel(
        [[[1, 4], [2, 2], [3, 0]], [[3, 1], [2, 2], [2, 2]]], ("a", "b", "c"), ("asked", "free"), {"asked": [2.0, 0.0]}
    )
    measured = {name: at.value for name, at in measure_team_fairness(made, SETTINGS)["greedy"].items()}
    assert tuple(measured) == FAIRNESS_COLUMNS
    assert measured["mean utility"] == pytest.approx(0.5)
    assert measured["Gini"] == pytest.approx((0.25 + 0) / 2)
    assert measured["Nash welfare"] == pytest.approx((0.1875**0.5 + 0.5) / 2)
    assert measured["worst agent"] == pytest.approx((0.25 + 0.5) / 2)
    assert measured["Lorenz front"] == 1
    table = make_fairness(made, SETTINGS, 1)
    assert [column.heading for column in table.columns[1:]] == list(FAIRNESS_COLUMNS)
    assert len(table.rows) == 1


def test_a_mean_over_teams():
    made = panel([[[4, 4], [2, 2], [0, 0], [2, 2]]], SEATS)
    measured = {name: at.value for name, at in measure_team_fairness(made, SETTINGS)["greedy"].items()}
    assert measured["Gini"] == pytest.approx((0.5 + 0) / 2)


@pytest.mark.parametrize("seats", [("a", "b"), ("a",)])
def test_no_fairness_without_a_whole_team(seats):
    made = panel([[[1, 1]] * len(seats)], seats)
    assert not measure_team_fairness(made, SETTINGS)
    assert not make_fairness(made, SETTINGS, 1).rows
