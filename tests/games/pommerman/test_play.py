"""A person plays MO-Pommerman: in a window with scripted keys, at the terminal with typed lines."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest
from rich.console import Console

from momagames.adapters.render import MARGIN
from momagames.cli import app
from momagames.errors import InvalidCall, MissingExtra
from momagames.games.pommerman.view import drawing
from momagames.play import terminal, windowed

pytestmark = pytest.mark.compiled

FFA, RADIO, DUEL = "mo-pommerman-ffa-v0", "mo-pommerman-radio-v0", "mo-pommerman-duel-v0"


def resting(state, mask, rng):
    """A policy that stands still and says nothing."""
    return np.zeros(3, np.int64) if len(mask) > 6 else 0


# -------------------------------------------------------------------------------------------------------------- window


def unattended(seconds):
    raise AssertionError("a window waits for input")


@pytest.fixture
def pygame(monkeypatch):
    """pygame without a screen; a window may only wait where a test says what happens meanwhile."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    module = pytest.importorskip("pygame")
    monkeypatch.setattr(windowed.time, "sleep", unattended)
    yield module
    module.display.quit()


@pytest.fixture
def hit(pygame):
    """Press keys, one after the other."""

    def press(*names):
        for name in names:
            for kind in (pygame.KEYDOWN, pygame.KEYUP):
                pygame.event.post(pygame.event.Event(kind, key=pygame.key.key_code(name)))

    return press


def pixel(pygame, board, row, col):
    """The colors of a cell in the window."""
    side = drawing.cell_side(int(board.session.episode.state["size"]))
    x, y = MARGIN + drawing.EDGE + col * side, MARGIN + drawing.EDGE + row * side
    return pygame.surfarray.array3d(pygame.display.get_surface())[x : x + side, y : y + side]


def test_arrows_move_and_space_lays_a_bomb(hit, pygame):
    """On a board without walls: two steps down, one to the right, a bomb, a step back."""
    board = windowed.open_game_window(FFA, resting, 1, None, 0, num_rigid=0, num_wood=0, num_items=0)
    state = board.session.episode.state
    for now, key in enumerate(("down", "down", "right", "space", "up", "left", "s")):
        hit(key)
        board.update(float(now))
    assert int(state["ply"]) == 7
    assert (int(state["row"][0]), int(state["col"][0])) == (2, 1)
    assert int(state["bombs"]) == 1
    assert (int(state["bomb_row"][0]), int(state["bomb_col"][0])) == (3, 2)


def test_the_pointer_on_a_bomb_shows_its_range(hit, pygame):
    board = windowed.open_game_window(FFA, resting, 1, None, 0, num_rigid=0, num_wood=0, num_items=0)
    hit("down", "space")
    board.update(0.0)
    hit("down")
    board.update(1.0)
    board.update(1.5)  # pieces have arrived
    before = {cell: pixel(pygame, board, *cell) for cell in ((1, 1), (1, 2), (1, 3), (3, 1), (5, 5))}
    side = drawing.cell_side(11)

    def point(row, col):
        at = MARGIN + drawing.EDGE + (col + 0.5) * side, MARGIN + drawing.EDGE + (row + 0.5) * side
        pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=tuple(map(int, at))))
        board.update(2.0)
        return {cell for cell, seen in before.items() if not np.array_equal(seen, pixel(pygame, board, *cell))}

    bomb = int(board.session.episode.state["bomb_row"][0]), int(board.session.episode.state["bomb_col"][0])
    assert bomb == (1, 1)
    assert point(*bomb) == {(1, 1), (1, 2)}
    assert point(5, 5) == set()


def test_digits_choose_the_two_words_in_turn(hit):
    board = windowed.open_game_window(RADIO, resting, 1, None, 0)
    hit("3", "5", "s")
    board.update(0.0)
    assert board.session.episode.state["message"][0].tolist() == [3, 5]
    hit("8", "s")
    board.update(1.0)
    assert board.session.episode.state["message"][0].tolist() == [8, 5]
    hit("0", "0", "s")
    board.update(2.0)
    assert board.session.episode.state["message"][0].tolist() == [0, 0]


def test_fogged_game_shows_the_view_of_the_human_player(hit, pygame):
    board = windowed.open_game_window(RADIO, resting, 1, "agent_1", 0)
    assert board.renderer.options == {"viewer": "agent_1"}
    hit("space")
    board.update(0.0)
    fog = pixel(pygame, board, 1, 9)
    for now in range(1, 10):
        hit("s")
        board.update(float(now))
    assert not board.session.episode.state["alive"][1]
    assert board.renderer.options == {"viewer": None}
    assert not np.array_equal(pixel(pygame, board, 1, 9), fog)
    assert "agent_1 is out of the game" in board.status_text()


def test_a_whole_game_against_the_scripted_agent(hit, monkeypatch):
    """By the clock, with a person that never does anything: the others play on, and the end is announced."""
    now = iter(np.arange(0, 1000, 0.25))
    monkeypatch.setattr(windowed.time, "monotonic", lambda: float(next(now)))
    board = windowed.open_game_window(DUEL, "simple", 4, None, 4.0, max_steps=12)
    hit("s")

    def sleep(seconds):
        if board.over:
            hit("escape")

    monkeypatch.setattr(windowed.time, "sleep", sleep)
    board.run()
    assert board.over
    assert board.session.episode.returns[1, 0] in (-1, 0, 1)
    assert re.search(r"(over|cut off) after \d+ plies", board.summary())


def test_play_prints_returns_when_the_window_closes(hit, monkeypatch):
    keys = iter([["space"], ["s"], ["escape"]])
    monkeypatch.setattr(windowed.time, "sleep", lambda seconds: hit(*next(keys)))
    returns = windowed.play(FFA, resting, seed=1, rate=0)
    assert returns.shape == (4, 5)
    assert returns[0].tolist() == [0, 0, 0, 0, -1]


# ------------------------------------------------------------------------------------------------------------ terminal


def typed(monkeypatch, id, *lines, **options):
    """Play with these typed lines; what was shown, and the returns."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    screen = io.StringIO()
    returns = terminal.play(id, console=Console(file=screen, width=200), **options)
    return screen.getvalue(), returns


def test_typed_moves(monkeypatch):
    output, returns = typed(monkeypatch, FFA, "bomb", "d", "fly", seed=1, opponent=resting)
    assert "agent_0 plays bomb: agent_0 bombs -1" in output
    assert not re.search("agent_[123] (plays|bombs)", output), "without fog too, what others do and get is not announced"
    assert "agent_0 plays down" in output
    assert "'fly' is not an action: type 'stop', 'up'" in output
    assert "09" in output
    assert returns[0, 4] == -1


def test_typed_words_and_fog(monkeypatch):
    output, _ = typed(monkeypatch, RADIO, "stop 3 5", "stop", seed=1, opponent="random")
    assert "agent_0 plays stop 3 5: agent_0 comm -1" in output
    assert "agent_0 plays stop 0 0: no reward" in output
    assert "says 3 5" in output
    assert ":: ::" in output
    assert not re.search("agent_[123] (plays|comm|bombs)", output)
    assert "agent_0        0" in output
    assert not re.search(r"agent_[123] +-?\d", output.rpartition("You have left")[0])


def test_a_dead_player_at_the_terminal_watches_the_rest(monkeypatch):
    output, returns = typed(
        monkeypatch, RADIO, "bomb", *["stop"] * 9, seed=1, opponent=resting, max_steps=20, objectives=["outcome", "self_kill"]
    )
    assert "You have left" not in output
    assert "cut off after 20 plies" in output
    assert returns[0].tolist() == [-1, -1]
    assert output.count("agent_0> ") == 10
    assert "::" not in output.rpartition("agent_3 plays stop")[2]


# ------------------------------------------------------------------------------------------------------------- command


class Terminal(io.StringIO):
    """Typed lines that come from a terminal."""

    def isatty(self):
        return True


def test_command_opens_a_window_in_an_interactive_session(hit, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Terminal("q\n"))
    monkeypatch.setattr(windowed.time, "sleep", lambda seconds: hit("escape"))
    app.play(FFA, seed=1)
    out = capsys.readouterr().out
    assert "ply 0, all agents to move" in out
    assert "agent_0>" not in out


@pytest.mark.parametrize(("stdin", "window"), [(io.StringIO, None), (Terminal, False)])
def test_the_command_stays_in_the_terminal(pygame, monkeypatch, capsys, stdin, window):
    monkeypatch.setattr(sys, "stdin", stdin("q\n"))
    app.play(FFA, seed=1, window=window)
    assert "agent_0>" in capsys.readouterr().out
    assert not pygame.display.get_init()


def test_without_pygame_the_command_names_the_extra_and_continues(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pygame", None)
    monkeypatch.setattr(sys, "stdin", Terminal("up\nq\n"))
    app.play(FFA, seed=1)
    said = capsys.readouterr()
    assert 'pip install "momagames[render]"; you play in the terminal' in said.err
    assert "agent_0 plays up" in said.out
    with pytest.raises(MissingExtra, match=r"momagames\[render\]"):
        app.play(FFA, seed=1, window=True)


def test_without_a_screen_the_command_uses_the_terminal(pygame, monkeypatch, capsys):
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    monkeypatch.setattr(sys, "stdin", Terminal("q\n"))
    app.play(FFA, seed=1)
    said = capsys.readouterr()
    assert "there is no screen; you play in the terminal" in said.err
    assert "agent_0>" in said.out
    with pytest.raises(InvalidCall):
        app.play(FFA, seed=1, window=True)
