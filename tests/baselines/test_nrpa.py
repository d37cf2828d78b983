"""Nested rollout policy adaptation against the same search in plain Python, and its parts by hand."""

import math

import numpy as np
import pytest

from momagames.baselines import method
from momagames.baselines.archive import undominated
from momagames.baselines.lattice import simplex_lattice
from momagames.baselines.nested import ROOM, SLOTS, Lines, exponential, list_actions, settle, tables
from momagames.baselines.pareto_nrpa import ROOM as FRONT
from momagames.baselines.pareto_nrpa import _fronts, offer
from momagames.baselines.samegame_moves import codes
from momagames.errors import InvalidParameter
from momagames.experiments.science.indicators import hypervolume
from momagames.games.samegame.rules import legal, thin
from momagames.kernels.jit import driver
from tests.baselines.plain_search import Lots, groups, position, small

NRPA = {"divisions": 2, "levels": 2, "iterations": 12, "alpha": 1.0}
PARETO = {"num_policies": 3, "levels": 2, "iterations": 12, "alpha": 1.0}
BOTH = [("nrpa", NRPA), ("pareto_nrpa", PARETO)]


# ------------------------------------------------------------------------------------------ the same search in plain Python


class Spent(Exception):
    """The budget, or the share of one weight vector."""


class Plain:
    """NRPA as its paper writes it: recursion, policies as dictionaries of weights, moves known by their groups."""

    def __init__(self, game, start, budget, seed, divisions, levels, iterations, alpha):
        self.game, self.start, self.budget, self.iterations, self.alpha = game, start, budget, iterations, alpha
        self.lots, self.used, self.games = Lots(seed), 0, []
        lattice = simplex_lattice(len(game.objectives), divisions)
        for i, self.weights in enumerate(lattice):
            self.share = budget * (i + 1) // len(lattice)
            try:
                while self.used < self.share:
                    self.search(levels, {})
            except Spent:
                pass

    def search(self, level, policy):
        if level == 0:
            return self.playout(policy)
        best = (-math.inf, None)
        for _ in range(self.iterations):
            found = self.search(level - 1, dict(policy))
            if found[0] >= best[0]:
                best = found
            self.adapt(policy, best[1])
        return best

    def playout(self, policy):
        if self.used >= self.share:
            raise Spent
        one, line = position(self.game, self.start), []
        while not one.state["over"]:
            if self.used == self.budget:
                raise Spent
            legal = groups(one)
            odds = np.cumsum([math.exp(policy.get(code, 0.0)) for code in legal.values()])
            mark = self.lots.unit() * odds[-1]
            chosen = next(i for i in range(len(odds)) if odds[i] > mark)
            line.append((list(legal.values()), chosen, list(legal)[chosen]))
            one.turn(line[-1][2])
            self.used += 1
        self.games.append(([action for _, _, action in line], one.returns[0].tolist(), self.used))
        return float(self.weights @ one.returns[0]), line

    def adapt(self, policy, line):
        before = dict(policy)
        for every, chosen, _ in line:
            odds = [math.exp(before.get(code, 0.0)) for code in every]
            for code, share in zip(every, odds, strict=True):
                policy[code] = policy.get(code, 0.0) - self.alpha * share / sum(odds)
            policy[every[chosen]] += self.alpha


@pytest.mark.parametrize(("levels", "iterations", "alpha"), [(1, 30, 1.0), (2, 5, 0.7), (3, 3, 2.0)])
def test_it_is_the_search_of_the_paper(levels, iterations, alpha):
    game, start = small()
    options = {"divisions": 2, "levels": levels, "iterations": iterations, "alpha": alpha}
    plain = Plain(game, start, 1500, 4, **options)
    found = method("nrpa")(**options).plan(game, start, 1500, 4)
    assert found.facts["episodes"] == len(plain.games)
    assert found.steps == plain.used
    first = {}
    for actions, value, used in plain.games:
        first.setdefault(tuple(value), (tuple(actions), used))
    values = np.array(list(first))
    expected = {tuple(value): first[tuple(value)] for value in values[undominated(values)].tolist()}
    assert {tuple(plan.value.tolist()): (plan.actions, plan.found) for plan in found.plans} == expected


# ------------------------------------------------------------------------------------------------------------ the searches


@pytest.mark.parametrize(("name", "options"), BOTH)
@pytest.mark.parametrize("budget", [1, 7, 100, 1001])
def test_the_budget_is_kept_to_the_step(name, options, budget):
    """Only the first game may be longer; what is left at the end is used up by a game that is broken off."""
    game, start = small()
    found = method(name)(**options).plan(game, start, budget, 2)
    first = max(len(plan.actions) for plan in found.plans)
    assert found.steps <= max(budget, first)
    assert found.steps >= budget
    assert all(len(plan.actions) <= plan.found <= found.steps for plan in found.plans)


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_seeds_differ(name, options):
    game, start = small(board_width=8, board_height=8)
    first, other = (method(name)(**options).plan(game, start, 3000, seed) for seed in (0, 1))
    assert [plan.actions for plan in first.plans] != [plan.actions for plan in other.plans]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("nrpa", {"divisions": 2, "levels": 2, "iterations": 30, "alpha": 1.0}),
        ("pareto_nrpa", {"num_policies": 8, "levels": 1, "iterations": 10_000, "alpha": 1.0}),
    ],
)
def test_learning_beats_random_play(name, options):
    game, start = small(board_width=10, board_height=10, num_colors=3)
    learnt, lots = (method(n)(**o).plan(game, start, 60_000, 0) for n, o in ((name, options), ("random", {})))
    assert hypervolume(learnt.values, np.zeros(3)).value > 1.3 * hypervolume(lots.values, np.zeros(3)).value


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_a_team_plans_as_one(name, options):
    game, start = small()
    team, begin = small(num_agents=2, team_rewards=True)
    alone = method(name)(**options).plan(game, start, 2000, 0)
    assert method(name)(**options).plan(team, begin, 2000, 0).values.tolist() == alone.values.tolist()


def test_a_front_that_is_found_whole():
    """On a tiny board every search finds everything."""
    game, start = small(seed=2, board_width=4)
    front = method("exact")(max_states=10**6, max_bytes=10**8).plan(game, start, 0, 0)
    assert len(front.plans) == 9
    for name, options in BOTH:
        assert method(name)(**options).plan(game, start, 20_000, 0).values.tolist() == front.values.tolist()


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("nrpa", {"divisions": 0}, "invalid divisions=0: expected 1 or more"),
        ("nrpa", {"levels": 0}, r"invalid levels=0: expected 1\.\.6"),
        ("nrpa", {"levels": 7}, r"invalid levels=7: .*1\.\.6"),
        ("nrpa", {"iterations": 0}, r"invalid iterations=0: .*1\.\.10000"),
        ("nrpa", {"alpha": 0.0}, "invalid alpha=0.0: .*above 0, to 10"),
        ("nrpa", {"alpha": float("nan")}, "alpha=nan"),
        ("pareto_nrpa", {"num_policies": 0}, r"invalid num_policies=0: .*1\.\.32"),
        ("pareto_nrpa", {"levels": 9}, r"invalid levels=9: .*1\.\.6"),
    ],
)
def test_options_out_of_range(name, wrong, said):
    with pytest.raises(InvalidParameter, match=said):
        method(name)(**{**dict(BOTH)[name], **wrong})


def test_games_that_need_too_much_memory():
    game, _ = small(board_width=30, board_height=30)
    method("pareto_nrpa")(**PARETO).check_plan(game)
    with pytest.raises(InvalidParameter, match=r"needs .* MiB for mo-samegame-v0; allowed: 512 MiB"):
        method("pareto_nrpa")(**{**PARETO, "levels": 6}).check_plan(game)


# --------------------------------------------------------------------------------------------------------------- the parts


def exponentials(x, out):
    for i in range(x.shape[0]):
        out[i] = exponential(x[i])


def settled(tables, codes, places):
    for i in range(codes.shape[0]):
        places[i] = settle(tables, 0, codes[i])


def offers(lines, fronts):
    for line in range(1 + FRONT, lines.values.shape[0]):
        offer(lines, fronts, 1, line, line)


def listed(states, mask, actions, found):
    legal(states[0], 0, mask)
    thin(states[0], mask)
    return codes(states[0], actions, list_actions(mask, actions), found)


listed = driver(listed, "tests.nrpa.listed")
exponentials = driver(exponentials, "tests.nrpa.exponentials")
settled = driver(settled, "tests.nrpa.settled")
offers = driver(offers, "tests.nrpa.offers")


def test_the_exponential():
    x = np.linspace(-60, 60, 1001)
    out = np.empty_like(x)
    exponentials(x, out)
    assert np.allclose(out, np.exp(x), rtol=1e-5)
    exponentials(np.array([0.0, 1e9, -1e9]), out)
    assert out[0] == 1
    assert np.isfinite(out[:3]).all()
    assert (out[:3] > 0).all()


def test_groups_have_codes_of_their_own():
    """Over whole games: equal groups have equal codes, others have others, and each group is listed once."""
    known, owner = {}, {}
    for seed in range(30):
        game, start = small(seed, board_width=9, board_height=9)
        one, rng = position(game, start), np.random.default_rng(seed)
        while not one.state["over"]:
            actions, found = np.zeros(82, np.int64), np.zeros(82, np.uint64)
            count = listed(one.states.copy(), np.zeros(81, np.int8), actions, found)
            legal = groups(one)
            assert actions[:count].tolist() == list(legal)
            for group, code in zip(legal.values(), found[:count].tolist(), strict=True):
                assert known.setdefault(group, code) == code
                assert owner.setdefault(code, group) == group
            one.turn(int(rng.choice(list(legal))))
    assert len(known) > 1000


def test_a_table_keeps_each_code_once_until_it_is_full():
    policy = tables(1)
    codes = np.array([5, 5 + SLOTS, 5, 5 + 2 * SLOTS, 5 + SLOTS], np.uint64)  # all want the same place
    places = np.empty(5, np.int64)
    settled(policy, codes, places)
    assert places.tolist() == [5, 6, 5, 7, 6]
    assert policy.counts[0] == 3
    policy.counts[0] = ROOM
    settled(policy, np.array([5, 99], np.uint64), places)
    assert places[:2].tolist() == [5, SLOTS]
    assert policy.keys[0, 99] == 0


@pytest.mark.parametrize("count", [5, 40, 300])
def test_a_front_keeps_what_is_not_dominated(count):
    values = np.random.default_rng(count).integers(0, 12, (count, 2)).astype(float)
    lines = blank_lines(count, 2)
    lines.values[1 + FRONT :] = values
    fronts = _fronts(1, 2)
    offers(lines, fronts)
    kept = lines.values[fronts.members[1, : fronts.sizes[1]]]
    assert sorted(kept.tolist()) == sorted(values[undominated(values)].tolist())
    assert sorted(fronts.members[1]) == list(range(1, FRONT + 1))


def test_a_full_front_drops_the_most_crowded():
    points = np.arange(FRONT + 1.0) * 10
    points[7] = points[8] - 1
    values = np.stack([points, -points], axis=1)
    order = [i for i in range(len(points)) if i != 20] + [20]
    lines = blank_lines(len(points), 2)
    lines.values[1 + FRONT :] = values[order]
    fronts = _fronts(1, 2)
    offers(lines, fronts)
    kept = {float(v) for v in lines.values[fronts.members[1, : fronts.sizes[1]], 0]}
    assert len(kept) == FRONT
    assert len({points[7], points[8]} & kept) == 1
    owners = {int(m): int(o) for m, o in zip(fronts.members[1], fronts.owners[1], strict=True)}
    assert all(lines.values[member].tolist() == lines.values[owner].tolist() for member, owner in owners.items())


def blank_lines(count, objectives):
    """Lines without moves: one for playouts, those of the front, and `count` more."""
    rows = 1 + FRONT + count
    return Lines(
        np.zeros((rows, 1), np.int32),
        np.zeros((rows, 1), np.int32),
        np.zeros((rows, 2), np.int32),
        np.zeros((rows, 1), np.uint64),
        np.zeros(rows, np.int64),
        np.zeros((rows, objectives)),
    )
