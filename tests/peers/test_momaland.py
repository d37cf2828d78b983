"""Differential tests against momaland 0.2.0 itself, where it is installed."""

import random

import numpy as np
import pytest

import momagames
from momagames.envs import moconnect4_v0 as our_connect4
from momagames.games.samegame.codec import SYMBOLS, momaland_board

momaland = pytest.importorskip("momaland", minversion="0.2.0")

from momaland.envs.breakthrough import mobreakthrough_v0  # noqa: E402
from momaland.envs.connect4 import moconnect4_v0  # noqa: E402
from momaland.envs.samegame import mosame_game_v0  # noqa: E402


def strings(rows, symbols=SYMBOLS):
    return ["".join(symbols[int(k)] for k in row) for row in rows]


def tiles(theirs):
    """Return momaland's SameGame board as rows; momaland stores columns, and all previous boards."""
    info = theirs.gameinfo
    return np.array(info["board"][info["curmove"]]).T


def books(env):
    """Return the fields that PettingZoo stores after a step, without their types."""
    return (
        {agent: np.round(np.asarray(r, float), 5).tolist() for agent, r in env.rewards.items()},
        {agent: np.round(np.asarray(r, float), 5).tolist() for agent, r in env._cumulative_rewards.items()},
        {agent: bool(over) for agent, over in env.terminations.items()},
        {agent: bool(over) for agent, over in env.truncations.items()},
        env.agent_selection,
    )


@pytest.mark.parametrize(("width", "height", "colors"), [(15, 15, 5), (3, 3, 2), (4, 9, 3), (30, 3, 10)])
def test_momaland_board(width, height, colors):
    theirs = mosame_game_v0.raw_env(board_width=width, board_height=height, num_colors=colors)
    for seed in (0, 1, 12345):
        theirs.reset(seed=seed)
        assert np.array_equal(momaland_board(seed, width, height, colors), tiles(theirs))


@pytest.mark.parametrize("agents", [1, 2, 5])
@pytest.mark.parametrize("team", [False, True])
@pytest.mark.parametrize("by_color", [False, True])
@pytest.mark.parametrize(("side", "colors", "seed"), [(3, 2, 1), (5, 3, 2), (8, 5, 3), (10, 10, 4)])
def test_samegame(side, colors, seed, agents, team, by_color):
    params = {
        "board_width": side,
        "board_height": side,
        "num_colors": colors,
        "num_agents": agents,
        "team_rewards": team,
        "color_rewards": by_color,
    }
    chance = random.Random(seed)
    theirs, ours = mosame_game_v0.raw_env(**params), momagames.make("mo-samegame-v0", **params)
    theirs.reset(seed=seed)
    ours.reset(options={"board": momaland_board(seed, side, side, colors)})
    while True:
        assert books(ours) == books(theirs)
        assert ours.get_state()["board"] == strings(tiles(theirs))
        for agent in ours.agents:
            we, they = ours.observe(agent), theirs.observe(agent)
            assert np.array_equal(we["observation"], they["observation"].transpose(1, 0, 2))  # theirs is [x, y, color]
            assert np.array_equal(we["action_mask"], they["action_mask"])
        if ours.terminations[ours.agent_selection]:
            return
        action = chance.choice(np.flatnonzero(ours.observe(ours.agent_selection)["action_mask"]).tolist())
        ours.step(action)
        theirs.step(action)


@pytest.mark.parametrize(("width", "height", "objectives"), [(3, 5, 4), (8, 8, 4), (5, 5, 3), (4, 7, 2), (7, 5, 1), (9, 6, 4)])
@pytest.mark.parametrize("seed", range(4))
def test_breakthrough_transitions(width, height, objectives, seed):
    """momaland's legal moves are wrong (SPEC §10), its step is not: we play our legal moves in both."""
    params = {"board_width": width, "board_height": height, "num_objectives": objectives}
    chance = random.Random(seed)
    theirs, ours = mobreakthrough_v0.raw_env(**params), momagames.make("mo-breakthrough-v0", **params)
    theirs.reset()
    ours.reset()
    while True:
        assert books(ours) == books(theirs)
        assert ours.get_state()["board"] == strings(np.asarray(theirs.board).T, ".12")
        for agent in ours.agents:
            assert np.array_equal(ours.observe(agent)["observation"], theirs.observe(agent)["observation"].transpose(1, 0, 2))
        if ours.terminations[ours.agent_selection]:
            return
        legal = np.flatnonzero(ours.observe(ours.agent_selection)["action_mask"]).tolist()
        action = chance.choice(legal)
        theirs.legal_moves = legal
        ours.step(action)
        theirs.step(action)


def test_known_faults_of_momaland():
    """Why we differ: each of these should fail if momaland mends it, and SPEC §10 then has to say so."""
    theirs = mobreakthrough_v0.raw_env(board_width=5, board_height=5)
    theirs.reset()
    rows = ["01000", "10200", "00000", "00000", "22222"]
    theirs.board = np.array([[int(cell) for cell in row] for row in rows], float).T
    own_piece_taken = 15  # (1, 0) left to (0, 1), which player_0 holds
    assert own_piece_taken in theirs._legal_moves()
    ours = momagames.make("mo-breakthrough-v0", board_width=5, board_height=5)
    ours.reset(options={"board": [row.replace("0", ".") for row in rows]})
    assert not ours.observe("player_0")["action_mask"][own_piece_taken]
    wide = mosame_game_v0.raw_env(board_width=5, board_height=3)
    wide.reset(seed=0)
    assert len({wide._move_to_int(x, y) for x in range(5) for y in range(3)}) < 15


@pytest.mark.parametrize(
    ("width", "height", "columns"), [(7, 6, True), (7, 6, False), (4, 4, True), (5, 9, True), (11, 4, False)]
)
@pytest.mark.parametrize("seed", range(4))
def test_connect4_transitions(width, height, columns, seed):
    params = {"board_width": width, "board_height": height, "column_objectives": columns}
    chance = random.Random(seed)
    theirs, ours = moconnect4_v0.raw_env(**params), our_connect4.raw_env(**params)
    theirs.reset()
    ours.reset()
    while True:
        assert books(ours) == books(theirs)
        for agent in ours.agents:
            assert np.array_equal(ours.observe(agent)["observation"], theirs.observe(agent)["observation"])
        if ours.terminations[ours.agent_selection]:
            return
        mask = ours.observe(ours.agent_selection)["action_mask"]
        assert np.array_equal(mask, theirs.observe(theirs.agent_selection)["action_mask"])
        action = chance.choice(np.flatnonzero(mask).tolist())
        ours.step(action)
        theirs.step(action)
