"""The oracle alone: against recorded runs of an independent model, and against boards worked out by hand."""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
import yaml

import momagames
from tests.games.tileblast import vectors
from tests.games.tileblast.naive import Naive

pytestmark = pytest.mark.compiled

LEVELS = Path(momagames.__file__).parent / "games" / "tileblast" / "levels" / "data"
GOLDEN = Path(__file__).parents[2] / "peers" / "data" / "tileblast.json.gz"
BOTH = ("collected", "hits", "cluster", "created", "used", "won")


@cache
def read_runs():
    """The recorded runs, by level."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        return {run["level"]: run for run in json.load(file)}


def read_level(number):
    return yaml.safe_load((LEVELS / f"{number:02d}.yaml").read_text(encoding="utf-8"))


def fnv(numbers):
    """FNV-1a, 64 bits, as the recordings have it."""
    digest = 0xCBF29CE484222325
    for number in numbers:
        digest = ((digest ^ number) * 0x100000001B3) % 2**64
    return f"{digest:016x}"


def picture(game):
    """The board as the recordings draw basics and holes, None for everything else; top row first."""
    signs = {c * 117 + i: "rbyopk"[c - 1] for c in range(1, 7) for i in range(117)}
    flat = game.board()
    for i in range(117):
        bare = flat[10 * 117 + i] and not flat[8 * 117 + i]
        color = next((signs[c * 117 + i] for c in range(1, 7) if flat[c * 117 + i]), None)
        yield "#" if not flat[i] else color if bare else None


def replay(game, run):
    """Everything that a recording tells, tap by tap."""
    assert (sum(game.remaining()), game.draws, fnv(game.board())) == (run["goal_total"], run["draws"], run["obs"])
    drawn = [row[2 * x] for row in reversed(run["board"]) for x in range(13)]
    assert all(mine in (None, sign) for mine, sign in zip(picture(game), drawn, strict=True))
    for t, step in enumerate(run["steps"]):
        valid = game.valid()
        assert (t, len(valid), valid[7 * t % len(valid)]) == (step["t"], step["n_valid"], step["action"])
        event = game.tap(step["action"])
        assert event["valid"]
        assert {name: event[name] for name in BOTH} == {name: step[name] for name in BOTH}
        assert (sum(game.remaining()), game.score, game.draws) == (step["remaining"], step["score"], step["draws"])
        assert fnv(game.board()) == step["obs"]


@pytest.mark.parametrize("number", range(1, 13))
def test_recorded_runs(number):
    replay(Naive(read_level(number), 42, strict_moves=False), read_runs()[number])


def test_recordings_are_complete():
    assert [(run["level"], run["seed"]) for run in read_runs().values()] == [(level, 42) for level in range(1, 13)]
    assert sum(len(run["steps"]) for run in read_runs().values()) == 285


def test_vectors():
    for vector in vectors.ALL:
        vector(Naive)


FED = vectors.level("rr", "yb", "rr", feed=[{"piece": "seedbag", "per_mille": 900, "max_on_board": 2, "total": 2}])


@pytest.mark.parametrize("level", [*map(read_level, range(1, 13)), FED], ids=lambda level: level["title"])
def test_positions_resume(level):
    """A game that resumes from its snapshot equals the original."""
    game = Naive(level, 7)
    for _ in range(5):
        game.tap(game.valid()[-1])
    twin = Naive.from_position(level, game.snapshot())
    assert twin.snapshot() == game.snapshot()
    assert twin.board(27) == game.board(27)
    for _ in range(3):
        a = game.valid()[0] if game.valid() else 116
        assert twin.tap(a) == game.tap(a)
    assert twin.snapshot() == game.snapshot()
