"""What MO-SameGame tells learners about a position, against plain sets of cells."""

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.games.samegame.codec import format_board
from momagames.games.samegame.heuristics import EXTRA_FEATURE_NAMES, FEATURE_NAMES, write_objective_features
from momagames.kernels.jit import compile_entry_point
from tests.games.samegame.naive import SameGame

pytestmark = pytest.mark.compiled


def call(states, out):
    write_objective_features(states[0], out)


compiled = compile_entry_point(call, "samegame.tests.objective_features")


def compute_expected(game, color_rewards):
    """Return the features from a naive game, float[V, colors or 1]."""
    out = np.zeros((len(FEATURE_NAMES) + len(EXTRA_FEATURE_NAMES), game.colors))
    for color in range(1, game.colors + 1):
        tiles = sum(value == color for value in game.cells.values())
        sizes = [len(group) for group in game.groups() if game.cells[next(iter(group))] == color]
        squares = [size**2 for size in sizes]
        largest = max(squares, default=0)
        own = {cell for cell, value in game.cells.items() if value == color}
        near = sum((x + dx, y + dy) in own for x, y in own for dx, dy in ((-1, 1), (1, 1), (0, 2)))
        heights = sum(game.height - y for _, y in own)
        out[:, color - 1] = tiles**2 if tiles > 1 else 0, sum(squares), sum(sizes), len(sizes), largest, tiles, near, heights
    if color_rewards:
        return out
    total = out.sum(axis=1)
    total[FEATURE_NAMES.index("largest group squared")] = out[FEATURE_NAMES.index("largest group squared")].max()
    return total[:, None]


@pytest.mark.parametrize(
    ("width", "height", "colors", "color_rewards"),
    [(5, 5, 3, True), (9, 12, 4, False), *(pytest.param(17, 16, 3, kind, marks=pytest.mark.long) for kind in (True, False))],
)
def test_features_agree_with_plain_sets(width, height, colors, color_rewards):
    params = {"board_width": width, "board_height": height, "num_colors": colors, "color_rewards": color_rewards}
    game, rng, positions = momagames.spec("mo-samegame-v0", **params), np.random.default_rng(0), 0
    for seed in range(3):
        one = Episode(game)
        one.reset(seed)
        while not one.state["over"]:
            naive = SameGame.given(format_board(one.state), **params)
            expected = compute_expected(naive, color_rewards)
            for count in (len(FEATURE_NAMES), len(expected)):  # without the extra ones, and with them
                out = np.full((count, len(game.objectives)), 7.0)
                compiled(np.array([one.state]), out)
                assert np.array_equal(out, expected[:count])
            one.step(int(rng.choice(np.flatnonzero(one.mask(0)))))
            positions += 1
    assert positions > 10
