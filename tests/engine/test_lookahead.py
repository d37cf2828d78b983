"""Steps on copies of a position: what they leave as it is, what they count, and which future a copy has."""

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.engine.lookahead import make_heuristic, make_lookahead, make_trial
from momagames.engine.playouts import generate_starts
from momagames.kernels.jit import compile_entry_point

pytestmark = pytest.mark.long  # kernels of methods in two games


@pytest.mark.parametrize("id", ["mo-samegame-v0", "mo-tileblast-v0"])
def test_copies_are_stepped_and_counted(id):
    game = momagames.spec(id)
    kernels, write_present = make_lookahead(game), make_heuristic(game.search.present)
    play, play_copy, try_action = kernels.play, kernels.play_copy, kernels.try_action

    def run(states, action, word, trial, out):
        play_copy(states[0], action, states, 1, trial)
        try_action(states[0], action, word, trial)
        states[2] = states[0]
        play(states[2], action, trial)
        write_present(states[0], trial, out)

    states, trial, out = generate_starts(game, np.arange(4, dtype=np.uint64)), make_trial(game), np.zeros(len(game.objectives))
    one = Episode(game)
    one.load(states[0])
    action = int(np.flatnonzero(one.mask(0))[-1])
    one.step(action)
    before, word = states[0].copy(), np.uint64(12345)
    compile_entry_point(run, f"{game.rules_key}.tests.lookahead")(states, action, word, trial, out)
    assert states[0] == before
    assert states[1] == states[2] == one.state
    assert trial.reward.tolist() == one.reward.tolist()
    assert trial.steps[0] == 3
    assert np.abs(out).max() > 0
    other = Episode(game)
    before["rng"] = word
    other.load(before)
    other.step(action)
    assert trial.states[0] == other.state != one.state
