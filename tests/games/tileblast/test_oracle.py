"""The compiled rules against boards worked out by hand and against the oracle."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momagames.games.tileblast.levels.generator import MECHANICS, generate
from tests.games.tileblast import vectors
from tests.games.tileblast.compiled import CompiledTileBlast
from tests.games.tileblast.naive import Naive
from tests.games.tileblast.test_naive import read_level, read_runs, replay

PACKAGED = {number: read_level(number) for number in range(1, 13)}
LEVELS = st.builds(
    lambda seed, width, height, colors, mechanics, drops, difficulty: generate(
        seed, width, height, colors, sorted(mechanics | drops), difficulty
    ),
    st.integers(0, 10**6),
    st.integers(7, 13),
    st.integers(7, 9),
    st.integers(2, 6),
    st.sets(st.sampled_from(MECHANICS), max_size=3),
    st.sampled_from((set(), {"seedbag"}, {"seedbox"})),
    st.floats(0, 1),
)
# Small boards of many colors, on which there is often nothing to tap
TIGHT = st.builds(lambda seed, width: generate(seed, width, 3, 6, (), 0.5), st.integers(0, 10**6), st.integers(3, 5))
SEEDS = st.integers(0, 2**64 - 1)
SCRATCH = ("flags", "touched", "effects", "attacked", "queue", "queued", "spawns", "spawned", "makers")


@pytest.mark.parametrize("number", PACKAGED)
def test_recorded_runs(number):
    replay(CompiledTileBlast(PACKAGED[number], 42, strict_moves=False), read_runs()[number])


def test_vectors():
    for vector in vectors.ALL:
        vector(CompiledTileBlast)


def choose(rng, valid, naive):
    """A tap, power pieces and invalid ones often enough."""
    powers = [cell for cell in valid if naive.grid[cell].kind != "basic"]
    if rng.random() < 0.05:
        return rng.randrange(117)
    return rng.choice(powers if powers and rng.random() < 0.5 else valid)


def compare_games(level, seed, rng, taps, **limits):
    """Positions, valid taps, observations, results and rewards of taps (§2 to §7)."""
    slow, fast = (one(level, seed, **limits) for one in (Naive, CompiledTileBlast))
    for _ in range(taps):
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
        if event["truncated"]:
            break


@pytest.mark.parametrize("number", PACKAGED)
def test_oracle(number, interpreted):
    """With and without the limit of moves."""
    rng = random.Random(number)
    for strict in (bool(number % 2),) if interpreted else (True, False, False, False):
        compare_games(PACKAGED[number], rng.randrange(2**64), rng, 45, strict_moves=strict)


@given(LEVELS | TIGHT, SEEDS, st.booleans(), st.integers(1, 30))
def test_any_level(level, seed, strict, bound):
    level = level | {"moves": min(level["moves"], 20)}
    compare_games(level, seed, random.Random(seed), 12, strict_moves=strict, max_taps=bound)


@pytest.mark.parametrize("mechanic", MECHANICS)
def test_goals_of_all_units(mechanic):
    """§6.1 What the board holds is counted again after each tap."""
    level = generate(3, 9, 9, 4, (mechanic,), 0.3)
    level["goals"] = [{**goal, "amount": "all"} for goal in level["goals"]]
    compare_games(level, 7, random.Random(0), 6, strict_moves=False)


@pytest.mark.parametrize("number", PACKAGED)
def test_position_resumes_the_game(number, interpreted):
    """§9 A position as data, and a copied state, have the same future."""
    rng, game = random.Random(number), CompiledTileBlast(PACKAGED[number], 11, strict_moves=False)
    for _ in range(4 if interpreted else 12):
        game.tap(rng.choice(game.valid()))
        if not game.valid():
            break
        twin = CompiledTileBlast.from_position(PACKAGED[number], game.snapshot(), strict_moves=False)
        tap = rng.choice(game.valid())
        dry = game.copy()
        assert dry.tap(tap) == twin.tap(tap)
        assert dry.snapshot() == twin.snapshot()
        assert dry.board() == twin.board()
    assert game.play.game.codec.read(game.play.game.codec.show(game.play.state)) == game.play.game.codec.save(game.play.state)
