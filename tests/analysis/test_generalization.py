"""Scores of policies on single instances against the exact front of each."""

import numpy as np
import pytest

from momagames.analysis.generalization import choose_policies, expected_utility_regrets, instance_ratios
from momagames.errors import InvalidParameter

FRONT = [(1, 0.2), (0.2, 1)]
WEIGHTS = [(1, 0), (0, 1)]


def test_ratios_count_equally_many_episodes_of_each_set_of_policies():
    front = np.array(FRONT)  # 0.2 + 0.2 - 0.04 = 0.36
    one = np.array([[[(1, 0.2)], [(0.2, 1)]]])  # one policy, two episodes in the instance
    two = np.array([[[(1, 0.2)], [(0, 0)]], [[(0.2, 1)], [(0, 0)]]])
    assert instance_ratios(one, [front], 2) == pytest.approx([1])
    assert instance_ratios(one, [front], 1) == pytest.approx([0.2 / 0.36])
    assert instance_ratios(two, [front], 2) == pytest.approx([1])  # policies in turn, not the episodes of the first
    assert instance_ratios(two, [front], 4) == pytest.approx([1])
    with pytest.raises(InvalidParameter, match="invalid plays=3"):
        instance_ratios(one, [front], 3)


def test_each_instance_has_its_own_front():
    returns = np.array([[[(1, 0.2), (1, 0.2)]]])
    assert instance_ratios(returns, [np.array(FRONT), np.array([(1, 0.2)])], 1) == pytest.approx([0.2 / 0.36, 1])
    with pytest.raises(InvalidParameter, match=r"\(n, P, 1, K\): one front an instance"):
        instance_ratios(returns, [FRONT], 1)


def test_users_lose_by_what_they_chose_on_other_instances():
    # policy 0 is best for the first user in training, policy 1 for the second; in the test instance they have changed places
    training = np.array([[[(1, 0.2)]], [[(0.2, 1)]]])
    test = training[::-1]
    chosen = choose_policies(training, WEIGHTS)
    assert chosen.tolist() == [0, 1]
    assert expected_utility_regrets(training, [FRONT], WEIGHTS, chosen) == pytest.approx([0])
    assert expected_utility_regrets(test, [FRONT], WEIGHTS, chosen) == pytest.approx([0.8])
    assert instance_ratios(test, [FRONT], 2) == pytest.approx([1])  # perfect, although no user gets what was chosen


def test_episodes_of_an_instance_are_averaged():
    returns = np.array([[[(1, 0.2)], [(0, 0)]]])
    assert expected_utility_regrets(returns, [FRONT], WEIGHTS, np.array([0, 0])) == pytest.approx([1 - (0.5 + 0.1) / 2])
