"""Codes of cells of MO-Breakthrough: 1 for own pieces, 2 for others, from the side of the agent."""

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from tests.games.test_cell_codes import cell_codes
from tests.games.walk import board, moves, start

ID = "mo-breakthrough-v0"
ASYMMETRIC = ["1..", "1.1", ".2.", "1..", "..2"]


def load(rows, **params):
    play = Episode(momagames.spec(ID, board_width=len(rows[0]), board_height=len(rows), **params))
    play.load({"board": rows})
    return play


@pytest.mark.parametrize("canonical", [False, True])
def test_codes_are_the_board_of_the_agent(canonical):
    play = load(ASYMMETRIC, canonical=canonical)
    assert cell_codes(play, 0).reshape(3, 5).T.tolist() == [[1, 0, 0], [1, 0, 1], [0, 2, 0], [1, 0, 0], [0, 0, 2]]
    assert cell_codes(play, 1).reshape(3, 5).T.tolist() == [[1, 0, 0], [0, 0, 2], [0, 1, 0], [2, 0, 2], [0, 0, 2]]


@pytest.mark.parametrize("size", [(3, 5), (8, 8), (9, 8), (13, 10)])
def test_the_second_agent_sees_the_turned_position_as_the_first(size):
    exchange = str.maketrans("12", "21")
    play = start(ID, 5, board_width=size[0], board_height=size[1])
    for _ in moves(play, 5):
        if not play.state["over"]:
            turned = load([row[::-1].translate(exchange) for row in board(play)[::-1]])
            for agent in range(2):
                assert np.array_equal(cell_codes(turned, 1 - agent), cell_codes(play, agent))
