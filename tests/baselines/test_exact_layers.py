"""Proven fronts of single deals: against every play there is, against the other exact search, and by their witnesses."""

import numpy as np
import pytest

import momagames
from momagames.baselines import method
from momagames.baselines.base import Plan
from momagames.baselines.exact import Checkpoint, branch_and_bound_front, clairvoyant_front, exact_front, pareto_front
from momagames.engine.episode import PASS, Play, loaded
from momagames.errors import InvalidParameter, TooLarge

ROOMY = {"max_states": 1_000_000, "max_bytes": 1 << 30}
YARD = {"colors": ["w,w,y", "gr,b,w", "w,w,w"], "targets": ["0,0,1", "0,0,0", "0,0,0"]}
LEVEL = """
id: 900
title: small
moves: {moves}
colors: [red, blue, yellow]
goals:
  - {{collect: basic.red, amount: 6}}
  - {{collect: basic.blue, amount: 5}}
layout: |
  #############
  ####....#####
  ####....#####
  ####....#####
  #############
  #############
  #############
  #############
  #############
"""


def small(name, tmp_path):
    """A game of which every play can be tried."""
    if name == "tileblast":
        (tmp_path / "small.yaml").write_text(LEVEL.format(moves=3))
        return momagames.spec("mo-tileblast-v0", level=str(tmp_path / "small.yaml"), objectives=["goals", "move", "score"])
    if name == "robotmail":
        return momagames.spec("mo-robotmail-v0", layout=YARD, num_players=1, max_step=9, objectives=["delivery", "energy"])
    return momagames.spec("mo-samegame-v0", board_height=3, board_width=4, num_colors=2, num_agents=2, team_rewards=True)


def every_return(game, start):
    """The returns of all plays from a position, by trying every action in each; of equal ways to a position one."""
    one = Play(game)
    one.load(start)
    layer = {(one.state.tobytes(), (0.0,) * len(game.objectives))}
    ended = set()
    while layer:
        below = set()
        for record, so_far in layer:
            state = np.frombuffer(record, game.dtype)[0]
            one.load(state)
            legal = one.mask(int(state["to_move"])).nonzero()[0].tolist() or [PASS]
            for action in legal:
                one.load(state)
                mover = int(state["to_move"])
                one.turn(action)
                value = tuple(np.array(so_far) + one.returns[mover])
                (ended if one.state["over"] else below).add(value if one.state["over"] else (one.state.tobytes(), value))
        layer = below
    return ended


def best(values):
    """The values that no other one beats, in ascending order."""
    return sorted(v for v in values if not any(w != v and all(a >= b for a, b in zip(w, v, strict=True)) for w in values))


@pytest.mark.parametrize("name", ["samegame", "tileblast", "robotmail"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_against_every_play(name, seed, tmp_path):
    game = small(name, tmp_path)
    found = clairvoyant_front(game, seed=seed, **ROOMY)
    assert found.points.tolist() == [list(value) for value in best(every_return(game, _dealt(game, seed)[0]))]


def test_a_robot_that_can_only_pass(tmp_path):
    """Without battery it cannot move, and after five stands it may not stand."""
    game = small("robotmail", tmp_path)
    stuck = {**game.codec.save(_dealt(game, 0)[0]), "robots": [[2, 1, 0, 0.0, 0, 0, 5]]}
    found = clairvoyant_front(game, stuck, **ROOMY)
    assert found.points.tolist() == [list(value) for value in best(every_return(game, stuck))]
    assert set(found.witnesses[0]) == {PASS}
    beam = method("dry_run_beam")(width=4, estimate="none").plan(game, loaded(game, stuck), 1000, 0)
    assert beam.values.tolist() == found.points.tolist()


@pytest.mark.parametrize("name", ["samegame", "tileblast", "robotmail"])
def test_witnesses_bring_what_they_should(name, tmp_path):
    game = small(name, tmp_path)
    found = clairvoyant_front(game, seed=5, **ROOMY)
    for value, actions in zip(found.points, found.witnesses, strict=True):
        assert _returns(game, 5, actions) == value.tolist()


@pytest.mark.parametrize(("height", "width", "colors"), [(4, 4, 3), (5, 5, 2), (5, 5, 3)])
def test_as_the_search_by_keys(height, width, colors):
    game = momagames.spec("mo-samegame-v0", board_height=height, board_width=width, num_colors=colors)
    for seed in range(8):
        layers, keys = clairvoyant_front(game, seed=seed, **ROOMY), pareto_front(game, seed=seed, **ROOMY)
        assert np.array_equal(layers.points, keys.points)


def test_a_deal_that_is_over():
    game = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2)
    found = clairvoyant_front(game, {**game.codec.save(_dealt(game, 0)[0]), "board": ["121", "212", "121"]}, **ROOMY)
    assert (found.points.tolist(), found.witnesses) == ([[0.0, 0.0]], [[]])


def test_limits_and_progress(tmp_path):
    game = small("robotmail", tmp_path)
    told = []
    found = clairvoyant_front(game, seed=0, **ROOMY, progress=lambda *so_far: told.append(so_far))
    assert told == sorted(told, key=lambda pair: pair[0])
    assert told[-1][0] == found.states
    assert max(used for _, used in told) == found.bytes
    with pytest.raises(TooLarge, match="max_states=100"):
        clairvoyant_front(game, seed=0, max_states=100, max_bytes=1 << 30)
    with pytest.raises(TooLarge, match="max_bytes=50,000"):
        clairvoyant_front(game, seed=0, max_states=10**6, max_bytes=50_000)


def test_as_a_method(tmp_path):
    game = small("tileblast", tmp_path)
    exact, foreseen = (method(name)(**ROOMY) for name in ("exact", "dry_run_exact"))
    with pytest.raises(InvalidParameter, match="draws during play"):
        exact.check_plan(game)
    start = game.start()
    one = Play(game)
    one.deal(3)
    start[0] = one.state
    found = foreseen.plan(game, start, 0, 3)
    assert found.complete
    assert found.values.tolist() == clairvoyant_front(game, seed=3, **ROOMY).points.tolist()
    together = small("samegame", tmp_path)
    assert exact.plan(together, _dealt(together, 1), 0, 1).complete
    with pytest.raises(InvalidParameter, match="2 agents with rewards of their own"):
        exact.check_plan(momagames.spec("mo-breakthrough-v0"))


def _dealt(game, seed):
    one = Play(game)
    one.deal(seed)
    start = game.start()
    start[0] = one.state
    return start


BOARDS = [
    {"board_height": 4, "board_width": 4, "num_colors": 3},
    {"board_height": 5, "board_width": 4, "num_colors": 2, "clear_bonus": 20.0},
    {"board_height": 6, "board_width": 6, "num_colors": 3},
    {"board_height": 5, "board_width": 5, "num_colors": 3, "color_rewards": False},
]


@pytest.mark.parametrize("board", BOARDS)
def test_branch_and_bound_as_the_search_by_keys(board):
    game = momagames.spec("mo-samegame-v0", **board)
    solved = 0
    for seed in range(12):
        bounded, keys = branch_and_bound_front(game, seed=seed, **ROOMY), pareto_front(game, seed=seed, **ROOMY)
        assert np.array_equal(bounded.points, keys.points)
        solved += keys.states - bounded.states
        for value, actions in zip(bounded.points, bounded.witnesses, strict=True):
            assert _returns(game, seed, actions) == value.tolist()
    assert solved > 0


@pytest.mark.parametrize("name", ["samegame", "tileblast"])
def test_whatever_is_known_the_front_is_the_same(name, tmp_path):
    """A single game that somebody played, good or bad, or the whole front: only the work differs."""
    game = small(name, tmp_path)
    for seed in range(4):
        plain = clairvoyant_front(game, seed=seed, **ROOMY)
        whole = [Plan(tuple(way), value, 0) for way, value in zip(plain.witnesses, plain.points, strict=True)]
        random = method("dry_run_beam")(width=1, estimate="none").plan(game, _dealt(game, seed), 1, 0).plans
        for known in (random, whole[:1], whole):
            found = clairvoyant_front(game, seed=seed, **ROOMY, known=known)
            assert np.array_equal(found.points, plain.points)
            assert found.states <= plain.states
            for value, actions in zip(found.points, found.witnesses, strict=True):
                assert _returns(game, seed, actions) == value.tolist()


def test_where_nothing_can_be_given_up(tmp_path):
    game = small("robotmail", tmp_path)
    with pytest.raises(InvalidParameter, match="no upper bound"):
        clairvoyant_front(game, seed=0, **ROOMY, known=[Plan((), np.zeros(2), 0)])
    game = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2, clear_bonus=0.5)
    with pytest.raises(InvalidParameter, match="no upper bound"):
        clairvoyant_front(game, seed=0, **ROOMY, known=[Plan((), np.zeros(2), 0)])
    over = {**game.codec.save(_dealt(game, 0)[0]), "board": ["121", "212", "121"]}
    whole = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2)
    assert branch_and_bound_front(whole, over, **ROOMY).points.tolist() == [[0.0, 0.0]]


def test_the_quickest_search():
    """Large boards by branch and bound, unless solved positions are to be kept."""
    few, many = (momagames.spec("mo-samegame-v0", board_height=n, board_width=n, num_colors=3) for n in (6, 7))
    assert exact_front(few, seed=0, **ROOMY).search == "exact"
    assert exact_front(many, seed=0, **ROOMY).search == "branch and bound"


def test_the_quickest_search_with_a_checkpoint(tmp_path):
    game = momagames.spec("mo-samegame-v0", board_height=8, board_width=5, num_colors=2)
    kept = exact_front(game, seed=0, **ROOMY, checkpoint=Checkpoint(tmp_path / "kept", 60.0))
    bounded = exact_front(game, seed=0, **ROOMY)
    assert (kept.search, bounded.search) == ("exact", "branch and bound")
    assert np.array_equal(kept.points, bounded.points)


def _returns(game, seed, actions):
    one = Play(game)
    one.deal(seed)
    for action in actions:
        one.turn(action)
    assert one.state["over"]
    return one.returns[0].tolist()
