"""A person at a keyboard: keys go down and up, a clock is given, the game moves."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from momagames.errors import InvalidCall, InvalidParameter, MissingExtra, UnknownId
from momagames.play import windowed
from momagames.play.windowed import GameWindow
from tests import meteors

SEED = 1  # no meteor falls on the person early


@pytest.fixture
def hit(pygame):
    """Press keys, one after the other; `down` and `up` do half of it."""

    def post(kind, name):
        pygame.event.post(pygame.event.Event(kind, key=pygame.key.key_code(name)))

    def both(*names):
        for name in names:
            both.down(name)
            both.up(name)

    both.down = lambda name: post(pygame.KEYDOWN, name)
    both.up = lambda name: post(pygame.KEYUP, name)
    return both


def sit(rate=4.0, human=None, game=None, seed=SEED):
    return GameWindow(game or meteors.for_people(), "random", seed, human, rate)


def ply(board):
    return int(board.session.episode.state["ply"])


def pixels(board, pygame):
    return pygame.surfarray.array3d(pygame.display.get_surface())


def test_the_clock_waits_for_the_first_key(hit):
    board = sit()
    for now in range(5):
        board.update(now)
    assert ply(board) == 0
    hit("right")
    board.update(5.0)
    assert ply(board) == 1
    assert board.session.last[0].tolist() == [2, 0]


def test_the_clock_steps_without_input(hit):
    board = sit(rate=4.0)
    hit("right")
    for now, plies in ((10.0, 1), (10.2, 1), (10.26, 2), (10.3, 2), (10.52, 3)):
        board.update(now)
        assert ply(board) == plies
    assert board.session.last[0].tolist() == [0, 0]
    board.update(11.0)
    assert board.session.last[0].tolist() == [1, 0]  # who stood still twice must move: the first legal action


def test_a_key_that_is_held_counts_until_it_is_released(hit):
    board = sit()
    hit.down("left")
    for now in (0.0, 1.0):
        board.update(now)
        assert board.session.last[0, 0] == 1
    hit.down("right")
    for now in (3.0, 3.5):
        board.update(now)
        assert board.session.last[0, 0] == 2
    hit.up("right")
    board.update(4.0)
    assert board.session.last[0, 0] == 1
    hit.up("left")
    board.update(5.0)
    assert board.session.last[0, 0] == 0


def test_a_short_press_between_two_steps_counts_once(hit):
    board = sit()
    hit("right")
    board.update(0.0)
    hit("left")
    board.update(0.1)
    assert ply(board) == 1
    board.update(0.3)
    assert board.session.last[0, 0] == 1
    board.update(0.6)
    assert board.session.last[0, 0] == 0


def test_message_parts_stay_until_changed(hit):
    board = sit()
    hit("2")
    for now in (0.0, 1.0):
        board.update(now)
        assert board.session.last[0, 1] == 2
    hit("0", "right")
    board.update(2.0)
    assert board.session.last[0].tolist() == [2, 0]


def test_without_a_clock_a_move_makes_a_step_and_a_word_does_not(hit):
    board = sit(rate=0)
    hit("1")
    for now in range(5):
        board.update(now)
    assert ply(board) == 0
    hit("left")
    board.update(5.0)
    assert ply(board) == 1
    assert board.session.last[0].tolist() == [1, 1]
    board.update(9.0)
    assert ply(board) == 1


def test_pause(hit):
    board = sit()
    hit("right")
    board.update(0.0)
    hit("p")
    for now in (1.0, 2.0):
        board.update(now)
    assert ply(board) == 1
    hit("p")
    board.update(3.0)
    assert ply(board) == 2


@pytest.mark.parametrize("key", ["escape", "q"])
def test_leaving(hit, key, pygame):
    board = sit()
    hit("right")
    hit(key)
    board.run()
    assert board.window.closed
    assert not pygame.display.get_init()
    assert ply(board) == 0


def test_closing_the_window_leaves(hit, pygame):
    board = sit()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    board.run()
    assert board.window.closed


def test_an_error_closes_the_window(hit, pygame, monkeypatch):
    board = sit()
    monkeypatch.setattr(board, "update", lambda now: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        board.run()
    assert not pygame.display.get_init()


def until(board, condition):
    """Let the clock run until this is so."""
    board.paused = False
    for now in range(100):
        if condition():
            return
        board.update(float(now))
    raise AssertionError("that never happened")


def test_a_person_out_of_the_game_sees_the_whole_state(hit, pygame):
    board = sit(rate=0, human="rover_1")
    assert board.renderer.options == {"viewer": "rover_1"}
    hit("v")
    board.update(0.0)
    assert board.renderer.options == {"viewer": "rover_1"}
    assert board.help_text() == "arrows: move, 0 to 2: say, b: big, p: pause, escape: leave"
    before = pixels(board, pygame)
    board.session.episode.state["gone"][1] = 1
    board.session.episode._observe()
    until(board, lambda: ply(board) == 1)
    assert board.renderer.options == {"viewer": None}
    assert "rover_1 is out" in board.status_text()
    assert not np.array_equal(pixels(board, pygame), before)
    assert "v: viewer" in board.help_text()
    hit("v")
    board.update(1.0)
    assert board.renderer.options == {"viewer": "rover_0"}
    until(board, lambda: board.over)
    assert "over" in board.status_text()
    end = ply(board)
    hit("left")
    board.update(1000.0)
    assert ply(board) == end
    assert "over after" in board.summary() or "cut off after" in board.summary()


def test_letters_cycle_the_render_options(hit, pygame):
    board = sit()
    before = pixels(board, pygame).shape
    hit("b")
    board.update(0.0)
    assert pixels(board, pygame).shape[0] == before[0] + 40
    assert board.paused
    hit("b")
    board.update(1.0)
    assert pixels(board, pygame).shape == before


def test_only_what_has_changed_is_drawn(hit, monkeypatch):
    board, pictures = sit(), []
    put = board.window.show
    monkeypatch.setattr(board.window, "show", lambda picture: (pictures.append(1), put(picture)))
    for now in range(5):
        board.update(now)
    assert not pictures
    hit("right")
    board.update(5.0)
    assert len(pictures) == 1


def test_the_lines_below_the_picture(hit, monkeypatch):
    """What is chosen and which keys there are: also while a key is down and nothing else changes."""
    board, lines = sit(rate=0), []
    write = windowed.canvas.write
    monkeypatch.setattr(
        windowed.canvas, "write", lambda sheet, x, y, text, *a, **k: (lines.append(text), write(sheet, x, y, text, *a, **k))
    )
    hit("1", "p", "p")
    board.update(0.0)
    assert {"rover_0: 0 1 next", board.help_text()} <= set(lines)
    lines.clear()
    hit.down("right")
    board.update(1.0)
    assert "rover_0: 2 1 next" in lines


def test_invalid_arguments(pygame):
    with pytest.raises(InvalidParameter, match="neither keys nor a mouse"):
        sit(game=meteors.game("meteors-v0"))
    with pytest.raises(InvalidParameter, match=r"invalid rate=-1: .* 0\.\.30"):
        sit(rate=-1)
    with pytest.raises(InvalidParameter, match="did you mean 'rover_1'"):
        sit(human="rover1")
    with pytest.raises(UnknownId, match="greedy"):
        GameWindow(meteors.for_people(), "gredy", 0, None)


def test_without_pygame_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtra, match=r'pip install "momagames\[render\]"'):
        sit()


def test_an_invisible_screen_is_an_error(monkeypatch, pygame):
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    with pytest.raises(InvalidCall, match="no screen"):
        sit()
    assert not pygame.display.get_init()
