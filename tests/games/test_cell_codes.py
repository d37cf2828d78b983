"""Boards that games declare for learners: codes within their range, and symmetries that the rules have."""

import numpy as np
import pytest

import momagames
from momagames.engine.loops import cache_by_rules
from momagames.kernels.jit import compile_entry_point
from tests.cases import SMALL
from tests.games.walk import moves, start

CASES = [(id, params) for id, kinds in SMALL.items() for params in kinds]
CASES += [
    ("mo-breakthrough-v0", {"board_width": width, "board_height": height, "canonical": canonical})
    for width, height in [(3, 5), (8, 8), (9, 8), (5, 13), (13, 10)]
    for canonical in (False, True)
]
CASES = [(id, params) for id, params in CASES if momagames.spec(id, **params).learning.board]
every_board = pytest.mark.parametrize(("id", "params"), CASES, ids=lambda value: str(value))


@cache_by_rules
def compile_codes(game):
    write = game.learning.board.write_codes

    def run(states, agent, codes):
        write(states[0], agent, codes)

    return compile_entry_point(run, f"{game.rules_key}.tests.cell_codes")


def cell_codes(play, agent, spare=0):
    """Return the codes of the cells as an agent sees them; `spare` further bytes must stay as they are."""
    rows, columns = play.game.learning.board.shape
    codes = np.full(rows * columns + spare, 77, np.uint8)
    compile_codes(play.game)(np.array([play.state]), agent, codes)
    assert (codes[rows * columns :] == 77).all()
    return codes[: rows * columns]


@every_board
def test_codes_are_in_their_range(id, params):
    play = start(id, 1, **params)
    for _ in moves(play, 1):
        for agent in range(len(play.game.agents)):
            assert cell_codes(play, agent, spare=7).max() < play.game.learning.board.num_codes


@every_board
def test_symmetries_are_those_of_the_rules(id, params):
    """From a symmetric start, each move and its image give positions, rewards and masks that are images of each other."""
    game = momagames.spec(id, **params)
    for symmetry in game.learning.board.symmetries:
        cells, actions = np.array(symmetry.cells), np.array(symmetry.actions)
        assert sorted(actions) == list(range(game.mask_size))
        play, image = start(id, 2, **params), start(id, 2, **params)
        for _, _, action, reward in moves(play, 2):
            image.step(actions[action])
            assert np.array_equal(image.reward, reward.astype(np.float32))
            assert image.state["over"] == play.state["over"]
            for agent in range(len(game.agents)):
                assert np.array_equal(cell_codes(image, agent), cell_codes(play, agent)[cells])
                assert np.array_equal(image.mask(agent)[actions], play.mask(agent))
