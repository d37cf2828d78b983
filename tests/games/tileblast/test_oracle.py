"""The compiled rules: against boards worked out by hand, against the oracle, and what must hold after every tap."""

import random

import numpy as np
import pytest

from momagames.games.tileblast.rules.pieces import ATTRIBUTES, BIG, CAGE, FALLS
from tests.games.tileblast import vectors
from tests.games.tileblast.compiled import CompiledTileBlast
from tests.games.tileblast.naive import Naive
from tests.games.tileblast.test_naive import RUNS, read_level, replay

LEVELS = {number: read_level(number) for number in range(1, 13)}
SCRATCH = ("flags", "touched", "effects", "attacked", "queue", "queued", "spawns", "spawned", "makers")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"level {run['level']}, seed {run['seed']}")
def test_recorded_runs(run):
    replay(CompiledTileBlast(read_level(run["level"]), run["seed"], strict_moves=False), run)


@pytest.mark.parametrize("vector", vectors.ALL, ids=lambda vector: vector.__name__)
def test_vectors(vector):
    vector(CompiledTileBlast)


def choose(rng, game, naive):
    """A tap, power pieces and invalid ones often enough."""
    valid = game.valid()
    powers = [cell for cell in valid if naive.grid[cell].kind != "basic"]
    if rng.random() < 0.05:
        return rng.randrange(117)
    return rng.choice(powers if powers and rng.random() < 0.5 else valid)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("number", LEVELS)
def test_oracle(number, strict):
    """Positions, valid taps, observations, results and rewards of taps (§2 to §7)."""
    rng = random.Random(f"{number} {strict}")
    for _ in range(3):
        seed = rng.randrange(2**64)
        slow, fast = (
            Naive(LEVELS[number], seed, strict_moves=strict),
            CompiledTileBlast(LEVELS[number], seed, strict_moves=strict),
        )
        for _ in range(45):
            assert fast.snapshot() == slow.snapshot()
            assert fast.valid() == slow.valid()
            assert fast.board() == slow.board()
            assert fast.remaining() == list(slow.remaining())
            if not slow.valid():
                break
            tap = choose(rng, fast, slow)
            event = slow.tap(tap)
            assert fast.tap(tap) == event
            assert fast.rewards(event) == slow.rewards(event)


@pytest.mark.parametrize("number", LEVELS)
def test_settled_after_every_tap(number):
    """§4.7 Nothing hangs, no drop is at the bottom, and no column has room at its top; nothing of the tap is left over."""
    rng, game = random.Random(number), CompiledTileBlast(LEVELS[number], number, strict_moves=False)
    for _ in range(60):
        state = game.play.state
        for cell in range(117):
            kind, below = int(state["kind"][cell]), int(state["below"][cell])
            falls = ATTRIBUTES[kind] & FALLS and not ATTRIBUTES[kind] & BIG and state["cover"][cell] != CAGE
            assert not falls or below == 255 or state["kind"][below], cell
            assert state["active"][cell] or not kind
        for x in range(13):
            column = [cell for cell in range(x, 117, 13) if state["active"][cell]]
            assert not column or state["kind"][column[-1]]
        assert not any(np.any(state[name]) for name in SCRATCH)
        if not game.valid():
            break
        game.tap(rng.choice(game.valid()))


@pytest.mark.parametrize("number", LEVELS)
def test_invalid_taps_change_nothing_else(number):
    """§3.3"""
    game = CompiledTileBlast(LEVELS[number], 5)
    for _ in range(4):
        game.tap(game.valid()[0])
    before = game.snapshot()
    tap = next(cell for cell in range(117) if cell not in game.valid())
    event = game.tap(tap)
    assert not event["valid"]
    assert not any(event[name] for name in ("hits", "cluster", "created", "used", "combo", "score", "draws", "shuffles"))
    after = game.snapshot()
    assert after["counters"].pop("taps") == before["counters"].pop("taps") + 1
    assert after["counters"].pop("invalid_taps") == before["counters"].pop("invalid_taps") + 1
    assert after == before


@pytest.mark.parametrize("number", LEVELS)
def test_position_resumes_the_game(number):
    """§9 A position as data, and a copied state, have the same future."""
    rng, game = random.Random(number), CompiledTileBlast(LEVELS[number], 11, strict_moves=False)
    for _ in range(12):
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
