"""The compiled rules against boards worked out by hand and against the oracle."""

import random

import numpy as np
import pytest

from tests.games.tileblast import vectors
from tests.games.tileblast.compiled import CompiledTileBlast
from tests.games.tileblast.naive import Naive
from tests.games.tileblast.test_naive import read_level, read_runs, replay

LEVELS = {number: read_level(number) for number in range(1, 13)}
SCRATCH = ("flags", "touched", "effects", "attacked", "queue", "queued", "spawns", "spawned", "makers")


@pytest.mark.parametrize("number", LEVELS)
def test_recorded_runs(number):
    replay(CompiledTileBlast(LEVELS[number], 42, strict_moves=False), read_runs()[number])


def test_vectors():
    for vector in vectors.ALL:
        vector(CompiledTileBlast)


def choose(rng, valid, naive):
    """A tap, power pieces and invalid ones often enough."""
    powers = [cell for cell in valid if naive.grid[cell].kind != "basic"]
    if rng.random() < 0.05:
        return rng.randrange(117)
    return rng.choice(powers if powers and rng.random() < 0.5 else valid)


@pytest.mark.parametrize("number", LEVELS)
def test_oracle(number, interpreted):
    """Positions, valid taps, observations, results and rewards of taps (§2 to §7), with and without the limit of moves."""
    rng = random.Random(number)
    for strict in (bool(number % 2),) if interpreted else (True, False, False, False):
        seed = rng.randrange(2**64)
        slow, fast = (one(LEVELS[number], seed, strict_moves=strict) for one in (Naive, CompiledTileBlast))
        for _ in range(45):
            assert fast.snapshot() == slow.snapshot()
            valid = slow.valid()
            assert fast.valid() == valid
            assert fast.board() == slow.board()
            assert fast.remaining() == slow.remaining()
            assert not any(np.any(fast.play.state[name]) for name in SCRATCH), "nothing of a tap is left over"
            if not valid:
                break
            tap = choose(rng, valid, slow)
            event = slow.tap(tap)
            assert fast.tap(tap) == event
            assert fast.rewards(event) == slow.rewards(event)


@pytest.mark.parametrize("number", LEVELS)
def test_position_resumes_the_game(number, interpreted):
    """§9 A position as data, and a copied state, have the same future."""
    rng, game = random.Random(number), CompiledTileBlast(LEVELS[number], 11, strict_moves=False)
    for _ in range(4 if interpreted else 12):
        game.tap(rng.choice(game.valid()))
        if not game.valid():
            break
        twin = CompiledTileBlast.from_position(LEVELS[number], game.snapshot(), strict_moves=False)
        tap = rng.choice(game.valid())
        dry = game.copy()
        assert dry.tap(tap) == twin.tap(tap)
        assert dry.snapshot() == twin.snapshot()
        assert dry.board() == twin.board()
    assert game.play.game.codec.read(game.play.game.codec.show(game.play.state)) == game.play.game.codec.save(game.play.state)
