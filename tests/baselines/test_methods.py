"""Methods: plans attain their values, budgets hold, invalid options and games are rejected."""

import numpy as np
import pytest

import momagames
from momagames.analysis.indicators import hypervolume_ratio
from momagames.baselines import METHODS, method, policy
from momagames.baselines.archive import SNAPSHOT_STEPS, Archive, is_nondominated
from momagames.baselines.base import Plan
from momagames.baselines.search.beam import ESTIMATES, _Search, crowding_distance, select_beam
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import AgentPolicy
from momagames.errors import InvalidParameter, UnknownId
from tests.baselines.reference_search import find_groups, tiles_of
from tests.games.gemwalk.naive import stated_front

SMALL = {"board_width": 5, "board_height": 5, "num_colors": 3}
PLANNERS = [
    ("random", {}),
    ("greedy", {"divisions": 3}),
    ("greedy", {"divisions": 3, "estimate": "both"}),
    ("beam", {"width": 32, "estimate": "none"}),
    ("beam", {"width": 32, "estimate": "optimistic"}),
    ("beam", {"width": 32, "estimate": "present"}),
    ("local_search", {"divisions": 2, "keep": 0.8, "greed": 0.2, "patience": 30}),
    ("nrpa", {"divisions": 2, "levels": 2, "iterations": 10, "alpha": 1.0}),
    ("nrpa", {"divisions": 2, "levels": 2, "iterations": 10, "alpha": 1.0, "selective": True, "prior": 0.3, "playouts": 2}),
    ("iterated_nrpa", {"divisions": 2, "levels": 2, "iterations": 5, "alpha": 1.0, "patience": 5}),
    ("pareto_nrpa", {"num_policies": 3, "levels": 2, "iterations": 10, "alpha": 1.0}),
    ("nrpa", {"divisions": 2, "levels": 2, "iterations": 10, "alpha": 1.0, "bias": "champion"}),
    ("pareto_nrpa", {"num_policies": 3, "levels": 2, "iterations": 10, "alpha": 1.0, "bias": "champion"}),
    ("exact", {"max_states": 1_000_000, "max_bytes": 500_000_000}),
]
SEARCHES = [
    ("beam", {"width": 64, "estimate": "none"}),
    ("local_search", {"divisions": 2, "keep": 0.8, "greed": 0.0, "patience": 20}),
    ("nrpa", {"divisions": 2, "levels": 2, "iterations": 10, "alpha": 1.0}),
    ("iterated_nrpa", {"divisions": 2, "levels": 2, "iterations": 5, "alpha": 1.0, "patience": 5}),
    ("pareto_nrpa", {"num_policies": 3, "levels": 2, "iterations": 10, "alpha": 1.0}),
    ("uct", {"divisions": 2, "simulations": 100, "exploration": 0.7, "horizon": 16}),
    ("pareto_uct", {"divisions": 2, "simulations": 100, "exploration": 0.7, "horizon": 16}),
    ("exact", {"max_states": 100, "max_bytes": 1_000_000}),
]


@pytest.fixture(scope="module")
def game():
    return momagames.spec("mo-samegame-v0", **SMALL)


@pytest.fixture(scope="module")
def start(game):
    return generate_starts(game, np.array([3], np.uint64))


@pytest.fixture(scope="module")
def front(game, start):
    return method("exact")(max_states=1_000_000, max_bytes=500_000_000).plan(game, start, 0, 0)


@pytest.mark.parametrize(("name", "options"), PLANNERS)
@pytest.mark.long
def test_plans_attain_their_values(game, start, front, name, options):
    found = method(name)(**options).plan(game, start, 5000, 1)
    assert found.plans
    for plan in found.plans:
        one = Episode(game)
        one.load(start[0])
        for action in plan.actions:
            assert one.is_legal(0, action)
            one.step(action)
        assert one.state["over"]
        assert (one.returns[0] == plan.value).all()
        assert (found.values >= plan.value).all(axis=1).sum() == 1  # only the plan itself
    assert hypervolume_ratio(found.values, np.zeros(3), front.values).value <= 1
    assert found.complete == (name == "exact")


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), PLANNERS[:-1])
def test_equal_seeds_give_equal_plans_within_the_budget(game, start, name, options):
    chosen = method(name)(**options)
    first, again = chosen.plan(game, start, 3000, 5), chosen.plan(game, start, 3000, 5)
    assert [plan.actions for plan in first.plans] == [plan.actions for plan in again.plans]
    assert 0 < first.steps <= 3000
    assert all(0 < plan.step <= first.steps for plan in first.plans)


def plan_gemwalk(name, options, budget, seed=0):
    game = momagames.spec("mo-gemwalk-v0")
    return method(name)(**options).plan(game, generate_starts(game, np.array([seed], np.uint64)), budget, seed)


@pytest.mark.parametrize(("name", "options"), SEARCHES)
@pytest.mark.long
def test_searches_find_the_known_front(name, options):
    for seed in range(2):
        assert list(map(tuple, plan_gemwalk(name, options, 10_000, seed).values.tolist())) == stated_front(5)


def test_exact_search_counts_the_sets_of_gems():
    """Those of up to four gems of three kinds; in other orders they are the same positions."""
    assert plan_gemwalk("exact", dict(SEARCHES)["exact"], 0).steps == 1 + 3 + 6 + 10 + 15


def test_greedy_takes_pearls():
    """A first ruby or emerald is worth less, whatever the weights."""
    (plan,) = plan_gemwalk("greedy", {"divisions": 3}, 1000).plans
    assert plan.value.tolist() == [10, 10]


@pytest.mark.parametrize(("name", "options"), [one for one in SEARCHES if "nrpa" in one[0] or one[0] == "local_search"])
@pytest.mark.parametrize("budget", [1, 7, 100, 1001])
@pytest.mark.long
def test_spends_the_budget_exactly(name, options, budget):
    """Only the first game may exceed the budget; the last game is interrupted when the budget is spent."""
    found = plan_gemwalk(name, options, budget)
    assert found.steps == max(budget, 5)
    assert all(5 <= plan.step <= found.steps for plan in found.plans)


def test_beam_with_a_tiny_budget_completes_a_game():
    assert plan_gemwalk("beam", {"width": 64, "estimate": "none"}, 1).plans


def list_groups(rows):
    """List (color, size) of every group of equal tiles."""
    return [(int(color), len(cells)) for color, cells in find_groups(tiles_of(rows))]


@pytest.mark.parametrize("kind", [1, 2])
def test_estimates_by_counting(game, start, kind):
    """After one move the estimates are color counts squared (optimistic) or group sizes squared (present)."""
    search = _Search(game, start, 1, kind, "beam")
    num_children = search._expand_beam(start, np.zeros((1, 3)), 10**9)
    assert num_children > 3
    for i in range(num_children):
        rows = game.codec.save(search._children[i])["board"]
        sizes = np.zeros(3)
        for color in (1, 2, 3):
            own = [size for c, size in list_groups(rows) if c == color]
            sizes[color - 1] = sum(own) ** 2 * (sum(own) > 1) if kind == 1 else sum(n * n for n in own if n > 1)
        assert (search._scores[i] == search._values[i] + sizes).all()


@pytest.mark.parametrize(
    ("params", "positions"),
    [
        ({"board_width": 5, "board_height": 4, "num_colors": 3}, 20),
        ({"board_width": 3, "board_height": 30, "num_colors": 3, "num_agents": 2}, 20),
        ({"board_width": 13, "board_height": 5, "num_colors": 3, "num_agents": 3, "team_rewards": True}, 20),  # 65 cells
        ({"board_width": 9, "board_height": 8, "num_colors": 2, "color_rewards": False, "clear_bonus": 1000.0}, 20),
        ({"board_width": 30, "board_height": 30, "num_colors": 9}, 1),
    ],
)
@pytest.mark.long
def test_present_estimate_throughout_a_game(params, positions):
    """After every move from positions of a random game the estimate equals the squared group sizes."""
    game, rng = momagames.spec("mo-samegame-v0", **params), np.random.default_rng(0)
    state = generate_starts(game, np.array([0], np.uint64))
    goals = len(game.objectives)
    search = _Search(game, state, 1, ESTIMATES.index("present"), "beam")
    for _ in range(positions):
        num_children = search._expand_beam(state, np.zeros((1, goals)), 10**9)
        for i in range(num_children):
            sizes = np.zeros(goals)
            for color, size in list_groups(game.codec.save(search._children[i])["board"]):
                sizes[color - 1 if goals > 1 else 0] += size * size * (size > 1)
            assert (search._scores[i] == search._values[i] + sizes).all()
        state = search._children[[rng.integers(num_children)]]
        if state["over"][0]:
            break


def test_beam_plans_for_all_agents_of_a_team(start):
    team = momagames.spec("mo-samegame-v0", **SMALL, num_agents=2, team_rewards=True)
    team_start = generate_starts(team, np.array([3], np.uint64))
    alone = method("beam")(width=32, estimate="present").plan(momagames.spec("mo-samegame-v0", **SMALL), start, 5000, 0)
    assert method("beam")(width=32, estimate="present").plan(team, team_start, 5000, 0).values.tolist() == alone.values.tolist()


def test_planners_reject_games_with_opponents():
    for name, options in PLANNERS:
        with pytest.raises(InvalidParameter, match="2 agents with rewards of their own"):
            method(name)(**options).check_plan(momagames.spec("mo-breakthrough-v0"))


def test_rejects_options_out_of_range():
    for name, options, message in [
        ("greedy", {"divisions": 0}, "1 or more"),
        ("greedy", {"divisions": 1, "estimate": "presnt"}, "did you mean 'present'"),
        ("beam", {"width": 0, "estimate": "none"}, r"1\.\.4096"),
        ("beam", {"width": 1, "estimate": "optimistc"}, "did you mean 'optimistic'"),
        ("exact", {"max_states": 0, "max_bytes": 1}, "max_states=0"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            method(name)(**options)


def test_search_only_methods_have_no_policies():
    with pytest.raises(InvalidParameter, match="beam has no policies"):
        method("beam")(width=1, estimate="none").policies(momagames.spec("mo-gemwalk-v0"))


def test_every_name_resolves_and_unknown_ones_suggest():
    for name in METHODS:
        assert method(name).name == name
    with pytest.raises(UnknownId, match="did you mean 'greedy'"):
        method("gredy")
    with pytest.raises(UnknownId, match="did you mean 'random'"):
        policy("randm", momagames.spec("mo-breakthrough-v0"))


# -------------------------------------------------------------------------------------------------------------- policies


@pytest.mark.parametrize("name", ["random", "greedy"])
@pytest.mark.parametrize(("id", "params"), [("mo-gemwalk-v0", {}), ("mo-breakthrough-v0", {"board_height": 5})])
def test_policies_play_legal_moves(name, id, params):
    game = momagames.spec(id, **params)
    chosen, rng = policy(name, game), np.random.default_rng(0)
    one = Episode(game)
    one.reset(1)
    while not one.state["over"]:
        before = one.states.tobytes()
        action = chosen(one.state, one.mask(one.mover), rng)
        assert one.states.tobytes() == before
        assert one.is_legal(one.mover, action)
        one.step(action)


def test_greedy_policy_wins_when_it_can():
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    one = Episode(game)
    one.load(one_step_from_goal(game))
    action = policy("greedy", game)(one.state, one.mask(0), np.random.default_rng(0))
    one.step(action)
    assert one.returns[0, 0] == 1


def one_step_from_goal(game):
    """Play random moves until player_0 is to move and can win at once."""
    rng = np.random.default_rng(0)
    while True:
        one = Episode(game)
        one.reset(0)
        while not one.state["over"]:
            if one.mover == 0:
                for action in np.flatnonzero(one.mask(0)):
                    trial = Episode(game)
                    trial.load(one.state)
                    trial.step(int(action))
                    if trial.returns[0, 0] == 1:
                        return one.state.copy()
            one.step(int(rng.choice(np.flatnonzero(one.mask(one.mover)))))


def test_random_covers_every_legal_action():
    chosen, rng = policy("random", momagames.spec("mo-gemwalk-v0", board_width=8)), np.random.default_rng(0)
    mask = np.array([0, 0, 1, 0, 1, 0, 0, 1], np.int8)
    assert {chosen(None, mask, rng) for _ in range(100)} == {2, 4, 7}


def test_rejects_invalid_weights():
    for weights in [(1.0,), (1.0, 2.0, float("nan"), 0.0)]:
        with pytest.raises(InvalidParameter, match="4 finite numbers"):
            policy("greedy", momagames.spec("mo-breakthrough-v0"), weights=weights)


# -------------------------------------------------------------------------------------------------------- selection


def test_archive_holds_nondominated_plans_and_the_first_of_equals():
    archive = Archive(2)
    archive.add(np.array([[1.0, 3.0], [2.0, 2.0], [1.0, 2.0]]), lambda i: Plan((i,), np.zeros(2), 0))
    archive.add(np.array([[2.0, 2.0], [3.0, 1.0], [0.0, 4.0]]), lambda i: Plan((10 + i,), np.zeros(2), 0))
    assert [plan.actions for plan in archive.front()] == [(12,), (0,), (1,), (11,)]
    assert len(archive.values) == 4


def test_archive_gives_the_front_at_each_snapshot():
    """The plans and the dominated values give the front of all candidates so far, for batches of any size."""
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.random((400, 2)) < 0.1, axis=0) + rng.integers(0, 6, (400, 2)).astype(float)
    found = np.sort(rng.integers(1, 3000, 400))
    for size in (1, 37, 400):
        archive = Archive(2)
        for low in range(0, 400, size):
            archive.add(values[low : low + size], lambda i, low=low: Plan((), np.zeros(2), int(found[low + i])))
        assert 0 < len(archive.dominated) < 200
        steps = np.array([*(plan.step for plan in archive.plans), *(one.step for one in archive.dominated)])
        points = np.concatenate([archive.values, [one.value for one in archive.dominated]])
        for snapshot in [snapshot for snapshot in SNAPSHOT_STEPS if snapshot <= 3100]:
            archived, expected = points[steps <= snapshot], values[found <= snapshot]
            assert (
                np.unique(archived[is_nondominated(archived)], axis=0).tolist()
                == np.unique(expected[is_nondominated(expected)], axis=0).tolist()
            )


def test_select_beam_truncates_the_last_front():
    scores = np.array([[0, 4], [4, 0], [2, 2], [2.1, 1.9], [1, 1], [0, 0]], float)
    assert select_beam(scores, 10).tolist() == [0, 1, 2, 3, 4, 5]
    assert select_beam(scores, 5).tolist() == [0, 1, 2, 3, 4]
    assert set(select_beam(scores, 3).tolist()) > {0, 1}  # the ends have infinite distance


def test_crowding_distance_by_hand():
    spread = crowding_distance(np.array([[0, 4], [4, 0], [1, 3]], float))
    assert spread[:2].tolist() == [np.inf, np.inf]
    assert spread[2] == 2.0  # both neighbors span the whole range, in two objectives


def test_a_scripted_policy_plays_for_a_lattice_of_weights():
    game = momagames.spec("mo-connect4-v0", objectives=["win", "column_0", "column_3", "column_6"])
    made = method("alphabeta", game)(depth=1, weights="lattice").policies(game)
    assert len(made) == 35  # 20 are fewer than 21
    assert (made[1].label, made[1].weights) == ("w=(0.75, 0.25, 0, 0)", (0.75, 0.25, 0.0, 0.0))
    state, mask, rng = game.make_state()[0], np.ones(7, np.int8), np.random.default_rng(0)
    for weights, column in (((0, 1, 0, 0), 0), ((0, 0, 1, 0), 3), ((0, 0, 0.25, 0.75), 6)):
        (one,) = [one for one in made if one.weights == weights]
        assert AgentPolicy(one, game)(state, mask, rng) == column
    with pytest.raises(InvalidParameter, match="weights='lattice'"):
        policy("alphabeta", game, weights="lattice")
