"""What parameters change: goals of everything, agents in turn, more channels, fields, and masks that are thinned out."""

import random

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.kernels.jit import compile_entry_point
from tests.games.tileblast.naive import Naive
from tests.games.tileblast.test_naive import read_level

ID = "mo-tileblast-v0"


def taps(play, seed, count=30):
    """Play random valid taps; gives the tap of each."""
    rng = random.Random(seed)
    for _ in range(count):
        valid = np.flatnonzero(play.masks[0]).tolist()
        if not valid:
            return
        tap = rng.choice(valid)
        play.step(tap)
        yield tap


@pytest.mark.parametrize("number", [4, 7, 11, 12])
def test_more_channels(number):
    """§7.4"""
    game, naive = Episode(momagames.spec(ID, level=number, channels=27)), Naive(read_level(number), number)
    game.reset(number)
    for tap in taps(game, number, 12):
        naive.tap(tap)
        assert game.observe(0)["observation"].ravel("F").tolist() == naive.board(27)


def test_points_of_drops_that_leave_at_once():
    """§5.4 Only seedbags come in, and all of them leave: the bound of a tap includes them."""
    level = {
        "id": 1, "title": "Rain", "moves": 3, "colors": ["red", "blue"], "goals": [{"collect": "seedbag", "amount": 500}],
        "layout": "#############\n" * 8 + "rrb##########\n",
        "feed": [{"piece": "seedbag", "per_mille": 1000, "max_on_board": 117, "total": 600}],
    }  # fmt: skip
    play = Episode(momagames.spec(ID, level=level, objectives=["score", "goals"]))
    play.reset(0)
    play.step(0)
    assert play.reward.tolist() == [[602, 500]]
    score = play.game.objectives[0]
    assert score.high == 2 * 117**2 + 600
    assert score.return_high == 3 * 2 * 117**2 + 600


def test_prune_equivalent_actions(interpreted):
    """§4.2 Cleared taps have the effect of another tap."""
    game = momagames.spec(ID, level=2)
    kernel = game.search.prune_equivalent_actions

    def clear(states, mask):
        kernel(states[0], mask)

    clear = compile_entry_point(clear, "tests.tileblast.prune")
    play, trial = Episode(game), Episode(game)
    play.reset(9)

    def future(tap):
        trial.states[:] = play.states
        trial._observe()
        trial.step(tap)
        return trial.states.tobytes()

    cleared = 0
    for _ in taps(play, 9, 3 if interpreted else 10):
        mask = play.masks[0].copy()
        clear(play.states, mask)
        kept_taps, every = np.flatnonzero(mask).tolist(), np.flatnonzero(play.masks[0]).tolist()
        assert {future(tap) for tap in every} == {future(tap) for tap in kept_taps}
        cleared += len(every) - len(kept_taps)
    assert cleared > (15 if interpreted else 50)
