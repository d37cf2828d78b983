"""Dense random positions of MO-Pommerman: few walls, rolling bombs with short fuses, several flames on a cell, kickers."""

import numpy as np


def random_position(game, seed):
    """Return a random position of a game in the dict form (SPEC §9.1)."""
    rng = np.random.default_rng(seed)
    size, seats = game.params["board_size"], len(game.agents)
    corner = rng.integers(0, size - 4, 2)  # everything happens in 5 x 5 cells
    cells = [(int(corner[0] + k // 5), int(corner[1] + k % 5)) for k in rng.permutation(25)]
    board = np.zeros((size, size), int)
    agents, bombs, flames, owners, items = [], [], [], [], []
    for seat in range(seats):
        row, col = cells.pop()
        alive = int(rng.random() < 0.9)
        board[row, col] = 10 + seat if alive else 0
        agents.append([alive, row, col, int(rng.integers(0, 4)), int(rng.integers(2, 5)), int(rng.random() < 0.7)])
        if rng.random() < 0.2:
            board[row, col] = board[row, col] or 3
            bombs.append([row, col, *bomb(rng, seats)])
    for _ in range(rng.integers(0, 6)):
        row, col = cells.pop()
        board[row, col] = 3
        bombs.append([row, col, *bomb(rng, seats)])
    for _ in range(rng.integers(0, 3)):
        row, col = cells.pop()
        board[row, col] = 4
        for life in sorted(rng.choice(3, rng.integers(1, 3), replace=False).tolist()):
            flames.append([row, col, life])
            owners.append(int(rng.integers(0, 2**seats)))
        if rng.random() < 0.5:
            items.append([row, col, int(rng.integers(6, 9))])
    for _ in range(rng.integers(0, 6)):
        row, col = cells.pop()
        board[row, col] = rng.choice([1, 2, 2, 6, 7, 8])
        if board[row, col] == 2 and rng.random() < 0.7:
            items.append([row, col, int(rng.integers(6, 9))])
    order = sorted(range(len(flames)), key=lambda k: (flames[k][2], flames[k][0], flames[k][1]))
    messages = {"messages": rng.integers(0, 9, (seats, 2)).tolist()} if len(game.actions) > 1 else {}
    return messages | {
        "board": "".join(f"{code:x}" for code in board.ravel()),
        "agents": agents,
        "bombs": bombs,
        "flames": [flames[k] for k in order],
        "flame_owners": [owners[k] for k in order],
        "items": sorted(items),
        "step_count": int(rng.integers(0, min(8, game.params["max_steps"]))),
    }


def bomb(rng, seats):
    """Life, strength, owner, direction."""
    direction = int(rng.integers(1, 5)) if rng.random() < 0.6 else 0
    return int(rng.integers(1, 10)), int(rng.integers(2, 5)), int(rng.integers(0, seats)), direction
