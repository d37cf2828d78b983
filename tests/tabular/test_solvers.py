"""Fronts and coverage sets of random models, compared with the enumeration of all policies."""

from fractions import Fraction

import numpy as np
import pytest

from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.tabular import (
    END,
    Limits,
    Outcome,
    check_coverage_set,
    check_pareto_front,
    evaluate_policy,
    find_coverage_set,
    find_pareto_front,
    limit_horizon,
    to_fraction,
    ways,
)
from momagames.tabular.coverage_set import UpperSurface, is_vertex
from momagames.tabular.evaluation import WeightedSolver
from momagames.tabular.model import ModelBuilder, find_components
from momagames.tabular.proofs import list_corners
from tests.tabular.problems import all_policies, best_of, float_value, random_model, returns_of_sequences

LIMITS = Limits()


@pytest.mark.parametrize("objectives", [2, 3])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.long
def test_coverage_set_agrees_with_all_policies(seed, objectives):
    rng = np.random.default_rng([seed, objectives])
    model = random_model(rng, 4, 3, objectives, outcomes=3)
    found = find_coverage_set(model, Fraction(9, 10), LIMITS)
    values = np.array([float_value(model, policy, 0.9) for policy in all_policies(model)])
    mine = np.array([[float(x) for x in vector] for vector in found.vectors])
    for vector, policy in zip(found.vectors, found.policies, strict=True):
        assert evaluate_policy(model, policy, Fraction(9, 10)) == vector
        assert np.allclose(float_value(model, policy.tolist(), 0.9), [float(x) for x in vector])
    weights = rng.dirichlet(np.ones(objectives), 500)
    weights[:objectives] = np.eye(objectives)
    assert np.allclose((weights @ values.T).max(axis=1), (weights @ mine.T).max(axis=1), atol=1e-9)
    # No vector is redundant: without it some weights lose
    for weight, vector in ((w, v) for v in found.vectors for w in [_inner_weights(found.vectors, v)]):
        others = [sum(w * x for w, x in zip(weight, v, strict=True)) for v in found.vectors if v != vector]
        assert not others or sum(w * x for w, x in zip(weight, vector, strict=True)) > max(others)
    check_coverage_set(model, Fraction(9, 10), found.vectors, [one.policy for one in found.certificates], LIMITS)


def _inner_weights(vectors, vector):
    """The mean of the corners of the cell of a vector."""
    cell = [w for w, height in list_corners(vectors).items() if sum(a * b for a, b in zip(w, vector, strict=True)) == height]
    return tuple(sum(w[k] for w in cell) / len(cell) for k in range(len(vector)))


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(7, 10)])
def test_front_with_a_horizon_agrees_with_all_sequences(gamma):
    for seed in range(6):
        model = random_model(np.random.default_rng(seed), 5, 3, 2, outcomes=1)
        limited = limit_horizon(model, 5)
        front = find_pareto_front(limited, gamma, LIMITS)
        assert front.vectors == best_of(returns_of_sequences(limited, gamma, 5))
        for vector, actions in zip(front.vectors, front.actions, strict=True):
            assert _replay(limited, actions, gamma) == vector
        check_pareto_front(limited, gamma, front.vectors, LIMITS)


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(9, 10)])
def test_front_without_a_horizon_agrees_with_long_sequences(gamma):
    """Each action costs, so that long episodes are dominated: 3 states, and all episodes of up to 9 actions."""
    for seed in range(8):
        rng = np.random.default_rng([seed, 7])
        builder = ModelBuilder(2)
        for state in range(3):
            for action in range(2):
                target = END if state == 2 and action else int(rng.integers(-1, 3))
                builder.add_action(
                    [Outcome(Fraction(1), target, (Fraction(int(rng.integers(0, 4)) * (target == END)), Fraction(-1)))]
                )
        model = builder.build()
        expected = best_of(returns_of_sequences(model, gamma, 9))
        if not expected:
            continue  # no episode ends
        front = find_pareto_front(model, gamma, LIMITS)
        assert front.vectors == expected
        assert front.is_stationary
        check_pareto_front(model, gamma, front.vectors, LIMITS)
        with pytest.raises(InvalidFile, match="1 points of the front are missing"):
            check_pareto_front(model, gamma, front.vectors[1:], LIMITS)
        extra = tuple(x - 1 for x in front.vectors[0])
        with pytest.raises(InvalidFile, match="1 points are not in it"):
            check_pareto_front(model, gamma, [*front.vectors, extra], LIMITS)


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(9, 10), Fraction(999, 1000)])
def test_front_of_rewards_at_the_end_agrees_with_long_sequences(gamma):
    """Without negative rewards later labels are compared with earlier ones: the search ends in spite of loops."""
    for seed in range(8):
        rng = np.random.default_rng([seed, 8])
        builder = ModelBuilder(3)
        for state in range(4):
            for action in range(3):
                target = END if state > 1 and action else int(rng.integers(0, 4))
                reward = (
                    (Fraction(int(rng.integers(0, 9))), Fraction(int(rng.integers(0, 9))))
                    if target == END
                    else (Fraction(0),) * 2
                )
                builder.add_action([Outcome(Fraction(1), target, reward)])
        model = builder.build()
        expected = best_of(returns_of_sequences(model, gamma, 7))
        if not expected:
            continue  # no episode ends
        front = find_pareto_front(model, gamma, Limits(max_labels=200))
        assert front.vectors == expected
        for vector, actions in zip(front.vectors, front.actions, strict=True):
            assert _replay(model, actions, gamma) == vector
        if gamma < Fraction(99, 100):  # otherwise the backward induction takes long, or does not end, in loops without rewards
            check_pareto_front(model, gamma, front.vectors, LIMITS)


def _replay(model, actions, gamma):
    state, total = 0, (Fraction(0),) * model.num_objectives
    for time, action in enumerate(actions):
        (one,) = model.outcomes(state, action)
        total = tuple(x + gamma**time * y for x, y in zip(total, one.reward, strict=True))
        state = one.next_state
    assert state == END
    return total


def test_time_matters_with_a_horizon():
    """With random outcomes the best policy near the horizon is another one than far from it."""
    builder = ModelBuilder(2)
    half = Fraction(1, 2)
    builder.add_action([Outcome(half, 0, (Fraction(0), Fraction(0))), Outcome(half, END, (Fraction(4), Fraction(0)))])
    builder.add_action([Outcome(Fraction(1), END, (Fraction(1), Fraction(1)))])
    model = limit_horizon(builder.build(), 2)
    assert model.num_states == 2
    found = find_coverage_set(model, Fraction(1), LIMITS)
    # Action 0 twice: 2 + 1/2 * 2; action 1 at once: (1, 1); action 0 and then 1: (2 + 1/2, 1/2)
    assert found.vectors == [(1, 1), (Fraction(5, 2), Fraction(1, 2)), (3, 0)]


def test_forged_certificates_are_refused():
    gamma = Fraction(9, 10)
    model = random_model(np.random.default_rng(4), 4, 3, 2, outcomes=2)
    found = find_coverage_set(model, gamma, LIMITS)
    policies = [one.policy for one in found.certificates]
    assert len(found.vectors) > 2
    check_coverage_set(model, gamma, found.vectors, policies, LIMITS)
    with pytest.raises(InvalidFile, match="expected"):
        check_coverage_set(model, gamma, found.vectors, policies[1:], LIMITS)
    worse = [1 - np.minimum(policy, 1) for policy in policies]
    with pytest.raises(InvalidFile, match="a better policy exists"):
        check_coverage_set(model, gamma, found.vectors, worse, LIMITS)
    with pytest.raises(InvalidFile, match="expected a legal action"):
        check_coverage_set(model, gamma, found.vectors, [policy + 3 for policy in policies], LIMITS)
    with pytest.raises(InvalidFile, match="expected a legal action"):
        check_coverage_set(model, gamma, found.vectors, [policy[:-1] for policy in policies], LIMITS)
    # A vertex is missing, and the certificates are those of the corners of the rest
    rest = [vector for i, vector in enumerate(found.vectors) if i != 1]
    solver = WeightedSolver(model, gamma)
    again = [solver.solve(weights).policy for weights in list_corners(rest)]
    with pytest.raises(InvalidFile, match="the optimum is"):
        check_coverage_set(model, gamma, rest, again, LIMITS)
    # A vector that no policy attains
    better = [tuple(x + Fraction(1, 1000) for x in vector) for vector in found.vectors]
    with pytest.raises(InvalidFile, match="the optimum is"):
        check_coverage_set(model, gamma, better, policies, LIMITS)
    inner = tuple((x + y) / 2 - Fraction(1, 1000) for x, y in zip(found.vectors[0], found.vectors[1], strict=True))
    with pytest.raises(InvalidFile, match="is no vertex"):
        check_coverage_set(model, gamma, [*found.vectors, inner], policies, LIMITS)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_corners_of_a_surface_agree_with_enumeration(size):
    rng = np.random.default_rng(size)
    vectors = [tuple(Fraction(int(x), 10) for x in row) for row in rng.integers(0, 100, (8, size))]
    surface = UpperSurface(vectors[0])
    for vector in vectors[1:]:
        surface.add(vector)
    used = [v for v in vectors if is_vertex(v, [u for u in vectors if u != v])]
    assert dict(surface.corners()) == list_corners(used)


def test_impossible_problems_have_one_typed_error():
    zero, one = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(-1))
    loop = ModelBuilder(2)
    loop.add_action([Outcome(Fraction(1), 0, one)])
    loop.add_action([Outcome(Fraction(1), END, zero)])
    model = loop.build()
    with pytest.raises(InvalidParameter, match="a loop earns a positive reward"):
        find_pareto_front(model, Fraction(1), LIMITS)
    with pytest.raises(InvalidParameter, match="expected gamma below 1, or a horizon"):
        find_coverage_set(model, Fraction(1), LIMITS)
    with pytest.raises(TooLarge, match="max_labels=50"):  # (1, -1), (1.9, -1.9), ...: infinitely many
        find_pareto_front(model, Fraction(9, 10), Limits(max_labels=50))
    with pytest.raises(TooLarge, match="max_seconds=0"):
        find_coverage_set(model, Fraction(9, 10), Limits(max_seconds=0))
    with pytest.raises(InvalidParameter, match=r"invalid gamma=1\.5"):
        find_pareto_front(model, Fraction(3, 2), LIMITS)
    stay = ModelBuilder(2)
    stay.add_action([Outcome(Fraction(1), 0, zero)])
    stay.add_action([Outcome(Fraction(1), END, (Fraction(1), Fraction(-1)))])
    with pytest.raises(InvalidParameter, match="a policy that never ends"):
        find_pareto_front(stay.build(), Fraction(1), LIMITS)
    with pytest.raises(TooLarge, match="max_states=3"):
        limit_horizon(model, 10, max_states=3)
    half = ModelBuilder(1)
    half.add_action([Outcome(Fraction(1, 2), END, zero)])
    with pytest.raises(InvalidParameter, match="add up to 1/2"):
        half.build()
    with pytest.raises(InvalidParameter, match="expected deterministic dynamics"):
        find_pareto_front(random_model(np.random.default_rng(0), 3, 2, 2, outcomes=2), Fraction(1, 2), LIMITS)


def test_components_come_after_what_they_lead_to():
    graph = [[1], [2, 3], [0], [4, -1], [4], [0]]
    found = [sorted(part) for part in find_components(graph)]
    assert found == [[4], [3], [0, 1, 2], [5]]


def test_numbers_are_the_shortest_decimals():
    assert to_fraction(np.float32(0.7), "x") == Fraction(7, 10)
    assert to_fraction(0.1, "x") == Fraction(1, 10)
    assert to_fraction(float(np.float32(0.7)), "x") == Fraction(repr(float(np.float32(0.7)))) != Fraction(7, 10)
    assert to_fraction(np.int32(-3), "x") == -3
    assert to_fraction(np.float64(1e-30), "x") == Fraction(1, 10**30)
    for wrong in (float("nan"), np.float32("inf"), "1"):
        with pytest.raises(InvalidParameter, match="a finite number"):
            to_fraction(wrong, "x")


def _random_rewards(seed):
    """A model of a chain of rooms: rewards lead to the next room, and few actions have one."""
    rng, builder, room = np.random.default_rng(seed), ModelBuilder(3), 5
    for state in range(4 * room):
        first = state // room * room
        for _ in range(3):
            last = first + room == 4 * room
            if rng.random() < 0.3:
                target = END if last else int(rng.integers(first + room, 4 * room))
                reward = tuple(Fraction(int(x), 2) for x in rng.integers(0, 3, 2))
            else:
                target, reward = int(rng.integers(first, first + room)), (Fraction(0), Fraction(0))
            target = target if any(reward) or target < first + room else END
            builder.add_action([Outcome(Fraction(1), target, reward)])
    return builder.build()


@pytest.mark.parametrize("gamma", [Fraction(9, 10), Fraction(1, 2)])
def test_induction_over_ways_agrees_with_label_setting(gamma, monkeypatch):
    for seed in range(8):
        model = _random_rewards(seed)
        expected = find_pareto_front(model, gamma, LIMITS)
        with monkeypatch.context() as patch:
            patch.setattr(ways, "MIN_STATES", 0)
            found = find_pareto_front(model, gamma, LIMITS)
            assert (expected.method, found.method) == ("label setting", "induction over ways")
            assert found.vectors == expected.vectors
            for vector, actions in zip(found.vectors, found.actions, strict=True):
                assert _replay(model, actions, gamma) == vector
            check_pareto_front(model, gamma, found.vectors, LIMITS)
            with pytest.raises(InvalidFile, match="1 points of the front are missing"):
                check_pareto_front(model, gamma, found.vectors[1:], LIMITS)


def test_rewards_in_a_loop_are_left_to_label_setting(monkeypatch):
    monkeypatch.setattr(ways, "MIN_STATES", 0)
    builder = ModelBuilder(2)
    one, zero = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    builder.add_action([Outcome(Fraction(1), 0, one)])
    builder.add_action([Outcome(Fraction(1), END, zero)])
    assert ways.find_front_by_ways(builder.build(), Fraction(1, 2), LIMITS) is None
