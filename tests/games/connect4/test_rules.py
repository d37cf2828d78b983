"""Positions of MO-Connect4: their number, those that cannot be, and what learners see of them."""

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, InvalidState
from momagames.kernels.jit import compile_entry_point
from tests.games.connect4.naive import Connect4
from tests.games.test_cell_codes import cell_codes
from tests.games.walk import board, moves, start

ID = "mo-connect4-v0"
SIZES = [(4, 4), (7, 6), (20, 4), (5, 13), (9, 9)]


def expand(game):
    """Return the compiled function that plays every move of each state, and counts the positions after them."""
    legal, step, write_key = game.kernels.legal, game.kernels.step, game.search.exact.write_key

    def run(states, after, keys, mask, reward, actions):
        count = 0
        for i in range(states.shape[0]):
            legal(states[i], np.int64(states[i]["to_move"]), mask)
            for x in range(mask.shape[0]):
                if mask[x]:
                    after[count] = states[i]
                    actions[0, 0] = x
                    step(after[count], actions, reward)
                    write_key(after[count], keys[count])
                    count += 1
        return count

    return compile_entry_point(run, "tests.connect4.expand")


def test_number_of_positions(interpreted):
    """SPEC §1: 4x4 has 161,029 positions; in 26,740 of them the game is over."""
    if interpreted:
        pytest.skip("too slow without the compiler")
    game = momagames.spec(ID, board_width=4, board_height=4)
    layer, total, ended, play = game.make_state(), 1, 0, expand(game)
    while len(layer):
        after = np.zeros(len(layer) * 4, game.dtype)
        keys = np.zeros((len(after), game.search.exact.key_words), np.uint64)
        reward, actions = np.zeros((2, len(game.objectives)), np.float32), np.zeros((1, 1), np.int64)
        count = play(layer, after, keys, np.zeros(4, np.int8), reward, actions)
        layer = after[np.unique(keys[:count], axis=0, return_index=True)[1]]
        total, ended = total + len(layer), ended + int(layer["over"].sum())
        layer = layer[layer["over"] == 0]
    assert (total, ended) == (161_029, 26_740)


GOOD = ["....", "....", "2...", "112."]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"board": ["1...", "....", "2...", "112."]}, "row 0, column 0: a token lies above an empty cell"),
        ({"board": ["....", "....", "....", "222."]}, "player_0 has 0 tokens and player_1 3"),
        ({"board": ["....", "....", "....", "111."]}, "player_0 has 3 tokens and player_1 0"),
        ({"board": ["....", "....", "222.", "1111"]}, "row 3, column 0: player_0 has a line of four"),
        ({"board": ["2...", "12..", "2121", "1212"]}, "player_0 has 5 tokens and player_1 6"),
        ({"board": ["2211", "1122", "2211", "1122"]}, "all cells of the board are full"),
        ({"board": ["....", "....", "2...", "113."]}, "row 3, column 2: invalid cell='3'"),
        (
            {"board": GOOD, "next_agent": "player_1"},
            "invalid next_agent='player_1': expected 'player_0', since the board has 4",
        ),
        ({"board": GOOD, "first_agent": "player_1"}, "invalid first_agent='player_1'"),
        ({"board": GOOD, "ply": 3}, "invalid ply=3: expected an integer in 4..4"),
        ({"board": GOOD, "rng": -1}, "invalid rng=-1"),
    ],
)
def test_impossible_positions_are_rejected(options, why):
    game = momagames.spec(ID, board_width=4, board_height=4)
    with pytest.raises(InvalidState, match=why):
        load_state(game, options)


@pytest.mark.parametrize(("field", "value"), [("tokens", 2**32 - 1), ("tokens", 1), ("ply", 9), ("to_move", 1), ("width", 9)])
def test_forged_records_are_rejected(field, value):
    game = momagames.spec(ID, board_width=4, board_height=4)
    record = load_state(game, {"board": GOOD})[0]
    record[field] = value
    with pytest.raises(InvalidState):
        load_state(game, record)


def test_texts_are_read_back():
    game = momagames.spec(ID, board_width=4, board_height=4)
    state = load_state(game, {"board": GOOD})[0]
    text = game.codec.show(state)
    assert text.startswith("next_agent=player_0 ply=4")
    assert load_state(game, game.codec.read(text))[0] == state


def test_objectives_by_name():
    assert [one.name for one in momagames.spec(ID, board_width=4, objectives=("column_3", "win")).objectives] == [
        "column_3",
        "win",
    ]
    with pytest.raises(InvalidParameter, match="did you mean 'column_3'"):
        momagames.spec(ID, board_width=4, objectives=["column_4"])


def threats(rows, side, params):
    """Cells on which a token of a side would make a line of four, by the oracle."""
    found = set()
    for y, row in enumerate(rows):
        for x, symbol in enumerate(row):
            if symbol == ".":
                oracle = Connect4(**params)
                oracle.tokens = {(i, j): "12".index(s) for j, line in enumerate(rows) for i, s in enumerate(line) if s != "."}
                oracle.tokens[x, y] = side
                if oracle.has_line(side):
                    found.add((x, y))
    return found


def landing(rows):
    """Cells on which a token would land."""
    columns = [[row[x] for row in rows].count(".") - 1 for x in range(len(rows[0]))]
    return {(x, y) for x, y in enumerate(columns) if y >= 0}


def compile_view(game):
    write = game.learning.egocentric_view.write

    def run(states, agent, planes, scalars):
        write(states[0], agent, planes, scalars)

    return compile_entry_point(run, "tests.connect4.view")


def compile_features(game):
    write, clear = game.learning.objective_features.write, game.learning.clear_unsafe_actions

    def run(states, agent, out, mask):
        write(states[0], out)
        clear(states[0], agent, 1, mask)

    return compile_entry_point(run, "tests.connect4.features")


@pytest.mark.parametrize("size", SIZES)
def test_what_learners_see(size):
    """Codes, planes, features and safe actions at each position of games, against the oracle."""
    params = {"board_width": size[0], "board_height": size[1]}
    play = start(ID, 1, **params)
    view = play.game.learning.egocentric_view
    write_view, write_features = compile_view(play.game), compile_features(play.game)
    cleared = 0
    for _ in moves(play, 3):
        if play.state["over"]:
            break
        rows, mover = board(play), int(play.state["to_move"])
        by_side, free = [threats(rows, side, params) for side in (0, 1)], landing(rows)
        cells = {side: {(x, y) for y, row in enumerate(rows) for x, s in enumerate(row) if s == "12"[side]} for side in (0, 1)}
        for agent in (0, 1):
            planes = np.full(view.cells, 7, np.float32)
            write_view(play.states, agent, planes, planes[:0])
            found = [{(int(x), int(y)) for x, y in np.argwhere(plane)} for plane in planes.reshape(5, *size)]
            assert found == [cells[agent], cells[1 - agent], free, by_side[agent], by_side[1 - agent]]
            codes = cell_codes(play, agent).reshape(size)
            assert [{(int(x), int(y)) for x, y in np.argwhere(codes == k)} for k in (1, 2, 3)] == found[:3]
        out, mask = np.zeros((2, len(play.game.objectives))), play.mask(mover).copy()
        write_features(play.states, mover, out, mask)
        side = 1 - mover
        assert out[0, 0] == out[0, 1] == len(by_side[side]) - len(by_side[mover])
        assert out[1, 0] == out[1, 1] == -bool(by_side[mover] & free)
        leads = [
            sum(x == column for x, _ in cells[side]) - sum(x == column for x, _ in cells[mover]) for column in range(size[0])
        ]
        assert out[0, 2:].tolist() == np.sign(leads).tolist()
        assert np.allclose(out[1, 2:], np.array(leads) / size[1])
        safe = set()
        for x, y in free:
            after = (free - {(x, y)}) | ({(x, y - 1)} if y else set())
            if (x, y) in by_side[mover] or not after & by_side[side]:
                safe.add(x)
        assert set(np.flatnonzero(mask).tolist()) == (safe or {x for x, _ in free})
        cleared += len(free) - int(mask.sum())
    assert cleared or size != (7, 6)


def test_a_forfeit_is_a_loss():
    play = Episode(momagames.spec(ID))
    play.reset(0)
    play.state["over"] = 1
    assert play.game.view.result(play.state) == "player_1 won"
