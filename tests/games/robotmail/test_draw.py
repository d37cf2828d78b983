"""MO-RoboticMail for people: pictures and text of positions made by hand."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import momagames
from momagames.games.robotmail.codec import ACTIONS
from momagames.games.robotmail.rules.state import (
    BACKWARD,
    EVENTS,
    FORWARD,
    LEFT,
    MAX_PLAYERS,
    MAX_SIDE,
    MAX_TEAM,
    PICKED_UP,
    RIGHT,
    STAND,
    cell_at,
)
from momagames.games.robotmail.view import drawing, tiles
from momagames.games.robotmail.view.text import CELL_WIDTH, format_text
from momagames.render import canvas
from momagames.render.text import plain
from tests.adapters.test_render import SIGHTS, closest

pytestmark = pytest.mark.compiled

# A wall on (1, 0), a number on gray on (0, 2); narrow are (0, 0) and (1, 1), between the wall and a receiver
BOARD = {
    "colors": ["g,r,y,w,g,b", "y,g,g,g,w,w", "g,w,gr,w,w,y", "w,w,g,gr,w,g", "g,g,w,w,y,w"],
    "targets": ["0,0,5,0,0,0", "12,0,0,0,0,0", "5,0,0,0,0,7", "0,0,0,0,0,0", "0,0,0,0,5,0"],
}
HEIGHT, WIDTH = 5, 6
HOME = [(1, 3), (0, 3), (4, 3), (3, 0)]
WAITING = {(2, 2): 5, (3, 3): 12}


def position(players=2, team=2, layout=BOARD, places=HOME, waiting=WAITING, **given):
    """Robots on their places, with full batteries; mails on green cells."""
    params = {name: given.pop(name) for name in ("with_battery", "observation", "random_num_steps") if name in given}
    game = momagames.spec("mo-robotmail-v0", num_players=players, num_robots_per_player=team, layout=layout, **params)
    state = game.blank_state.copy()
    state["battery"], state["left"], state["winner"] = 10.0, 1, -1
    for robot, (x, y) in enumerate(places[: players * team]):
        at(state, robot, x, y)
    for (x, y), index in waiting.items():
        state["waiting"][number(state, x, y)] = index
    for name, value in given.items():
        state[name] = value
    return state


def number(state, x, y):
    return int(getattr(cell_at, "py_func", cell_at)(state, x, y))


def at(state, robot, x, y, **given):
    """Place a robot, with what it has."""
    state["x"][robot], state["y"][robot] = x, y
    for name, value in given.items():
        state[name][robot] = value
    return state


def square(state, x, y, **options):
    """A cell of the picture."""
    side = drawing.cell_side(int(state["height"]), int(state["width"]))
    top, left = drawing.EDGE + y * side, drawing.EDGE + x * side
    return drawing.draw_picture(state, None, **options)[top : top + side, left : left + side]


def column(state, last=None, **options):
    """Return the column beside the board."""
    side = drawing.cell_side(int(state["height"]), int(state["width"]))
    return drawing.draw_picture(state, last, **options)[:, drawing.EDGE + int(state["width"]) * side + drawing.BESIDE // 2 :]


def text(state, last=None, **options):
    return plain(format_text(state, last, **options))


def symbols(state, **options):
    """The cells of the text, by place: what stands before each, and its three characters."""
    rows = text(state, **options).splitlines()[1 : 1 + HEIGHT]
    return {(x, y): row.ljust(99)[3 + CELL_WIDTH * x :][:CELL_WIDTH] for y, row in enumerate(rows) for x in range(WIDTH)}


def about(state, label, **options):
    """The line on a robot or a player."""
    return next(line for line in text(state, **options).splitlines() if line[1:].startswith(f"{label} "))


def differs(one, other):
    """The share of pixels that differ clearly."""
    return (abs(one.astype(int) - other).max(axis=2) > 40).mean()


# ----------------------------------------------------------------------------------------------------------------- cells


GROUNDS = {
    "white": ((1, 2), " : "),
    "gray": ((2, 1), " . "),
    "gray with a number": ((0, 2), " .5"),
    "narrow": ((1, 1), " ' "),
    "receiver": ((2, 0), "=5 "),
    "another receiver": ((5, 2), "=7 "),
    "receiver of two digits": ((0, 1), "=12"),
    "charger": ((5, 0), "++ "),
    "wall": ((1, 0), "###"),
    "mail": ((2, 2), "m5 "),
    "another mail": ((3, 3), "m12"),
}


def robot_on(x, y, robot=0, **given):
    """A position with a robot on a cell, which is not to move."""
    players, team = given.pop("shape", (2, 2))
    return at(position(players, team, to_move=1 if robot == 0 else 0, **given.pop("params", {})), robot, x, y, **given), (x, y)


ROBOTS = {
    "robot": (lambda: robot_on(1, 2), "A0 "),
    "team mate": (lambda: robot_on(1, 2, robot=1), "A1 "),
    "opponent": (lambda: robot_on(1, 2, robot=2), "B2 "),
    "third player": (lambda: robot_on(1, 2, robot=2, shape=(3, 1)), "C2 "),
    "carries a mail": (lambda: robot_on(1, 2, mail=5), "A0 "),
    "carries another": (lambda: robot_on(1, 2, mail=12), "A0 "),
    "half a battery": (lambda: robot_on(1, 2, battery=4.5), "A0 "),
    "low battery": (lambda: robot_on(1, 2, battery=3.5), "A0 "),
    "empty battery": (lambda: robot_on(1, 2, battery=0.0), "A0 "),
    "no battery": (lambda: robot_on(1, 2, params={"with_battery": False}), "A0 "),
    "on a receiver": (lambda: robot_on(2, 0), "A0 "),
    "on another": (lambda: robot_on(5, 2), "A0 "),
    "on a charger": (lambda: robot_on(5, 0), "A0 "),
    "on green": (lambda: robot_on(2, 2), "A0 "),
}


@pytest.mark.parametrize("side", [drawing.SMALLEST, 59, drawing.LARGEST])
def test_every_kind_of_cell_looks_different(side, monkeypatch):
    monkeypatch.setattr(drawing, "cell_side", lambda height, width, size=None: side)
    drawing._draw_background.cache_clear()
    pictures = {kind: square(position(), *place) for kind, (place, _) in GROUNDS.items()}
    pictures["hidden mail"] = square(position(), 2, 2, viewer="robot_0")
    for kind, (make, _) in ROBOTS.items():
        state, place = make()
        pictures[kind] = square(state, *place)
    drawing._draw_background.cache_clear()
    for (one, a), (other, b) in itertools.combinations(pictures.items(), 2):
        assert differs(a, b) > 0.01, (one, other)


def test_every_unit_of_a_battery_can_be_seen():
    seen = [square(robot_on(1, 2, battery=units)[0], 1, 2) for units in range(11)]
    for one, other in itertools.pairwise(seen):
        assert differs(one, other) > 0.003


def test_every_cell_has_its_characters():
    for kind in GROUNDS:
        place, symbol = GROUNDS[kind]
        assert symbols(position())[place] == f" {symbol}"


def test_every_robot_has_its_characters():
    for kind in ROBOTS:
        make, symbol = ROBOTS[kind]
        state, place = make()
        assert symbols(state)[place][1:] == symbol


def test_mail_under_a_robot_is_hidden():
    """§4.5 The robot has it; what lies there next is drawn when it leaves."""
    state = at(position(), 0, 2, 2, mail=5)
    other = state.copy()
    other["waiting"][number(state, 2, 2)] = 7
    assert np.array_equal(drawing.draw_picture(state), drawing.draw_picture(other))
    assert text(state) == text(other)
    assert not np.array_equal(
        drawing.draw_picture(position()), drawing.draw_picture(at(position(waiting={**WAITING, (2, 2): 7}), 0, *HOME[0]))
    )


def test_the_robot_to_move_is_framed():
    for mover, (x, y) in enumerate(HOME):
        state = position(to_move=mover)
        framed = {place for place, symbol in symbols(state).items() if symbol[0] == "["}
        assert framed == {(x, y)}
        assert symbols(state)[(x + 1, y)][0] == "]"
        side = drawing.cell_side(HEIGHT, WIDTH)
        top, left = drawing.EDGE + y * side, drawing.EDGE + x * side
        picture, other = drawing.draw_picture(state), drawing.draw_picture(position(to_move=mover, over=1))
        changed = (picture != other).any(axis=2)
        assert changed[top - 2, left : left + side].all()
        assert changed[top : top + side, left - 2].all()
        assert (picture[top - 2, left : left + side] == canvas.INK).all()
        assert not changed[top + side // 8 : top + side - side // 8, left + side // 8 : left + side - side // 8].any()
    over = position(over=1, to_move=1)
    assert "[" not in text(over)
    assert np.array_equal(square(over, *HOME[1]), square(position(to_move=2), *HOME[1]))


def test_the_last_column_has_its_bracket():
    state = at(position(), 0, 5, 3)
    assert text(state).splitlines()[1 + 3].endswith("[A0 ]")


# ----------------------------------------------------------------------------------------------------------------- sizes


def plain_board(height, width):
    """A board of white cells with a receiver, a mail and a charger."""
    colors = [["w"] * width for _ in range(height)]
    colors[0][0], colors[0][width - 1], colors[height - 1][0] = "y", "gr", "b"
    targets = [["0"] * width for _ in range(height)]
    targets[0][0] = "3"
    return {"colors": [",".join(row) for row in colors], "targets": [",".join(row) for row in targets]}


def full_board(height, width, players, team):
    free = [(x, y) for y in range(1, height) for x in range(1, width)]
    return position(players, team, plain_board(height, width), free, {(width - 1, 0): 3})


@pytest.mark.parametrize(
    ("height", "width", "players", "team"),
    [(3, 3, 1, 1), (3, 6, 2, 1), (6, 3, 1, 2), (9, 9, 4, 3), (9, 9, 6, 6), (7, 24, 2, 6), (24, 7, 6, 1), (24, 24, 6, 6)],
)
def test_every_size_is_readable(height, width, players, team):
    state = full_board(height, width, players, team)
    side, picture = drawing.cell_side(height, width), drawing.draw_picture(state)
    assert drawing.SMALLEST <= side <= drawing.LARGEST
    assert picture.dtype == np.uint8
    assert picture.shape[0] <= 760
    assert picture.shape[1] <= 1260
    empty = square(full_board(height, width, 1, 1), width - 1, height - 1)
    places = [(x, y) for y in range(1, height) for x in range(1, width)][: players * team]
    for x, y in places:
        top, left = drawing.EDGE + y * side, drawing.EDGE + x * side
        assert differs(picture[top : top + side, left : left + side], empty) > 0.2
    lines = text(state).splitlines()
    assert max(map(len, lines)) <= 120
    assert len(lines) <= 1 + height + 3 + players * (1 + max(team, MAX_TEAM // 2))
    for robot in range(players * team):
        assert f"{'ABCDEF'[robot // team]}{robot} " in "\n".join(lines[height + 3 :])


@pytest.mark.parametrize("height", [3, 9, MAX_SIDE])
def test_no_player_overlaps_another_and_all_are_on_the_picture(height):
    for players, team in itertools.product(range(1, MAX_PLAYERS + 1), range(1, MAX_TEAM + 1)):
        spots, tall = drawing.player_positions(players, team), drawing.HEAD + team * drawing.ROW
        for (top, left), (other_top, other_left) in itertools.combinations(spots, 2):
            assert abs(top - other_top) >= tall or abs(left - other_left) >= drawing.COLUMN
        if height * height > players * team + 4 and (height < MAX_SIDE or team in (1, MAX_TEAM)):
            size = drawing.draw_picture(full_board(height, height, players, team)).shape
            begin = drawing.EDGE + height * drawing.cell_side(height, height) + drawing.BESIDE
            assert all(drawing.EDGE + top + tall <= size[0] and begin + left + drawing.COLUMN <= size[1] for top, left in spots)


def test_all_pictures_of_a_game_have_one_size():
    late = position(over=1, winner=1, truncated=1, ply=500, illegal=3)
    late["delivered"], late["mail"] = 65_535, 63
    assert drawing.draw_picture(late, LEFT, viewer="robot_3", cell=0).shape == drawing.draw_picture(position()).shape


def test_images_of_cells_are_cached(monkeypatch):
    """Neither the position nor earlier pictures are touched, and for a move hardly anything is painted."""
    state = position()
    before, first = state.tobytes(), drawing.draw_picture(state)
    original = first.copy()
    first[:] = 7
    assert np.array_equal(drawing.draw_picture(state), original)
    assert state.tobytes() == before
    painted = []
    monkeypatch.setattr(canvas, "paint", lambda side, *rest, paint=canvas.paint: painted.append(side) or paint(side, *rest))
    drawing.draw_picture(at(state, 0, 2, 3, battery=9.8))
    assert len(painted) <= 1


# ----------------------------------------------------------------------------------------------------------- who looks on


def test_7_viewer_sees_no_mail_indices_on_green_cells():
    one, other = position(), position(waiting={(2, 2): 7, (3, 3): 7})
    assert not np.array_equal(drawing.draw_picture(one), drawing.draw_picture(other))
    for viewer in ("robot_0", "robot_3"):
        assert np.array_equal(drawing.draw_picture(one, viewer=viewer), drawing.draw_picture(other, viewer=viewer))
        assert text(one, viewer=viewer) == text(other, viewer=viewer)
        assert symbols(one, viewer=viewer)[(2, 2)] == " m? "
        assert f"as {viewer} sees it" in text(one, viewer=viewer)
        for cell in range(HEIGHT * WIDTH):
            assert text(one, viewer=viewer, cell=cell) == text(other, viewer=viewer, cell=cell)


def test_7_2_fields_show_the_mails():
    state = position(observation="dict")
    assert symbols(state, viewer="robot_1")[(3, 3)] == " m12"


# ----------------------------------------------------------------------------------------------------------------- marks


def marked(state, x, y, **options):
    """The cells that are marked in the text, which are those of the picture."""
    cell = y * WIDTH + x
    found = {place for place, symbol in symbols(state, cell=cell, **options).items() if symbol[0] == "!"}
    for place in itertools.product(range(WIDTH), range(HEIGHT)):
        changed = not np.array_equal(square(state, *place, **options), square(state, *place, cell=cell, **options))
        assert changed == (place in found), place
    return found


def test_related_cells_are_marked():
    state = at(position(), 2, *HOME[2], mail=5)
    takes_five = {(2, 0), (4, 4)}  # (0, 2) has the number, but is gray
    assert marked(state, *HOME[2]) == takes_five
    assert marked(state, 2, 2) == takes_five  # the mail there
    assert marked(state, 2, 0) == {HOME[2], (2, 2)}  # who brings it, and where there is one
    assert marked(state, 0, 1) == {(3, 3)}
    assert marked(state, 5, 2) == set()
    assert marked(state, *HOME[0]) == {(2, 2), (3, 3)}  # empty-handed
    assert marked(at(state.copy(), 0, 2, 0), 2, 0) == {(2, 2), (3, 3)}  # the same on a receiver
    for place in ((1, 0), (5, 0), (0, 2), (3, 1)):
        assert marked(state, *place) == set()
    assert "!" not in text(state)


def test_mail_under_a_robot_is_not_related():
    state = at(position(), 0, 2, 2, mail=12)
    assert marked(state, 2, 2) == {(0, 1)}
    assert marked(state, 2, 0) == set()


# ------------------------------------------------------------------------------------------------------- mouse and keys


def pixels(state, x, y):
    """The first and the last pixel of a cell."""
    side = drawing.cell_side(int(state["height"]), int(state["width"]))
    left, top = drawing.EDGE + x * side, drawing.EDGE + y * side
    return (left, top), (left + side - 1, top + side - 1)


def test_the_pointer_is_on_a_cell():
    state = position()
    for x, y in itertools.product(range(WIDTH), range(HEIGHT)):
        for pixel in pixels(state, x, y):
            assert drawing.point(state, *pixel) == {"cell": y * WIDTH + x}
    (left, top), (right, low) = pixels(state, 0, 0)[0], pixels(state, WIDTH - 1, HEIGHT - 1)[1]
    for pixel in ((left - 1, top), (left, top - 1), (right + 1, low), (right, low + 1), (-9, -9)):
        assert drawing.point(state, *pixel) == {}
        assert drawing.pick(state, pixel, pixel) is None
    names = {option.name for option in drawing.build_options(("robot_0",), WIDTH, HEIGHT)}
    assert names == {"viewer", "cell"}


def test_a_click_is_a_step_towards_a_cell():
    state = at(position(to_move=3), 3, 2, 1)
    meant = {(2, 0): FORWARD, (2, 2): BACKWARD, (2, 3): BACKWARD, (2, 4): BACKWARD, (1, 1): LEFT, (0, 1): LEFT, (2, 1): STAND}
    meant |= {(3, 1): RIGHT, (4, 1): RIGHT, (5, 1): RIGHT}
    robot = pixels(state, 2, 1)[0]
    for x, y in itertools.product(range(WIDTH), range(HEIGHT)):
        first, last = pixels(state, x, y)
        assert drawing.pick(state, first, last) == meant.get((x, y))
        assert drawing.pick(state, robot, last) == meant.get((x, y))  # dragged there
    other = pixels(state, 2, 3)[0]
    assert drawing.pick(state, other, pixels(state, 2, 2)[0]) is None


def test_keys_choose_every_action():
    arrows = {"up": "forward", "down": "backward", "left": "left", "right": "right", "space": "stand"}
    assert {key: (parts, ACTIONS[value]) for key, (parts, value) in drawing.KEYS.choices.items()} == {
        key: ((0,), name) for key, name in arrows.items()
    }


# ------------------------------------------------------------------------------------------------------ beside the board


def changes(one, other):
    """The rows of pixels beside the board that differ."""
    return np.flatnonzero((column(one) != column(other)).any(axis=(1, 2)))


def rows_of(robot, team=2):
    """The rows of pixels that tell about a robot."""
    top, _ = drawing.player_positions(2, team)[robot // team]
    start = drawing.EDGE + top + drawing.HEAD + robot % team * drawing.ROW
    return range(start, start + drawing.ROW)


@pytest.mark.parametrize(("name", "value"), [("mail", 7), ("battery", 4.2)])
def test_column_shows_each_robot(name, value):
    for robot in range(4):
        other = position()
        other[name][robot] = value
        found = changes(position(), other)
        assert len(found)
        assert set(found) <= set(rows_of(robot))


def test_column_shows_deliveries():
    other = position()
    other["delivered"][2] = 3
    found = set(changes(position(), other))
    assert found & set(rows_of(2))
    assert not found & (set(rows_of(0)) | set(rows_of(1)) | set(rows_of(3)))
    assert about(other, "B") == " B  ##########---------- 3/6"
    assert about(other, "B2").endswith("delivered 3")
    assert about(other, "A").endswith("--- 0/6")


def test_text_shows_each_robot():
    state = at(position(), 2, 4, 3, mail=12, battery=3.01)
    assert about(state, "B2") == " B2  (4,3)   ||||......  4  mail 12 delivered 0"
    assert about(state, "A0") == ">A0  (1,3)   |||||||||| 10  -       delivered 0"
    without = position(with_battery=False)
    assert about(without, "A0") == ">A0  (1,3)   -       delivered 0"
    assert "|" not in text(without)


def test_no_batteries_in_games_without_battery():
    one, other = (position(with_battery=False) for _ in range(2))
    other["battery"] = 2.5
    assert np.array_equal(drawing.draw_picture(one), drawing.draw_picture(other))
    assert text(one) == text(other)


def test_column_shows_progress():
    state = position(ply=36, left=3, to_move=2, random_num_steps=True)
    assert "step 36 of 500  robot_2 to move, 3 steps left" in text(state)
    for name, value in (("ply", 300), ("left", 1), ("to_move", 1)):
        other = state.copy()
        other[name] = value
        assert len(changes(state, other)), name
    state["left"] = 1
    assert "1 step left" in text(state)


def test_last_step_is_shown():
    state = position(event=PICKED_UP, ply=3)
    assert "last: left, pickup" in text(state, LEFT)
    state["event"] = EVENTS.index("move")
    assert text(state, FORWARD).count("last: forward\n") == 1
    state["event"] = EVENTS.index("skip")
    assert "last: stand, skip" in text(state, STAND)
    assert "last" not in text(state)
    assert not np.array_equal(column(state), column(state, STAND))


def test_result_is_shown():
    ended = {
        "player B has won": position(over=1, winner=1),
        "player A has won": position(over=1, winner=0),
        "cut off": position(over=1, truncated=1),
        "player B has won at the limit": position(over=1, winner=1, truncated=2),
    }
    for said, state in ended.items():
        assert said in re.split(r"  |\n", text(state))
        assert "to move" not in text(state)
    for one, other in itertools.combinations([position(), *ended.values()], 2):
        assert not np.array_equal(column(one), column(other))


def test_text_is_plain_ascii():
    for make, _ in ROBOTS.values():
        assert text(make()[0], LEFT, viewer="robot_0", cell=2).isascii()


# --------------------------------------------------------------------------------------------------------------- colors


@pytest.mark.parametrize("vision", SIGHTS)
def test_colors_are_distinguishable(vision):
    grounds = list(tiles.GROUNDS.values())
    assert closest([*tiles.PLAYERS, canvas.PAPER], vision) > 0.12
    assert closest(grounds, vision) > 0.06  # and each but plain ones has a sign of its own
    assert closest([*(tiles.GROUNDS[code] for code in (1, 2))], vision) > 0.1
    for player, ground in itertools.product(tiles.PLAYERS, grounds):
        assert closest([player, ground], vision) > 0.09
    assert closest([tiles.CHARGED, tiles.LOW, tiles.HOLLOW], vision) > 0.12
    for ground in grounds:
        assert closest([tiles.MARK, ground], vision) > 0.09
