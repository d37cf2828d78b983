"""Pictures and texts of MO-Connect4, and people who play it with mouse and keys."""

import numpy as np
import pytest

import momagames
from momagames.adapters.render import Renderer
from momagames.engine.episode import Episode
from momagames.games import duel_board
from momagames.games.connect4.codec import find_line, unpack_board
from momagames.play.windowed import MouseGameWindow, open_game_window
from momagames.render import canvas

ID = "mo-connect4-v0"
WON = ["....", "....", "222.", "111."]


def load(rows, **params):
    play = Episode(momagames.spec(ID, board_width=len(rows[0]), board_height=len(rows), **params))
    play.load({"board": rows})
    return play


def text(play, last=None):
    return Renderer(play.game, "ansi").render(play.state, last, play.returns)


def test_texts_state_who_moves_and_who_won():
    play = load(WON)
    assert "player_0 is to move" in text(play)
    assert play.game.view.result(play.state) == "draw"  # before the end: not shown
    play.step(3)
    assert [line.strip() for line in text(play, 3).splitlines() if "won" in line or "lost" in line][:2] == [
        "O player_0 won",
        "X player_1 lost",
    ]
    assert "over after 7 plies: player_0 won" in text(play, 3)
    assert "3  O O O[O]" in text(play, 3)


def test_a_draw_is_stated():
    play = load(["112.", "2211", "1122", "2211"])
    play.step(3)
    assert play.game.view.result(play.state) == "draw"
    assert "player_0 drew" in text(play)
    assert "player_1 drew" in text(play)


def test_the_line_of_four_is_drawn():
    play = load(WON)
    play.step(3)
    assert find_line(unpack_board(play.state), 0) == [(3, 0), (3, 1), (3, 2), (3, 3)]
    top, left, side, *_ = play.game.view.animation.locate_cells(play.state, None)
    picture = play.game.view.draw(play.state, None)
    between = picture[int(top + 3.5 * side), left + side - 2 : left + side + 2]
    assert (between == canvas.WHITE).all()
    assert find_line(unpack_board(play.state), 1) == []


@pytest.mark.parametrize("rows", [["1...", "21..", "121.", "2121"], ["...2", "..21", ".212", "2111"]])
def test_lines_on_both_diagonals_are_found(rows):
    board = np.array([[".12".index(symbol) for symbol in row] for row in rows])
    cells = find_line(board, 0 if rows[0][0] == "1" else 1)
    assert len({y for y, _ in cells}) == len({x for _, x in cells}) == 4


def test_a_token_falls_from_above():
    play = load(["....", "....", "2...", "1..."])
    before = play.state.copy()
    play.step(0)
    animation = play.game.view.animation
    assert animation.find_slides(before, play.state, 0) == [((-1, 0), (1, 0))]
    assert animation.find_slides(before, before, 0) == []
    assert animation.find_slides(before, before, None) == []
    hidden = play.game.view.draw(play.state, None, hidden=[(1, 0)])
    top, left, side, *_ = animation.locate_cells(play.state, None)
    cell = np.s_[top + side : top + 2 * side, left : left + side]
    assert np.array_equal(hidden[cell], play.game.view.draw(before, None)[cell])


@pytest.mark.parametrize("size", [(7, 6), (4, 12), (20, 4)])
def test_clicks_and_keys_choose_columns(size):
    game = momagames.spec(ID, board_width=size[0], board_height=size[1])
    state, (pick, keys) = game.blank_state, (game.human.pick, game.human.keys)
    top, left, side, height, width = game.view.animation.locate_cells(state, None)
    assert (width, height) == size
    for x in range(width):
        for y in (top - duel_board.EDGE, top + side // 2, top + height * side - 1):
            places = [(left + x * side, y), (left + (x + 1) * side - 1, y)]
            assert pick(state, *places) == x
            assert pick(state, places[0], (places[1][0] + 1, y)) is None
    assert pick(state, (left - 1, top), (left - 1, top)) is None
    assert keys.choices == {str(x): ((0,), x) for x in range(min(width, 10))}


def test_a_window_takes_keys_and_clicks(pygame):
    window = open_game_window(ID, "random", 0, None, 4.0)
    assert isinstance(window, MouseGameWindow)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.key.key_code("3")))
    window.update(0.0)
    assert window.session.last == 3
    assert int(window.session.episode.state["ply"]) == 1
    assert "digit: drop a token into this column" in window.help_text()
