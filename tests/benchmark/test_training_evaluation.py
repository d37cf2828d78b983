"""Trained policies beside other sets of policies: indicators by hand, and who delivers more utility."""

from types import SimpleNamespace

import numpy as np
import pytest

from momagames.benchmark.training_comparison import NamedFront, PlayedSet
from momagames.benchmark.training_evaluation import describe_lead, evaluate_sets
from momagames.errors import InvalidParameter

# Returns from -1 to 1, and from 0 to 10
GAME = SimpleNamespace(
    reference_point=(-1.0, 0.0),
    objectives=(SimpleNamespace(name="outcome", return_high=1.0), SimpleNamespace(name="captures", return_high=10.0)),
)
WEIGHTS = np.array([[1.0, 0.0], [0.0, 1.0]])


def play(name, points, weights=None, noise=()):
    """A set with these mean returns; `noise` is added in the episodes."""
    returns = np.repeat(np.array(points, float)[:, None], max(1, len(noise)), axis=1)
    return PlayedSet(name, returns + np.reshape(noise or [0.0], (1, -1, 1)), weights)


def test_indicators_by_hand():
    """Normalized, the points of the trained policies are (1, 0.5) and (0.5, 1); those of random are (0.5, 0.5)."""
    own, other = evaluate_sets(GAME, [play("mine", [[1, 5], [0, 10]], WEIGHTS), play("random", [[0, 5]])])
    assert (own.policies, own.lead, own.best) == (2, None, {"outcome": 1.0, "captures": 1.0})
    assert own.normalized_hypervolume == pytest.approx(0.75)
    assert (own.delivered_utility, own.coverage_utility, own.utility_regret) == (1, 1, 0)
    assert (own.controllability, own.ordering_score) == (1, 1)
    assert other.normalized_hypervolume == pytest.approx(0.25)
    assert (other.coverage_utility, other.delivered_utility, other.controllability) == (0.5, None, None)
    assert other.lead == (0.5, np.inf)  # one episode
    assert other.to_json()["lead"] == {"mean": 0.5, "standard_error": None}


def test_a_perfect_front_for_the_wrong_weights_is_beaten():
    """The policies are conditioned on each other's weights: the same hypervolume, and less utility than random play."""
    wrong = play("mine", [[-1, 10], [1, 0]], WEIGHTS, noise=[0.0, 0.0])
    right = play("greedy", [[1, 0], [-1, 10]], WEIGHTS, noise=[0.0, 0.0])
    evaluations = evaluate_sets(GAME, [wrong, right, play("random", [[0, 5]], noise=[0.0, 0.0])])
    own, greedy, _ = evaluations
    assert own.normalized_hypervolume == greedy.normalized_hypervolume
    assert own.coverage_utility == greedy.coverage_utility == 1
    assert (own.delivered_utility, own.utility_regret, own.controllability, own.ordering_score) == (0, 1, -1, 0)
    assert describe_lead(evaluations) == "mine loses to greedy (1.000) and random (0.500) in delivered utility (0.000)."


def test_the_sentence_has_every_verdict_and_the_reference_front():
    """Differences count from two standard errors over episodes, of which a common part of the returns cancels."""
    noise = [0.3, -0.3, 0.1, -0.1]
    sets = [
        play("mine", [[0.5, 5], [0, 8]], WEIGHTS, noise),
        play("greedy", [[0.4, 5], [0, 7]], WEIGHTS, noise),
        play("scripted", [[0.56, 7.7]], None, [-1.0, 1.0, 0.5, -0.5]),
        play("champion", [[1, 5], [0, 9]], WEIGHTS, noise),
    ]
    front = NamedFront("reference front (proven)", np.array([[1.0, 10.0]]))
    evaluations = evaluate_sets(GAME, sets, front)
    assert evaluations[-1].normalized_hypervolume == 1
    assert evaluations[-1].lead is None
    assert evaluations[1].lead == pytest.approx((0.075, 0))
    assert describe_lead(evaluations) == (
        "mine beats greedy (0.700), does not clearly beat scripted (0.775), loses to champion (0.950) in delivered utility "
        "(0.775); it has 52.5% of the hypervolume of the reference front (proven)."
    )


def test_the_reference_front_sets_the_ideal_point():
    """The best values of the front are 0 and 5, a half of each range."""
    front = NamedFront("reference front (proven)", np.array([[0.0, 5.0]]))
    own, _ = evaluate_sets(GAME, [play("mine", [[0, 2.5]], WEIGHTS[:1])], front)
    assert own.best == {"outcome": 1.0, "captures": 0.5}
    assert own.normalized_hypervolume == 0.5


def test_one_weight_vector_has_no_order():
    own, _ = evaluate_sets(GAME, [play("mine", [[1, 5]], WEIGHTS[:1]), play("random", [[0, 5]])])
    assert (own.delivered_utility, own.controllability, own.ordering_score) == (1, None, None)


def test_the_first_set_has_weights():
    with pytest.raises(InvalidParameter, match="invalid weights of random"):
        evaluate_sets(GAME, [play("random", [[0, 5]])])
