"""Tree search: known best moves, unforeseen chance, budgets, and errors."""

import copy
import math
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.baselines.mcts.simulation import UctOptions, make_playout, make_workspace
from momagames.baselines.mcts.tree import EMPTY_KEY, NONE, make_tree, natural_log, reset_tree, select_arm, select_front
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter
from momagames.kernels.jit import INTERPRETED, compile_entry_point
from momagames.kernels.rng import random_words
from tests import meteors
from tests.baselines import gambles

pytestmark = pytest.mark.long  # kernels of methods in several games

METHOD_NAMES = ["uct", "pareto_uct"]
WORDS = range(2 if INTERPRETED else 20)  # generator words of the searches of one position
REWARDS = np.zeros((3, 3, 2, 2))
REWARDS[0, :, 0] = [[2, 0], [0, 0], [0, 0]]  # the first agent depends on the second one's action 0
REWARDS[1, :, 0] = [[1, 0], [1, 0], [1, 0]]
REWARDS[2, :, 0] = [[0, 1], [0, 1], [0, 1]]
REWARDS[0, :, 1] = [[0, 0], [1, 0], [0, 1]]  # the second one prefers another action
REWARDS[1:, :, 1] = [[1, 0], [0, 1], [0, 0]]


def count_actions(game, states, name, words, agent=0, **options):
    """Count the actions that the policy plays in the position of `states`, record[1]."""
    batch = Batch(game, len(words))
    batch.load(states.repeat(len(words)))
    seats = np.full(len(game.agents), -1)
    seats[agent] = 0
    words_by_agent = np.array(words, np.uint64)[:, None].repeat(len(game.agents), 1)
    acts = SeatedPolicies(batch, [batch_policy(name, game, **options)], seats, words_by_agent).act()
    return Counter(acts[:, 0 if game.sequential else agent, 0].tolist())


# -------------------------------------------------------------------------------------------------------- known answers


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_every_agent_maximizes_its_own_return(name):
    """The first agent's action 0 has the largest reward only if the second agent cooperates, which it does not."""
    game = gambles.game(REWARDS)
    start = generate_starts(game, np.zeros(1, np.uint64))
    options = {"simulations": 1000, "exploration": 1.0, "horizon": 5}
    assert set(count_actions(game, start, name, WORDS, weights=[1, 0], **options)) == {1}
    assert set(count_actions(game, start, name, WORDS, weights=[0, 1], **options)) == {2}
    cooperative = REWARDS.copy()
    cooperative[0, :, 1] = [[2, 2], [0, 0], [0, 0]]
    game = gambles.game(cooperative)
    start = generate_starts(game, np.zeros(1, np.uint64))
    assert set(count_actions(game, start, name, WORDS, weights=[1, 0], **options)) == {0}


def breakthrough(rows, mover, **params):
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5, **params)
    return game, load_state(game, {"board": rows.split(), "next_agent": f"player_{mover}"})


WIN = "1.... ...2. ..... .1... ....2"  # a piece of each player is one move from its goal
BLOCK = "1...1 .2... ..... ..... ..2.."  # the piece at x=1, y=1 is one move from its goal, and one move captures it
CAPTURE = 2  # diagonally from (0, 0)


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_finds_a_win_in_one_move(name):
    game, start = breakthrough(WIN, 0)
    actions = count_actions(game, start, name, WORDS, weights=[1, 0, 0, 0], simulations=100, exploration=0.3, horizon=50)
    assert set(actions) <= winning_actions(game, start)


def winning_actions(game, start):
    """Return the actions that end the game."""
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


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_parries_a_threat(name):
    game, start = breakthrough(BLOCK, 0)
    actions = count_actions(game, start, name, WORDS, weights=[1, 0, 0, 0], simulations=300, exploration=0.3, horizon=50)
    assert set(actions) == {CAPTURE}


@pytest.mark.compiled
def test_avoids_flames():
    """In MO-Pommerman's duel, a simultaneous game, the agent avoids burning cells and leaves the cell of a bomb."""
    game = momagames.spec("mo-pommerman-duel-v0", board_size=7, num_rigid=4, num_wood=8, num_items=4)
    options = {"simulations": 200, "exploration": 0.5, "horizon": 4}
    agents = [[1, 3, 3, 0, 2, 0], [1, 6, 6, 0, 2, 0]]
    board = "1110111 1110111 1110111 004a400 1110111 1110111 111111b".replace(" ", "")
    flames = {"board": board, "agents": agents, "flames": [[3, 2, 2], [3, 4, 2]]}
    actions = count_actions(game, load_state(game, flames), "uct", WORDS, weights=None, **options)
    assert not set(actions) & {3, 4}
    board = "1110111 1110111 1110111 300a000 1110111 1110111 111111b".replace(" ", "")
    bomb = {"board": board, "agents": agents, "bombs": [[3, 0, 1, 6, 1, 0]]}
    actions = count_actions(game, load_state(game, bomb), "uct", WORDS, weights=None, **options)
    assert set(actions) <= {1, 2}


# ----------------------------------------------------------------------------------------------------------------- chance


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_does_not_foresee_chance(name):
    """A gamble with a lower mean than a safe action is avoided, whatever its outcome from this state."""
    rewards = np.zeros((3, 3, 2, 2))
    rewards[0, :, 0, 0], rewards[2, :, 0, 0] = 0.6, 0.5  # safe; 1 or 0
    game = gambles.game(rewards, gamble=True)
    seeds = np.arange(4 if INTERPRETED else 20, dtype=np.uint64)
    for start in np.split(generate_starts(game, seeds), len(seeds)):
        assert set(count_actions(game, start, name, [5], weights=[1, 0], simulations=400, exploration=0.5, horizon=2)) == {0}


@pytest.mark.compiled
def test_open_loop_ignores_the_seed_of_the_state():
    """In MO-TileBlast the refill tiles, and with them the legal actions of a node, differ between playouts."""
    game = momagames.spec("mo-tileblast-v0")
    start = generate_starts(game, np.array([3], np.uint64))
    tree, _ = search_tree(game, start, UctOptions(300, 0.3, 4))
    assert tree.used[0] > 100
    arms = [actions_of(tree, node) for node in range(tree.used[0])]
    assert all(len(set(actions)) == len(actions) for actions in arms)  # each action once
    assert len(actions_of(tree, 0)) <= legal(game, start).sum() < max(map(len, arms))
    start["rng"] = 12345
    again, _ = search_tree(game, start, UctOptions(300, 0.3, 4))
    assert all((a == b).all() for a, b in zip(tree, again, strict=True))


# ------------------------------------------------------------------------------------------------------------- the tree


def search_tree(game, start, options, weights=None):
    """Return the tree after one search for a weighted sum."""
    num_objectives = len(game.objectives)
    tree = make_tree(game, options.simulations, 1, options.prior_temperature > 0)
    criteria = np.full((1, num_objectives), 1 / num_objectives) if weights is None else np.array([weights])
    workspace = make_workspace(game, criteria, np.ones(1), options)
    workspace.root[0] = start[0]
    simulate = make_playout(game, bool(options.value))

    def run_playouts(tree, workspace):
        reset_tree(tree)
        word = np.uint64(7)
        for _ in range(workspace.simulations[0]):
            _, word = simulate(tree, workspace, workspace.horizon[0], word)

    compile_entry_point(run_playouts, f"{game.rules_key}.tests.grown{options.value and '.valued'}")(tree, workspace)
    return tree, workspace


def arms_of(tree, node, slot=0):
    arm = int(tree.first[node, slot])
    while arm != NONE:
        yield arm
        arm = int(tree.next[arm])


def actions_of(tree, node, slot=0):
    return [int(tree.action[arm]) for arm in arms_of(tree, node, slot)]


def test_playout_adds_one_node_and_visits_add_up():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    start = generate_starts(game, np.zeros(1, np.uint64))
    tree, _ = search_tree(game, start, UctOptions(500, 0.3, 100), [1, 0, 0, 0])
    root = list(arms_of(tree, 0))
    assert sorted(int(tree.action[arm]) for arm in root) == np.flatnonzero(legal(game, start)).tolist()
    assert tree.visits[root].sum() == 500
    assert 1 < tree.used[0] <= 500
    assert (tree.keys != EMPTY_KEY).sum() == tree.used[0]
    assert tree.low.tolist() == [[-1], [-1]]
    assert tree.high.tolist() == [[1], [1]]


def test_equivalent_actions_have_one_arm():
    game = momagames.spec("mo-samegame-v0", board_width=5, board_height=5, num_colors=2)
    start = generate_starts(game, np.array([2], np.uint64))
    tree, _ = search_tree(game, start, UctOptions(50, 0.3, 100))
    assert len(actions_of(tree, 0)) < legal(game, start).sum()


def test_simultaneous_agents_have_separate_statistics():
    game = meteors.game("meteors-v0", limit=5)
    tree, _ = search_tree(game, generate_starts(game, np.zeros(1, np.uint64)), UctOptions(100, 0.3, 5))
    for slot in range(6):  # three agents, two parts
        assert sorted(actions_of(tree, 0, slot)) == [0, 1, 2]
        assert tree.visits[list(arms_of(tree, 0, slot))].sum() == 100


def make_bandit(num_criteria, has_priors=False):
    """Return a tree for the arms of one bandit, and compiled access to it."""
    game = gambles.game(REWARDS)
    tree = make_tree(game, 20, num_criteria, has_priors)

    def call_select_front(tree, count, total, exploration):
        return select_front(tree, 0, count, total, exploration)

    def call_select_arm(tree, count, exploration, words, out):
        for i in range(words.shape[0]):
            out[i], _ = select_arm(tree, 0, count, exploration, words[i])

    return tree, compile_entry_point(call_select_front, "tests.ranked"), compile_entry_point(call_select_arm, "tests.chose")


@pytest.mark.parametrize("has_priors", [False, True])
@pytest.mark.parametrize("num_criteria", [1, 3])
def test_front_of_bounds_equals_brute_force(num_criteria, has_priors):
    tree, call_select_front, _ = make_bandit(num_criteria, has_priors)
    tree = tree._replace(
        candidates=np.arange(8, dtype=np.int32), front=np.zeros(8, np.int32), bounds=np.zeros((8, num_criteria))
    )
    rng = np.random.default_rng(1)
    tree.low[:], tree.high[:] = 0, 4
    sizes = set()
    for _ in range(200):
        tree.visits[:8] = rng.integers(1, 4, 8)
        tree.sums[:8] = rng.integers(0, 5, (8, num_criteria)) * tree.visits[:8, None]
        if has_priors:
            tree.priors[:8] = rng.integers(1, 3, 8) / 8
        best = call_select_front(tree, 8, int(tree.visits[:8].sum()), 0.7)
        spread = math.log(tree.visits[:8].sum()) + math.log(num_criteria) / 4
        means = tree.sums[:8] / tree.visits[:8, None] / 4
        radius = np.sqrt(spread / tree.visits[:8])
        if has_priors:
            radius = tree.priors[:8] * math.sqrt(tree.visits[:8].sum()) / (1 + tree.visits[:8])
        bounds = means + 0.7 * radius[:, None]
        assert np.abs(tree.bounds - bounds).max() < 1e-8
        bounds = tree.bounds
        alone = [
            i for i in range(8) if not any((bounds[j] >= bounds[i]).all() and (bounds[j] > bounds[i]).any() for j in range(8))
        ]
        assert sorted(tree.front[:best].tolist()) == alone
        sizes.add(best)
    assert len(sizes) > 2


@pytest.mark.parametrize("num_criteria", [1, 2])
def test_untried_arms_come_first(num_criteria):
    tree, _, call_select_arm = make_bandit(num_criteria)
    tree.low[:], tree.high[:] = 0, 1
    tree.candidates[:], out = [7, 4, 9], np.zeros(50, np.int64)
    tree.visits[[7, 4, 9]], tree.sums[[7, 4, 9]] = 1, [[1], [0], [1]]
    words = random_words(4, 50)
    for visits, expected in (([0, 5, 0], {7, 9}), ([3, 0, 5], {4}), ([2, 2, 2], {7, 9})):
        tree.visits[[7, 4, 9]] = visits
        call_select_arm(tree, 3, 0.5, words, out)
        assert set(out.tolist()) == expected


def test_dominated_arm_is_rarely_visited():
    rewards = np.zeros((3, 3, 2, 2))
    rewards[0, :, 0], rewards[1, :, 0], rewards[2, :, 0] = [1, 0.2], [0.2, 1], [0.1, 0.1]
    game = gambles.game(rewards)
    start = generate_starts(game, np.zeros(1, np.uint64))
    num_objectives = np.eye(2)
    tree, workspace = make_tree(game, 500, 2), make_workspace(game, num_objectives, np.ones(2), UctOptions(500, 0.3, 5))
    workspace.root[0] = start[0]
    simulate = make_playout(game)

    def run_playouts(tree, workspace):
        reset_tree(tree)
        word = np.uint64(3)
        for _ in range(500):
            _, word = simulate(tree, workspace, 5, word)

    compile_entry_point(run_playouts, "tests.dropped")(tree, workspace)
    visits = {int(tree.action[arm]): int(tree.visits[arm]) for arm in arms_of(tree, 0)}
    assert visits[2] < 25
    assert min(visits[0], visits[1]) > 180


def test_natural_log():
    def all_of(numbers, out):
        for i in range(numbers.shape[0]):
            out[i] = natural_log(numbers[i])

    numbers = np.unique(np.geomspace(1, 1e9, 400).astype(np.int64))
    out = np.zeros(len(numbers))
    compile_entry_point(all_of, "tests.logarithm")(numbers, out)
    assert np.abs(out - np.log(numbers)).max() < 1e-7


# ------------------------------------------------------------------------------------------------------ as a player, as a plan


@pytest.mark.compiled
@pytest.mark.parametrize("name", METHOD_NAMES)
@pytest.mark.parametrize("kind", ["meteors", "breakthrough"])
def test_actions_depend_on_the_generator_word_only(name, kind):
    """Neither the batch nor earlier searches matter."""
    game = (
        meteors.game("meteors-v0", limit=4)
        if kind == "meteors"
        else momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    )
    agents = len(game.agents)
    one = batch_policy(name, game, weights=None, simulations=20, exploration=0.5, horizon=8)
    starts = generate_starts(game, np.arange(6, dtype=np.uint64))
    words = random_words(1, 6 * agents).reshape(6, agents)
    seats = np.zeros((6, agents), np.int64)
    together = play_policies(game, starts, [one], seats, words)
    assert together.lengths.min() > 1
    for i in range(6):
        alone = play_policies(game, starts[i : i + 1], [one], seats[:1], words[i : i + 1])
        assert alone.returns[0].tolist() == together.returns[i].tolist()
    other = play_policies(game, starts, [one], seats, words + np.uint64(1))
    assert other.returns.tolist() != together.returns.tolist()


@pytest.mark.compiled
def test_wins_against_random_play():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    starts = generate_starts(game, np.arange(40, dtype=np.uint64))
    kernels = [batch_policy("uct", game, weights=[1, 0, 0, 0], simulations=50), batch_policy("random", game)]
    seats = np.array([[0, 1], [1, 0]]).repeat(20, axis=0)
    played = play_policies(game, starts, kernels, seats, random_words(3, 80).reshape(40, 2))
    won = played.returns[np.arange(40), seats.argmin(axis=1), 0] > 0
    assert won.sum() >= 36


def test_policy_by_name_plays_in_the_gymnasium_api():
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    act = policy("uct", game, weights=[1, 0, 0, 0], simulations=20, exploration=0.3, horizon=20)
    env = momagames.make("mo-breakthrough-v0", api="gymnasium", others=act, board_width=3, board_height=5)
    _, info = env.reset(seed=0)
    twin = copy.deepcopy(act)
    generators = [np.random.default_rng(0), np.random.default_rng(0)]
    over = False
    while not over:
        action = act(env.state, info["action_mask"], generators[0])
        assert info["action_mask"][action]
        assert twin(env.state, info["action_mask"], generators[1]) == action
        _, _, ended, cut, info = env.step(action)
        over = ended or cut


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_policies_of_a_lattice(name):
    game = momagames.spec("mo-breakthrough-v0", num_objectives=2)
    count_actions = method(name)(divisions=2, simulations=10, exploration=0.3, horizon=20)
    assert [one.label for one in count_actions.policies(game)] == ["w=(1, 0)", "w=(0.5, 0.5)", "w=(0, 1)"]
    assert [one.weights for one in count_actions.policies(game)] == [(1, 0), (0.5, 0.5), (0, 1)]
    assert batch_policy(name, game).label == name


@pytest.mark.compiled
@pytest.mark.parametrize("name", METHOD_NAMES)
@pytest.mark.parametrize("budget", [1, 700, 5000])
def test_plans_respect_the_budget(name, budget):
    game = momagames.spec("mo-gemwalk-v0", board_height=8)
    start = generate_starts(game, np.array([3], np.uint64))
    calls = method(name)(divisions=2, simulations=20, exploration=0.3, horizon=30)
    actions = calls.plan(game, start, budget, 1)
    assert actions.plans
    assert actions.steps == max(budget, 8)
    assert [plan.actions for plan in actions.plans] == [plan.actions for plan in calls.plan(game, start, budget, 1).plans]
    assert actions.info["weights"] == 3


def test_horizon_shorter_than_the_game_still_completes_lines():
    game = momagames.spec("mo-gemwalk-v0", board_height=8)
    start = generate_starts(game, np.array([3], np.uint64))
    actions = method("uct")(divisions=1, simulations=5, exploration=0.3, horizon=1).plan(game, start, 2000, 1)
    assert actions.plans
    assert actions.info["episodes"] >= actions.info["lines"] > 3


def test_rejects_invalid_options_and_games():
    for call, message in [
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
    ]:
        with pytest.raises(InvalidParameter, match=message):
            call(momagames.spec("mo-breakthrough-v0"))


# ------------------------------------------------------------------------------------------------------- without the compiler


def summarize_searches():
    """Summarize the results of small searches."""
    game = meteors.game("meteors-v0", limit=3)
    one = batch_policy("pareto_uct", game, weights=None, simulations=8, exploration=0.5, horizon=3)
    played = play_policies(
        game,
        generate_starts(game, np.arange(2, dtype=np.uint64)),
        [one],
        np.zeros((2, 3), np.int64),
        random_words(1, 6).reshape(2, 3),
    )
    board = momagames.spec("mo-gemwalk-v0")
    planned = method("uct")(2, 8, 0.5, 20).plan(board, generate_starts(board, np.zeros(1, np.uint64)), 300, 1)
    return repr((played.returns.tolist(), [(plan.actions, plan.value.tolist()) for plan in planned.plans]))


def test_interpreted_equals_compiled():
    flags = {**os.environ, "NUMBA_DISABLE_JIT": "0" if INTERPRETED else "1"}
    code = "from tests.baselines.test_mcts import summarize_searches; print(summarize_searches())"
    other = subprocess.run([sys.executable, "-c", code], env=flags, capture_output=True, text=True, check=True, timeout=300)
    assert other.stdout.strip() == summarize_searches()
