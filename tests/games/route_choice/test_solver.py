"""Exact results of MO-RouteChoice by counts."""

import itertools

import numpy as np
import pytest

import momagames
from momagames.baselines.symmetric import SymmetricGame, compute_prices, find_counts_game
from momagames.fronts.generation import make_start
from tests.games.route_choice.cases import TOWN
from tests.games.route_choice.naive import RouteChoice

ID = "mo-route-choice-v0"
LATENCY = (1, 0)


def solve(**params):
    game = momagames.spec(ID, **params)
    return find_counts_game(game, make_start(game, 0).position)


@pytest.mark.parametrize(
    ("p", "agents", "best", "equilibria", "least", "most"),
    [(1, 10, 15, 4, 18.2, 20), (1, 50, 15, 4, 19.608, 20), (2, 10, 23.6, 16, 25.2, 30), (3, 10, 33.4, 1, 36.4, 36.4),
     (4, 8, 45, 71, 45, 50)],
)  # fmt: skip
def test_known_equilibria_of_braess_networks(p, agents, best, equilibria, least, most):
    """Mean latencies in the unit of the links, from an enumeration that is not ours."""
    by_counts = solve(network=f"Braess_{p}", num_agents=agents)
    found, unit = by_counts.list_equilibria(LATENCY), -3 * 10 * p * p  # all on the steepest link, and three links
    means = found.means[:, 0] * unit
    np.testing.assert_allclose([by_counts.find_best()[0] * unit, means.min(), means.max()], [best, least, most])
    assert len(found.counts) == equilibria
    assert len(by_counts.find_front()[0]) == 1  # with marginal-cost tolls the means are no trade-off


@pytest.mark.long
def test_the_paradox_of_4200_agents():
    by_counts = solve()
    found = by_counts.list_equilibria(LATENCY)
    assert found.tables == 8_826_301
    assert sorted(found.counts[:, 0].tolist()) == [[4198, 1, 1], [4199, 0, 1], [4199, 1, 0], [4200, 0, 0]]
    assert compute_prices(by_counts.find_best(), found.means)[0] == pytest.approx(4 / 3)


@pytest.mark.parametrize("weights", [(1, 0), (0.5, 0.5), (0, 1)])
@pytest.mark.parametrize(
    "params",
    [{"num_agents": 3}, {"num_agents": 4, "network": "BBraess_1", "od_counts": (1, 3)},
     {"num_agents": 5, "network": TOWN, "toll_mode": "random", "random_toll_percentage": 0.6},
     {"num_agents": 2, "network": TOWN, "demand": (1, 2, 0, 0)}],
)  # fmt: skip
def test_equilibria_are_those_of_all_joint_actions(params, weights):
    """By the definition, with the oracle's rewards."""
    oracle = RouteChoice(**params)
    sizes = [len(oracle.routes[pair]) for pair in oracle.agent_od]

    def play(actions):
        return np.array(RouteChoice(**params).step(list(actions)), float)

    rewards = {actions: play(actions) for actions in itertools.product(*map(range, sizes))}
    expected = set()
    for actions, own in rewards.items():
        others = [(i, (*actions[:i], a, *actions[i + 1 :])) for i, size in enumerate(sizes) for a in range(size)]
        if all(rewards[other][i] @ weights <= own[i] @ weights + 1e-9 for i, other in others):
            expected.add(tuple(sorted(zip(oracle.agent_od, actions, strict=True))))
    by_counts = solve(**params)
    found = by_counts.list_equilibria(weights)
    pairs = sorted(set(oracle.agent_od))
    assert expected == {
        tuple((pair, route) for pair, row in zip(pairs, table, strict=True) for route, k in enumerate(row) for _ in range(k))
        for table in found.counts.tolist()
    }
    best = np.max([row.mean(axis=0) for row in rewards.values()], axis=0)
    np.testing.assert_allclose(by_counts.find_best(), best, rtol=1e-9, atol=1e-12)


def test_the_potential_grows_by_what_an_agent_gains():
    for params in ({"network": "OW", "num_agents": 40}, {"network": TOWN, "num_agents": 9, "toll_mode": "random"}):
        by_counts, weights = solve(**params), np.array([0.3, 0.7])
        counts = np.zeros((len(by_counts.agents), by_counts.options.shape[1]), np.int64)
        counts[:, 0] = by_counts.agents
        stable, changes = by_counts.respond(counts, weights)
        assert by_counts.find_stable(stable[None], weights).all()
        assert by_counts.compute_potential(np.stack([counts, stable]), weights)[1] > by_counts.compute_potential(
            counts[None], weights
        )
        moved = counts.copy()
        moved[0, 0], moved[0, 1] = moved[0, 0] - 1, moved[0, 1] + 1
        old, new = by_counts.rate(counts[None])[0, 0, 0], by_counts.rate(moved[None])[0, 0, 1]
        potential = by_counts.compute_potential(np.stack([counts, moved]), weights)
        assert potential[1] - potential[0] == pytest.approx((new - old) @ weights)
        assert changes > 0


def test_names():
    by_counts = solve(num_agents=3)
    assert isinstance(by_counts, SymmetricGame)
    assert by_counts.class_names == ("1 to 4",)
    assert by_counts.option_names == ("1-2-3-4", "1-3-4", "1-2-4")
    assert solve(network="OW", num_agents=30).option_names[:2] == ("route 0", "route 1")
