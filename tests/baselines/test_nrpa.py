"""Nested rollout policy adaptation against the same search in plain Python, and tests of its parts."""

import math

import numpy as np
import pytest

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import method
from momagames.baselines.archive import is_nondominated
from momagames.baselines.candidates.policy import CandidatePolicy, Scorer
from momagames.baselines.search.nrpa_kernels import (
    MAX_CODES,
    NUM_SLOTS,
    Lines,
    exponential,
    insert_code,
    make_policies,
)
from momagames.baselines.search.pareto_nrpa import FRONT_CAPACITY, _make_fronts, add_to_front
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.engine.masks import list_actions
from momagames.errors import InvalidFile, InvalidParameter
from momagames.games.samegame.move_codes import write_codes
from momagames.games.samegame.rules import legal, prune_equivalent_actions
from momagames.kernels.jit import compile_entry_point
from tests.baselines.reference_search import (
    BudgetSpent,
    RandomDraws,
    compare_games,
    list_groups,
    make_episode,
    make_instance,
    select_groups,
)
from tests.baselines.test_candidates import compute_features

pytestmark = pytest.mark.long  # kernels of methods in several games

NRPA = {"divisions": 2, "levels": 2, "iterations": 12, "alpha": 1.0}
PARETO = {"num_policies": 3, "levels": 2, "iterations": 12, "alpha": 1.0}
BOTH = [("nrpa", NRPA), ("pareto_nrpa", PARETO)]


# ------------------------------------------------------------------------------------------ the same search in plain Python


class ReferenceSearch:
    """NRPA as in its paper: recursive, with policies as dictionaries of weights and moves identified by their groups.

    scores    (episode, weights) -> the bias of each candidate action, several for some groups, or None
    """

    def __init__(
        self, game, start, budget, seed, divisions, levels, iterations, alpha, scores=None, selective=False, prior=0.0,
        playouts=1, repetitions=0, guide=0,
    ):  # fmt: skip
        self.scores, self.selective, self.prior = scores, selective, prior
        self.playouts, self.repetitions, self.guide = playouts, repetitions, guide
        self.game, self.start, self.budget, self.iterations, self.alpha = game, start, budget, iterations, alpha
        self.draws, self.used, self.games = RandomDraws(seed), 0, []
        lattice = simplex_lattice(len(game.objectives), divisions)
        for i, self.weights in enumerate(lattice):
            self.share = budget * (i + 1) // len(lattice)
            try:
                while self.used < self.share:
                    self.search(levels, {})
            except BudgetSpent:
                pass

    def search(self, level, policy):
        if level == 0:
            return self.playout(policy)
        best, repeats = (-math.inf, None), 0
        for _ in range(self.iterations):
            for _ in range(self.playouts if level == 1 else 1):
                found = self.search(level - 1, dict(policy))
                repeats = repeats + 1 if found[0] == best[0] else 0 if found[0] > best[0] else repeats
                if found[0] >= best[0]:
                    best = found
            self.adapt(policy, best[1])
            if self.repetitions and repeats >= self.repetitions:
                break
        return best

    def playout(self, policy):
        if self.used >= self.share:
            raise BudgetSpent
        episode, line = make_episode(self.game, self.start), []
        tiles = "".join(self.game.codec.save(episode.state)["board"])
        while not episode.state["over"]:
            if self.used == self.budget:
                raise BudgetSpent
            legal = list_groups(episode)
            bias = np.zeros(len(legal))
            if self.selective:
                legal, grades = select_groups(legal, len(line), tiles, self.guide)
                bias = self.prior * np.array(grades)
            if self.scores and len(scores := self.scores(episode, self.weights)) > 1:
                if self.used + len(scores) >= self.budget:
                    self.used = self.budget
                    raise BudgetSpent
                self.used += len(scores)
                bias = [scores[action] for action in legal]
            odds = np.cumsum([math.exp(policy.get(code, 0.0) + b) for code, b in zip(legal.values(), bias, strict=True)])
            threshold = self.draws.uniform() * odds[-1]
            chosen = next(i for i in range(len(odds)) if odds[i] > threshold)
            line.append((list(legal.values()), bias, chosen, list(legal)[chosen]))
            episode.step(line[-1][3])
            self.used += 1
        self.games.append(([action for *_, action in line], episode.returns[0].tolist(), self.used))
        return float(self.weights @ episode.returns[0]), line

    def adapt(self, policy, line):
        before = dict(policy)
        for codes_of_ply, bias, chosen, _ in line:
            odds = [math.exp(before.get(code, 0.0) + b) for code, b in zip(codes_of_ply, bias, strict=True)]
            for code, share in zip(codes_of_ply, odds, strict=True):
                policy[code] = policy.get(code, 0.0) - self.alpha * share / sum(odds)
            policy[codes_of_ply[chosen]] += self.alpha


@pytest.mark.parametrize(("levels", "iterations", "alpha"), [(1, 30, 1.0), (2, 5, 0.7), (3, 3, 2.0)])
def test_matches_the_algorithm_of_the_paper(levels, iterations, alpha):
    game, start = make_instance()
    options = {"divisions": 2, "levels": levels, "iterations": iterations, "alpha": alpha}
    reference = ReferenceSearch(game, start, 1500, 4, **options)
    compare_games(reference, method("nrpa")(**options).plan(game, start, 1500, 4))


@pytest.mark.parametrize(
    "given",
    [
        {"selective": True},
        {"selective": True, "prior": 0.7},
        {"selective": True, "guide": 2},
        {"selective": True, "guide": 4},
        {"playouts": 4},
        {"repetitions": 2},
        {"selective": True, "prior": 0.2, "playouts": 3, "repetitions": 3},
    ],
    ids=str,
)
def test_modern_forms_match_the_same_search_in_plain_python(given):
    game, start = make_instance(board_width=7, board_height=6, num_colors=3)
    options = {"divisions": 1, "levels": 2, "iterations": 6, "alpha": 1.0, **given}
    reference = ReferenceSearch(game, start, 1500, 4, **options)
    compare_games(reference, method("nrpa")(**options).plan(game, start, 1500, 4))


@pytest.mark.parametrize("seed", range(5))
def test_iterated_search_replaces_the_rest_of_the_best_game(seed):
    """With one level and one iteration every round is one playout, so that the search can be followed in plain Python."""
    game, start = make_instance(color_rewards=False)
    options = {"divisions": 1, "levels": 1, "iterations": 1, "alpha": 1.0}
    found = method("iterated_nrpa")(**options, patience=3).plan(game, start, 2000, seed)
    rng = np.random.default_rng(seed)
    draws = RandomDraws(seed)
    rng.integers(2**64, dtype=np.uint64)
    best, used, stale, actions, score, rounds, starts = -math.inf, 0, 3, [], -math.inf, 0, 0
    while used < 2000:
        is_start = stale >= 3 or not actions
        prefix = [] if is_start else actions[: int(rng.integers(1, max(len(actions), 2)))]
        used = min(used + len(prefix), 2000)
        episode, line = make_episode(game, start), list(prefix)
        for action in prefix:
            episode.step(action)
        while not episode.state["over"] and used < 2000:
            groups = list(list_groups(episode))
            line.append(groups[int(draws.uniform() * len(groups))])
            episode.step(line[-1])
            used += 1
        rounds, starts = rounds + 1, starts + is_start
        if not episode.state["over"]:
            break
        value = episode.returns[0, 0]
        best = max(best, value)
        stale = 0 if is_start or value > score else stale + 1
        if is_start or value >= score:
            actions, score = line, value
    assert found.plans[-1].value[0] == best
    assert (found.steps, found.info["rounds"], found.info["starts"]) == (2000, rounds, starts)
    assert starts > 2


def test_a_known_game_is_improved():
    game, start = make_instance(board_width=7, board_height=7, color_rewards=False)
    search = method("iterated_nrpa")(divisions=1, levels=2, iterations=10, alpha=1.0, patience=1000)
    first = search.plan(game, start, 3000, 0).plans[-1]
    found = search.improve(game, start, first.actions, 20_000, 1)
    assert found.info["starts"] == 0
    assert found.plans[-1].value[0] >= first.value[0]
    shared = sum(plan.actions[0] == first.actions[0] for plan in found.plans)
    assert shared == len(found.plans)  # a round keeps the moves before its position
    episode = make_episode(game, start)
    for action in found.plans[-1].actions:
        episode.step(action)
    assert episode.state["over"]
    assert episode.returns[0] == found.plans[-1].value


@pytest.mark.parametrize("guide", range(4))
def test_selective_playouts_leave_a_color_for_the_end(guide):
    game, start = make_instance(board_width=8, board_height=8, num_colors=4, color_rewards=False, scoring="classic")
    rows = "".join(game.codec.save(start[0])["board"])
    tabu, num_moves = sorted("1234", key=lambda color: -rows.count(color))[guide], 0
    options = {**NRPA, "selective": True, "guide": guide}
    found = method("nrpa")(**options).plan(game, start, 5000, 1).plans
    again = method("iterated_nrpa")(**options, patience=1000).improve(game, start, found[-1].actions, 5000, 1)
    for plan in (*found, *again.plans):
        episode = make_episode(game, start)
        for ply, action in enumerate(plan.actions):
            groups = list_groups(episode)
            color, cells = groups[action]
            if color == tabu and (ply < 10 or len(cells) > 2):
                assert all(other == tabu and (ply < 10 or len(g) > 2) for other, g in groups.values())
                num_moves += 1
            episode.step(action)
    assert num_moves


def test_rejects_forms_that_the_game_or_other_options_rule_out():
    with pytest.raises(InvalidParameter, match=r"prior=0\.5: expected 0 without selective playouts"):
        method("nrpa")(**NRPA, prior=0.5)
    with pytest.raises(InvalidParameter, match=r"guide=1: expected 0 without selective playouts"):
        method("nrpa")(**NRPA, guide=1)
    with pytest.raises(InvalidParameter, match="bias='champion': expected none, because selective playouts have priors"):
        method("nrpa")(**NRPA, selective=True, bias="champion")
    with pytest.raises(InvalidParameter, match="selective=True: expected False, because mo-tileblast-v0 declares no selective"):
        method("hindsight_nrpa")(**NRPA, selective=True).check_plan(momagames.spec("mo-tileblast-v0"))


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_bias_matches_the_algorithm_of_the_paper(scale, monkeypatch):
    """The bias is the score of a candidate for the same weights; with scores of 0 the playouts are those without a bias."""
    game, start = make_instance()
    policy = CandidatePolicy(game)
    parameters = scale * np.random.default_rng(1).normal(size=policy.num_parameters) / 10
    monkeypatch.setattr("momagames.baselines.search.nrpa_bias.load_stored_policies", lambda *words: Scorer(policy, parameters))

    def compute_scores(episode, weights):
        candidates, rows = compute_features(game, episode.state, weights, policy.features)
        return dict(zip(candidates.tolist(), rows @ parameters, strict=True))

    options = {"divisions": 2, "levels": 2, "iterations": 5, "alpha": 0.7}
    reference = ReferenceSearch(game, start, 8000, 4, **options, scores=compute_scores)
    compare_games(reference, method("nrpa")(**options, bias="own").plan(game, start, 8000, 4))
    games = [actions for actions, _, _ in reference.games]
    plain = [actions for actions, _, _ in ReferenceSearch(game, start, 1500, 4, **options).games]
    assert (games[:20] == plain[:20]) == (scale == 0.0)


# ------------------------------------------------------------------------------------------------------------ the searches


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_policies_with_a_bias_start_as_the_trained_policy(name, options):
    """As many games are better with the champion than without, and their look-ahead is within the budget."""
    game, start = make_instance(board_width=15, board_height=15, num_colors=5)
    biased = method(name)(**options, bias="champion")
    for budget in (1, 5001, 150_000):
        found = biased.plan(game, start, budget, 0)
        assert found.steps == budget or found.info["episodes"] == 1
        assert all(20 * len(plan.actions) < plan.step <= found.steps for plan in found.plans)
    plain = method(name)(**options).plan(game, start, 10_000, 0)
    assert found.info["episodes"] < plain.info["episodes"]
    assert hypervolume(found.values, np.zeros(5)).value > 3 * hypervolume(plain.values, np.zeros(5)).value


def test_rejects_a_bias_that_is_no_scorer(tmp_path, monkeypatch):
    game, start = make_instance()
    for name in ("champio", "greedy"):
        with pytest.raises(InvalidParameter, match=f"invalid bias='{name}': expected 'champion', or the checkpoint"):
            method("nrpa")(**NRPA, bias=name).check_plan(game)
    monkeypatch.setattr("momagames.baselines.checkpoint_policy.list_champions", lambda game: [])
    with pytest.raises(InvalidParameter, match="mo-samegame-v0: invalid bias='champion'"):
        method("pareto_nrpa")(**PARETO, bias="champion").plan(game, start, 100, 0)
    with pytest.raises(InvalidFile, match="absent"):
        method("pareto_nrpa")(**PARETO, bias=str(tmp_path / "absent.npz")).plan(game, start, 100, 0)


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_seeds_differ(name, options):
    game, start = make_instance(board_width=8, board_height=8)
    first, other = (method(name)(**options).plan(game, start, 3000, seed) for seed in (0, 1))
    assert [plan.actions for plan in first.plans] != [plan.actions for plan in other.plans]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("nrpa", {"divisions": 2, "levels": 2, "iterations": 30, "alpha": 1.0}),
        ("pareto_nrpa", {"num_policies": 8, "levels": 1, "iterations": 10_000, "alpha": 1.0}),
    ],
)
def test_beats_random_play(name, options):
    game, start = make_instance(board_width=10, board_height=10, num_colors=3)
    learned, random_play = (method(n)(**o).plan(game, start, 60_000, 0) for n, o in ((name, options), ("random", {})))
    assert hypervolume(learned.values, np.zeros(3)).value > 1.3 * hypervolume(random_play.values, np.zeros(3)).value


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_plans_of_a_team_equal_those_of_one_agent(name, options):
    game, start = make_instance()
    team, team_start = make_instance(num_agents=2, team_rewards=True)
    alone = method(name)(**options).plan(game, start, 2000, 0)
    assert method(name)(**options).plan(team, team_start, 2000, 0).values.tolist() == alone.values.tolist()


def test_rejects_options_out_of_range():
    for name, changes, message in [
        ("nrpa", {"divisions": 0}, "invalid divisions=0: expected 1 or more"),
        ("nrpa", {"levels": 0}, r"invalid levels=0: expected 1\.\.6"),
        ("nrpa", {"levels": 7}, r"invalid levels=7: expected 1\.\.6"),
        ("nrpa", {"iterations": 0}, r"invalid iterations=0: expected 1\.\.10000"),
        ("nrpa", {"alpha": 0.0}, "invalid alpha=0.0: expected .*above 0, to 10"),
        ("nrpa", {"alpha": float("nan")}, "alpha=nan"),
        ("pareto_nrpa", {"num_policies": 0}, r"invalid num_policies=0: expected 1\.\.32"),
        ("pareto_nrpa", {"levels": 9}, r"invalid levels=9: expected 1\.\.6"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            method(name)(**{**dict(BOTH)[name], **changes})


def test_rejects_games_that_need_too_much_memory():
    game, _ = make_instance(board_width=30, board_height=30)
    method("pareto_nrpa")(**PARETO).check_plan(game)
    with pytest.raises(InvalidParameter, match=r"needs .* MiB of memory for mo-samegame-v0; expected at most 512 MiB"):
        method("pareto_nrpa")(**{**PARETO, "levels": 6}).check_plan(game)


# --------------------------------------------------------------------------------------------------------------- the parts


def compute_exponentials(x, out):
    for i in range(x.shape[0]):
        out[i] = exponential(x[i])


def insert_codes(policies, codes, slots):
    for i in range(codes.shape[0]):
        slots[i] = insert_code(policies, 0, codes[i])


def add_lines(lines, fronts):
    for line in range(1 + FRONT_CAPACITY, lines.values.shape[0]):
        add_to_front(lines, fronts, 1, line, line)


def list_codes(states, mask, actions, found):
    legal(states[0], 0, mask)
    prune_equivalent_actions(states[0], mask)
    return write_codes(states[0], actions, list_actions(mask, actions), found)


list_codes = compile_entry_point(list_codes, "tests.nrpa.list_codes")
compute_exponentials = compile_entry_point(compute_exponentials, "tests.nrpa.compute_exponentials")
insert_codes = compile_entry_point(insert_codes, "tests.nrpa.insert_codes")
add_lines = compile_entry_point(add_lines, "tests.nrpa.add_lines")


def test_exponential():
    x = np.linspace(-60, 60, 1001)
    out = np.empty_like(x)
    compute_exponentials(x, out)
    assert np.allclose(out, np.exp(x), rtol=1e-5)
    compute_exponentials(np.array([0.0, 1e9, -1e9]), out)
    assert out[0] == 1
    assert np.isfinite(out[:3]).all()
    assert (out[:3] > 0).all()


def test_groups_have_distinct_codes():
    """In whole games equal groups have equal codes, distinct groups distinct codes, and each group is listed once."""
    known, owner = {}, {}
    for seed in range(30):
        game, start = make_instance(seed, board_width=9, board_height=9)
        episode, rng = make_episode(game, start), np.random.default_rng(seed)
        while not episode.state["over"]:
            actions, found = np.zeros(82, np.int64), np.zeros(82, np.uint64)
            count = list_codes(episode.states.copy(), np.zeros(81, np.int8), actions, found)
            legal = list_groups(episode)
            assert actions[:count].tolist() == list(legal)
            for group, code in zip(legal.values(), found[:count].tolist(), strict=True):
                assert known.setdefault(group, code) == code
                assert owner.setdefault(code, group) == group
            episode.step(int(rng.choice(list(legal))))
    assert len(known) > 1000


def test_table_inserts_each_code_once_until_full():
    policy = make_policies(1)
    codes = np.array([5, 5 + NUM_SLOTS, 5, 5 + 2 * NUM_SLOTS, 5 + NUM_SLOTS], np.uint64)  # all hash to the same slot
    slots = np.empty(5, np.int64)
    insert_codes(policy, codes, slots)
    assert slots.tolist() == [5, 6, 5, 7, 6]
    assert policy.counts[0] == 3
    policy.counts[0] = MAX_CODES
    insert_codes(policy, np.array([5, 99], np.uint64), slots)
    assert slots[:2].tolist() == [5, NUM_SLOTS]
    assert policy.keys[0, 99] == 0


@pytest.mark.parametrize("count", [5, 40, 300])
def test_front_holds_nondominated_lines(count):
    values = np.random.default_rng(count).integers(0, 12, (count, 2)).astype(float)
    lines = make_blank_lines(count, 2)
    lines.values[1 + FRONT_CAPACITY :] = values
    fronts = _make_fronts(1, 2)
    add_lines(lines, fronts)
    front_values = lines.values[fronts.members[1, : fronts.sizes[1]]]
    assert sorted(front_values.tolist()) == sorted(values[is_nondominated(values)].tolist())
    assert sorted(fronts.members[1]) == list(range(1, FRONT_CAPACITY + 1))


def test_full_front_drops_the_most_crowded_line():
    points = np.arange(FRONT_CAPACITY + 1.0) * 10
    points[7] = points[8] - 1
    values = np.stack([points, -points], axis=1)
    order = [i for i in range(len(points)) if i != 20] + [20]
    lines = make_blank_lines(len(points), 2)
    lines.values[1 + FRONT_CAPACITY :] = values[order]
    fronts = _make_fronts(1, 2)
    add_lines(lines, fronts)
    front_values = {float(v) for v in lines.values[fronts.members[1, : fronts.sizes[1]], 0]}
    assert len(front_values) == FRONT_CAPACITY
    assert len({points[7], points[8]} & front_values) == 1
    owners = {int(m): int(o) for m, o in zip(fronts.members[1], fronts.owners[1], strict=True)}
    assert all(lines.values[member].tolist() == lines.values[owner].tolist() for member, owner in owners.items())


def make_blank_lines(count, objectives):
    """Make lines without moves: one for playouts, those of the front, and `count` more."""
    rows = 1 + FRONT_CAPACITY + count
    return Lines(
        np.zeros((rows, 1), np.int32),
        np.zeros((rows, 1), np.int32),
        np.zeros((rows, 2), np.int32),
        np.zeros((rows, 1), np.uint64),
        np.zeros(rows, np.int64),
        np.zeros((rows, objectives)),
        np.zeros((rows, 0)),
    )
