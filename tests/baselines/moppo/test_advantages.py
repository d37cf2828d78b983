"""Advantages that are normalized among decisions with like weights."""

import numpy as np
import pytest

import momagames
from momagames.baselines.moppo.advantages import list_group_centers, normalize_by_weights
from tests.baselines.moppo.test_views import make_trainer

LOW, HIGH = [0.02, 0.98], [0.5, 0.5]


def normalize(advantages, weights):
    return normalize_by_weights(np.array(advantages), np.array(weights, np.float32), list_group_centers(len(weights[0])))


@pytest.mark.parametrize(("objectives", "groups"), [(1, 1), (2, 21), (3, 21), (4, 20), (5, 15), (6, 21), (25, 25)])
def test_groups_cover_the_weights(objectives, groups):
    assert list_group_centers(objectives).shape == (groups, objectives)


def test_each_group_has_the_same_scale():
    rng = np.random.default_rng(0)
    advantages = np.concatenate([0.01 * rng.normal(size=3000) + 0.2, rng.normal(size=3000) - 3])
    weights = [LOW] * 3000 + [HIGH] * 3000
    found = normalize(advantages, weights)
    for part in (found[:3000], found[3000:]):
        assert part.mean() == pytest.approx(0, abs=1e-12)
    assert found[3000:].std() == pytest.approx(1, abs=0.01)
    # 16 borrowed decisions with a standard deviation of 0.71 beside 3,000 with one of 0.01
    assert found[:3000].std() == pytest.approx(0.01 / np.sqrt(0.01**2 + 16 / 3016 * 0.5), rel=0.02)


def test_small_groups_are_not_blown_up():
    advantages = [1e-3, -1e-3, *np.random.default_rng(0).normal(size=1000)]
    found = normalize(advantages, [LOW] * 2 + [HIGH] * 1000)
    assert np.abs(found[:2]).max() < 0.002
    assert normalize([5.0, 1.0, -1.0], [LOW, HIGH, HIGH])[0] == 0


def test_one_group_is_normalized_as_a_whole():
    advantages = np.random.default_rng(0).normal(2, 3, 500)
    found = normalize(advantages, [HIGH] * 500)
    assert found == pytest.approx((advantages - advantages.mean()) / advantages.std())


def test_the_option_changes_the_update(torch):
    game = momagames.spec("mo-robotmail-2-v0", objectives=("delivery", "energy"))
    plain, grouped = (make_trainer(game, normalize_by_weights=chosen) for chosen in (False, True))
    for trainer in (plain, grouped):
        trainer.train_iteration()
    (_, one), (_, other) = plain.state_dict(), grouped.state_dict()
    assert any(one[name].tobytes() != other[name].tobytes() for name in one)
