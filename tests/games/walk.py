"""Random games on the engine, for tests of what must hold at every point of every game."""

import random

import numpy as np

import momagames
from momagames.engine.episode import Episode


def start(id, seed, **params):
    """Return an episode at a generated start position."""
    play = Episode(momagames.spec(id, **params))
    play.reset(seed)
    return play


def legal(play):
    """The legal actions of the agent to move."""
    return np.flatnonzero(play.mask(int(play.state["to_move"]))).tolist()


def moves(play, seed):
    """Play at random to the end; yields (state before, mover, action, reward) after each move."""
    chance = random.Random(seed)
    while actions := legal(play):
        before, mover, action = play.state.copy(), int(play.state["to_move"]), chance.choice(actions)
        play.step(action)
        yield before, mover, action, play.reward.astype(float)
    assert play.state["over"]


def board(play):
    return play.game.codec.save(play.state)["board"]
