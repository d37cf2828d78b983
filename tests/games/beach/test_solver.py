"""Exact results of MO-Beach: against brute force with the oracle, and known fronts."""

from itertools import product

import numpy as np
import pytest
from typer.testing import CliRunner

import momagames
from momagames import fronts
from momagames.baselines.archive import is_nondominated
from momagames.baselines.symmetric import CrowdingGame, SymmetricGame, find_counts_game
from momagames.benchmark.choices import GameChoice
from momagames.cli.app import app
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from tests.games.beach.naive import Beach

ID = "mo-beach-v0"
LIMITS = fronts.SearchLimits(10**6, 1 << 30)
# types, first sections, sections, capacity, steps
SMALL = [
    ([0, 1, 0, 1, 1], [0, 2, 2, 0, 1], 3, 2, 1),
    ([0, 1, 1, 0], [3, 0, 0, 0], 4, 1, 2),
    ([0, 1, 2, 0], [0, 1, 1, 2], 3, 2, 3),
]
# agents by type, sections, capacity; number of points, and both ends of the front
PUBLISHED = [
    ((3, 7), 3, 2, 4, (1.770240174892953, 0.3888888888888889), (1.8801220938370298, 0.3055555555555555)),
    ((9, 21), 4, 4, 7, (3.698674010515793, 0.4375), (4.6503381407429885, 0.35)),
    ((4, 4, 4), 3, 3, 3, (3.01928834644833, 0.3333333333333333), (3.1631656573887215, 0.25)),
    ((35, 15), 5, 3, 12, (4.107371876466939, 0.4523809523809524), (4.414673166721904, 0.32456140350877194)),
    ((70, 30), 5, 5, 19, (5.362561307509502, 0.45652173913043476), (7.357597826242825, 0.375)),
]


def make_params(case, mode):
    types, _, sections, capacity, steps = case
    weights = [1.0] * (max(types) + 1)
    return {
        "num_agents": len(types), "sections": sections, "capacity": capacity, "num_timesteps": steps,
        "type_distribution": weights, "reward_mode": mode,
    }  # fmt: skip


def play_ends(case, mode):
    """Return the sections where the agents can be in the end -> the rewards of all agents."""
    types, start, sections, _, steps = case
    reach = [[end for end in range(sections) if abs(end - own) <= steps] for own in start]
    found = {}
    for ends in product(*reach):
        game, places = Beach.given({"types": types, "sections": start}, **make_params(case, mode)), list(start)
        for _ in range(steps):
            moves = [int(np.sign(end - place)) for end, place in zip(ends, places, strict=True)]
            places = [place + move for place, move in zip(places, moves, strict=True)]
            rewards = game.step([1 + move for move in moves])
        found[ends] = np.array(rewards)
    return found


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_team_fronts_are_those_of_all_joint_plans(case, tmp_path):
    params = make_params(case, "team")
    made = fronts.returns_front(GameChoice(id=ID, params=params), {"types": case[0], "sections": case[1]}, LIMITS)
    returns = np.array([rewards[0] for rewards in play_ends(case, "team").values()])
    expected = np.unique(np.round(returns[is_nondominated(np.round(returns, 9))], 9), axis=0)
    np.testing.assert_allclose(made.values, expected, rtol=1e-6)
    fronts.write_front(tmp_path / "front.json", made)
    again = fronts.load_front(tmp_path / "front.json")
    fronts.verify(again)
    fronts.prove(again)
    assert again.agent == "all"
    assert "the returns that the team of all agents can attain" in again.statement


@pytest.mark.parametrize("case", PUBLISHED, ids=str)
def test_published_fronts(case, interpreted):
    """Ends and numbers of points that an independent program found; with as many steps as the beach is long."""
    if interpreted and sum(case[0]) > 12:
        pytest.skip("takes hours without the compiler")
    counts, sections, capacity, points, first, last = case
    params = {
        "num_agents": sum(counts), "sections": sections, "capacity": capacity, "num_timesteps": sections - 1,
        "type_counts": list(counts), "reward_mode": "team",
    }  # fmt: skip
    made = fronts.returns_front(GameChoice(id=ID, params=params), 1, LIMITS)
    assert len(made.points) == points
    np.testing.assert_allclose(made.values[[0, -1]], [first, last], rtol=1e-6)
    fronts.verify(made)
    fronts.prove(made)


def test_wrong_fronts():
    params = make_params(SMALL[0], "team")
    made = fronts.returns_front(GameChoice(id=ID, params=params), 1, LIMITS)
    point = made.points[0]
    longer = made.model_copy(update={"points": (point.model_copy(update={"actions": (*point.actions, *point.actions)}),)})
    with pytest.raises(InvalidFile, match="point 0: the game is over after 5 of 10 actions"):
        fronts.verify(longer)
    shorter = made.model_copy(update={"points": (point.model_copy(update={"actions": point.actions[:-1]}),)})
    with pytest.raises(InvalidFile, match="point 0: 4 actions: expected one of each of 5 agents"):
        fronts.verify(shorter)
    without = made.model_copy(update={"points": (point.model_copy(update={"actions": ()}),)})
    with pytest.raises(InvalidFile, match="point 0: the game is not over after 0 actions"):
        fronts.verify(without)
    illegal = made.model_copy(update={"points": (point.model_copy(update={"actions": (3, *point.actions[1:])}),)})
    with pytest.raises(InvalidFile, match="point 0: action 0, 3, is not legal"):
        fronts.verify(illegal)
    params = {"num_agents": 10, "type_counts": [3, 7], "sections": 3, "capacity": 2, "num_timesteps": 2, "reward_mode": "team"}
    made = fronts.returns_front(GameChoice(id=ID, params=params), 1, LIMITS)
    with pytest.raises(InvalidFile, match="points of the front are missing"):
        fronts.prove(made.model_copy(update={"points": made.points[:1]}))
    with pytest.raises(TooLarge, match="states; expected at most max_states=5"):
        fronts.returns_front(GameChoice(id=ID, params=params), 1, fronts.SearchLimits(5, 1 << 30))


@pytest.mark.parametrize("weights", [(1, 0), (0.5, 0.5), (0, 1)], ids=str)
@pytest.mark.parametrize("case", SMALL, ids=str)
def test_equilibria_are_those_of_all_ends(case, weights):
    """Where no agent gains by being in another section in the end."""
    types, start, sections, _, _ = case
    rewards = play_ends(case, "individual")
    game = momagames.spec(ID, **make_params(case, "individual"))
    by_counts = find_counts_game(game, {"types": types, "sections": start})
    found = by_counts.list_equilibria(weights)
    stable = []
    for ends, values in rewards.items():
        changed = [(agent, (*ends[:agent], end, *ends[agent + 1 :])) for agent in range(len(ends)) for end in range(sections)]
        gains = [(rewards[other][agent] - values[agent]) @ weights for agent, other in changed if other in rewards]
        if max(gains) <= 1e-9:
            stable.append((ends, values.mean(axis=0)))

    def count_types(ends):
        table = np.zeros((max(types) + 1, sections), int)
        np.add.at(table, (types, list(ends)), 1)
        return tuple(map(tuple, table.tolist()))

    expected = {count_types(ends) for ends, _ in stable}
    if isinstance(by_counts, SymmetricGame):
        kinds = [int(name.split()[1]) for name in by_counts.class_names]
        sums = [[sum(row[s] for kind, row in zip(kinds, table, strict=True) if kind == k) for s in range(sections)]
                for table in found.counts.tolist() for k in range(max(types) + 1)]  # fmt: skip
        tables = np.array(sums, int).reshape(-1, max(types) + 1, sections)
        assert {tuple(map(tuple, table.tolist())) for table in tables} == expected
    else:
        assert {tuple(sorted(map(tuple, table.T.tolist()))) for table in found.counts} == {
            tuple(sorted(zip(*table, strict=True))) for table in expected
        }
    if stable:
        np.testing.assert_allclose(found.means.min(axis=0), np.min([means for _, means in stable], axis=0), rtol=1e-9)
    best = np.max([values.mean(axis=0) for values in rewards.values()], axis=0)
    np.testing.assert_allclose(by_counts.find_best(), best, rtol=1e-9)


def test_equilibria_of_a_hundred_agents(interpreted):
    if interpreted:
        pytest.skip("takes hours without the compiler")
    params = {"num_agents": 100, "sections": 5, "capacity": 5, "num_timesteps": 4, "type_counts": [70, 30]}
    game = momagames.spec(ID, **params)
    by_counts = find_counts_game(game, {"sections": [0] * 100})
    assert isinstance(by_counts, CrowdingGame)
    numbers = {weights: len(by_counts.list_equilibria(weights).counts) for weights in ((1, 0), (0.5, 0.5), (0, 1))}
    assert numbers == {(1, 0): 603, (0.5, 0.5): 20, (0, 1): 1}


def test_teams_have_no_game_by_counts():
    with pytest.raises(InvalidParameter, match="has no game by counts of interchangeable agents"):
        find_counts_game(momagames.spec(ID, reward_mode="team"), {})


def test_the_command():
    arguments = ["equilibria", ID, "-p", "num_agents=10", "-p", "type_counts=[3, 7]", "-p", "sections=3", "-p", "capacity=2",
                 "-p", "num_timesteps=2", "--show", "1"]  # fmt: skip
    done = CliRunner().invoke(app, [*arguments, "--weights", "1,0"])
    assert done.exit_code == 0
    assert "equilibria: 6" in done.stdout
    assert "capacity       0.618171             0.618171  0.618171                 1" in done.stdout
    assert "type 1                 3          3          1" in done.stdout
    assert "equilibrium 1" not in done.stdout
    none = CliRunner().invoke(app, arguments)
    assert "equilibria: 0" in none.stdout
