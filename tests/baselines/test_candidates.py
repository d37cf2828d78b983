"""Scorers of candidate actions: features, play, rollouts, and both trainers."""

from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy, method
from momagames.baselines.candidates import features
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.candidates.grpo import Grpo
from momagames.baselines.candidates.policy import CandidatePolicy
from momagames.baselines.candidates.rollout import SHARDS, RolloutCollector
from momagames.baselines.trainer import train_to_end
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.utilities import UTILITIES
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import AgentPolicy, play_policies
from momagames.errors import InvalidParameter, MissingExtra
from momagames.games.samegame.heuristics import write_objective_features as write_samegame_features
from momagames.games.samegame.rules import prune_equivalent_actions
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import random_words

pytestmark = pytest.mark.long  # kernels of methods in several games

SMALL = {"board_width": 5, "board_height": 5, "num_colors": 3}
UNSEEN = 1_000_000
SMALL_GROUPS = {"groups": 8, "group_size": 4, "hidden": 4}


def small_game(**params):
    return momagames.spec("mo-samegame-v0", **{**SMALL, **params})


def compile_kernel(kernel, name):
    """Return a function (state, out) that calls a kernel on a copy of the state."""

    def run(states, out):
        kernel(states[0], out)

    compiled = compile_entry_point(run, f"tests.candidates.{name}")

    def call(state, out):
        compiled(np.array([state]), out)
        return out

    return call


write_objective_features = compile_kernel(write_samegame_features, "vectors")
prune = compile_kernel(prune_equivalent_actions, "prune")


def compute_objective_features(game, state, count):
    """Return the first features of a position for each objective, float64[count, K]; zeros at the end."""
    out = np.zeros((count, len(game.objectives)))
    return out if state["over"] else write_objective_features(state, out)


def list_candidates(game, state):
    """Return the actions that remain after pruning."""
    one = Episode(game)
    one.load(state)
    return np.flatnonzero(prune(state, one.mask(0).copy()))


def compute_features(game, state, weights, features):
    """Return the features of each candidate, from environment steps and NumPy."""
    sets, count = features.sets, len(features.vectors)
    before, candidates, rows = compute_objective_features(game, state, count), list_candidates(game, state), []

    def contract(vector):
        return [
            sums for own in range(sets.max() + 1) for sums in ((weights * vector)[sets == own].sum(), vector[sets == own].sum())
        ]

    for action in candidates.tolist():
        trial = Episode(game)
        trial.load(state)
        trial.step(action)
        over, reward = bool(trial.state["over"]), trial.returns[0]
        later = 0 if over else len(list_candidates(game, trial.state))
        change = compute_objective_features(game, trial.state, count) - before
        rewarded = [(weights * (reward != 0))[sets == own].sum() for own in range(sets.max() + 1)]
        row = [*contract(reward), *rewarded]
        for vector in change:
            row += contract(vector)
        rows.append([*row, later - len(candidates), float(over)])
    return candidates, np.array(rows)


def play_games(policy, parameters, weights, seeds, temperature=0.0, threads=1, record=True):
    """Play an episode for each seed with the same parameters and weights."""
    n = len(seeds)
    memories = policy.initial_memories(np.tile(parameters, (n, 1)), np.tile(weights, (n, 1)), temperature)
    starts = generate_starts(policy.game, np.array(seeds, np.uint64))
    collector = RolloutCollector(policy, [0], [], threads)
    return collector.collect(memories, starts, random_words(1, n)[:, None], np.arange(n), record)


@pytest.mark.parametrize("hidden", [0, 3])
@pytest.mark.parametrize("color_rewards", [True, False])
@pytest.mark.parametrize("extra", [False, True])
def test_takes_the_candidate_with_the_highest_score(hidden, color_rewards, extra):
    game, rng = small_game(color_rewards=color_rewards), np.random.default_rng(0)
    policy = CandidatePolicy(game, hidden, extra_features=extra)
    weights, parameters = rng.dirichlet(np.ones(len(game.objectives))), rng.normal(size=policy.num_parameters)
    count = policy.features.count
    bias, matrix = parameters[count : count + hidden], parameters[count + hidden :][: count * hidden].reshape(count, hidden)
    output = parameters[count + hidden + count * hidden :]
    player, decisions = AgentPolicy(policy.compile_with(parameters, weights.tolist(), "test"), game), 0
    for seed in range(5):
        one = Episode(game)
        one.reset(seed)
        while not one.state["over"]:
            candidates, rows = compute_features(game, one.state, weights, policy.features)
            assert rows.shape[1] == count
            scores = rows @ parameters[:count] + np.maximum(rows @ matrix + bias, 0) @ output
            action = player(one.state, one.mask(0), rng)
            assert scores[candidates.tolist().index(action)] == pytest.approx(scores.max())
            one.step(action)
            decisions += 1
    assert decisions > 20


@pytest.mark.parametrize("extra", [False, True])
def test_records_the_features_of_every_candidate(extra):
    game, weights = small_game(), np.array([0.5, 0.3, 0.2])
    policy = CandidatePolicy(game, extra_features=extra)
    rollout = play_games(policy, np.zeros(policy.num_parameters), weights, range(6))
    decisions = rollout.decisions
    ends = np.cumsum(decisions.counts)
    assert ends[-1] == len(decisions.features)
    assert set(decisions.episodes) == set(range(6))
    assert (decisions.choices < decisions.counts).all()
    for episode in range(6):
        one = Episode(game)
        one.reset(episode)
        for d in np.flatnonzero(decisions.episodes == episode):
            candidates, rows = compute_features(game, one.state, weights, policy.features)
            own = decisions.features[ends[d] - decisions.counts[d] : ends[d]]
            assert own == pytest.approx(rows, rel=1e-6, abs=1e-6)
            one.step(int(candidates[decisions.choices[d]]))
        assert one.state["over"]
        assert one.returns[0] == pytest.approx(rollout.returns[episode])


def test_samples_from_the_softmax_of_the_scores():
    game = small_game()
    policy, weights = CandidatePolicy(game), np.array([0.6, 0.3, 0.1])
    parameters = np.random.default_rng(3).normal(size=policy.num_parameters) / 10
    one = Episode(game)
    one.reset(4)
    candidates, rows = compute_features(game, one.state, weights, policy.features)
    scores = rows @ parameters
    expected = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    n = 4000
    rollout = play_games(policy, parameters, weights, [4] * n, temperature=1.0)
    _, first = np.unique(rollout.decisions.episodes, return_index=True)
    counts = np.bincount(rollout.decisions.choices[first], minlength=len(candidates))
    chi_square = ((counts - n * expected) ** 2 / (n * expected)).sum()
    assert expected.max() < 0.9
    assert chi_square < len(candidates) + 4 * np.sqrt(2 * len(candidates))


def test_rollouts_do_not_depend_on_threads():
    policy = CandidatePolicy(small_game(), 2)
    parameters = np.random.default_rng(0).normal(size=policy.num_parameters)
    one, two = (
        play_games(policy, parameters, np.ones(3) / 3, range(2 * SHARDS + 1), temperature=1.0, threads=threads)
        for threads in (1, 2)
    )
    assert np.array_equal(one.returns, two.returns)
    assert (one.steps, one.moves) == (two.steps, two.moves)
    for name in ("features", "counts", "choices", "episodes"):
        assert np.array_equal(getattr(one.decisions, name), getattr(two.decisions, name))


@pytest.mark.parametrize("samples", [1, 3])
def test_play_does_not_depend_on_the_draws_to_come(samples):
    game = momagames.spec("mo-tileblast-v0", level=3)
    policy = CandidatePolicy(game, samples=samples)
    assert CandidatePolicy(small_game(), samples=samples).samples == 1
    parameters = np.random.default_rng(0).normal(size=policy.num_parameters)
    player = AgentPolicy(policy.compile_with(parameters, [1 / 6] * 6, "test"), game)
    one = Episode(game)
    one.reset(0)
    for _ in range(5):
        state, mask = one.state.copy(), one.mask(0).copy()
        actions = set()
        for word in range(10):
            state["rng"] = word
            actions.add(player(state, mask, np.random.default_rng(7)))
        assert len(actions) == 1
        one.step(actions.pop())


def test_samples_are_averaged():
    """The features of several copies are less spread than those of one, around the same mean."""
    game, spreads, means = momagames.spec("mo-tileblast-v0", level=3), [], []
    for samples in (1, 16):
        policy = CandidatePolicy(game, samples=samples)
        rollout = play_games(policy, np.zeros(policy.num_parameters), np.ones(6) / 6, [0] * 300)
        _, first = np.unique(rollout.decisions.episodes, return_index=True)
        ends = np.cumsum(rollout.decisions.counts)
        rows = rollout.decisions.features[ends[first] - rollout.decisions.counts[first]]  # the first candidate, first decision
        change = rows[:, policy.features.names.index("change of actions")]
        spreads.append(float(change.std()))
        means.append(float(change.mean()))
        assert rollout.steps == rollout.moves + samples * int(rollout.decisions.counts.sum())
    assert spreads[1] == pytest.approx(spreads[0] / 4, rel=0.25)
    assert means[0] == pytest.approx(means[1], abs=0.25 * spreads[0])


def test_exchangeable_objectives_may_swap_their_names():
    """A permutation of the colors of the board and of the weights changes no score."""
    weights, swap = np.array([0.6, 0.3, 0.1]), np.array([2, 0, 1])
    board = ["12312", "11233", "32112", "22133", "13321"]
    swapped = ["".join(str(1 + swap.tolist().index(int(cell) - 1)) for cell in row) for row in board]
    rows = []
    for given, own in ((board, weights), (swapped, weights[swap])):
        env = momagames.make("mo-samegame-v0", **SMALL)
        env.reset(options={"board": given})
        game = env.unwrapped.game
        rows.append(compute_features(game, env.unwrapped.record, own, features.CandidateFeatures(game, extra=True))[1])
    assert rows[0] == pytest.approx(rows[1])


def test_sets_of_objectives():
    assert features.number_sets(small_game()).tolist() == [0, 0, 0]
    assert features.number_sets(small_game(color_rewards=False)).tolist() == [0]
    assert features.number_sets(momagames.spec("mo-tileblast-v0")).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("id", ["mo-pommerman-ffa-v0", "mo-robotmail-v0"])
@pytest.mark.parametrize("name", ["cross_entropy", "grpo"])
def test_other_games_are_named(id, name):
    with pytest.raises(InvalidParameter, match="need a sequential game with discrete actions and perfect information"):
        method(name)().check_train(momagames.spec(id))


@pytest.mark.parametrize("name", ["cross_entropy", "grpo"])
def test_games_without_extra_features_are_named(name):
    with pytest.raises(InvalidParameter, match="invalid extra_features=True: expected False, because the game"):
        method(name)(extra_features=True).check_train(momagames.spec("mo-tileblast-v0"))


@pytest.mark.parametrize("name", ["cross_entropy", "grpo", "ntuple"])
def test_there_are_no_policies_before_training(name):
    options = {"ntuple": {"divisions": 1, "depth": 1, "short": 2, "long": 2, "alpha": 1.0, "td_lambda": 0.9, "epsilon": 0.1}}
    made = method(name)(**options[name], opening=0) if name in options else method(name)()
    with pytest.raises(InvalidParameter, match=f"{name} has no policies before training: call train with a budget"):
        made.policies(small_game())


def test_missing_torch_is_named(monkeypatch):
    def fail(name):
        raise ImportError(name)

    monkeypatch.setattr("momagames.baselines.base.import_module", fail)
    CrossEntropy().check_installed()
    with pytest.raises(MissingExtra, match=r'"grpo" needs PyTorch: pip install "momagames\[learn\]"'):
        Grpo().make_trainer(TrainingSetup([small_game()], 1000))


# ------------------------------------------------------------------------------------------------------------ trainers


def volume(game, policies, episodes=100):
    """Hypervolume of the mean returns on unseen instances."""
    starts = generate_starts(game, np.arange(UNSEEN, UNSEEN + episodes, dtype=np.uint64)).repeat(len(policies))
    seats = np.tile(np.arange(len(policies)), episodes)[:, None]
    returns = play_policies(game, starts, policies, seats, random_words(1, len(starts))[:, None]).returns[:, 0]
    return hypervolume(returns.reshape(episodes, len(policies), -1).mean(axis=0), game.reference_point).value


@pytest.mark.parametrize(("name", "budget", "times"), [("cross_entropy", 1_500_000, 0.93), ("grpo", 1_500_000, 1.05)])
def test_learns_to_play_unseen_instances(name, budget, times):
    """Hypervolume over that of the strongest policy without learning; three seeds: 1.01 to 1.07, and 1.10 to 1.12."""
    if name == "grpo":
        pytest.importorskip("torch")
    game = small_game(board_width=7, board_height=7)
    options = {"groups": 16} if name == "grpo" else {}
    trained = method(name)(**options).train(TrainingSetup([game], budget))
    assert trained.steps <= budget
    strongest = method("greedy")(4, "both").policies(game)
    assert volume(game, trained.policies) > times * volume(game, strongest)


@pytest.mark.parametrize(("made", "budget"), [(CrossEntropy(8, 4, 4), 30_000), (Grpo(**SMALL_GROUPS), 30_000)])
def test_equal_seeds_give_equal_policies(made, budget):
    if made.name == "grpo":
        pytest.importorskip("torch")
    game = small_game()
    first, again, other = (made.train(TrainingSetup([game], budget, seed)) for seed in (0, 0, 1))
    assert first.steps == again.steps
    assert len(first.policies) == 15
    assert np.array_equal(first.policies[0].arrays["parameters"], again.policies[0].arrays["parameters"])
    assert not np.array_equal(first.policies[0].arrays["parameters"], other.policies[0].arrays["parameters"])
    threaded = made.make_trainer(TrainingSetup([game], budget, threads=2))
    train_to_end(threaded)
    assert threaded.parameters() == pytest.approx(first.policies[0].arrays["parameters"], rel=1e-2)


@pytest.mark.parametrize("made", [CrossEntropy(8, 4, 4), Grpo(**SMALL_GROUPS)])
def test_small_budgets_are_named(made):
    if made.name == "grpo":
        pytest.importorskip("torch")
    with pytest.raises(InvalidParameter, match="invalid budget=100 for mo-samegame-v0: expected at least"):
        made.train(TrainingSetup([small_game()], 100))


def test_trains_against_opponents_from_every_seat():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    opponents = [batch_policy("random", game), batch_policy("greedy", game)]
    trainer = CrossEntropy(8, 4, 8).make_trainer(TrainingSetup([game], 400_000, 0, [0, 1], opponents))
    train_to_end(trainer)
    policy = trainer.policy.compile_with(trainer.parameters(), [1.0] + [0.0] * (len(game.objectives) - 1), "won")
    starts = generate_starts(game, np.arange(UNSEEN, UNSEEN + 200, dtype=np.uint64))
    for seat in (0, 1):
        seats = np.array([0, 1] if seat == 0 else [1, 0])
        games = play_policies(
            game, starts, [policy, opponents[0]], np.tile(seats, (200, 1)), random_words(1, 400).reshape(200, 2)
        )
        assert (games.returns[:, seat, 0] > 0).mean() > 0.8


@pytest.mark.parametrize("made", [CrossEntropy(8, 4, 4), Grpo(**SMALL_GROUPS)])
def test_policies_may_try_actions_more_often_than_training(made):
    if made.name == "grpo":
        pytest.importorskip("torch")
    game = momagames.spec("mo-tileblast-v0", level=1)
    often = replace(made, play_samples=4)
    setup = TrainingSetup([game], 150_000, fixed_weights=[0, 1, 0, 0, 0, 0])
    first, second = made.train(setup), often.train(setup)
    policies = *first.policies, *second.policies, often.restore(game, "stored", second.policies[0].arrays)
    assert np.array_equal(policies[0].arrays["parameters"], policies[1].arrays["parameters"])
    starts, words = generate_starts(game, np.zeros(1, np.uint64)), random_words(1, 1)[:, None]
    once, more, stored = (play_policies(game, starts, [policy], np.zeros((1, 1), np.int64), words) for policy in policies)
    assert 2 < (more.steps / more.lengths)[0] / (once.steps / once.lengths)[0] < 5
    assert stored.steps == more.steps


def test_one_scorer_learns_several_levels():
    levels = [momagames.spec("mo-tileblast-v0", level=level) for level in (1, 2)]
    trainer = CrossEntropy(8, 4, 4).make_trainer(TrainingSetup(levels, 100_000))
    trainer.train_iteration()
    assert np.isfinite(trainer.parameters()).all()
    with pytest.raises(InvalidParameter, match="mo-samegame-v0 and mo-tileblast-v0 differ in rules"):
        TrainingSetup([levels[0], small_game()], 40_000)
    several = [momagames.spec("mo-tileblast-v0", num_agents=agents) for agents in (1, 2)]
    with pytest.raises(InvalidParameter, match="cross_entropy: mo-tileblast-v0 and mo-tileblast-v0 differ in agents"):
        CrossEntropy(8, 4, 4).check_setup(TrainingSetup(several, 40_000))


@pytest.mark.parametrize("made", [CrossEntropy(), Grpo(hidden=2), Grpo(hidden=2, extra_features=True)])
def test_policies_are_restored_from_their_arrays(made):
    game = small_game()
    policy = made.make_policy(game)
    parameters = np.random.default_rng(0).normal(size=policy.num_parameters)
    own = policy.compile_with(parameters, [0.5, 0.3, 0.2], "test")
    restored = made.restore(game, "test", own.arrays)
    assert volume(game, [own], 10) == volume(game, [restored], 10)
    wrong = {
        "parameters": [parameters[:-1], parameters.astype(np.float32), np.full_like(parameters, np.nan)],
        "weights": [np.ones(2), np.ones((3, 1)), np.array([1.0, np.inf, 0.0])],
    }
    for name, arrays in wrong.items():
        for array in arrays:
            with pytest.raises(InvalidParameter, match=f"invalid array {name} of 'test'"):
                made.restore(game, "test", {**own.arrays, name: array})
    with pytest.raises(InvalidParameter, match=r"invalid arrays \['weights'\] of 'test'"):
        made.restore(game, "test", {"weights": np.ones(3)})


def test_plays_boards_of_other_sizes_but_not_other_objectives():
    policy = CandidatePolicy(small_game())
    own = policy.compile_with(np.ones(policy.num_parameters), [0.5, 0.3, 0.2], "test")
    assert volume(small_game(board_width=6, board_height=9), [own], 5) > 0
    with pytest.raises(InvalidParameter, match="for mo-samegame-v0 with other objectives"):
        volume(small_game(num_colors=4), [own], 5)


def test_options_out_of_range_are_named():
    for name, options, message in [
        ("cross_entropy", {"population": 2}, "population"),
        ("cross_entropy", {"elites": 41}, "elites"),
        ("cross_entropy", {"episodes": 0}, "episodes"),
        ("cross_entropy", {"samples": 0}, "samples"),
        ("cross_entropy", {"play_samples": -1}, "play_samples"),
        ("cross_entropy", {"population": 40.5}, "population"),
        ("grpo", {"hidden": 0}, "hidden"),
        ("grpo", {"group_size": 1}, "group_size"),
        ("grpo", {"learning_rate": 0.0}, "learning_rate"),
    ]:
        with pytest.raises(InvalidParameter, match=f"{name}: invalid {message}="):
            method(name)(**options)


def test_utilities_of_returns():
    """Weighted sum, logarithms, and the distance to the best returns so far: each of returns in units of random play."""
    game = small_game()
    trainers = {name: CrossEntropy(8, 4, 4, utility=name).make_trainer(TrainingSetup([game], 30_000)) for name in UTILITIES}
    scale, ideal = trainers["linear"].return_scale, trainers["chebyshev"].ideal
    returns, weights = np.array([[4.0, 0.0, 9.0], [1.0, 1.0, 1.0]]), np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    expected = {
        "linear": (weights * returns / scale).sum(axis=1),
        "log": (weights * np.log(0.1 + returns / scale)).sum(axis=1),
        "chebyshev": 0.01 * (weights * returns / ideal).sum(axis=1) - (weights * (1 - returns / ideal)).max(axis=1),
    }
    for name, trainer in trainers.items():
        assert trainer.compute_utilities(returns, weights) == pytest.approx(expected[name])
    assert trainers["linear"].compute_utilities(returns - 100, weights).max() < 0  # below the reference point, in order
    trainers["chebyshev"].ideal = np.array([1.0, 1000.0, 1.0])
    trainers["chebyshev"].train_iteration()
    after = trainers["chebyshev"].ideal
    assert after[1] == 1000
    assert after[[0, 2]].min() > 1
    with pytest.raises(InvalidParameter, match="cross_entropy: invalid utility='sum': expected"):
        CrossEntropy(utility="sum")
