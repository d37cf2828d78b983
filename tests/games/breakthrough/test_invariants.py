"""Invariants of every position of MO-Breakthrough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.games.breakthrough import rules
from momagames.games.breakthrough.codec import count_moves_left
from momagames.kernels.jit import compile_entry_point
from tests.games.breakthrough.naive import NAMES
from tests.games.walk import board, legal, moves, start

ID = "mo-breakthrough-v0"
SEEDS = st.integers(0, 2**32)
SIZES = st.fixed_dictionaries({"board_width": st.integers(3, 11), "board_height": st.integers(5, 11)})


def pieces(rows, symbol):
    return sum(row.count(symbol) for row in rows)


def mirrored(action, width, height):
    """The action on the board with left and right exchanged."""
    x, rest = divmod(action, 3 * height)
    y, z = divmod(rest, 3)
    return (width - 1 - x) * 3 * height + y * 3 + 2 - z


def turned(action, width, height):
    return 3 * width * height - 1 - action


@given(SEEDS, SIZES)
def test_captures_and_losses_are_the_pieces_that_left(seed, params):
    play = start(ID, seed, **params)
    width = params["board_width"]
    total = np.zeros((2, 4))
    for _, mover, _, reward in moves(play, seed):
        total += reward
        assert np.allclose(reward[:, :2].sum(axis=0), 0)  # win and speed are zero-sum
        assert reward[mover, NAMES.index("captures")] == -reward[1 - mover, NAMES.index("losses")]
        left = [pieces(board(play), symbol) for symbol in "12"]
        assert left == play.state["count"].tolist()
        assert np.allclose(2 * width * total[:, 2], [2 * width - left[1], 2 * width - left[0]], atol=1e-4)
        assert np.allclose(total[:, 3], -total[::-1, 2])
    assert sorted(total[:, 0].tolist()) == [-1, 1]
    for k, objective in enumerate(play.game.objectives):
        assert (total[:, k] >= objective.return_low).all()
        assert (total[:, k] <= objective.return_high).all()


@given(SEEDS, SIZES)
def test_every_move_uses_up_a_move(seed, params):
    """SPEC §6.2: moves made and moves left never exceed those of the start, so that max_episode_steps bounds every game."""
    play = start(ID, seed, **params)
    rows = lambda: np.array([[".12".index(s) for s in row] for row in board(play)])  # noqa: E731
    bound = count_moves_left(rows())
    assert bound + 1 == play.game.max_episode_steps
    for _ in moves(play, seed):
        if not play.state["over"]:
            assert play.state["ply"] + count_moves_left(rows()) <= bound
    assert play.state["ply"] <= play.game.max_episode_steps


@given(SEEDS, SIZES)
def test_mirror(seed, params):
    size = params["board_width"], params["board_height"]
    play, mirror = start(ID, seed, **params), start(ID, seed, **params)
    for _, _, action, reward in moves(play, seed):
        mirror.step(mirrored(action, *size))
        assert board(mirror) == [row[::-1] for row in board(play)]
        assert np.array_equal(mirror.reward, reward.astype(np.float32))
        assert legal(mirror) == sorted(mirrored(a, *size) for a in legal(play))


@given(SEEDS, SIZES)
def test_the_sides_are_equal(seed, params):
    """The board turned, pieces exchanged and player_1 to begin: the same game with the agents exchanged."""
    size = params["board_width"], params["board_height"]
    play, other = start(ID, seed, **params), start(ID, seed, **params)
    other.load({"board": board(other), "first_agent": "player_1"})
    exchange = str.maketrans("12", "21")
    for _, _, action, reward in moves(play, seed):
        other.step(turned(action, *size))
        assert board(other) == [row[::-1].translate(exchange) for row in board(play)[::-1]]
        assert np.array_equal(other.reward, reward[::-1].astype(np.float32))


@given(SEEDS, SIZES)
def test_canonical_is_the_plain_game_turned(seed, params):
    size = params["board_width"], params["board_height"]
    plain, canonical = start(ID, seed, **params), start(ID, seed, **params, canonical=True)
    for _, mover, action, reward in moves(plain, seed):
        canonical.step(turned(action, *size) if mover == 1 else action)
        assert board(canonical) == board(plain)
        assert np.array_equal(canonical.reward, reward.astype(np.float32))
        for agent in range(2):
            we, they = canonical.observe(agent)["observation"], plain.observe(agent)["observation"]
            assert np.array_equal(we, they[::-1, ::-1] if agent == 1 else they)
            assert np.array_equal(canonical.mask(agent), plain.mask(agent)[::-1] if agent == 1 else plain.mask(agent))


@given(SEEDS, st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
def test_objectives_by_name_are_columns(seed, names):
    play, some = start(ID, seed), start(ID, seed, objectives=names)
    columns = [NAMES.index(name) for name in names]
    assert [objective.name for objective in some.game.objectives] == names
    for _, _, action, reward in moves(play, seed):
        some.step(action)
        assert np.array_equal(some.reward, reward[:, columns].astype(np.float32))


@given(SEEDS, SIZES)
def test_some_move_is_always_legal(seed, params):
    play = start(ID, seed, **params)
    for _ in moves(play, seed):
        assert bool(legal(play)) != bool(play.state["over"])


@pytest.mark.parametrize(
    "given", [{"num_objectives": 0}, {"objectives": ["win", "win"]}, {"objectives": []}, {"objectives": 3}]
)
def test_bad_choices_of_objectives(given):
    with pytest.raises(momagames.errors.InvalidParameter, match="mo-breakthrough-v0"):
        momagames.spec(ID, **given)


def test_objectives_are_suggested():
    with pytest.raises(momagames.errors.InvalidParameter, match="did you mean 'captures'"):
        momagames.spec(ID, objectives=["capture"])


def test_sample_action_without_a_legal_action():
    """Play never reaches such a position; a mask without a legal action gives 0 as well."""

    def sample(states):
        return rules.sample_action(states[0], 0, np.uint64(5))

    state = momagames.spec("mo-breakthrough-v0").make_state()
    assert compile_entry_point(sample, "tests.breakthrough.sample_action")(state) == 0
