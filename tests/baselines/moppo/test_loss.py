"""The scale of advantages: weights on objectives that vary little are not drowned by others."""

from dataclasses import replace

import numpy as np
import pytest

from momagames.errors import InvalidParameter
from tests.baselines.moppo.test_moppo import make_trainer

GAME = "mo-robotmail-2-v0", {"objectives": ("delivery", "energy")}


def draw_advantages(rng):
    """Correlated advantages in units that differ a hundredfold."""
    return (rng.standard_normal((4000, 3)) @ [[1, 0.5, 0], [0, 1, 0], [0.3, 0, 1]]) * [0.02, 1.0, 2.0]


def test_deviations_are_those_of_weighted_sums(torch):
    from momagames.baselines.moppo.loss import estimate_deviations

    rng = np.random.default_rng(0)
    advantages, weights = draw_advantages(rng), np.concatenate([np.eye(3), rng.dirichlet(np.ones(3), 4)])
    expected = (advantages @ weights.T).std(axis=0, ddof=1)
    assert estimate_deviations(advantages, weights) == pytest.approx(expected)
    # of an objective that does not vary: a share of the others, so that rounding errors are not taken for advantages
    advantages[:, 0] = 0.0
    least = np.sqrt(1e-4 * np.square(advantages.std(axis=0, ddof=1)).mean())
    assert estimate_deviations(advantages, weights)[0] == pytest.approx(least)


def test_every_weight_has_advantages_of_the_same_size(torch):
    rng = np.random.default_rng(0)
    trainer = make_trainer(*GAME)
    learner = trainer.learner
    weights = np.repeat(np.eye(2, dtype=np.float32), 500, axis=0)
    advantages = (rng.standard_normal((1000, 2)) * [0.01, 1.0]).astype(np.float32)
    rows = {
        "advantages": advantages, "weights": weights, "values": np.zeros_like(advantages), "past_returns": np.zeros((1000, 2)),
        "is_imitated": np.zeros(1000, np.bool_),
    }  # fmt: skip

    def measure_deviations(scaling):
        learner.options = replace(learner.options, advantage_scaling=scaling)
        normalized = learner._normalize_advantages(rows)
        assert normalized.std().item() == pytest.approx(1)
        return normalized[:500].std().item(), normalized[500:].std().item()

    first, second = measure_deviations("common")
    assert first < 0.02 * second
    first, second = measure_deviations("weights")
    assert first == pytest.approx(second, rel=0.1)


def test_an_unknown_scale_is_refused(torch):
    with pytest.raises(InvalidParameter, match="advantage_scaling='batch': expected 'common' or 'weights'"):
        make_trainer(*GAME, advantage_scaling="batch")


def test_both_scalings_train_and_differ(torch):
    policies = [make_trainer(*GAME, num_steps=32, budget=800, advantage_scaling=one) for one in ("common", "weights")]
    for trainer in policies:
        while not trainer.is_done:
            assert np.isfinite(list(trainer.train_iteration().values())).all()
    first, second = (trainer.make_policies().arrays for trainer in policies)
    assert any(not np.array_equal(first[name], second[name]) for name in first)
