"""The compiled episodes against the same rules played move by move in Python."""

import copy

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.engine.playouts import GREEDY, RANDOM, generate_starts, play_episodes

GAMES = [
    ("mo-samegame-v0", {"board_width": 5, "board_height": 4, "num_colors": 3}),
    ("mo-breakthrough-v0", {"board_width": 3, "board_height": 5}),
]


def start(game, seed=0):
    return generate_starts(game, np.array([seed], np.uint64))


def episodes(game, states, rule, words, weights=None):
    shape = (len(states), len(game.agents))
    every = np.broadcast_to(weights if weights is not None else np.ones(len(game.objectives)), (*shape, len(game.objectives)))
    return play_episodes(game, states, np.full(shape, rule), every.copy(), words, keep_moves=True)


@pytest.mark.parametrize(("id", "params"), GAMES)
def test_generated_starts_equal_those_of_reset(id, params):
    game = momagames.spec(id, **params)
    one = Episode(game)
    one.reset(7)
    assert start(game, 7).tobytes() == one.states.tobytes()


@pytest.mark.parametrize("rule", [RANDOM, GREEDY])
@pytest.mark.parametrize(("id", "params"), GAMES)
def test_moves_lead_to_the_returns(id, params, rule):
    game = momagames.spec(id, **params)
    states = start(game).repeat(5)
    words = np.arange(5 * len(game.agents), dtype=np.uint64).reshape(5, -1)
    done = episodes(game, states, rule, words)
    assert (done.states["over"] == 1).all()
    for i in range(5):
        one = Episode(game)
        one.load(states[i])
        for action in done.moves[i, : done.lengths[i]]:
            assert one.is_legal(one.mover, int(action))
            one.step(int(action))
        assert one.state["over"]
        assert (one.returns == done.returns[i]).all()
        assert (done.moves[i, done.lengths[i] :] == -1).all()
    assert len({tuple(row) for row in done.moves.tolist()}) > 1


@pytest.mark.parametrize(("id", "params"), GAMES)
def test_greedy_takes_the_best_weighted_reward(id, params):
    game = momagames.spec(id, **params)
    weights = np.arange(1.0, len(game.objectives) + 1)
    words = np.arange(len(game.agents), dtype=np.uint64)[None]
    done = episodes(game, start(game), GREEDY, words, weights)
    one, looked = Episode(game), 0
    one.load(start(game)[0])
    for action in done.moves[0, : done.lengths[0]]:
        values = {}
        for a in np.flatnonzero(one.mask(one.mover)):
            trial = copy.deepcopy(one)
            trial.step(int(a))
            values[int(a)] = float(weights @ trial.reward[one.mover].astype(float))
        assert values[int(action)] == max(values.values())
        looked += len(values) + 1
        one.step(int(action))
    assert done.steps[0] == looked


@pytest.mark.parametrize("rule", [RANDOM, GREEDY])
def test_an_episode_does_not_depend_on_its_neighbors(rule):
    game = momagames.spec(GAMES[0][0], **GAMES[0][1])
    words = np.arange(8, dtype=np.uint64)[:, None]
    together = episodes(game, start(game).repeat(8), rule, words)
    alone = [episodes(game, start(game), rule, words[i : i + 1]) for i in range(8)]
    assert (together.moves == np.concatenate([one.moves for one in alone])).all()


def test_arguments_are_not_modified():
    game = momagames.spec(GAMES[0][0], **GAMES[0][1])
    states, words = start(game), np.ones((1, 1), np.uint64)
    before = states.tobytes()
    episodes(game, states, GREEDY, words)
    assert states.tobytes() == before
    assert (words == 1).all()
