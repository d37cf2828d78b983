"""Invariants of every position of MO-Breakthrough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.games.breakthrough import rules
from momagames.games.breakthrough.codec import count_moves_left
from momagames.kernels.jit import compile_entry_point
from tests.games.walk import board, moves, start

ID = "mo-breakthrough-v0"
SEEDS = st.integers(0, 2**32)
SIZES = st.fixed_dictionaries({"board_width": st.integers(3, 11), "board_height": st.integers(5, 11)})


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
