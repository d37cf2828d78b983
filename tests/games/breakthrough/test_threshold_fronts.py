"""Guaranteed fronts from proof-number search against brute force, backward induction, and front files."""

from types import SimpleNamespace

import numpy as np
import pytest

import momagames
from momagames import fronts
from momagames.baselines.exact import Checkpoint
from momagames.baselines.exact import checkpoint as checkpoints
from momagames.benchmark.choices import GameChoice
from momagames.errors import InvalidFile
from momagames.games.breakthrough.solver import proof_number, threshold_fronts
from momagames.games.breakthrough.solver.guarantees import Board
from momagames.games.breakthrough.solver.proof_number import Limits
from tests.fronts.test_fronts import replace_content
from tests.games.breakthrough.test_solver import ENDINGS, brute_guaranteed, make_position, make_position_at

pytestmark = [pytest.mark.compiled, pytest.mark.long]  # visits many positions
ID = "mo-breakthrough-v0"
LARGER = ({"board_width": 4, "board_height": 5}, {"board": ["1...", "11..", ".2..", "..2.", "2..."], "next_agent": "player_1"})


@pytest.mark.parametrize("agent", [0, 1])
@pytest.mark.parametrize(("rows", "mover"), ENDINGS)
def test_front_equals_brute_force(rows, mover, agent):
    game = momagames.spec(ID, board_width=3, board_height=5)
    names = tuple(one.name for one in game.objectives)
    board = Board(game, make_position(rows, mover), agent)
    found = threshold_fronts.solve_threshold_front(board, Limits())
    expected = board.to_units(np.array(sorted(brute_guaranteed(make_position_at(rows, mover, names), agent, names))))
    assert set(map(tuple, found.points.tolist())) == set(map(tuple, expected.tolist()))
    for point in found.points:
        assert (board.to_units(found.oracle.guarantee(point)[0].worst) == point).all()
    for vector in found.beyond:
        assert not (board.to_units(found.oracle.prevent(vector).outcomes) >= vector).all(axis=1).any()


@pytest.mark.parametrize("agent", [0, 1])
def test_front_equals_the_packaged_one(agent):
    """All four objectives of the start position of 3x5, solved by backward induction for the package."""
    packaged = fronts.load_front(f"mo-breakthrough-v0-3x5-guaranteed-player_{agent}")
    board = Board(packaged.make_game(), packaged.start.position, agent)
    found = threshold_fronts.solve_threshold_front(board, Limits())
    assert set(map(tuple, found.points.tolist())) == set(map(tuple, board.to_units(packaged.values).tolist()))


@pytest.mark.parametrize("agent", ["player_0", "player_1"])
def test_front_file_of_a_larger_board(agent):
    """The file is verified and proven; without a point, or with a point too low, it is not."""
    size, position = LARGER
    choice = GameChoice(id=ID, params={**size, "objectives": ["win", "captures"]})
    front = fronts.guaranteed_front(choice, position, agent, fronts.SearchLimits(10**6, 1 << 25))
    assert front.method is not None
    assert front.method.name == "proof-number search"
    fronts.verify(front)
    fronts.prove(front)
    points = front.content()["points"]
    lower = {**points[-1], "value": [points[-1]["value"][0], -0.125]}
    for wrong in ([lower], points[1:]):
        if wrong:
            with pytest.raises(InvalidFile, match="can be guaranteed as well"):
                fronts.prove(replace_content(front, points=wrong))


def test_an_interrupted_search_resumes_from_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(proof_number, "SLICE_NODES", 20)
    monkeypatch.setattr(checkpoints, "time", SimpleNamespace(monotonic=lambda: 0.0))  # every checkpoint is due
    size, position = LARGER[0], {"board": ["1.11", ".1..", "....", ".2..", "22.2"], "next_agent": "player_0"}
    game = momagames.spec(ID, **size, objectives=["win", "captures"])
    board, checkpoint = Board(game, position, 0), Checkpoint(tmp_path / "search", 0.0)
    whole = threshold_fronts.solve_threshold_front(board, Limits())

    def stop(nodes, size):
        if nodes > whole.oracle.search.nodes * 2 // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        threshold_fronts.solve_threshold_front(board, Limits(), stop, checkpoint)
    header, words = checkpoint.load()
    assert header["known"]
    assert len(words) > 100
    resumed = []
    found = threshold_fronts.solve_threshold_front(board, Limits(), lambda nodes, size: resumed.append(nodes), checkpoint)
    assert (found.points == whole.points).all()
    assert (found.beyond == whole.beyond).all()
    assert resumed[0] > header["nodes"] > 1000  # the count continues
    assert found.oracle.search.nodes < whole.oracle.search.nodes * 1.2  # little is searched again
    for point in found.points:
        assert (board.to_units(found.oracle.guarantee(point)[0].worst) == point).all()
    with pytest.raises(InvalidFile, match="the checkpoint of another search"):
        threshold_fronts.solve_threshold_front(Board(game, position, 1), Limits(), None, checkpoint)
    for wrong in ({"known": [[1]]}, {"goals": [["a", 1]]}, {"nodes": -1}):
        checkpoint.save({**header, **wrong}, words)
        with pytest.raises(InvalidFile, match="invalid checkpoint: expected decided vectors"):
            threshold_fronts.solve_threshold_front(board, Limits(), None, checkpoint)
    checkpoint.save(header, words[:-1])
    with pytest.raises(InvalidFile, match="invalid checkpoint: expected decided vectors"):
        threshold_fronts.solve_threshold_front(board, Limits(), None, checkpoint)
