"""Masks, observations and search estimates on every board size, against array formulas; nothing beyond a field is touched.

The rules read and write 64 cells at a time, so that sizes around multiples of 64 are the ones to fear. Without the compiler,
and with NUMBA_BOUNDSCHECK=1, a vector beyond the end of its array is an error: the last test runs the others in both ways.
"""

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

import momagames
from momagames.engine import loops
from momagames.engine.episode import load_state
from momagames.engine.playouts import generate_starts
from momagames.games.pommerman.rules.state import FLAME_BITS, FOG, RIGID
from momagames.kernels.jit import compile_entry_point

GUARD = 256
SAMEGAME = [(w, h) for w in range(3, 31) for h in range(3, 31)]
BREAKTHROUGH = [(w, h) for w in range(3, 21) for h in range(5, 21)]
CONNECT4 = [(w, h) for w in range(4, 21) for h in range(4, 21)]


def seen(game, states, agent):
    """Mask and fields of the observation, written into the middle of larger buffers whose rest must stay as it is."""
    mask = np.full(2 * GUARD + game.mask_size, 7, np.int8)
    obs = np.full(2 * GUARD + game.observation_bytes, 7, np.uint8)
    loops.compile_episode_loops(game).observe(states, agent, obs[GUARD:-GUARD], mask[GUARD:-GUARD])
    for buffer in (mask, obs):
        assert (buffer[:GUARD] == 7).all()
        assert (buffer[-GUARD:] == 7).all()
    return mask[GUARD:-GUARD], game.observation_views(obs[GUARD:-GUARD])


def groups(board):
    """SameGame: which cells have an equal neighbor."""
    around = np.pad(board, 1)
    same = [around[1:-1, :-2], around[1:-1, 2:], around[:-2, 1:-1], around[2:, 1:-1]]
    return (board > 0) & np.any([board == other for other in same], axis=0)


@pytest.mark.parametrize("colors", [2, 10])
def test_samegame(colors):
    chance = np.random.default_rng(colors)
    for width, height in SAMEGAME:
        game = momagames.spec("mo-samegame-v0", board_width=width, board_height=height, num_colors=colors)
        depth = np.sort(chance.integers(0, height, width))  # empty cells at the top of each column
        board = chance.integers(1, colors + 1, (height, width)) * (np.arange(height)[:, None] >= depth)
        board[-1] = 1
        mask, fields = seen(game, load_state(game, {"board": board}), 0)
        assert np.array_equal(mask.reshape(height, width), groups(board))
        assert np.array_equal(fields["observation"], board[:, :, None] == np.arange(1, colors + 1))


def make_samegame_loop(game):
    """Return a loop that counts the groups of states[0] by the kernels of search, plays a move, and writes the features."""
    legal, step, search = game.kernels.legal, game.kernels.step, game.search
    prune, write_key, present, write_codes = (
        search.prune_equivalent_actions, search.exact.write_key, search.present, search.guidance.selective_moves
    )  # fmt: skip
    find_tabu_color, write_features = search.guidance.playout_guide, game.learning.objective_features.write

    def play(states, actions, reward, words, mask, order, codes, grades, features):
        legal(states[0], 0, mask)
        prune(states[0], mask)
        count = 0
        for a in range(mask.shape[0]):
            order[count] = a
            count += np.int64(mask[a])
        states[1] = states[0]
        groups = write_codes(states[1], find_tabu_color(states[0], 0), order, count, codes, grades)
        step(states[0], actions, reward)
        write_key(states[0], words)
        states[1] = states[0]
        present(states[1], features[1])
        states[1] = states[0]
        write_features(states[1], features)
        return groups

    return compile_entry_point(play, f"{game.rules_key}.tests.every_size")


@pytest.mark.long  # kernels of search in boards of two sizes
def test_tiles_of_samegame_are_counted():
    """The last move of a classic game, which counts the tiles that are left, and the estimates of search."""
    loops_by_rules = {}
    for width, height in SAMEGAME:
        game = momagames.spec("mo-samegame-v0", board_width=width, board_height=height, num_colors=4, scoring="classic")
        board = (np.arange(height)[:, None] + np.arange(width)) % 2 + 1
        board[:2, -1] = 3  # the only group: nothing falls
        states = np.concatenate([load_state(game, {"board": board})] * 2)
        play = loops_by_rules.get(game.rules_key) or loops_by_rules.setdefault(game.rules_key, make_samegame_loop(game))
        reward, features, n = np.zeros((1, 4), np.float32), np.zeros((8, 4)), game.mask_size
        groups = play(
            states, np.array([[width - 1]]), reward, np.zeros(game.search.exact.key_words, np.uint64), np.zeros(n, np.int8),
            *np.zeros((1, n + 1), np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64), features,
        )  # fmt: skip
        left = np.bincount(board.ravel(), minlength=5)[1:] * [1, 1, 0, 0]
        assert groups == 1
        assert states[0]["over"]
        assert reward[0].tolist() == np.where(left > 2, -((left - 2.0) ** 2), 0).tolist()
        assert features[0].tolist() == np.where(left > 1, (left - 2.0) ** 2 + 1000, 0).tolist()
        assert features[5].tolist() == left.tolist()


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
def test_breakthrough(canonical):
    chance = np.random.default_rng(int(canonical))
    for width, height in BREAKTHROUGH:
        game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, canonical=canonical)
        board = np.zeros((height, width), int)
        for side, rows in ((1, slice(0, height - 1)), (2, slice(1, height))):
            free = np.flatnonzero(board[rows] == 0)
            board[rows].flat[chance.choice(free, chance.integers(1, min(len(free), 2 * width) + 1), replace=False)] = side
        for agent in range(2):
            states = load_state(game, {"board": board, "first_agent": f"player_{agent}"})
            mask, fields = seen(game, states, agent)
            turn = canonical and agent == 1
            expected = moves(board.T, 1 + agent)
            assert np.array_equal(mask.reshape(width, height, 3), expected[::-1, ::-1, ::-1] if turn else expected)
            planes = np.stack([board == 1 + agent, board == 2 - agent], axis=2)
            assert np.array_equal(fields["observation"], planes[::-1, ::-1] if turn else planes)
            waiting, _ = seen(game, states, 1 - agent)
            assert not waiting.any()


def test_connect4():
    """Boards that are full up to the middle, or a row less, and whose first player may have more tokens."""
    for width, height in CONNECT4:
        game = momagames.spec("mo-connect4-v0", board_width=width, board_height=height)
        board = np.zeros((height, width), int)
        board[height // 2 :] = (np.arange(width) // 2 + np.arange(height - height // 2)[:, None]) % 2 + 1
        if (board == 1).sum() - (board == 2).sum() not in (0, 1):
            board[height // 2] = 0
        if (board == 1).sum() - (board == 2).sum() not in (0, 1):
            board[:] = 0
        board[0, 0] = 0
        states = load_state(game, {"board": board})
        mover = int((board > 0).sum()) % 2
        for agent in range(2):
            mask, fields = seen(game, states, agent)
            assert np.array_equal(mask, (board[0] == 0) * (agent == mover))
            assert np.array_equal(fields["observation"], np.stack([board == 1 + agent, board == 2 - agent], axis=2))


def look(cells, row, col, view, egocentric, fog=0, beyond=0):
    """Pommerman: what an agent sees of cells[n, n], with `fog` where it sees nothing and `beyond` where no board is."""
    if egocentric:
        return np.pad(cells, view, constant_values=beyond)[row : row + 2 * view + 1, col : col + 2 * view + 1]
    far = np.abs(np.arange(len(cells)) - [[row], [col]]) > view
    return np.where(far[0][:, None] | far[1], fog, cells)


@pytest.mark.parametrize("observation", ["dict", "planes"])
@pytest.mark.parametrize("egocentric", [None, False, True])
def test_pommerman(observation, egocentric):
    """An agent in each corner and in the middle of a burning board, without fog (None) and with it."""
    for size, view in product(range(7, 17), (15,) if egocentric is None else (1, 4, 7, 15)):
        params = {"is_partially_observable": egocentric is not None, "egocentric": bool(egocentric)}
        game = momagames.spec("mo-pommerman-radio-v0", board_size=size, agent_view_size=view, observation=observation, **params)
        assert game.dtype.fields["board"][1] + size * size + 15 <= game.dtype.itemsize  # `copy_padded16` reads beyond a row
        states = generate_starts(game, np.array([size], np.uint64))
        states["fire"][0, : size * size], states["burning"] = FLAME_BITS[2], 3
        board, flames = states["board"][0, : size * size].reshape(size, size), np.full((size, size), 3)
        for row, col in (*product((0, size - 1), repeat=2), (size // 2, size // 2)):
            states["row"][0, 0], states["col"][0, 0] = row, col
            at = row, col, view, egocentric
            mask, fields = seen(game, states, 0)
            assert mask.all()
            if observation == "dict":
                assert np.array_equal(fields["board"], look(board, *at, FOG, RIGID))
                assert np.array_equal(fields["flame_life"], look(flames, *at))
            else:
                assert np.array_equal(fields["observation"][1], look(board == 1, *at, 0, 1))


@pytest.mark.long
@pytest.mark.parametrize("way", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_no_vector_is_out_of_bounds(way, tmp_path):
    command = [sys.executable, "-m", "pytest", "--long", "-q", "-n", "0", "-k", "not out_of_bounds", __file__]
    environment = {**os.environ, way: "1", "MOMAGAMES_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
