"""The bounds for minecart: attained by its own rules, and above everything that random driving attains."""

import numpy as np
import pytest


@pytest.fixture
def bounds(import_script):
    return import_script("benchmarks.fronts.minecart_bounds")


def replay(env, actions):
    """Return the discounted return of an episode, played by the rules of the environment alone."""
    env.reset(seed=0)
    total = np.zeros(3)
    for time, action in enumerate(actions):
        _, reward, is_over, _, _ = env.step(action)
        total += 0.98**time * reward.astype(np.float64)
    assert is_over
    return total


def test_an_episode_earns_more_ore_than_the_published_coverage_set(bounds):
    driver = bounds.Driver()
    assert bounds.GAMMA == 0.98
    published = np.array(driver.env.convex_coverage_set(0.98))
    for objective, text in ((0, "233514001131311"), (1, "133524002232322")):
        value = replay(driver.env, [int(letter) for letter in text])
        weights = tuple(np.eye(2, dtype=int)[objective].tolist())
        assert published[:, objective].max() + 0.02 < value[objective] < bounds.bound_ore(driver.env, weights)


def test_stored_positions_continue_as_the_episode(bounds):
    driver, actions = bounds.Driver(), (2, 3, 3, 5, 1, 4, 0, 0, 1, 1, 3, 1, 3, 1, 1)
    trip = driver.start
    for action in actions:
        other = driver.drive(trip, (3, 3))  # another way from here leaves no trace
        assert other.actions[: len(trip.actions)] == trip.actions
        trip = driver.drive(trip, (action,))
    assert trip.is_over
    assert (trip.value == replay(driver.env, actions)).all()


def test_no_random_driving_is_faster_than_the_bound(bounds):
    driver, rng = bounds.Driver(), np.random.default_rng(0)
    for _ in range(300):
        trip = driver.drive(driver.start, tuple(rng.choice([1, 2, 3, 3, 3, 5], 12).tolist()))
        pos = trip.cart[0]
        assert trip.is_over or bounds.count_actions(float(np.hypot(*pos)) - 1e-9) <= 12
    steps = [bounds.fewest_actions(driver.env, mining) for mining in range(1, 5)]
    assert steps == sorted(steps)
    assert steps[0] > 4
    assert bounds.count_actions(0.0075 * (1 + 2 + 3 + 4)) == 1
    assert bounds.count_actions(0.0075 * (1 + 2 + 3 + 4) + 1e-6) == 2
