"""Tree search: moves that are known to be best, luck that it does not know, budgets, and what it refuses."""

import copy
import math
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import momagames
from momagames.baselines import compiled, member, method, policy
from momagames.baselines.mcts.playout import Effort, playout, tools
from momagames.baselines.mcts.tree import EMPTY, NONE, choose, empty_tree, forget, logarithm, rank
from momagames.baselines.players import Players, play_kernels
from momagames.baselines.rollouts import deal
from momagames.engine.batch import Batch
from momagames.engine.play import loaded
from momagames.errors import InvalidParameter
from momagames.kernels.jit import INTERPRETED, driver
from momagames.kernels.rng import stream
from tests import meteors
from tests.baselines import gambles

NAMES = ["uct", "pareto_uct"]
MANY = range(2 if INTERPRETED else 20)  # searches of one position
compiled_only = pytest.mark.skipif(INTERPRETED, reason="too many playouts without the compiler")
PAYS = np.zeros((3, 3, 2, 2))
PAYS[0, :, 0] = [[2, 0], [0, 0], [0, 0]]  # the first hopes for the second's action 0
PAYS[1, :, 0] = [[1, 0], [1, 0], [1, 0]]
PAYS[2, :, 0] = [[0, 1], [0, 1], [0, 1]]
PAYS[0, :, 1] = [[0, 0], [1, 0], [0, 1]]  # who takes another
PAYS[1:, :, 1] = [[1, 0], [0, 1], [0, 0]]


def chosen(game, states, name, words, agent=0, **options):
    """How often the policy plays each action in the position of `states`, record[1]."""
    batch = Batch(game, len(words))
    batch.load(states.repeat(len(words)))
    seats = np.full(len(game.agents), -1)
    seats[agent] = 0
    lots = np.array(words, np.uint64)[:, None].repeat(len(game.agents), 1)
    acts = Players(batch, [compiled(name, game, **options)], seats, lots).act()
    return Counter(acts[:, 0 if game.sequential else agent, 0].tolist())


# -------------------------------------------------------------------------------------------------------- known answers


@pytest.mark.parametrize("name", NAMES)
def test_everybody_maximises_what_he_gets(name):
    """The first action would pay most if the second helped, who does not."""
    game = gambles.game(PAYS)
    start = deal(game, np.zeros(1, np.uint64))
    options = {"simulations": 1000, "exploration": 1.0, "horizon": 5}
    assert set(chosen(game, start, name, MANY, weights=[1, 0], **options)) == {1}
    assert set(chosen(game, start, name, MANY, weights=[0, 1], **options)) == {2}
    helped = PAYS.copy()
    helped[0, :, 1] = [[2, 2], [0, 0], [0, 0]]
    game = gambles.game(helped)
    start = deal(game, np.zeros(1, np.uint64))
    assert set(chosen(game, start, name, MANY, weights=[1, 0], **options)) == {0}


def breakthrough(rows, mover, **params):
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5, **params)
    return game, loaded(game, {"board": rows.split(), "next_agent": f"player_{mover}"})


WIN = "1.... ...2. ..... .1... ....2"  # a piece of each is about to arrive
BLOCK = "1...1 .2... ..... ..... ..2.."  # the piece at x=1, y=1 is about to arrive, and can be taken in one way
TAKE = 2  # aslant from (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_win_in_one_move_is_found(name):
    game, start = breakthrough(WIN, 0)
    found = chosen(game, start, name, MANY, weights=[1, 0, 0, 0], simulations=100, exploration=0.3, horizon=50)
    assert set(found) <= winning(game, start)


def winning(game, start):
    """The actions that end the game."""
    actions = set()
    for action in np.flatnonzero(legal(game, start)).tolist():
        batch = Batch(game, 1, autoreset="disabled")
        batch.load(start)
        batch.step(np.full((1, 1, 1), action))
        if batch.states["over"][0]:
            actions.add(action)
    return actions


def legal(game, start):
    batch = Batch(game, 1)
    batch.load(start)
    return batch.masks[0, 0].copy()


@pytest.mark.parametrize("name", NAMES)
def test_a_threat_is_parried(name):
    game, start = breakthrough(BLOCK, 0)
    found = chosen(game, start, name, MANY, weights=[1, 0, 0, 0], simulations=300, exploration=0.3, horizon=50)
    assert set(found) == {TAKE}


@compiled_only
@pytest.mark.parametrize("name", NAMES)
def test_plans_find_the_proven_front(name):
    game = momagames.spec("mo-samegame-v0", board_width=4, board_height=4, num_colors=2)
    for seed in range(3):
        start = deal(game, np.array([seed], np.uint64))
        front = method("exact")(max_states=100_000, max_bytes=100_000_000).plan(game, start, 0, 0)
        found = method(name)(divisions=2, simulations=100, exploration=0.7, horizon=16).plan(game, start, 30_000, seed)
        assert found.values.tolist() == front.values.tolist()


@compiled_only
def test_flames_are_left_alone():
    """MO-Pommerman's duel, where all move at once: the cells beside the agent burn, or its own is about to."""
    game = momagames.spec("mo-pommerman-duel-v0", board_size=7, num_rigid=4, num_wood=8, num_items=4)
    options = {"simulations": 200, "exploration": 0.5, "horizon": 4}
    agents = [[1, 3, 3, 0, 2, 0], [1, 6, 6, 0, 2, 0]]
    board = "1110111 1110111 1110111 004a400 1110111 1110111 111111b".replace(" ", "")
    flames = {"board": board, "agents": agents, "flames": [[3, 2, 2], [3, 4, 2]]}
    found = chosen(game, loaded(game, flames), "uct", MANY, weights=None, **options)
    assert not set(found) & {3, 4}
    board = "1110111 1110111 1110111 300a000 1110111 1110111 111111b".replace(" ", "")
    bomb = {"board": board, "agents": agents, "bombs": [[3, 0, 1, 6, 1, 0]]}
    found = chosen(game, loaded(game, bomb), "uct", MANY, weights=None, **options)
    assert set(found) <= {1, 2}


# ----------------------------------------------------------------------------------------------------------------- luck


@pytest.mark.parametrize("name", NAMES)
def test_nobody_knows_the_luck(name):
    """A gamble that pays less than a sure thing is left alone, whatever the state will draw."""
    pays = np.zeros((3, 3, 2, 2))
    pays[0, :, 0, 0], pays[2, :, 0, 0] = 0.6, 0.5  # sure; 1 or 0
    game = gambles.game(pays, luck=True)
    seeds = np.arange(4 if INTERPRETED else 20, dtype=np.uint64)
    for start in np.split(deal(game, seeds), len(seeds)):
        assert set(chosen(game, start, name, [5], weights=[1, 0], simulations=400, exploration=0.5, horizon=2)) == {0}


@compiled_only
def test_open_loop_without_the_luck_of_the_state():
    """MO-TileBlast: the pieces that fall in, and with them the legal actions of a node, are others in every playout."""
    game = momagames.spec("mo-tileblast-v0")
    start = deal(game, np.array([3], np.uint64))
    tree, _ = grown(game, start, Effort(300, 0.3, 4))
    assert tree.used[0] > 100
    arms = [actions_of(tree, node) for node in range(tree.used[0])]
    assert all(len(set(actions)) == len(actions) for actions in arms)  # each action once
    assert len(actions_of(tree, 0)) <= legal(game, start).sum() < max(map(len, arms))
    start["rng"] = 12345
    again, _ = grown(game, start, Effort(300, 0.3, 4))
    assert all((a == b).all() for a, b in zip(tree, again, strict=True))


# ------------------------------------------------------------------------------------------------------------- the tree


def grown(game, start, effort, weights=None):
    """The tree after one search for a weighted sum."""
    goals = len(game.objectives)
    tree = empty_tree(game, effort.simulations, 1)
    kit = tools(game, np.full((1, goals), 1 / goals) if weights is None else np.array([weights]), np.ones(1), effort)
    kit.root[0] = start[0]
    play = playout(game)

    def grow(tree, kit):
        forget(tree)
        word = np.uint64(7)
        for _ in range(kit.simulations[0]):
            _, word = play(tree, kit, kit.horizon[0], word)

    driver(grow, f"{game.rules_key}.tests.grown")(tree, kit)
    return tree, kit


def arms_of(tree, node, slot=0):
    arm = int(tree.first[node, slot])
    while arm != NONE:
        yield arm
        arm = int(tree.next[arm])


def actions_of(tree, node, slot=0):
    return [int(tree.action[arm]) for arm in arms_of(tree, node, slot)]


def test_a_playout_makes_one_node_and_visits_add_up():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    start = deal(game, np.zeros(1, np.uint64))
    tree, _ = grown(game, start, Effort(500, 0.3, 100), [1, 0, 0, 0])
    root = list(arms_of(tree, 0))
    assert sorted(int(tree.action[arm]) for arm in root) == np.flatnonzero(legal(game, start)).tolist()
    assert tree.visits[root].sum() == 500
    assert 1 < tree.used[0] <= 500
    assert (tree.keys != EMPTY).sum() == tree.used[0]
    assert tree.low.tolist() == [[-1], [-1]]
    assert tree.high.tolist() == [[1], [1]]


def test_equal_actions_have_one_arm():
    game = momagames.spec("mo-samegame-v0", board_width=5, board_height=5, num_colors=2)
    start = deal(game, np.array([2], np.uint64))
    tree, _ = grown(game, start, Effort(50, 0.3, 100))
    assert len(actions_of(tree, 0)) < legal(game, start).sum()


def test_agents_that_move_at_once_have_statistics_of_their_own():
    game = meteors.game("meteors-v0", limit=5)
    tree, _ = grown(game, deal(game, np.zeros(1, np.uint64)), Effort(100, 0.3, 5))
    for slot in range(6):  # three agents, two parts
        assert sorted(actions_of(tree, 0, slot)) == [0, 1, 2]
        assert tree.visits[list(arms_of(tree, 0, slot))].sum() == 100


def bandits(aims):
    """Room for the arms of one bandit, and compiled access."""
    game = gambles.game(PAYS)
    tree = empty_tree(game, 20, aims)

    def ranked(tree, count, total, exploration):
        return rank(tree, 0, count, total, exploration)

    def chose(tree, count, exploration, words, out):
        for i in range(words.shape[0]):
            out[i], _ = choose(tree, 0, count, exploration, words[i])

    return tree, driver(ranked, "tests.ranked"), driver(chose, "tests.chose")


@pytest.mark.parametrize("aims", [1, 3])
def test_the_front_of_bounds_by_comparing_all(aims):
    tree, ranked, _ = bandits(aims)
    tree = tree._replace(listed=np.arange(8, dtype=np.int32), front=np.zeros(8, np.int32), bounds=np.zeros((8, aims)))
    rng = np.random.default_rng(1)
    tree.low[:], tree.high[:] = 0, 4
    sizes = set()
    for _ in range(200):
        tree.visits[:8] = rng.integers(1, 4, 8)
        tree.sums[:8] = rng.integers(0, 5, (8, aims)) * tree.visits[:8, None]
        best = ranked(tree, 8, int(tree.visits[:8].sum()), 0.7)
        spread = math.log(tree.visits[:8].sum()) + math.log(aims) / 4
        means = tree.sums[:8] / tree.visits[:8, None] / 4
        bounds = means + 0.7 * np.sqrt(spread / tree.visits[:8, None])
        assert np.abs(tree.bounds - bounds).max() < 1e-8
        bounds = tree.bounds
        alone = [
            i for i in range(8) if not any((bounds[j] >= bounds[i]).all() and (bounds[j] > bounds[i]).any() for j in range(8))
        ]
        assert sorted(tree.front[:best].tolist()) == alone
        sizes.add(best)
    assert len(sizes) > 2


@pytest.mark.parametrize("aims", [1, 2])
def test_arms_never_tried_come_first(aims):
    tree, _, chose = bandits(aims)
    tree.low[:], tree.high[:] = 0, 1
    tree.listed[:], out = [7, 4, 9], np.zeros(50, np.int64)
    tree.visits[[7, 4, 9]], tree.sums[[7, 4, 9]] = 1, [[1], [0], [1]]
    words = stream(4, 50)
    for visits, expected in (([0, 5, 0], {7, 9}), ([3, 0, 5], {4}), ([2, 2, 2], {7, 9})):
        tree.visits[[7, 4, 9]] = visits
        chose(tree, 3, 0.5, words, out)
        assert set(out.tolist()) == expected


def test_a_dominated_arm_is_dropped():
    pays = np.zeros((3, 3, 2, 2))
    pays[0, :, 0], pays[1, :, 0], pays[2, :, 0] = [1, 0.2], [0.2, 1], [0.1, 0.1]
    game = gambles.game(pays)
    start = deal(game, np.zeros(1, np.uint64))
    goals = np.eye(2)
    tree, kit = empty_tree(game, 500, 2), tools(game, goals, np.ones(2), Effort(500, 0.3, 5))
    kit.root[0] = start[0]
    play = playout(game)

    def grow(tree, kit):
        forget(tree)
        word = np.uint64(3)
        for _ in range(500):
            _, word = play(tree, kit, 5, word)

    driver(grow, "tests.dropped")(tree, kit)
    visits = {int(tree.action[arm]): int(tree.visits[arm]) for arm in arms_of(tree, 0)}
    assert visits[2] < 25
    assert min(visits[0], visits[1]) > 180


def test_the_logarithm():
    def all_of(numbers, out):
        for i in range(numbers.shape[0]):
            out[i] = logarithm(numbers[i])

    numbers = np.unique(np.geomspace(1, 1e9, 400).astype(np.int64))
    out = np.zeros(len(numbers))
    driver(all_of, "tests.logarithm")(numbers, out)
    assert np.abs(out - np.log(numbers)).max() < 1e-7


# ------------------------------------------------------------------------------------------------------ as a player, as a plan


@compiled_only
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["meteors", "breakthrough"])
def test_what_it_plays_depends_on_its_word_alone(name, kind):
    """Not on the batch, nor on what it searched before."""
    game = (
        meteors.game("meteors-v0", limit=4)
        if kind == "meteors"
        else momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    )
    agents = len(game.agents)
    one = compiled(name, game, weights=None, simulations=20, exploration=0.5, horizon=8)
    starts = deal(game, np.arange(6, dtype=np.uint64))
    words = stream(1, 6 * agents).reshape(6, agents)
    seats = np.zeros((6, agents), np.int64)
    together = play_kernels(game, starts, [one], seats, words)
    assert together.lengths.min() > 1
    for i in range(6):
        alone = play_kernels(game, starts[i : i + 1], [one], seats[:1], words[i : i + 1])
        assert alone.returns[0].tolist() == together.returns[i].tolist()
    other = play_kernels(game, starts, [one], seats, words + np.uint64(1))
    assert other.returns.tolist() != together.returns.tolist()


@compiled_only
def test_it_wins_against_random_play():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    starts = deal(game, np.arange(40, dtype=np.uint64))
    kernels = [compiled("uct", game, weights=[1, 0, 0, 0], simulations=50), compiled("random", game)]
    seats = np.array([[0, 1], [1, 0]]).repeat(20, axis=0)
    played = play_kernels(game, starts, kernels, seats, stream(3, 80).reshape(40, 2))
    won = played.returns[np.arange(40), seats.argmin(axis=1), 0] > 0
    assert won.sum() >= 36


def test_a_policy_by_name_plays_through_the_doors():
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    act = policy("uct", game, weights=[1, 0, 0, 0], simulations=20, exploration=0.3, horizon=20)
    env = momagames.make("mo-breakthrough-v0", api="gymnasium", others=act, board_width=3, board_height=5)
    _, info = env.reset(seed=0)
    twin = copy.deepcopy(act)
    luck = [np.random.default_rng(0), np.random.default_rng(0)]
    over = False
    while not over:
        action = act(env.state, info["action_mask"], luck[0])
        assert info["action_mask"][action]
        assert twin(env.state, info["action_mask"], luck[1]) == action
        _, _, ended, cut, info = env.step(action)
        over = ended or cut


@pytest.mark.parametrize("name", NAMES)
def test_policies_of_a_lattice(name):
    game = momagames.spec("mo-breakthrough-v0", num_objectives=2)
    chosen = method(name)(divisions=2, simulations=10, exploration=0.3, horizon=20)
    assert [one.label for one in chosen.policies(game)] == ["w=(1, 0)", "w=(0.5, 0.5)", "w=(0, 1)"]
    assert [one.weights for one in chosen.policies(game)] == [(1, 0), (0.5, 0.5), (0, 1)]
    assert member(name, game).label == name


@compiled_only
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [1, 700, 5000])
def test_plans_keep_the_budget(name, budget):
    game = momagames.spec("mo-samegame-v0", board_width=5, board_height=5, num_colors=3)
    start = deal(game, np.array([3], np.uint64))
    calls = method(name)(divisions=2, simulations=20, exploration=0.3, horizon=30)
    found = calls.plan(game, start, budget, 1)
    assert found.plans
    assert found.steps == budget if budget > 25 else found.steps <= 25
    assert [plan.actions for plan in found.plans] == [plan.actions for plan in calls.plan(game, start, budget, 1).plans]
    assert found.facts["weights"] == 6


def test_a_horizon_shorter_than_the_game_leaves_the_lines_played():
    game = momagames.spec("mo-samegame-v0", board_width=5, board_height=5, num_colors=3)
    start = deal(game, np.array([3], np.uint64))
    found = method("uct")(divisions=1, simulations=5, exploration=0.3, horizon=1).plan(game, start, 2000, 1)
    assert found.plans
    assert found.facts["episodes"] >= found.facts["lines"] > 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda game: method("uct")(0, 1, 0.3, 1), "divisions=0"),
        (lambda game: method("uct")(1, 0, 0.3, 1), r"invalid simulations=0: .*1\.\.1000000"),
        (lambda game: method("pareto_uct")(1, 1, 0.3, 0), "pareto_uct: invalid horizon=0"),
        (lambda game: method("uct")(1, 1, -0.5, 1), r"exploration=-0\.5"),
        (lambda game: method("uct")(1, 1, float("nan"), 1), "exploration=nan"),
        (lambda game: policy("uct", game, simulations=2.5), r"simulations=2\.5"),
        (lambda game: policy("uct", game, weights=[1]), "4 finite numbers"),
        (lambda game: policy("uct", game, simulations=1_000_000), "MiB"),
        (lambda game: policy("uct", game, agent=2), "agent=2"),
        (lambda game: method("uct")(1, 10, 0.3, 1).check_plan(game), "rewards of their own"),
        (lambda game: method("uct")(1, 10, 0.3, 1).check_plan(momagames.spec("mo-tileblast-v0")), "draws during play"),
        (lambda game: method("uct")(1, 900_000, 0.3, 1).check_plan(momagames.spec("mo-samegame-v0")), "MiB"),
    ],
)
def test_what_cannot_be(call, said):
    with pytest.raises(InvalidParameter, match=said):
        call(momagames.spec("mo-breakthrough-v0"))


# ------------------------------------------------------------------------------------------------------- without the compiler


def digest():
    """What small searches do."""
    game = meteors.game("meteors-v0", limit=3)
    one = compiled("pareto_uct", game, weights=None, simulations=8, exploration=0.5, horizon=3)
    played = play_kernels(
        game, deal(game, np.arange(2, dtype=np.uint64)), [one], np.zeros((2, 3), np.int64), stream(1, 6).reshape(2, 3)
    )
    board = momagames.spec("mo-samegame-v0", board_width=4, board_height=4, num_colors=2)
    found = method("uct")(2, 8, 0.5, 20).plan(board, deal(board, np.zeros(1, np.uint64)), 300, 1)
    return repr((played.returns.tolist(), [(plan.actions, plan.found) for plan in found.plans]))


def test_interpreted_equals_compiled():
    flags = {**os.environ, "NUMBA_DISABLE_JIT": "0" if INTERPRETED else "1"}
    code = "from tests.baselines.test_mcts import digest; print(digest())"
    other = subprocess.run([sys.executable, "-c", code], env=flags, capture_output=True, text=True, check=True, timeout=300)
    assert other.stdout.strip() == digest()
