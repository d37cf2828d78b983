"""Masks and observations on every board size, against array formulas; nothing is written outside their buffers.

The rules write 64 cells at a time, so that sizes around multiples of 64 are the ones to fear.
"""

import numpy as np
import pytest

import momagames
from momagames.engine import loops
from momagames.engine.episode import load_state

GUARD = 256
SAMEGAME = [(w, h) for w in range(3, 31) for h in range(3, 31)]
BREAKTHROUGH = [(w, h) for w in range(3, 21) for h in range(5, 21)]


def seen(game, states, agent):
    """Mask and observation, written into the middle of larger buffers whose rest must stay as it is."""
    mask = np.full(2 * GUARD + game.mask_size, 7, np.int8)
    obs = np.full(2 * GUARD + game.observation_bytes, 7, np.uint8)
    loops.compile_episode_loops(game).observe(states, agent, obs[GUARD:-GUARD], mask[GUARD:-GUARD])
    for buffer in (mask, obs):
        assert (buffer[:GUARD] == 7).all()
        assert (buffer[-GUARD:] == 7).all()
    view = game.observation_views(obs[GUARD:-GUARD])["observation"]
    return mask[GUARD:-GUARD], view


def some(sizes, interpreted):
    return sizes[:: 37 if interpreted else 1]


def groups(board):
    """SameGame: which cells have an equal neighbor."""
    around = np.pad(board, 1)
    same = [around[1:-1, :-2], around[1:-1, 2:], around[:-2, 1:-1], around[2:, 1:-1]]
    return (board > 0) & np.any([board == other for other in same], axis=0)


@pytest.mark.parametrize("colors", [2, 10])
def test_samegame(colors, interpreted):
    chance = np.random.default_rng(colors)
    for width, height in some(SAMEGAME, interpreted):
        game = momagames.spec("mo-samegame-v0", board_width=width, board_height=height, num_colors=colors)
        depth = np.sort(chance.integers(0, height, width))  # empty cells at the top of each column
        board = chance.integers(1, colors + 1, (height, width)) * (np.arange(height)[:, None] >= depth)
        board[-1] = 1
        mask, view = seen(game, load_state(game, {"board": board}), 0)
        assert np.array_equal(mask.reshape(height, width), groups(board))
        assert np.array_equal(view, board[:, :, None] == np.arange(1, colors + 1))


def moves(board, side):
    """Breakthrough: mask[W, H, 3] of a side (1 or 2) in board coordinates, board[W, H]."""
    step = 1 if side == 1 else -1
    around = np.pad(board, 1, constant_values=-1)
    mask = np.zeros((*board.shape, 3), bool)
    for z in range(3):
        target = np.roll(around, (1 - z, -step), (0, 1))[1:-1, 1:-1]
        mask[:, :, z] = (board == side) & (target >= 0) & (target != side) & ((z != 1) | (target == 0))
    return mask


@pytest.mark.parametrize("canonical", [False, True])
def test_breakthrough(canonical, interpreted):
    chance = np.random.default_rng(int(canonical))
    for width, height in some(BREAKTHROUGH, interpreted):
        game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, canonical=canonical)
        board = np.zeros((height, width), int)
        for side, rows in ((1, slice(0, height - 1)), (2, slice(1, height))):
            free = np.flatnonzero(board[rows] == 0)
            board[rows].flat[chance.choice(free, chance.integers(1, min(len(free), 2 * width) + 1), replace=False)] = side
        for agent in range(2):
            states = load_state(game, {"board": board, "first_agent": f"player_{agent}"})
            mask, view = seen(game, states, agent)
            turn = canonical and agent == 1
            expected = moves(board.T, 1 + agent)
            assert np.array_equal(mask.reshape(width, height, 3), expected[::-1, ::-1, ::-1] if turn else expected)
            planes = np.stack([board == 1 + agent, board == 2 - agent], axis=2)
            assert np.array_equal(view, planes[::-1, ::-1] if turn else planes)
            waiting, _ = seen(game, states, 1 - agent)
            assert not waiting.any()
