"""Random actions without a mask are those that the mask gives."""

import numpy as np
import pytest

import momagames
from momagames.engine import masks
from momagames.engine.playouts import generate_starts
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import advance, random_words
from tests.cases import SMALL

# Breakthrough with boards of one word and of several, whose last word is full, short and nearly empty
BOARDS = [(3, 5), (5, 5), (8, 8), (8, 9), (5, 13), (13, 10), (20, 20)]
GAMES = [momagames.spec(id, **params) for id, kinds in SMALL.items() for params in kinds]
GAMES += [
    momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, canonical=canonical)
    for width, height in BOARDS
    for canonical in (False, True)
]
declaring = [game for game in GAMES if game.kernels.sample_action]


def compare(game):
    """Return a loop over random games that counts the decisions, and those on which the two ways differ."""
    legal, step, sample_action = game.kernels.legal, game.kernels.step, game.kernels.sample_action

    def play(states, words, mask, actions, reward, counts):
        for i in range(states.shape[0]):
            state = states[i]
            while not state["over"]:
                words[i] = advance(words[i])
                for agent in range(reward.shape[0]):  # the one that is not to move has no action
                    legal(state, agent, mask)
                    expected = masks.sample_legal(mask, words[i])
                    counts[1] += sample_action(state, agent, words[i]) != expected
                    if agent == state["to_move"]:
                        actions[0, 0] = expected
                step(state, actions, reward)
                counts[0] += 1
            counts[1] += sample_action(state, np.int64(state["to_move"]), words[i]) != 0

    return compile_entry_point(play, f"{game.rules_key}.tests.sample_action")


@pytest.mark.parametrize("game", declaring, ids=lambda game: f"{game.id}-{'-'.join(map(str, game.params.values()))}")
def test_sample_action_equals_a_choice_from_the_mask(game, interpreted):
    if interpreted and game.mask_size > 200:
        pytest.skip("too slow without the compiler")
    count = 2 if interpreted else 20
    states = generate_starts(game, np.arange(count, dtype=np.uint64))
    counts = np.zeros(2, np.int64)
    reward = np.zeros((len(game.agents), len(game.objectives)), np.float32)
    compare(game)(states, random_words(1, count), np.zeros(game.mask_size, np.int8), np.zeros((1, 1), np.int64), reward, counts)
    assert counts[0] > 6 * count
    assert counts[1] == 0
