"""Invariants of every position of MO-SameGame."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.engine.lookahead import make_trial
from momagames.engine.positions import load_state
from momagames.games.samegame.codec import momaland_board
from momagames.games.samegame.heuristics import EXTRA_FEATURE_NAMES, FEATURE_NAMES
from momagames.kernels.jit import compile_entry_point
from tests.games.samegame.naive import SYMBOLS
from tests.games.samegame.test_objective_features import compiled as compiled_features
from tests.games.walk import board, legal, moves, start

ID = "mo-samegame-v0"
SEEDS = st.integers(0, 2**64 - 1)
SIZES = st.fixed_dictionaries(
    {
        "board_width": st.integers(3, 9),
        "board_height": st.integers(3, 9),
        "num_colors": st.integers(2, 10),
        "num_agents": st.integers(1, 5),
    }
)


@given(SEEDS, SIZES, st.randoms(use_true_random=False))
def test_colors_have_no_meaning(seed, params, chance):
    """The same game with other colors: the same cells, and the points in the objectives of the other colors."""
    play, other = (start(ID, seed, **params) for _ in range(2))
    colors = list(range(params["num_colors"]))
    chance.shuffle(colors)
    new = dict(zip(SYMBOLS[1:], (SYMBOLS[1 + k] for k in colors), strict=False)) | {".": "."}
    other.load({"board": ["".join(new[symbol] for symbol in row) for row in board(play)]})
    for _, _, action, reward in moves(play, seed):
        other.step(action)
        assert np.array_equal(other.reward[:, colors], reward)
        assert np.array_equal(other.masks, play.masks)


def mirror_cells(play):
    """The cell of each cell in the mirror image of a position, in which empty columns are on the right as well."""
    cells = np.arange(play.mask(0).size).reshape(len(board(play)), -1)
    used = sum(symbol != "." for symbol in board(play)[-1])
    cells[:, :used] = cells[:, :used][:, ::-1].copy()
    return cells.ravel()


def write_features(play):
    out = np.zeros((len(FEATURE_NAMES + EXTRA_FEATURE_NAMES), len(play.game.objectives)))
    compiled_features(np.array([play.state]), out)
    return out


@given(SEEDS, SIZES)
def test_left_and_right_have_no_meaning(seed, params):
    """The mirror image of a game: equal rewards and features, and masks that are mirror images."""
    play, image = (start(ID, seed, **params) for _ in range(2))
    image.load({"board": [row[::-1] for row in board(play)]})
    cells = mirror_cells(play)
    for _, _, action, reward in moves(play, seed):
        image.step(int(cells[action]))
        assert np.array_equal(image.reward, reward)
        cells = mirror_cells(play)
        assert np.array_equal(image.masks[..., cells], play.masks)
        assert np.array_equal(write_features(image), write_features(play))


@given(SEEDS, st.floats(0, 100_000))
def test_clear_bonus_is_paid_for_an_empty_board_only(seed, bonus):
    params = {"board_width": 3, "board_height": 4, "num_colors": 2}
    plain, other = start(ID, seed, **params), start(ID, seed, **params, clear_bonus=bonus)
    for _, _, action, reward in moves(plain, seed):
        other.step(action)
        extra = bonus if plain.state["tiles"] == 0 else 0
        expected = [[nearest_float32(Fraction(int(one)) + Fraction(extra)) if one else 0 for one in row] for row in reward]
        assert other.reward.tolist() == expected


def nearest_float32(value):
    """The float32 nearest to a fraction, of two that are as near the even one."""
    near = np.float32(float(value))
    candidates = [np.nextafter(near, np.float32(limit)) for limit in (-np.inf, np.inf)]
    return min([near, *candidates], key=lambda one: (abs(Fraction(float(one)) - value), int(one.view(np.int32)) & 1))


@pytest.mark.parametrize("bonus", [75.04376261496589, 2**-15 + 2**-60, 3 * 2**-15 - 2**-60, 0.1, 1e-300])
def test_clear_bonus_is_rounded_once(bonus):
    """Also where the sum in float64 is halfway between two float32, and the exact sum is not. On boards and on bit planes."""
    game = momagames.spec(ID, board_width=5, board_height=5, clear_bonus=bonus)
    states = load_state(game, {"board": ["11111"] * 5})
    for one, state in ((game, states), game.search.exact.compact(game, states)):
        trial = make_trial(one)
        compile_entry_point(make_single_step(one), f"{one.rules_key}.tests.step")(state, trial.actions, trial.reward)
        assert trial.reward[0, 0] == nearest_float32(625 + Fraction(bonus)) == game.objectives[0].high


@given(st.floats(0, 100_000))
def test_the_estimate_is_an_upper_bound_for_every_bonus(bonus):
    """Also where the reward is rounded up."""
    game = momagames.spec(ID, board_width=5, board_height=5, clear_bonus=bonus)
    states, out = load_state(game, {"board": ["11111"] * 5}), np.zeros((len(FEATURE_NAMES), 5))
    compiled_features(states, out)
    assert out[0, 0] == game.objectives[0].high


def make_single_step(game):
    step = game.kernels.step

    def step_first(states, actions, reward):
        step(states[0], actions, reward)

    return step_first


@given(st.floats(0, 100_000))
def test_the_bound_of_a_step_holds_for_every_bonus(bonus):
    """The sum is rounded to float32 once in the rules and once in the declared bound."""
    play = start(ID, 0, board_width=9, board_height=7, clear_bonus=bonus)
    play.load({"board": ["1" * 9] * 7})
    play.step(0)
    assert play.reward.max() == play.game.reward_high[0]


def test_a_generated_board_has_a_group_and_seeds_differ():
    boards = set()
    for seed in range(300):  # about a third of the 3x3 boards of ten colors have none and are drawn again
        play = start(ID, seed, board_width=3, board_height=3, num_colors=10)
        assert legal(play)
        boards.add(tuple(board(play)))
    assert len(boards) == 300


def test_colors_are_drawn_evenly():
    play = start(ID, 1, board_width=30, board_height=30, num_colors=7)
    counts = np.zeros(8)
    for _ in range(20):
        counts += np.bincount([SYMBOLS.index(symbol) for symbol in "".join(board(play))], minlength=8)
        play.reset()
    expected = 20 * 900 / 7
    assert counts[0] == 0
    assert ((counts[1:] - expected) ** 2 / expected).sum() < 22.46  # chi-square, 6 degrees of freedom, p = 0.001


@given(SEEDS, SIZES)
def test_colors_of_actions(seed, params):
    play = start(ID, seed, **params)
    for _ in moves(play, seed):
        colors = play.game.color_objectives.action_objectives(play.states)[0]
        assert colors.tolist() == [SYMBOLS.index(symbol) - 1 for symbol in "".join(board(play))]


def test_momaland_board():
    """Rows of the board that momaland 0.2.0 draws column by column (tests/peers compares with momaland itself)."""
    assert momaland_board(0, 3, 3, 2).tolist() == [[2, 1, 1], [2, 1, 1], [2, 1, 1]]
    wide = momaland_board(7, 5, 3, 4)
    assert wide.shape == (3, 5)
    assert np.array_equal(wide, np.random.default_rng(7).integers(1, 5, size=15).reshape(5, 3).T)
