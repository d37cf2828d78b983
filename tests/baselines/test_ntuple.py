"""Pattern tables: values and their symmetry, targets of learning, look-ahead, stored policies, and games that do not fit."""

from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines import METHODS, batch_policy, method
from momagames.baselines.ntuple.heads import MOVED, OPPONENT, make_heads
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.ntuple.patterns import make_patterns
from momagames.baselines.ntuple.self_play import Trajectory, learn_game
from momagames.baselines.ntuple.tables import make_policy, round_tables
from momagames.baselines.ntuple.tree_search import make_tree_search, make_tree_search_kernel
from momagames.baselines.random import RANDOM_POLICY
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import BoardTables, LearningSupport, Symmetry
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode
from momagames.engine.playouts import NO_LIMIT, generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidParameter
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import random_words
from tests import meteors
from tests.baselines import gambles
from tests.games.test_cell_codes import cell_codes

pytestmark = pytest.mark.long  # kernels of methods in several games

NTUPLE = Ntuple(divisions=1, depth=1, short=2, long=4, alpha=2.0, td_lambda=0.9, epsilon=0.05, opening=8, search_fraction=0.0)
WIN = np.ones(1)
BUDGET = 1_500_000


def breakthrough(width=5, height=5, objectives=("win",), **params):
    return momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, objectives=objectives, **params)


def load(game, rows, mover="player_0"):
    play = Episode(game)
    play.load({"board": rows, "first_agent": mover})
    return play


def random_tables(game, weights, seed=0):
    shape = len(make_heads(game, weights).scales), make_patterns(game, NTUPLE.windows)[1]
    return np.random.default_rng(seed).normal(0, 0.1, shape)


def chosen_actions(game, policy, state, count=40):
    """Return the actions that a policy chooses in a position, with different random words."""
    batch = Batch(game, count, autoreset="disabled")
    batch.load(np.repeat(state, count))
    seats = [0 if agent == state["to_move"] else 1 for agent in range(len(game.agents))]
    words = random_words(1, count * len(game.agents)).reshape(count, -1)
    return set(SeatedPolicies(batch, [policy, RANDOM_POLICY], seats, words).act()[:, 0, 0].tolist())


def make_tables_policy(game, weights, tables, depth=1):
    return make_policy(game, NTUPLE.windows, depth, weights, round_tables(tables))


def share_of_wins(game, first, second, count=200):
    seats = np.array([[0, 1], [1, 0]] * (count // 2))
    words = random_words(3, 2 * count).reshape(count, 2)
    played = play_policies(game, generate_starts(game, np.zeros(count, np.uint64)), [first, second], seats, words)
    return (played.returns[np.arange(count), seats[:, 0], 0] > 0).mean()


@pytest.fixture(scope="module")
def trained():
    game = breakthrough()
    return game, NTUPLE.train(TrainingSetup([game], BUDGET, 4, [0, 1], [RANDOM_POLICY]))


# -------------------------------------------------------------------------------------------------------------- learning


@pytest.mark.compiled
def test_learns_to_win(trained):
    game, result = trained
    (policy,) = result.policies
    assert 0.99 * BUDGET < result.steps <= BUDGET
    assert result.info["games"] > 1000
    untrained = make_tables_policy(game, WIN, np.zeros_like(policy.arrays["tables"]))
    for name, least in (("random", 0.99), ("greedy", 0.95)):
        opponent = batch_policy(name, game)
        assert share_of_wins(game, policy, opponent) > least
        assert share_of_wins(game, untrained, opponent) < 0.9


@pytest.mark.compiled
def test_weights_have_policies_of_their_own():
    """With all weight on captures a policy captures more, and wins less, than with all weight on winning."""
    game = breakthrough(objectives=("win", "captures"))
    result = NTUPLE.train(TrainingSetup([game], 4 * BUDGET, 1))
    assert [policy.label for policy in result.policies] == ["w=(1, 0)", "w=(0, 1)"]
    opponent, count = batch_policy("greedy", game), 200
    words = random_words(3, 2 * count).reshape(count, 2)
    starts = generate_starts(game, np.zeros(count, np.uint64))
    win, capture = (
        play_policies(game, starts, [policy, opponent], np.tile([0, 1], (count, 1)), words).returns[:, 0].mean(axis=0)
        for policy in result.policies
    )
    assert win[0] > capture[0] + 0.3
    assert capture[1] > win[1] + 0.1


def test_equal_seeds_give_equal_policies():
    game = breakthrough(3, 5, ("win", "losses"))
    first, again, other = (NTUPLE.train(TrainingSetup([game], 4000, seed)) for seed in (1, 1, 2))
    assert first.steps == again.steps <= 4000
    for k in range(2):
        tables = [result.policies[k].arrays["tables"].tobytes() for result in (first, again, other)]
        assert tables[0] == tables[1] != tables[2]


@pytest.mark.parametrize(("objectives", "weights"), [(("win",), [1.0]), (("captures", "win"), [0.7, 0.3])])
@pytest.mark.parametrize(("search_from", "simulations"), [(NO_LIMIT, 0), (1000, 0), (1000, 4)])
def test_interrupted_self_play_continues(objectives, weights, search_from, simulations):
    game = breakthrough(3, 5, objectives)
    made = replace(NTUPLE, depth=2, search_fraction=0.5, simulations=simulations)
    whole, parts = (made.start_self_play(game, np.array(weights), 5) for _ in range(2))
    whole.search_from = parts.search_from = search_from
    while parts.steps < 2000:
        parts.play(parts.steps + 1, 10**6)
    whole.play(parts.steps, 10**6)
    assert (whole.steps, whole.games, whole.moves) == (parts.steps, parts.games, parts.moves)
    assert whole.tables.tobytes() == parts.tables.tobytes()


@pytest.mark.parametrize("simulations", [0, 6])
def test_self_play_ends_with_search(simulations):
    """Moves take more steps in the last part of the budget, which looks further ahead."""
    game = breakthrough(4, 5, ("win", "losses"))
    search = replace(NTUPLE, depth=2, search_fraction=0.5, simulations=simulations)
    plain, searching = (one.train(TrainingSetup([game], 40_000, 1)) for one in (replace(NTUPLE, depth=2), search))
    assert searching.steps <= 40_000
    assert searching.info["games"] < 0.8 * plain.info["games"]
    one = search.start_self_play(game, np.array([0.5, 0.5]), 1)
    one.search_from = 10_000
    one.play(10_000)
    shallow = one.steps / one.moves
    moves, steps = one.moves, one.steps
    one.play(20_000, NO_LIMIT)
    assert (one.steps - steps) / (one.moves - moves) > 1.5 * shallow


def test_targets_are_lambda_returns_cut_at_random_moves():
    """Five moves by turns, the fourth at random; each position has an entry of its own, with a value of zero so far."""
    game, td_lambda = breakthrough(objectives=("win", "captures")), 0.5
    heads = make_heads(game, np.array([0.5, 0.5]))
    tables, coherence = np.zeros((3, 8), np.float32), np.zeros((3, 8, 2), np.float32)
    rewards = np.zeros((6, 2, 2), np.float32)
    rewards[5, :, 0] = -1, 1
    rewards[1, 1, 1], rewards[5, 1, 1] = 0.25, 0.5
    is_random = np.array([False, False, False, True, False, False])
    trajectory = make_trajectory(np.arange(6), np.arange(6) % 2, is_random, rewards)
    compile_learning()(heads, tables, coherence, trajectory, 6, 0, 1.0, td_lambda)
    # positions after moves 0..5; the third is before the random move, the last one is the end
    assert tables[0, :6].tolist() == [0, 0, 0, 0.5, -1, 0]  # winning: of the agent that moved, zero-sum
    own, others = tables[1, :6].tolist(), tables[2, :6].tolist()
    assert own == [0, 0, 0, 0.25, 0, 0]  # captures of the agent that moved
    assert others == [0.25, 0, 0, 0, 0.5, 0]  # captures of its opponent


def make_trajectory(entries, agents, is_random, rewards):
    """Return a game whose positions have one table entry each."""
    zeros = np.zeros(rewards.shape)
    return Trajectory(
        entries.astype(np.uint32)[:, None], agents, is_random, rewards, zeros[0].copy(), np.zeros(len(agents), bool), zeros
    )


@pytest.mark.parametrize(("is_random", "expected"), [(False, [-0.2, 0.4, -1, 0]), (True, [0.05, -0.1, 0, 0])])
def test_values_of_a_tree_search_replace_those_of_the_tables(is_random, expected):
    """Four moves, the third with a value by search, the last one perhaps at random; else as above."""
    heads, td_lambda = make_heads(breakthrough(), WIN), 0.5
    tables, coherence = np.zeros((1, 4), np.float32), np.zeros((1, 4, 2), np.float32)
    rewards = np.zeros((4, 2, 1), np.float32)
    rewards[3, :, 0] = -1, 1
    trajectory = make_trajectory(np.arange(4), np.arange(4) % 2, np.array([False, False, False, is_random]), rewards)
    trajectory.has_value[2], trajectory.values[2, :, 0] = True, (0.2, -0.2)
    compile_learning()(heads, tables, coherence, trajectory, 4, 0, 1.0, td_lambda)
    assert tables[0] == pytest.approx(expected)


def compile_learning():
    return compile_entry_point(lambda *args: learn_game(*args), "tests.ntuple.learn_game")


def test_steps_shrink_where_errors_alternate():
    """Temporal coherence: an entry whose errors cancel out moves by less than one whose errors agree."""
    game = breakthrough()
    heads = make_heads(game, WIN)
    tables, coherence = np.zeros((1, 2), np.float32), np.zeros((1, 2, 2), np.float32)
    coherence[0] = [[0.1, 10], [10, 10]]
    rewards = np.zeros((3, 2, 1), np.float32)
    rewards[2, :, 0] = 1, -1
    trajectory = make_trajectory(np.array([0, 1, 0]), np.array([0, 1, 0]), np.zeros(3, bool), rewards)
    compile_learning()(heads, tables, coherence, trajectory, 3, 0, 0.5, 1.0)
    assert tables[0] == pytest.approx([0.01 * 0.5, -0.5])
    assert coherence[0].ravel() == pytest.approx([1.1, 11, 9, 11])


# ---------------------------------------------------------------------------------------------------------------- values


def naive_value(game, tables, weights, play, agent, own):
    """Return the weighted return of `own` in a position after a move of `agent`, by NumPy alone."""
    patterns, _ = make_patterns(game, NTUPLE.windows)
    codes = cell_codes(play, agent).astype(np.int64)
    sums = tables[:, patterns.offsets + codes @ patterns.powers].sum(axis=1)
    value, h = 0.0, 0
    for weight, objective in zip(weights, game.objectives, strict=True):
        if objective.zero_sum and weight:
            value += weight * np.tanh(sums[h]) * (1 if agent == own else -1)
            h += 1
        elif weight:
            value += weight * sums[h if agent == own else h + 1]
            h += 2
    return value


def naive_search(game, tables, weights, play, own, depth):
    """Return the value of each action by minimax, without pruning."""
    values = {}
    mover = int(play.state["to_move"])
    for action in np.flatnonzero(play.mask(mover)).tolist():
        after = Episode(game)
        after.copy_from(play)
        after.step(action)
        value = float(weights @ after.reward[own])
        if not after.state["over"]:
            if depth > 1:
                replies = naive_search(game, tables, weights, after, own, depth - 1).values()
                value += max(replies) if after.state["to_move"] == own else min(replies)
            else:
                value += naive_value(game, tables, weights, after, mover, own)
        values[action] = value
    return values


@pytest.mark.compiled
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("objectives", "weights"),
    [(("win",), [1.0]), (("captures", "win", "losses"), [0.25, 0.25, 0.5]), (("win", "speed", "losses"), [0.0, 0.7, 0.3])],
)
def test_search_equals_minimax(depth, objectives, weights):
    game, weights = breakthrough(*((4, 6) if depth < 3 else (3, 5)), objectives), np.array(weights)
    policy = make_tables_policy(game, weights, random_tables(game, weights), depth)
    tables = policy.arrays["tables"]
    assert (tables * 4096.0 % 1 == 0).all()
    rng = np.random.default_rng(depth)
    play = Episode(game)
    play.reset(0)
    while not play.state["over"]:
        agent = int(play.state["to_move"])
        values = naive_search(game, tables.astype(np.float64), weights, play, agent, depth)
        best = max(values.values())
        for action in chosen_actions(game, policy, play.state, 3):
            assert values[action] == pytest.approx(best, abs=1e-5)
        play.step(int(rng.choice(list(values))))


@pytest.mark.parametrize(("size", "canonical"), [((5, 5), False), ((3, 6), True), ((8, 8), False)])
def test_values_of_mirror_images_are_equal(size, canonical):
    game = breakthrough(*size, canonical=canonical)
    tables = random_tables(game, WIN)
    patterns, entries = make_patterns(game, NTUPLE.windows)
    assert len(np.unique(patterns.offsets)) < len(patterns.offsets)  # tables are shared
    for seed in range(5):
        codes = np.random.default_rng(seed).integers(0, 3, len(patterns.powers))
        image = codes[np.array(game.learning.board.symmetries[0].cells)]
        first, second = (np.sort(patterns.offsets + one @ patterns.powers) for one in (codes, image))
        assert np.array_equal(first, second)
        assert tables[0, first].sum() != tables[0, np.sort(patterns.offsets + codes[::-1] @ patterns.powers)].sum()
        assert second.max() < entries


def test_windows_of_8x8():
    """35 + 35 windows; the two columns in the middle have no other image, and are read in both directions."""
    patterns, entries = make_patterns(breakthrough(8, 8), NTUPLE.windows)
    assert entries == (3 * 7 + 4 * 5) * 3**8
    assert len(patterns.offsets) == 6 * 7 + 8 * 5
    assert patterns.powers.shape == (64, 82)
    assert ((patterns.powers > 0).sum(axis=0) == 8).all()


def test_zero_sum_heads_are_antisymmetric():
    heads = make_heads(breakthrough(objectives=("win", "speed", "captures")), np.array([0.5, 0.0, 0.5]))
    assert heads.objectives.tolist() == [0, 2, 2]
    assert heads.roles.tolist() == [MOVED, MOVED, OPPONENT]
    assert heads.bounded.tolist() == [True, False, False]
    assert heads.coefficients.tolist() == [[0.5, 0.5, 0], [-0.5, 0, 0.5]]


# ------------------------------------------------------------------------------------------------------------ look-ahead


def untrained(game, depth):
    return make_tables_policy(game, WIN, 0 * random_tables(game, WIN), depth)


def test_two_moves_prevent_a_loss():
    game = breakthrough()
    play = load(game, [".1...", "..2..", "....1", ".....", "2...."])
    capture = 3 * (1 * 5 + 0) + 2
    assert chosen_actions(game, untrained(game, 2), play.state) == {capture}
    assert len(chosen_actions(game, untrained(game, 1), play.state)) > 1


def test_three_moves_find_a_win_in_two():
    game = breakthrough()
    play = load(game, ["....1", ".....", "1....", "....2", "....2"])
    found = chosen_actions(game, untrained(game, 3), play.state)
    assert found == {3 * 2 + 1, 3 * 2 + 2}
    assert chosen_actions(game, untrained(game, 2), play.state) > found


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_takes_a_win(depth):
    game = breakthrough()
    play = load(game, [".....", "..2..", ".....", "....1", "2...."], "player_1")
    assert chosen_actions(game, untrained(game, depth), play.state) == winning_moves(play)


def winning_moves(play):
    found = set()
    for action in np.flatnonzero(play.mask(int(play.state["to_move"]))).tolist():
        after = Episode(play.game)
        after.copy_from(play)
        after.step(action)
        if after.state["over"]:
            found.add(action)
    assert found
    return found


# --------------------------------------------------------------------------------------------------------- stored policies


def test_restored_policies_play_alike():
    game = breakthrough(objectives=("win", "losses"))
    one = replace(NTUPLE, depth=2)
    trained = one.train(TrainingSetup([game], 40_000, 3)).policies[1]
    restored = one.restore(game, trained.label, trained.arrays)
    assert restored.label == "w=(0, 1)"
    count, opponent = 6, batch_policy("random", game)
    starts, words = generate_starts(game, np.zeros(count, np.uint64)), random_words(5, 2 * count).reshape(count, 2)
    first, second = (
        play_policies(game, starts, [one, opponent], np.tile([0, 1], (count, 1)), words) for one in (trained, restored)
    )
    assert first.states.tobytes() == second.states.tobytes()
    assert (first.steps > first.lengths).all()  # look-ahead is counted


@pytest.mark.parametrize("other", [breakthrough(6, 5), breakthrough(5, 6), breakthrough(objectives=("captures",))])
def test_tables_do_not_play_on_other_boards(other):
    policy = make_tables_policy(breakthrough(), WIN, random_tables(breakthrough(), WIN))
    with pytest.raises(InvalidParameter, match="with other objectives or another board"):
        chosen_actions(other, policy, generate_starts(other, np.zeros(1, np.uint64))[0])


GOOD = {"tables": np.zeros((1, 8 * 3**8), np.float16), "weights": WIN}  # 4x5


def test_rejects_arrays_that_do_not_fit():
    for arrays, message in [
        ({"tables": GOOD["tables"]}, r"invalid arrays \['tables'\] of 'x': expected tables and weights"),
        ({**GOOD, "weights": np.ones(2)}, r"array weights of 'x': float64\(2,\), expected finite float64\(1,\)"),
        ({**GOOD, "weights": np.array([np.nan])}, "array weights"),
        ({**GOOD, "tables": GOOD["tables"][:, 1:]}, r"tables of 'x': float16\(1, 52487\), expected finite float16\(1, 52488\)"),
        ({**GOOD, "tables": GOOD["tables"].astype(np.float32)}, "array tables"),
        ({**GOOD, "tables": GOOD["tables"] + np.float16(np.inf)}, "array tables"),
    ]:
        game = breakthrough(4, 5)
        assert NTUPLE.restore(game, "x", GOOD).label == "x"
        with pytest.raises(InvalidParameter, match=message):
            NTUPLE.restore(game, "x", arrays)
    nothing = {"weights": np.zeros((0, 1)), "return_scale": np.ones(1)}
    with pytest.raises(InvalidParameter, match=r"array weights of 'ntuple': float64\(0, 1\), expected finite float64\(1, 1\)"):
        NTUPLE.restore_policies(game, nothing)


# ------------------------------------------------------------------------------------------------------------ other games


@kernel
def write_choices(state, agent, codes):
    codes[0], codes[1] = state["chosen"][agent] + 1, state["chosen"][1 - agent] + 1


def make_gambles(rewards, gamble):
    """Return a game of two moves, with a board: the choices so far."""
    learning = LearningSupport(board=BoardTables(write_codes=write_choices, num_codes=4, shape=(1, 2)))
    return replace(gambles.game(rewards, gamble), learning=learning, rules_key="tests.ntuple.gambles")


def test_agents_with_interests_of_their_own():
    """Values of objectives that are not zero-sum: the first agent foresees the choice that is best for the second one."""
    rewards = np.random.default_rng(2).uniform(0, 1, (3, 3, 2, 2)).astype(np.float32)
    game = make_gambles(rewards, gamble=False)
    for weights in np.eye(2):
        playing = NTUPLE.start_self_play(game, weights, 1)
        playing.play(40_000)
        answers = (rewards @ weights)[:, :, 1].argmax(axis=1)
        best = int((rewards @ weights)[np.arange(3), answers, 0].argmax())
        start = generate_starts(game, np.zeros(1, np.uint64))[0]
        assert chosen_actions(game, make_tables_policy(game, weights, playing.tables), start) == {best}


def test_does_not_depend_on_random_events_to_come():
    rewards = np.ones((3, 3, 2, 2), np.float32)
    game = make_gambles(rewards, gamble=True)
    play = Episode(game)
    play.reset(1)
    play.step(0)
    policy = make_tables_policy(game, np.ones(2), np.zeros((4, 16)))
    chosen = []
    for word in range(1000, 1020):
        play.state["rng"] = word
        chosen.append(chosen_actions(game, policy, play.state))
    assert all(one == chosen[0] for one in chosen)
    assert len(chosen[0]) > 1  # its own draws differ
    with pytest.raises(InvalidParameter, match=r"invalid depth=2 .*: expected 1, because it has draws to come"):
        replace(NTUPLE, depth=2).check_train(game)


def test_games_that_do_not_fit_are_rejected():
    for game, message in (
        (
            momagames.spec("mo-samegame-v0"),
            "mo-samegame-v0 declares no board .* expected BoardTables with two codes or more",
        ),
        (meteors.game("meteors-v0"), "ntuple needs a sequential game with discrete actions; meteors-v0"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            NTUPLE.train(TrainingSetup([game], 1000))
    game = breakthrough()
    for change, message in (
        ({"symmetries": (Symmetry((0,) * 25, tuple(range(75))),)}, "invalid symmetries"),
        ({"num_codes": 40}, "table entries: expected at"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            NTUPLE.check_train(replace(game, learning=LearningSupport(board=replace(game.learning.board, **change))))
    with pytest.raises(InvalidParameter, match="perfect information"):
        NTUPLE.check_train(replace(game, information="partial"))


@pytest.mark.parametrize("simulations", [1, 2])
def test_tree_search_finds_the_best_action_and_its_value(simulations):
    """One playout: the best action by the tables alone. Two: the mean over playouts through an action has its best reply."""
    game, weights = breakthrough(4, 6, ("win", "captures", "losses")), np.array([0.25, 0.25, 0.5])
    tables = random_tables(game, weights).astype(np.float32)
    heads, patterns = make_heads(game, weights), make_patterns(game, NTUPLE.windows)[0]
    search, value = make_tree_search(game, weights, patterns, heads, tables, simulations), np.zeros((2, 3))
    start = generate_starts(game, np.zeros(1, np.uint64))
    search_position = make_tree_search_kernel(game)

    def run(states, search, value, actions):
        actions[0], actions[1], _ = search_position(states[0], 0, search, value, np.uint64(5))

    found = np.zeros(2, np.int64)
    compile_entry_point(run, f"{game.rules_key}.tests.tree_search")(start, search, value, found)
    play = Episode(game)
    play.load(start[0])
    values = naive_search(game, tables, weights, play, 0, 1)
    best = max(values, key=values.get)
    expected = values[best]
    if simulations == 2:
        play.step(best)
        replies = naive_search(game, tables, weights, play, 1, 1)
        reply = max(replies, key=replies.get)
        expected = naive_search(game, tables, weights, play, 0, 1)[reply]
        assert weights @ value[1] == pytest.approx(replies[reply], abs=1e-5)
    else:
        assert values[int(found[0])] == pytest.approx(values[best], abs=1e-5)  # its mirror image is as good
    assert weights @ value[0] == pytest.approx(expected, abs=1e-5)
    assert found[1] == len(values) * simulations + (simulations - 1)


def test_rejects_invalid_options():
    for options, message in [
        ({"depth": 6}, r"ntuple: invalid depth=6: expected an integer, 1..5"),
        ({"divisions": 0}, "divisions=0"),
        ({"alpha": 0}, "alpha=0"),
        ({"td_lambda": 1.5}, "td_lambda=1.5"),
        ({"epsilon": -1}, "epsilon=-1"),
        ({"opening": 2.5}, "opening=2.5"),
        ({"search_fraction": 1.1}, "search_fraction=1.1"),
        ({"search_fraction": 0.5, "simulations": -1}, "simulations=-1"),
        ({"simulations": 5}, "simulations=5: expected 0 without search_fraction"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            replace(NTUPLE, **options)


def test_is_a_method():
    assert METHODS["ntuple"]
    assert method("ntuple") is Ntuple
    with pytest.raises(InvalidParameter, match="before training"):
        NTUPLE.policies(breakthrough())
    with pytest.raises(InvalidParameter, match=r"invalid divisions=40 .*: 12,341 policies, expected at most 256"):
        replace(NTUPLE, divisions=40).check_train(momagames.spec("mo-breakthrough-v0"))
