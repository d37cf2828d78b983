"""Proven fronts of single instances: against brute force, against the search by state keys, and by their witnesses."""

import numpy as np
import pytest

import momagames
from momagames.baselines import method
from momagames.baselines.base import Plan
from momagames.baselines.exact import Checkpoint, branch_and_bound_front, clairvoyant_front, exact_front, pareto_front
from momagames.engine.episode import PASS, Episode
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, TooLarge

pytestmark = pytest.mark.long  # kernels of methods in several games

ROOMY = {"max_states": 1_000_000, "max_bytes": 1 << 30}
LAYOUT = {"colors": ["w,w,y", "gr,b,w", "w,w,w"], "targets": ["0,0,1", "0,0,0", "0,0,0"]}
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


def make_game(name, tmp_path):
    """Return a game small enough for brute force."""
    if name == "tileblast":
        (tmp_path / "small.yaml").write_text(LEVEL.format(moves=3))
        return momagames.spec("mo-tileblast-v0", level=str(tmp_path / "small.yaml"), objectives=["goals", "move", "score"])
    if name == "robotmail":
        return momagames.spec("mo-robotmail-v0", layout=LAYOUT, num_players=1, max_step=9, objectives=["delivery", "energy"])
    return momagames.spec("mo-samegame-v0", board_height=3, board_width=4, num_colors=2, num_agents=2, team_rewards=True)


def enumerate_returns(game, start):
    """Enumerate the returns of all action sequences from a position; equal positions with equal returns are merged."""
    episode = Episode(game)
    episode.load(start)
    layer = {(episode.state.tobytes(), (0.0,) * len(game.objectives))}
    ended = set()
    while layer:
        next_layer = set()
        for record, returns in layer:
            state = np.frombuffer(record, game.dtype)[0]
            episode.load(state)
            legal = episode.mask(int(state["to_move"])).nonzero()[0].tolist() or [PASS]
            for action in legal:
                episode.load(state)
                mover = int(state["to_move"])
                episode.step(action)
                value = tuple(np.array(returns) + episode.returns[mover])
                (ended if episode.state["over"] else next_layer).add(
                    value if episode.state["over"] else (episode.state.tobytes(), value)
                )
        layer = next_layer
    return ended


def nondominated(values):
    """Return the non-dominated values in ascending order."""
    return sorted(v for v in values if not any(w != v and all(a >= b for a, b in zip(w, v, strict=True)) for w in values))


@pytest.mark.parametrize("name", ["samegame", "tileblast", "robotmail"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_brute_force(name, seed, tmp_path):
    game = make_game(name, tmp_path)
    front = clairvoyant_front(game, seed=seed, **ROOMY)
    assert front.points.tolist() == [
        list(value) for value in nondominated(enumerate_returns(game, _reset_position(game, seed)[0]))
    ]


def test_robot_that_can_only_pass(tmp_path):
    """Without battery the robot cannot move, and after five stands it may not stand."""
    game = make_game("robotmail", tmp_path)
    stuck = {**game.codec.save(_reset_position(game, 0)[0]), "robots": [[2, 1, 0, 0.0, 0, 0, 5]]}
    front = clairvoyant_front(game, stuck, **ROOMY)
    assert front.points.tolist() == [list(value) for value in nondominated(enumerate_returns(game, stuck))]
    assert set(front.witnesses[0]) == {PASS}
    beam = method("hindsight_beam")(width=4, estimate="none").plan(game, load_state(game, stuck), 1000, 0)
    assert beam.values.tolist() == front.points.tolist()


@pytest.mark.parametrize("name", ["samegame", "tileblast", "robotmail"])
def test_witnesses_attain_the_points(name, tmp_path):
    game = make_game(name, tmp_path)
    front = clairvoyant_front(game, seed=5, **ROOMY)
    for value, actions in zip(front.points, front.witnesses, strict=True):
        assert _play_returns(game, 5, actions) == value.tolist()


@pytest.mark.parametrize(("height", "width", "colors"), [(4, 4, 3), (5, 5, 2), (5, 5, 3)])
def test_equals_the_search_by_state_keys(height, width, colors):
    game = momagames.spec("mo-samegame-v0", board_height=height, board_width=width, num_colors=colors)
    for seed in range(8):
        by_layers, by_keys = clairvoyant_front(game, seed=seed, **ROOMY), pareto_front(game, seed=seed, **ROOMY)
        assert np.array_equal(by_layers.points, by_keys.points)


def test_terminal_position_has_one_point():
    game = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2)
    front = clairvoyant_front(game, {**game.codec.save(_reset_position(game, 0)[0]), "board": ["121", "212", "121"]}, **ROOMY)
    assert (front.points.tolist(), front.witnesses) == ([[0.0, 0.0]], [[]])


def test_limits_and_progress(tmp_path):
    game = make_game("robotmail", tmp_path)
    reports = []
    front = clairvoyant_front(game, seed=0, **ROOMY, progress=lambda *returns: reports.append(returns))
    assert reports == sorted(reports, key=lambda pair: pair[0])
    assert reports[-1][0] == front.states
    assert max(used for _, used in reports) == front.bytes
    with pytest.raises(TooLarge, match="max_states=100"):
        clairvoyant_front(game, seed=0, max_states=100, max_bytes=1 << 30)
    with pytest.raises(TooLarge, match="max_bytes=50,000"):
        clairvoyant_front(game, seed=0, max_states=10**6, max_bytes=50_000)


def test_method_exact(tmp_path):
    game = make_game("tileblast", tmp_path)
    exact = method("exact")(**ROOMY)
    with pytest.raises(InvalidParameter, match="draws during play"):
        exact.check_plan(game)
    team = make_game("samegame", tmp_path)
    assert exact.plan(team, _reset_position(team, 1), 0, 1).complete
    with pytest.raises(InvalidParameter, match="2 agents with rewards of their own"):
        exact.check_plan(momagames.spec("mo-breakthrough-v0"))


def _reset_position(game, seed):
    episode = Episode(game)
    episode.reset(seed)
    start = game.make_state()
    start[0] = episode.state
    return start


BOARDS = [
    {"board_height": 4, "board_width": 4, "num_colors": 3},
    {"board_height": 5, "board_width": 4, "num_colors": 2, "clear_bonus": 20.0},
    {"board_height": 6, "board_width": 6, "num_colors": 3},
    {"board_height": 5, "board_width": 5, "num_colors": 3, "color_rewards": False},
]


@pytest.mark.parametrize("board", BOARDS)
def test_branch_and_bound_equals_the_search_by_state_keys(board):
    game = momagames.spec("mo-samegame-v0", **board)
    saved = 0
    for seed in range(12):
        bounded, by_keys = branch_and_bound_front(game, seed=seed, **ROOMY), pareto_front(game, seed=seed, **ROOMY)
        assert np.array_equal(bounded.points, by_keys.points)
        saved += by_keys.states - bounded.states
        for value, actions in zip(bounded.points, bounded.witnesses, strict=True):
            assert _play_returns(game, seed, actions) == value.tolist()
    assert saved > 0


@pytest.mark.parametrize("name", ["samegame", "tileblast"])
def test_known_plans_do_not_change_the_front(name, tmp_path):
    """One complete game, good or bad, or the whole front as known plans: only the number of positions differs."""
    game = make_game(name, tmp_path)
    for seed in range(4):
        unpruned = clairvoyant_front(game, seed=seed, **ROOMY)
        exact_plans = [
            Plan(tuple(actions), value, 0) for actions, value in zip(unpruned.witnesses, unpruned.points, strict=True)
        ]
        random = method("hindsight_beam")(width=1, estimate="none").plan(game, _reset_position(game, seed), 1, 0).plans
        for known in (random, exact_plans[:1], exact_plans):
            front = clairvoyant_front(game, seed=seed, **ROOMY, known=known)
            assert np.array_equal(front.points, unpruned.points)
            assert front.states <= unpruned.states
            for value, actions in zip(front.points, front.witnesses, strict=True):
                assert _play_returns(game, seed, actions) == value.tolist()


def test_rejects_known_plans_without_upper_bounds(tmp_path):
    game = make_game("robotmail", tmp_path)
    with pytest.raises(InvalidParameter, match="no upper bound"):
        clairvoyant_front(game, seed=0, **ROOMY, known=[Plan((), np.zeros(2), 0)])
    game = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2, clear_bonus=0.5)
    with pytest.raises(InvalidParameter, match="no upper bound"):
        clairvoyant_front(game, seed=0, **ROOMY, known=[Plan((), np.zeros(2), 0)])
    over = {**game.codec.save(_reset_position(game, 0)[0]), "board": ["121", "212", "121"]}
    terminal = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2)
    assert branch_and_bound_front(terminal, over, **ROOMY).points.tolist() == [[0.0, 0.0]]


def test_exact_front_chooses_the_fastest_search():
    """Large boards are solved by branch and bound, unless there is a checkpoint."""
    small, large = (momagames.spec("mo-samegame-v0", board_height=n, board_width=n, num_colors=3) for n in (6, 7))
    assert exact_front(small, seed=0, **ROOMY).search == "exact"
    assert exact_front(large, seed=0, **ROOMY).search == "branch and bound"


def test_exact_front_with_a_checkpoint(tmp_path):
    game = momagames.spec("mo-samegame-v0", board_height=8, board_width=5, num_colors=2)
    checkpointed = exact_front(game, seed=0, **ROOMY, checkpoint=Checkpoint(tmp_path / "checkpoint", 60.0))
    bounded = exact_front(game, seed=0, **ROOMY)
    assert (checkpointed.search, bounded.search) == ("exact", "branch and bound")
    assert np.array_equal(checkpointed.points, bounded.points)


def _play_returns(game, seed, actions):
    episode = Episode(game)
    episode.reset(seed)
    for action in actions:
        episode.step(action)
    assert episode.state["over"]
    return episode.returns[0].tolist()
