"""Learners of the package in MO-Connect4."""

import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.learners import choose_learner
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark.matches import match
from momagames.contract.symmetries import Symmetry
from tests.baselines.moppo.test_moppo import TINY

ID = "mo-connect4-v0"


def test_tables_are_the_first_choice_and_mirrored_without_columns():
    for columns in (True, False):
        game = momagames.spec(ID, column_objectives=columns)
        assert choose_learner(game) is Ntuple
        assert len(game.learning.board.symmetries) == 1 - columns
    assert isinstance(game.learning.board.symmetries[0], Symmetry)
    assert game.learning.board.symmetries[0].actions == (6, 5, 4, 3, 2, 1, 0)


@pytest.mark.compiled
@pytest.mark.long  # trains
@pytest.mark.parametrize(
    ("learner", "opponents", "budget"),
    [(Ntuple(opening=2), (), 20_000), (Moppo(**TINY), (), 480), (CrossEntropy(6, 3, 4), ("random",), 12_000)],
    ids=["ntuple", "moppo", "cross_entropy"],
)
def test_learners_train(learner, opponents, budget):
    if learner.package:
        pytest.importorskip(learner.package)
    game = momagames.spec(ID, board_width=5, board_height=4, column_objectives=False)
    made = [batch_policy(name, game) for name in opponents]
    setup = TrainingSetup([game], budget, 0, (0,) if made else (0, 1), made)
    result = learner.train(setup)
    assert result.policies


def test_safe_play_beats_random_play():
    result = match(ID, ["safe:random", "random"], games=40)
    assert result.returns[0, 0] > 0.3
