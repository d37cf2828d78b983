"""The board of MO-Breakthrough from the side of the agent: codes 1 for own pieces, 2 for others, and a plane of each."""

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.games.breakthrough.cell_codes import write_view
from momagames.kernels.jit import compile_entry_point
from tests.games.test_cell_codes import cell_codes
from tests.games.walk import board, moves, start

ID = "mo-breakthrough-v0"
ASYMMETRIC = ["1..", "1.1", ".2.", "1..", "..2"]


def load(rows, mover=0, **params):
    play = Episode(momagames.spec(ID, board_width=len(rows[0]), board_height=len(rows), **params))
    play.load({"board": rows, "next_agent": play.game.agents[mover]})
    return play


def run_view(states, agent, planes, scalars):
    write_view(states[0], agent, planes, scalars)


compile_view = compile_entry_point(run_view, "breakthrough.tests.view")


def see_planes(play, agent):
    """Return the planes of own and other pieces as an agent sees them."""
    view = play.game.learning.egocentric_view
    planes = np.full(view.cells, 7, np.float32)
    compile_view(np.array([play.state]), agent, planes, planes[:0])
    return planes.reshape(2, -1)


@pytest.mark.parametrize("canonical", [False, True])
def test_codes_are_the_board_of_the_agent(canonical):
    play = load(ASYMMETRIC, canonical=canonical)
    assert cell_codes(play, 0).reshape(3, 5).T.tolist() == [[1, 0, 0], [1, 0, 1], [0, 2, 0], [1, 0, 0], [0, 0, 2]]
    assert cell_codes(play, 1).reshape(3, 5).T.tolist() == [[1, 0, 0], [0, 0, 2], [0, 1, 0], [2, 0, 2], [0, 0, 2]]
    for agent in range(2):
        assert np.array_equal(see_planes(play, agent), [cell_codes(play, agent) == 1, cell_codes(play, agent) == 2])


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("size", [(3, 5), (8, 8), (9, 8), (13, 10)])
def test_the_second_agent_sees_the_turned_position_as_the_first(size, canonical):
    exchange = str.maketrans("12", "21")
    play = start(ID, 5, board_width=size[0], board_height=size[1], canonical=canonical)
    actions = np.array(play.game.learning.egocentric_view.actions or [np.arange(play.game.mask_size)] * 2)
    for _ in moves(play, 5):
        if not play.state["over"]:
            rows = [row[::-1].translate(exchange) for row in board(play)[::-1]]
            turned = load(rows, 1 - play.state["to_move"], canonical=canonical)
            for agent in range(2):
                assert np.array_equal(cell_codes(turned, 1 - agent), cell_codes(play, agent))
                assert np.array_equal(turned.mask(1 - agent)[actions[1 - agent]], play.mask(agent)[actions[agent]])
