"""A person with a mouse: cells are clicked or dragged from, the game answers."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import momagames
from momagames.adapters.render import MARGIN
from momagames.cli import app
from momagames.games import duel_board
from momagames.games.breakthrough import view as breakthrough
from momagames.games.robotmail.view import drawing as robotmail
from momagames.games.samegame import view as samegame
from momagames.games.tileblast.view import drawing as tileblast
from momagames.games.tileblast.view.scene import tap_cells
from momagames.play import windowed
from momagames.play.session import Session
from momagames.play.windowed import MouseGameWindow, open_game_window
from momagames.render import canvas

SAMEGAME, BREAKTHROUGH, TILEBLAST = "mo-samegame-v0", "mo-breakthrough-v0", "mo-tileblast-v0"
ROBOTMAIL = "mo-robotmail-v0"


@pytest.fixture
def mouse(pygame):
    """Move, press and release a mouse at pixels of the window, and press keys."""

    class Mouse:
        def post(self, kind, **facts):
            pygame.event.post(pygame.event.Event(kind, **facts))

        def move(self, place):
            self.post(pygame.MOUSEMOTION, pos=place)

        def drag(self, start, end, button=1):
            self.post(pygame.MOUSEBUTTONDOWN, button=button, pos=start)
            self.post(pygame.MOUSEBUTTONUP, button=button, pos=end)

        def click(self, place, button=1):
            self.drag(place, place, button)

        def key(self, name):
            self.post(pygame.KEYDOWN, key=pygame.key.key_code(name))

    return Mouse()


def opened(id, seed=0, opponent="random", human=None, rate=4.0, **params):
    board = open_game_window(id, opponent, seed, human, rate, **params)
    assert isinstance(board, MouseGameWindow)
    return board


def pixel(x, y, side, left, top):
    """The middle of a cell, as a pixel of the window."""
    return int(MARGIN + left + (x + 0.5) * side), int(MARGIN + top + (y + 0.5) * side)


def tile(cell):
    """Of MO-TileBlast (SPEC §1.2)."""
    return pixel(cell % 13, 8 - cell // 13, tileblast.SIDE, tileblast.EDGE, tileblast.BAR)


def ply(board):
    return int(board.session.episode.state["ply"])


def valid(board):
    return np.flatnonzero(board.session.episode.masks[0]).tolist()


def pixels(pygame):
    return pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)


def test_every_pixel_of_a_cell_is_that_cell():
    state = momagames.spec(TILEBLAST).blank_state
    for cell in range(117):
        top, left = tileblast.top_left(cell)
        for place in ((left, top), (left + tileblast.SIDE - 1, top + tileblast.SIDE - 1)):
            assert tileblast.pick(state, place, place) == cell
            assert tileblast.point(state, *place) == {"cell": cell}
    low, high = tileblast.top_left(0), tileblast.top_left(116)
    for place in (
        (low[1] - 1, low[0]),
        (low[1], low[0] + tileblast.SIDE),
        (high[1] + tileblast.SIDE, high[0]),
        (high[1], high[0] - 1),
    ):
        assert tileblast.pick(state, place, place) is None
        assert tileblast.point(state, *place) == {}


@pytest.mark.parametrize("opponent", ["greedy", "champion"])
def test_policies_are_compiled_before_the_window_opens(opponent, monkeypatch):
    moves = []
    step = Session.step
    monkeypatch.setattr(Session, "step", lambda session, chosen: moves.append(session) or step(session, chosen))
    board = opened(BREAKTHROUGH, opponent=opponent)
    assert moves
    assert board.session not in moves
    assert ply(board) == 0
    moves.clear()
    opened(BREAKTHROUGH, opponent=lambda state, mask, generator: 0)  # Python: it would see a game without a player
    assert not moves


def test_a_click_taps_the_cell(mouse):
    board = opened(TILEBLAST, level=4, seed=3)
    cell = valid(board)[5]
    mouse.click(tile(cell))
    board.update(0.0)
    assert ply(board) == 1
    assert board.session.last == cell
    assert board.session.episode.state["moves"] == 1
    for now in range(1, 5):  # no step without input
        board.update(float(now))
    assert ply(board) == 1


def expected_picture(board):
    """The last position as the window shows it at rest."""
    episode, session = board.session.episode, board.session
    return board.add_lines(board.renderer.draw_picture(episode.state, session.last, episode.returns))


def test_pieces_slide_to_their_cells(mouse, pygame):
    board = opened(TILEBLAST, level=4, seed=3)
    start = pixels(pygame)
    mouse.click(tile(valid(board)[5]))
    pictures = []
    board.update(5.0)
    for k in range(9):
        board.update(5.0 + (k + 0.5) * windowed.SLIDE_TIME / 6)
        pictures.append(pixels(pygame))
    assert len({picture.tobytes() for picture in [start, *pictures]}) == 8
    assert (pictures[5] != expected_picture(board)).any()
    assert (pictures[6] == expected_picture(board)).all()


@pytest.mark.parametrize("what", ["a click", "a key", "a move"])
def test_input_ends_the_slides_at_once(mouse, what, pygame):
    board = opened(TILEBLAST, level=4, seed=3)
    mouse.click(tile(valid(board)[5]))
    board.update(5.0)
    assert (pixels(pygame) != expected_picture(board)).any()
    plies = ply(board)
    if what == "a move":
        mouse.click(tile(valid(board)[0]))
    elif what == "a click":
        mouse.click((3, 3))
    else:
        mouse.key("z")
    board.update(5.001)
    assert ply(board) == plies + (what == "a move")
    at_rest = (pixels(pygame) == expected_picture(board))[MARGIN:].all()  # above is the dot of the click
    assert at_rest == (what != "a move")  # the next slides have begun


def test_pieces_do_not_slide_in_fast_games(mouse, pygame):
    board = opened(TILEBLAST, level=4, seed=3, rate=10.0)
    mouse.click(tile(valid(board)[5]))
    board.update(5.0)
    assert (pixels(pygame) == expected_picture(board)).all()


def test_clicks_beside_cells_are_ignored(mouse, pygame):
    board = opened(TILEBLAST)
    place = tile(valid(board)[0])
    for ignored in (
        lambda: mouse.drag(place, tile(116)),  # another cell
        lambda: mouse.click(place, button=3),
        lambda: mouse.click((3, 3)),  # beside the board
        lambda: mouse.post(pygame.MOUSEBUTTONUP, button=1, pos=place),
    ):
        ignored()
        board.update(0.0)
        assert ply(board) == 0


def test_a_misplaced_click_is_ignored(mouse):
    board = opened(TILEBLAST, level=4)
    wrong = next(cell for cell in range(117) if cell not in valid(board))
    mouse.click(tile(wrong))
    board.update(0.0)
    assert ply(board) == 0
    assert board.status_text() == f"({wrong % 13},{wrong // 13}) is illegal."
    mouse.click(tile(valid(board)[0]))
    board.update(1.0)
    assert ply(board) == 1


def test_the_pointer_shows_the_group(mouse, pygame):
    board = opened(TILEBLAST, level=1, seed=2)
    before, state = pixels(pygame), board.session.episode.state
    cell = max(valid(board), key=lambda one: len(tap_cells(state, one)))
    assert len(tap_cells(state, cell)) > 3
    mouse.move(tile(cell))
    board.update(0.0)
    changed = (pixels(pygame) != before).any(axis=2)[: -2 * windowed.LINE_HEIGHT - MARGIN]
    ys, xs = np.nonzero(changed)
    touched = {
        ((x - MARGIN - tileblast.EDGE) // tileblast.SIDE, (y - MARGIN - tileblast.BAR) // tileblast.SIDE)
        for y, x in zip(ys, xs, strict=True)
    }
    near = {(one % 13 + dx, 8 - one // 13 + dy) for one in tap_cells(state, cell) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    assert touched
    assert touched <= near
    assert board.status_text() == f"agent_0: ({cell % 13},{cell // 13})"
    mouse.move((2, 2))
    board.update(1.0)
    assert np.array_equal(pixels(pygame), before)


def test_highlighted_groups_equal_burst_groups():
    """§4.2: as many as the infos then say; §4.3: none where no tap is valid."""
    env = momagames.make(TILEBLAST, api="gymnasium", level=7)
    _, info = env.reset(seed=3)
    for _ in range(8):
        for cell in range(117):
            found = tap_cells(env.episode.state, cell)
            assert bool(found) == bool(info["action_mask"][cell])
            if found:
                after = env.peek(cell)[4]
                assert after["cluster"] == len(found) or after["used"] >= len(found)
        _, _, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))


def test_undo_and_again(mouse):
    board = opened(TILEBLAST, seed=4)
    start = board.session.episode.states.tobytes()
    mouse.key("u")  # nothing to take back
    board.update(0.0)
    for now in range(1, 4):
        mouse.click(tile(valid(board)[0]))
        board.update(float(now))
    third = board.session.episode.states.tobytes()
    mouse.click(tile(valid(board)[1]))
    board.update(5.0)
    mouse.key("u")
    board.update(6.0)
    assert board.session.episode.states.tobytes() == third
    mouse.key("r")
    board.update(7.0)
    assert board.session.episode.states.tobytes() == start
    mouse.click(tile(valid(board)[0]))
    board.update(8.0)
    assert ply(board) == 1


def test_the_end_stays_in_view_and_can_be_taken_back(mouse):
    board = opened(TILEBLAST, max_taps=1)
    mouse.click(tile(valid(board)[0]))
    board.update(0.0)
    assert board.over
    assert "over" in board.status_text()
    mouse.click(tile(0))
    mouse.key("u")
    board.update(1.0)
    assert not board.over


def test_letters_leave_and_change_the_look(mouse, pygame):
    board = opened(TILEBLAST)
    assert board.help_text() == "mouse: play, g: groups, u: take back, r: from the start, escape: leave"
    mouse.key("g")
    board.update(0.0)
    assert board.renderer.options == {"groups": False}
    mouse.key("q")
    board.run()
    assert not pygame.display.get_init()


def test_others_answer_by_the_clock(mouse):
    board = opened(TILEBLAST, num_agents=2)
    mouse.click(tile(valid(board)[0]))
    board.update(10.0)
    assert ply(board) == 1
    assert board.status_text() == "agent_1 moves next."
    mouse.click(tile(valid(board)[0]))  # it is not the person's turn
    board.update(10.1)
    assert ply(board) == 1
    board.update(10.3)
    assert ply(board) == 2
    board.update(20.0)
    assert ply(board) == 2


def test_the_mouse_in_samegame(mouse):
    board = opened(SAMEGAME, board_width=6, board_height=9, num_colors=3)
    side = (canvas.LONG_SIDE - samegame.EDGE) // 9
    action = valid(board)[-1]
    y, x = divmod(action, 6)
    mouse.click(pixel(x, y, side, samegame.EDGE, samegame.EDGE))
    board.update(0.0)
    assert ply(board) == 1
    assert board.session.last == action


@pytest.mark.parametrize(
    ("canonical", "human", "how"),  # all pairs
    [
        (False, "player_0", "drag"),
        (False, "player_1", "clicks"),
        (True, "player_0", "clicks"),
        (True, "player_1", "drag"),
    ],
)
def test_the_mouse_in_breakthrough(mouse, canonical, human, how):
    """Every legal move, from cell to cell."""
    size = {"board_width": 4, "board_height": 6}
    board = opened(BREAKTHROUGH, human=human, canonical=canonical, **size)
    board.update(0.0)  # player_0, if the person is the other
    side = (canvas.LONG_SIDE - 2 * duel_board.EDGE - 2 * duel_board.STRIP) // 6
    top, left = duel_board.STRIP + duel_board.EDGE, breakthrough.measure_board(6, 4).cells.left
    before = ply(board)
    for now, action in enumerate(valid(board), 1):
        state = board.session.episode.state
        after = state.copy()
        after["to_move"] = 1 - state["to_move"]
        start, end = breakthrough.last_move_cells(after, action)
        start, end = (pixel(x, y, side, left, top) for y, x in (start, end))
        if how == "drag":
            mouse.drag(start, end)
        else:
            mouse.click(start)
            board.update(50.0 * now)
            assert board.first_click == start
            mouse.click(end)
        board.session.undo_move()
        board.next_step_time = 1e9  # the other waits
        board.update(50.0 * now + 1)
        assert ply(board) == before + 1
        assert board.session.last == action
        mouse.key("u")
        board.update(50.0 * now + 2)
        assert ply(board) == before


def test_backwards_is_no_move(mouse):
    board = opened(BREAKTHROUGH)
    mouse.drag((300, 200), (300, 60))
    board.update(0.0)
    assert ply(board) == 0


def test_a_click_that_waits_is_shown(mouse, pygame):
    board = opened(BREAKTHROUGH)
    before = pixels(pygame)
    mouse.click((300, 100))
    board.update(0.0)
    assert (pixels(pygame)[95:106, 295:306] != before[95:106, 295:306]).any()


# ------------------------------------------------------------------------------------- MO-RoboticMail: mouse and keys


STEPS = {"space": (0, 0), "up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def robot_at(board, robot=0):
    state = board.session.episode.state
    return int(state["x"][robot]), int(state["y"][robot])


@pytest.mark.parametrize("how", ["click", "key"])
def test_a_robot_goes_by_click_and_by_key(mouse, how):
    board = opened(ROBOTMAIL, seed=1)
    side = robotmail.cell_side(9, 9)
    (x, y), played = robot_at(board), valid(board)
    for now, (action, (key, (dx, dy))) in enumerate(enumerate(STEPS.items())):
        board.next_step_time = 1e9  # the other waits
        if how == "key":
            mouse.key(key)
        else:
            mouse.click(pixel(x + dx, y + dy, side, robotmail.EDGE, robotmail.EDGE))
        board.update(float(now))
        assert ply(board) == (action in played)
        if action in played:
            assert board.session.last == action
            assert robot_at(board) == (x + dx, y + dy)
            mouse.key("u")
            board.update(now + 0.5)
        else:
            assert board.status_text() == f"{('stand', 'forward', 'backward', 'left', 'right')[action]} is illegal."
    assert played


def test_the_keys_are_explained_and_are_not_pressed_for_others(mouse):
    board = opened(ROBOTMAIL)
    assert board.help_text() == "mouse: play, arrows: move, space: stand, u: take back, r: from the start, escape: leave"
    board.next_step_time = 1e9
    for key in ("space", "up"):
        mouse.key(key)
        board.update(0.0)
    assert ply(board) == 1
    assert board.status_text() == "robot_1 moves next."


def stuck(board):
    """The robot of the person has no energy left and has stood as long as it may."""
    data = board.session.episode.game.codec.save(board.session.episode.state)
    data["robots"][0][3:5], data["robots"][0][6] = [0.0, 0], 5
    board.session.episode.load(data)
    board.drawn_content = None


def test_agents_without_a_move_are_skipped(mouse):
    board = opened(ROBOTMAIL, always_legal=False)
    stuck(board)
    board.next_step_time = 1.0
    mouse.key("space")
    board.update(0.9)
    assert ply(board) == 0
    assert board.status_text() == "robot_0 has no legal action."
    board.update(1.0)
    board.update(1.3)
    assert ply(board) == 2
    assert board.session.episode.state["illegal"] == 0


def test_what_a_robot_does_not_observe_is_shown_at_the_end(mouse):
    board = opened(ROBOTMAIL, max_step=3)
    assert board.renderer.options == {"viewer": "robot_0"}
    mouse.key("v")
    board.update(0.0)
    assert board.renderer.options == {"viewer": "robot_0"}
    for now in range(1, 5):
        if board.session.human_turns():
            mouse.key(list(STEPS)[valid(board)[0]])
        board.update(float(now))
    assert board.over
    assert board.renderer.options == {"viewer": None}
    mouse.key("u")
    board.update(9.0)
    assert board.renderer.options == {"viewer": "robot_0"}


def test_the_command_with_layouts(pygame, monkeypatch):
    monkeypatch.setattr(MouseGameWindow, "run", lambda board: board.window.close())
    for layout in ("mini6", "random"):
        run = CliRunner().invoke(app.app, ["play", ROBOTMAIL, "--window", "-p", f"layout={layout}", "--seed", "1"])
        assert run.exit_code == 0, run.output
        assert "delivery" in run.output
    text = CliRunner().invoke(app.app, ["play", ROBOTMAIL, "--terminal", "--seed", "1"], input="?\nq\n")
    assert text.exit_code == 0, text.output
    assert "legal moves: " in text.output
    assert "m?" in text.output
    assert "step 0 of 500  robot_0 to move, 1 step left" in text.output


def test_the_command(pygame, monkeypatch, tmp_path):
    """momagames play with a level by number or by file, in a window that is closed at once, and in the terminal."""
    file = tmp_path / "mine.yaml"
    made = CliRunner().invoke(app.app, ["level", "generate", "--seed", "3", "--guess", "--out", str(file)])
    assert made.exit_code == 0, made.output
    for level in ("4", str(file)):
        monkeypatch.setattr(MouseGameWindow, "run", lambda board: board.window.close())
        run = CliRunner().invoke(app.app, ["play", TILEBLAST, "--window", "-p", f"level={level}", "--seed", "1"])
        assert run.exit_code == 0, run.output
        assert "goals" in run.output
        text = CliRunner().invoke(
            app.app, ["play", TILEBLAST, "--terminal", "-p", f"level={level}", "--seed", "1"], input="?\nq\n"
        )
        assert text.exit_code == 0, text.output
        assert "legal moves: (" in text.output
