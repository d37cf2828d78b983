"""What must hold at every point of every game of MO-TileBlast, on levels by chance; the oracle checks the rules."""

import numpy as np
import pytest
from hypothesis import given

from momagames.engine.episode import Episode
from momagames.games.tileblast.heuristics import write_objective_features
from momagames.games.tileblast.rules import legal
from momagames.games.tileblast.rules.pieces import CODES
from momagames.games.tileblast.rules.state import NOWHERE
from momagames.kernels.jit import compile_entry_point
from tests.games.tileblast.compiled import make
from tests.games.tileblast.test_oracle import LEVELS, SEEDS

WIDTH, CELLS = 13, 117
BIG = {"basket", "bush", "gnomes", "seedbox"}  # §1.1, copied from the page and not from the catalog
TAPS = 12


def start_episode(level, seed, **params):
    play = Episode(make(level, **params))
    play.reset(seed)
    return play


def random_taps(play, seed):
    """Tap at random until the game is over, mostly where it is valid; yield after each."""
    rng = np.random.default_rng(seed)
    for _ in range(TAPS):
        if play.state["over"]:
            return
        valid = np.flatnonzero(play.masks[0])
        yield play.step(int(rng.choice(valid) if rng.random() < 0.85 else rng.integers(CELLS)))


def _evaluate(states, mask, features):
    legal(states[0], 0, mask)
    write_objective_features(states[0], features)


evaluate = compile_entry_point(_evaluate, "tileblast.tests.evaluate")


def mirror_state(state):
    """The mirror image of a position. Pieces of size 2 have their values in the lower left one of their cells, the anchor."""
    image, mirrored = state.copy(), np.arange(CELLS).reshape(-1, WIDTH)[:, ::-1].ravel()
    for name in ("active", "below", "kind", "anchor", "hp", "full", "color", "cover", "counters"):
        image[name] = state[name][mirrored]
    is_cell = image["below"] != NOWHERE
    image["below"][is_cell] = mirrored[image["below"][is_cell]]
    is_piece = image["kind"] != 0
    is_big = np.isin(image["kind"], [CODES[name] for name in BIG])
    image["anchor"][is_piece] = (mirrored[image["anchor"]] - is_big)[is_piece]
    for anchor in np.flatnonzero(is_big & (image["anchor"] == np.arange(CELLS))):
        for name in ("hp", "full", "color", "cover", "counters"):
            image[name][[anchor, anchor + 1]] = image[name][[anchor + 1, anchor]]
    return image


@pytest.mark.long
@given(LEVELS, SEEDS)
def test_left_and_right_have_no_meaning_for_features(level, seed):
    """A position and its mirror image have equal features, and masks that are mirror images; play differs in what is drawn."""
    play = start_episode(level, seed)
    for _ in random_taps(play, seed):
        found = []
        for state in (play.state, mirror_state(play.state)):
            mask, features = np.zeros(CELLS, np.int8), np.zeros((1, len(play.game.objectives)))
            evaluate(np.array([state]), mask, features)
            found.append((mask, features))
        (mask, features), (image_mask, image_features) = found
        assert np.array_equal(image_mask.reshape(-1, WIDTH)[:, ::-1].ravel(), mask)
        assert np.allclose(image_features, features, rtol=1e-12)
