"""Search support of games: keys of positions, equal exactly for equal futures; and one action for each group."""

import numpy as np
import pytest

from momagames.engine.positions import load_state
from momagames.kernels.jit import compile_entry_point
from tests.games.samegame.naive import SameGame
from tests.games.walk import board, legal, moves, start

KINDS = [
    ("mo-samegame-v0", {"board_width": 4, "board_height": 3, "num_colors": 3}),
    ("mo-samegame-v0", {"board_width": 5, "board_height": 7, "num_colors": 7, "num_agents": 3}),
    ("mo-samegame-v0", {"board_width": 8, "board_height": 4, "num_colors": 10, "num_agents": 2}),
    ("mo-breakthrough-v0", {"board_width": 3, "board_height": 5}),
    ("mo-breakthrough-v0", {"board_width": 9, "board_height": 9}),
    ("mo-connect4-v0", {"board_width": 5, "board_height": 4}),
]
entry_points = {}


def key(play):
    """The key of a position, as bytes."""
    game = play.game
    if game.id not in entry_points:
        kernel = game.search.exact.write_key

        def words_of(states, words):
            kernel(states[0], words)

        entry_points[game.id] = compile_entry_point(words_of, f"tests.{game.rules_key}.key")
    words = np.zeros(game.search.exact.key_words, np.uint64)
    entry_points[game.id](play.states, words)
    return words.tobytes()


def future(play):
    """Return the part of a position that determines its future: no random word, and in Breakthrough no move count."""
    data = play.game.codec.save(play.state)
    counted = data["ply"] if play.game.id == "mo-breakthrough-v0" else 0
    return tuple(data["board"]), data["next_agent"], counted


@pytest.mark.parametrize("colors", [4, 8])
def test_keys_have_bits_for_every_color(colors):
    """The highest color and that beside it, which a bit less for each cell would mix up."""
    play, keys = start("mo-samegame-v0", 0, board_width=3, board_height=3, num_colors=colors), set()
    for beside in (2, 3):
        play.load(load_state(play.game, {"board": [f"{colors}{beside}1", "111", "111"]})[0])
        keys.add(key(play))
    assert len(keys) == 2


@pytest.mark.parametrize(("id", "params"), KINDS)
def test_keys(id, params):
    play, other = (start(id, 0, **params) for _ in range(2))
    futures, keys = {}, {}
    for seed in range(6):
        play.reset(seed % 3)
        for before, *_ in moves(play, seed):
            futures.setdefault(key(play), set()).add(future(play))
            keys.setdefault(future(play), set()).add(key(play))
            for action in (a for i, a in enumerate(legal(play)) if i % 5 == 0):
                other.states[:] = play.states
                other.step(action)
                futures.setdefault(key(other), set()).add(future(other))
                keys.setdefault(future(other), set()).add(key(other))
            assert before["ply"] + 1 == play.state["ply"]
    assert len(keys) > 15
    assert all(len(found) == 1 for found in futures.values())
    assert all(len(found) == 1 for found in keys.values())


def test_another_mover_is_another_future():
    play = start("mo-samegame-v0", 4, board_width=4, board_height=4, num_agents=2)
    first = key(play)
    play.load(play.game.codec.save(play.state) | {"next_agent": "agent_1"})
    assert key(play) != first


def test_another_number_of_moves_is_another_future():
    """In Breakthrough, where a win is worth more the sooner it comes."""
    play, keys = start("mo-breakthrough-v0", 0, board_width=3, board_height=5), set()
    for ply in (11, 13):
        play.load({"board": ["...", "11.", ".2.", "2..", "..."], "next_agent": "player_0", "ply": ply})
        keys.add(key(play))
    assert len(keys) == 2


def test_pruning_keeps_an_action_of_every_group():
    params = {"board_width": 7, "board_height": 6, "num_colors": 3}
    play = start("mo-samegame-v0", 2, **params)
    kernel = play.game.search.prune_equivalent_actions

    def clear(states, mask):
        kernel(states[0], mask)

    clear = compile_entry_point(clear, "tests.samegame.thin")
    for _ in moves(play, 2):
        mask = play.masks[0].copy()
        clear(play.states, mask)
        remaining = set(np.flatnonzero(mask).tolist())
        assert remaining <= set(legal(play))
        for group in SameGame.given(board(play), **params).groups():
            assert remaining & {y * 7 + x for x, y in group}
        assert len(remaining) < len(legal(play)) or not remaining
