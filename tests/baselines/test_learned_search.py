"""Searches with a trained scorer: the learned estimate of a beam, and samples of its policies."""

import numpy as np
import pytest

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import method
from momagames.baselines.archive import is_nondominated
from momagames.baselines.candidates.policy import CandidatePolicy, make_scorer
from momagames.baselines.search.beam import ESTIMATES, _Search, score_children, search_beam, search_once
from momagames.baselines.search.beam_estimate import BeamEstimate
from momagames.baselines.search.learned_estimate import make_estimate, reads_feature
from momagames.baselines.trainer import train_to_end
from momagames.baselines.training_setup import TrainingSetup
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidFile, InvalidParameter
from momagames.kernels.rng import random_words

pytestmark = pytest.mark.long  # kernels of methods in several games

SMALL = {"board_width": 5, "board_height": 5, "num_colors": 3}
MIDDLE = {"board_width": 8, "board_height": 8, "num_colors": 3}
LARGE = {"board_width": 15, "board_height": 15, "num_colors": 5}
BLAST = {"level": 2, "objectives": ("goals", "win", "score")}


def make_game(**params):
    return momagames.spec("mo-samegame-v0", **(params or SMALL))


def make_random_scorer(game, seed=0):
    """Return a linear scorer with random factors, but 0 for the features that the estimate leaves out."""
    policy = CandidatePolicy(game)
    factors = np.random.default_rng(seed).uniform(0.5, 1.5, policy.num_parameters)
    factors[[not reads_feature(name) for name in policy.features.names]] = 0.0
    return make_scorer(policy, factors)


def score_actions(scorer, game, states, weights):
    """Return the scores of the candidate actions of a position, record[1], for weights float64[K]."""
    rows, cursor = np.zeros((game.mask_size, scorer.policy.features.count), np.float32), np.zeros(1, np.int64)
    batch = Batch(game, 1, autoreset="disabled")
    batch.load(states)
    memories = scorer.policy.initial_memories(scorer.parameters[None], weights[None])
    SeatedPolicies(batch, [scorer.policy.compile((rows, cursor))], [0], 0, memories).act()
    return rows[: cursor[0]] @ scorer.parameters


def test_estimates_are_sums_of_scores():
    """The score of a child for an objective is that of its parent plus that of the move, with all weight on the objective."""
    game = make_game(**MIDDLE)
    scorer, weights = make_random_scorer(game), np.eye(3)
    start = generate_starts(game, np.array([3], np.uint64))
    search = _Search(game, start, 1, make_estimate(game, scorer), "beam")
    count = search._expand_beam(start, np.zeros((1, 3)), 10**9)
    parents, scores, values = (array[:count].copy() for array in (search._children, search._scores, search._values))
    for i in range(count):
        grandchildren = search._expand_beam(parents[[i]], values[[i]], 10**9)
        for k in range(3):
            moves = score_actions(scorer, game, parents[[i]], weights[k])
            gained = search._scores[:grandchildren, k] - scores[i, k]
            differences = np.abs(moves[:, None] - gained)  # equal positions are merged in a beam
            assert max(differences.min(axis=0).max(), differences.min(axis=1).max()) < 1e-4 * np.abs(moves).max()


def measure(game, found):
    return hypervolume(found.values, game.reference_point).value


def test_a_trained_estimate_is_better_than_the_heuristics():
    """Hypervolume in the geometric mean over that of beams of equal width; 2.0 when it was trained, for as many steps."""
    game = make_game(**LARGE)
    learned, present = (method("beam")(width=64, estimate=name) for name in ("champion", "present"))
    ratios, steps = [], []
    for seed in range(5):
        start = generate_starts(game, np.array([seed], np.uint64))
        own, plain = learned.plan(game, start, 10**9, 0), present.plan(game, start, 10**9, 0)
        ratios.append(measure(game, own) / measure(game, plain))
        steps.append(own.steps / plain.steps)
    assert np.exp(np.log(ratios).mean()) > 1.7
    assert np.mean(steps) < 1.1


def test_training_of_an_estimate_starts_at_the_heuristic():
    game = make_game(**MIDDLE)
    scorer = BeamEstimate().make_trainer(TrainingSetup([game], 1)).make_policies()
    starts = generate_starts(game, np.arange(900, 910, dtype=np.uint64))
    heuristic, own = (score_children(game, starts, one) for one in (ESTIMATES.index("present"), make_estimate(game, scorer)))
    assert own == pytest.approx(heuristic, abs=1e-6 * np.abs(heuristic).max())


def test_a_beam_learns_its_estimate():
    """Hypervolume over that of the same beam with the heuristics; `present`, where training starts, with three seeds: 1.06
    and more."""
    game, budget = make_game(**LARGE), 4_000_000
    trainer = BeamEstimate(20, 5, 4, width=8).make_trainer(TrainingSetup([game], budget))
    train_to_end(trainer)
    assert trainer.steps <= budget
    scorer = trainer.make_policies()
    assert all(factor == 0 for name, factor in scorer.factors.items() if not reads_feature(name))
    starts = generate_starts(game, np.arange(900, 930, dtype=np.uint64))

    def measure_all(estimate):
        found = [search_once(game, starts[i : i + 1], 8, estimate)[0] for i in range(len(starts))]
        return np.log([hypervolume(values, game.reference_point).value for values in found])

    trained = measure_all(make_estimate(game, scorer))
    for name, least in (("none", 1.15), ("optimistic", 1.15), ("present", 1.02)):
        assert np.exp((trained - measure_all(ESTIMATES.index(name))).mean()) > least


def test_estimates_are_not_trained_for_play():
    with pytest.raises(InvalidParameter, match="beam_estimate: invalid utility='log': expected 'linear'"):
        BeamEstimate(utility="log")
    with pytest.raises(InvalidParameter, match="beam_estimate: invalid width=0: expected an integer, 1"):
        BeamEstimate(width=0)
    with pytest.raises(InvalidParameter, match="beam_estimate needs a game without chance during play"):
        BeamEstimate().check_train(momagames.spec("mo-tileblast-v0"))
    with pytest.raises(InvalidParameter, match="beam_estimate needs one agent"):
        BeamEstimate().check_train(momagames.spec("mo-breakthrough-v0"))


def test_plans_of_nested_rollouts_are_episodes_of_its_policies():
    game = make_game()
    start, nested = generate_starts(game, np.array([5], np.uint64)), method("nested_rollouts")(divisions=2)
    policies, words = nested.policies(game), random_words(1, 6).reshape(6, 1)
    played = play_policies(game, start.repeat(6), policies, np.arange(6)[:, None], words)
    found = nested.plan(game, start, int(played.steps.sum()), 0)
    returns = played.returns[:, 0]
    assert found.values.tolist() == sorted(returns[is_nondominated(returns)].tolist())
    assert found.steps == played.steps.sum()


def test_rejects_what_it_cannot_use():
    for name, options, error, message in [
        ("beam", {"width": 4, "estimate": "missing.npz"}, InvalidFile, "missing.npz"),
        (
            "nested_rollouts",
            {"divisions": 2, "scorer": "greedy"},
            InvalidParameter,
            "invalid scorer='greedy': expected 'champion'",
        ),
    ]:
        with pytest.raises(error, match=message):
            method(name)(**options).check_plan(make_game())


def test_a_learned_estimate_needs_a_linear_scorer():
    game = momagames.spec("mo-tileblast-v0")  # its champion has a hidden layer
    with pytest.raises(InvalidParameter, match=r"invalid estimate='champion': expected .* training by beam_estimate"):
        method("hindsight_beam")(width=4, estimate="champion").check_plan(game)


def test_a_learned_estimate_foresees_draws():
    game = momagames.spec("mo-tileblast-v0", **BLAST)
    start = generate_starts(game, np.array([5], np.uint64))
    found = search_beam(game, start, 4, 2000, make_estimate(game, make_random_scorer(game)), "beam")
    assert found.plans
