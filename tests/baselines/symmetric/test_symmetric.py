"""Symmetric games against brute force over all joint actions, and crowding games against the enumeration of tables."""

from itertools import product

import numpy as np
import pytest

from momagames.baselines.archive import is_nondominated
from momagames.baselines.symmetric import CrowdingGame, SymmetricGame, compute_prices
from momagames.errors import InvalidParameter, TooLarge

WEIGHTS = ([1, 0], [0.3, 0.7], [[1, 0], [0, 1]])


def random_game(agents, options, seed):
    """Any payoffs by table: random numbers with the bytes of the table as their seed."""

    def rate(counts):
        drawn = [np.random.default_rng([seed, *table.ravel()]).integers(-4, 5, (*table.shape, 2)) for table in counts]
        return np.array(drawn, np.float64).reshape(*counts.shape, 2)

    return SymmetricGame(agents, np.array(options, bool), rate)


def random_crowding(agents, options, seed):
    payoffs = np.random.default_rng(seed).integers(-4, 5, (*(number + 1 for number in agents), len(agents), 2)).astype(float)
    return CrowdingGame(agents, options, lambda crowds: payoffs[tuple(crowds.T)])


def play_all(game):
    """Yield all joint actions with their table; agents of a class follow each other."""
    kinds = np.repeat(np.arange(len(game.agents)), game.agents)
    for actions in product(*(np.flatnonzero(game.options[kind]) for kind in kinds)):
        yield kinds, actions, count_actions(game, kinds, actions)


def count_actions(game, kinds, actions):
    table = np.zeros(game.options.shape, np.int64)
    np.add.at(table, (kinds, np.array(actions)), 1)
    return table


def payoff(game, kinds, actions, agent):
    return game.rate(count_actions(game, kinds, actions)[None])[0, kinds[agent], actions[agent]]


def is_equilibrium(game, kinds, actions, weights):
    """Whether no agent gains by another action, by the definition."""
    weights = np.broadcast_to(weights, (len(game.agents), 2))
    for agent, kind in enumerate(kinds):
        own = payoff(game, kinds, actions, agent) @ weights[kind]
        for other in np.flatnonzero(game.options[kind]):
            changed = (*actions[:agent], int(other), *actions[agent + 1 :])
            if payoff(game, kinds, changed, agent) @ weights[kind] > own + 1e-9:
                return False
    return True


def as_set(tables):
    return {tuple(map(tuple, table.tolist())) for table in tables}


CASES = [((3, 2), [[1, 1, 1], [1, 1, 1]], 0), ((2, 2), [[1, 1, 0], [0, 1, 1]], 1), ((3, 1), [[1, 0, 1, 1], [0, 0, 1, 0]], 2)]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_equilibria_are_those_of_all_joint_actions(case, weights):
    game = random_game(*case)
    found = game.list_equilibria(weights)
    expected = [table for kinds, actions, table in play_all(game) if is_equilibrium(game, kinds, actions, weights)]
    assert as_set(found.counts) == as_set(expected)
    assert len(as_set(found.counts)) == len(found.counts)
    assert found.tables == game.count_tables() == len(as_set(table for _, _, table in play_all(game)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fronts_and_best_means_are_those_of_all_joint_actions(case):
    game = random_game(*case)
    means = np.array(
        [
            np.mean([payoff(game, kinds, actions, agent) for agent in range(len(kinds))], axis=0)
            for kinds, actions, _ in play_all(game)
        ]
    )
    values, counts = game.find_front()
    expected = np.unique(np.round(means[is_nondominated(np.round(means, 9))], 9), axis=0)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(game.average(counts), values)
    np.testing.assert_allclose(game.find_best(), means.max(axis=0))


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize(("agents", "options"), [((4, 3), 3), ((2, 1), 4)], ids=str)
def test_crowding_games_are_those_of_all_tables(agents, options, weights):
    game = random_crowding(agents, options, 5)
    full = game.expand()
    found, expected = game.list_equilibria(weights), full.list_equilibria(weights)

    def normalize(table):
        return tuple(sorted(map(tuple, table.T.tolist())))

    assert {normalize(table) for table in found.counts} == {normalize(table) for table in expected.counts}
    assert len({normalize(table) for table in found.counts}) == len(found.counts)
    np.testing.assert_allclose(full.average(found.counts), found.means)
    front, (values, _) = game.find_front(), full.find_front()
    np.testing.assert_allclose(front.values, values, atol=1e-9)
    np.testing.assert_allclose(full.average(front.counts), front.values)
    np.testing.assert_allclose(game.find_best(), full.find_best())


def test_a_front_within_bounds():
    """The first options together have at least, and at most, so many agents."""
    game = random_crowding((3, 2), 3, 7)
    low, high = np.array([[1, 0], [1, 2], [3, 2]]), np.array([[2, 1], [2, 2], [3, 2]])
    front, full = game.find_front(bounds=(low, high)), game.expand()
    tables = np.concatenate(list(full.iterate_tables(10_000)))
    together = np.cumsum(tables.transpose(0, 2, 1), axis=1)
    within = tables[((together >= low) & (together <= high)).all(axis=(1, 2))]
    means = full.average(within)
    np.testing.assert_allclose(
        front.values, np.unique(np.round(means[is_nondominated(np.round(means, 9))], 9), axis=0), atol=1e-9
    )
    assert as_set(front.counts) <= as_set(within)


def test_best_responses_end_in_an_equilibrium():
    """With payoffs that fall with the crowd: two roads of 1 and 2 minutes for each agent there."""
    game = SymmetricGame((6,), np.ones((1, 2), bool), lambda counts: -(counts * np.array([1.0, 2.0]))[..., None])
    counts, steps = game.respond([[6, 0]], [1.0])
    assert counts.tolist() == [[4, 2]]
    assert steps == 2
    found = game.list_equilibria([1.0])
    assert found.counts.tolist() == [[[4, 2]]]
    assert found.means.tolist() == [[-4.0]]
    assert compute_prices(game.find_best(), found.means).tolist() == [1.0]


def test_best_responses_may_cycle():
    """Matching pennies: one class wants to be where the other is, which does not."""

    def rate(counts):
        return np.stack([counts[:, 1], -counts[:, 0]], axis=1)[..., None].astype(float)

    game = SymmetricGame((1, 1), np.ones((2, 2), bool), rate)
    with pytest.raises(TooLarge, match="best responses have not ended after max_steps=50"):
        game.respond([[1, 0], [1, 0]], [1.0], max_steps=50)
    assert len(game.list_equilibria([1.0]).counts) == 0


def test_prices():
    assert compute_prices([4.0, -2.0, 0.0], [[2.0, -3.0, 0.0], [4.0, -2.0, 0.0]]).tolist() == [2.0, 1.5, 1.0]
    assert compute_prices([1.0], [[0.0]]).tolist() == [np.inf]


def test_limits():
    game = random_crowding((4, 3), 3, 5)
    with pytest.raises(TooLarge, match="150 tables of counts; expected at most max_tables=10"):
        game.expand().find_front(max_tables=10)
    with pytest.raises(TooLarge, match="20 crowds of 3 options need more than max_bytes=1,000"):
        game.find_front(max_bytes=1000)
    equal = CrowdingGame((4, 3), 3, lambda crowds: np.zeros((len(crowds), 2, 1)))
    with pytest.raises(TooLarge, match="there are more than max_found=3 equilibria"):
        equal.list_equilibria([1.0], max_found=3)
    with pytest.raises(InvalidParameter, match=r"invalid weights of shape \(3, 2\): expected \[K\], or \[2, K\]"):
        game.expand().list_equilibria(np.ones((3, 2)))
