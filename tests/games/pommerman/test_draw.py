"""MO-Pommerman for people: pictures and text of positions made by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from momagames.games.pommerman.rules.state import (
    AGENT,
    BOMB,
    DOWN,
    DUEL,
    EXTRA_BOMB,
    FFA,
    FLAME_BITS,
    FLAMES,
    KICK,
    LEFT,
    MAX_SIDE,
    PASSAGE,
    RADIO,
    RANGE,
    RIGHT,
    RIGID,
    TEAM,
    UP,
    WOOD,
    state_dtype,
)
from momagames.games.pommerman.view import drawing, tiles
from momagames.games.pommerman.view.text import format_text
from momagames.render import canvas
from momagames.render.text import plain
from tests.adapters.test_render import SIGHTS, closest

pytestmark = pytest.mark.compiled

SIZES = range(7, MAX_SIDE + 1)


def position(size=11, mode=FFA, view=0):
    """Four agents in the corners of an empty board (two in a duel)."""
    state = np.zeros(1, state_dtype)[0]
    state["size"], state["mode"], state["view"] = size, mode, view
    state["seats"] = 2 if mode == DUEL else 4
    state["max_steps"], state["falling"] = 800, -1
    places = [(1, 1), (size - 2, 1), (size - 2, size - 2), (1, size - 2)]
    for seat, (row, col) in enumerate(places[:: 2 if mode == DUEL else 1]):
        state["alive"][seat], state["row"][seat], state["col"][seat] = 1, row, col
        state["ammo"][seat], state["strength"][seat] = 1, 2
        cell(state, row, col, AGENT + seat)
    return state


def cell(state, row, col, code, fire=0):
    place = row * int(state["size"]) + col
    state["board"][place], state["fire"][place] = code, fire
    return state


def bomb(state, row, col, life=9, strength=2, owner=0, direction=0):
    k = int(state["bombs"])
    facts = {"row": row, "col": col, "life": life, "strength": strength, "owner": owner, "direction": direction}
    for name, value in facts.items():
        state[f"bomb_{name}"][k] = value
    state["bombs"] = k + 1
    if state["board"][row * int(state["size"]) + col] == PASSAGE:
        cell(state, row, col, BOMB)
    return state


def dead(state, seat):
    state["alive"][seat] = 0
    return cell(state, int(state["row"][seat]), int(state["col"][seat]), PASSAGE)


def square(state, row, col, **options):
    """A cell of the picture."""
    side = drawing.cell_side(int(state["size"]))
    top, left = drawing.EDGE + row * side, drawing.EDGE + col * side
    return drawing.draw_picture(state, None, **options)[top : top + side, left : left + side]


def column(state, last=None, **options):
    """Return the column beside the board."""
    size = int(state["size"])
    return drawing.draw_picture(state, last, **options)[:, drawing.EDGE + size * drawing.cell_side(size) :]


def text(state, last=None, **options):
    return plain(format_text(state, last, **options))


def rows(state, **options):
    """The cells of the text: two characters each, and before them "!" or a space."""
    size = int(state["size"])
    lines = text(state, **options).splitlines()[1 : 1 + size]
    return [[line.ljust(3 * size + 3)[3 + 3 * x : 6 + 3 * x] for x in range(size)] for line in lines]


# What can be on the cell (3, 4), with its two characters
KINDS = {
    "passage": (lambda s: s, " ."),
    "rigid": (lambda s: cell(s, 3, 4, RIGID), "##"),
    "wood": (lambda s: cell(s, 3, 4, WOOD), "%%"),
    "extra bomb": (lambda s: cell(s, 3, 4, EXTRA_BOMB), "+b"),
    "range": (lambda s: cell(s, 3, 4, RANGE), "+r"),
    "kick": (lambda s: cell(s, 3, 4, KICK), "+k"),
    "flames of life 0": (lambda s: cell(s, 3, 4, FLAMES, FLAME_BITS[0]), "*1"),
    "flames of life 1": (lambda s: cell(s, 3, 4, FLAMES, FLAME_BITS[1]), "*2"),
    "flames of life 2": (lambda s: cell(s, 3, 4, FLAMES, FLAME_BITS[2]), "*3"),
    **{f"bomb of life {life}": (lambda s, life=life: bomb(s, 3, 4, life), f"o{life}") for life in range(1, 10)},
    **{f"bomb of agent {seat}": (lambda s, seat=seat: bomb(s, 3, 4, 9, owner=seat), "o9") for seat in (1, 2, 3)},
    "rolls up": (lambda s: bomb(s, 3, 4, direction=UP), "^9"),
    "rolls down": (lambda s: bomb(s, 3, 4, direction=DOWN), "v9"),
    "rolls left": (lambda s: bomb(s, 3, 4, direction=LEFT), "<9"),
    "rolls right": (lambda s: bomb(s, 3, 4, direction=RIGHT), ">9"),
    **{f"agent {seat}": (lambda s, seat=seat: cell(s, 3, 4, AGENT + seat), f"@{seat}") for seat in range(4)},
    "agent on a bomb": (lambda s: bomb(cell(s, 3, 4, AGENT + 1), 3, 4, 7), "17"),
    "bomb of a loaded position": (lambda s: bomb(s, 3, 4, 10), "o+"),
    "agent on an older bomb": (lambda s: bomb(cell(s, 3, 4, AGENT + 1), 3, 4, 6), "16"),
}


@pytest.mark.parametrize("size", [7, 11, 16])
def test_every_kind_of_cell_looks_different(size):
    pictures = {kind: square(make(position(size)), 3, 4) for kind, (make, _) in KINDS.items()}
    pictures["fog"] = square(position(size, TEAM, view=1), 3, 4, viewer="agent_0")
    for (one, a), (other, b) in itertools.combinations(pictures.items(), 2):
        differs = (abs(a.astype(int) - b).max(axis=2) > 60).mean()
        assert differs > 0.01, (one, other)


def test_every_kind_of_cell_has_its_characters():
    for kind in KINDS:
        make, symbol = KINDS[kind]
        assert rows(make(position()))[3][4] == f" {symbol}"
        assert rows(position())[3][4] == "  ."


def test_the_youngest_flames_of_a_cell_are_shown():
    both = cell(position(), 3, 4, FLAMES, FLAME_BITS[0] | FLAME_BITS[2])
    assert rows(both)[3][4] == " *3"
    assert np.array_equal(square(both, 3, 4), square(cell(position(), 3, 4, FLAMES, FLAME_BITS[2]), 3, 4))


@pytest.mark.parametrize("mode", [FFA, RADIO, DUEL])
def test_pictures_of_every_size_are_about_equally_large(mode):
    for size in SIZES:
        picture = drawing.draw_picture(position(size, mode))
        assert picture.dtype == np.uint8
        assert 520 <= picture.shape[0] <= 580
        assert 680 <= picture.shape[1] <= 760
        assert len(rows(position(size, mode))) == size


def test_images_of_cells_are_cached():
    """Neither the position nor the pictures that were made before are touched."""
    state = position()
    before, first = state.tobytes(), drawing.draw_picture(state)
    original = first.copy()
    first[:] = 7
    assert np.array_equal(drawing.draw_picture(state), original)
    assert state.tobytes() == before


# -------------------------------------------------------------------------------------------------------- options: fog


def test_O3_fog_hides_distant_cells():
    state = position(11, TEAM, view=4)
    bomb(cell(state, 7, 7, WOOD), 6, 5)
    seen = rows(state, viewer="agent_0")
    for y, x in np.ndindex(11, 11):
        assert (seen[y][x] == " ::") == (max(abs(y - 1), abs(x - 1)) > 4), (y, x)
    mist = square(state, 9, 9, viewer="agent_0")
    assert np.array_equal(mist, square(state, 6, 5, viewer="agent_0"))
    assert rows(state)[6][5] == " o9"
    assert rows(state, viewer="agent_2")[6][5] == " o9"
    assert not any(symbol == " ::" for row in rows(state) for symbol in row)


def test_no_fog_without_partial_observability():
    assert not any(symbol == " ::" for row in rows(position(11, FFA, view=0), viewer="agent_3") for symbol in row)


def test_O8_dead_agents_observe_from_their_last_cell():
    state = dead(position(11, TEAM, view=2), 2)
    seen = rows(state, viewer="agent_2")
    assert seen[9][9] == "  ."
    assert seen[9][6] == " ::"


def test_O5_O10_viewer_sees_no_owners_and_no_equipment_of_others():
    one, other = (bomb(position(11, FFA), 3, 4, owner=seat) for seat in (1, 2))
    assert not np.array_equal(square(one, 3, 4), square(other, 3, 4))
    assert np.array_equal(square(one, 3, 4, viewer="agent_0"), square(other, 3, 4, viewer="agent_0"))
    rich = position()
    for name, value in (("ammo", 5), ("strength", 7), ("kick", 1)):
        poorer = rich.copy()
        rich[name][1] = value
        assert not np.array_equal(column(rich), column(poorer))
        assert not np.array_equal(column(rich, viewer="agent_1"), column(poorer, viewer="agent_1"))
        assert np.array_equal(column(rich, viewer="agent_0"), column(poorer, viewer="agent_0"))
    assert "ammo 5, strength 7, kick yes" in text(rich)
    assert "ammo 5" in text(rich, viewer="agent_1")
    assert "ammo 5" not in text(rich, viewer="agent_0")


def test_R4_sender_and_mate_see_messages():
    quiet, loud = position(11, RADIO, view=4), position(11, RADIO, view=4)
    loud["message"][1] = (3, 8)
    assert "says 3 8" in text(loud)
    assert "silent" in text(quiet)
    for viewer, hears in (("agent_0", False), ("agent_1", True), ("agent_2", False), ("agent_3", True)):
        assert ("says 3 8" in text(loud, viewer=viewer)) == hears
        assert np.array_equal(column(loud, viewer=viewer), column(quiet, viewer=viewer)) != hears
    assert "says" not in text(position(11, TEAM))


# ----------------------------------------------------------------------------------------------------- options: blasts


def in_range(state, **options):
    return {(y, x) for y, row in enumerate(rows(state, **options)) for x, symbol in enumerate(row) if symbol[0] == "!"}


def walled():
    """A bomb of strength 4 on (5, 5), with a stone two cells above it, wood two cells below, an item on its right."""
    state = bomb(position(), 5, 5, strength=4)
    return cell(cell(cell(state, 3, 5, RIGID), 7, 5, WOOD), 5, 6, KICK)


CROSS = {(5, 5), (4, 5), (6, 5), (7, 5), (5, 4), (5, 3), (5, 2), (5, 6), (5, 7), (5, 8)}


def test_B8_marked_blasts_follow_the_rules():
    assert in_range(walled(), blasts=True) == CROSS
    assert in_range(walled()) == set()
    edge = bomb(position(), 0, 0, strength=3)
    assert in_range(edge, blasts=True) == {(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)}


def test_cells_in_range_are_striped():
    for y, x in np.ndindex(11, 11):
        changed = not np.array_equal(square(walled(), y, x), square(walled(), y, x, blasts=True))
        assert changed == ((y, x) in CROSS)


def test_the_range_of_one_bomb():
    state = bomb(walled(), 9, 5, owner=1)
    first, second = in_range(state, cell=5 * 11 + 5), in_range(state, cell=9 * 11 + 5)
    assert first == CROSS
    assert second == {(9, 5), (8, 5), (10, 5), (9, 4), (9, 6)}
    assert in_range(state, blasts=True) == first | second
    assert in_range(state, cell=0) == set()


def test_bombs_in_the_fog_are_hidden():
    state = bomb(position(11, TEAM, view=4), 6, 1, strength=4)
    assert in_range(state, blasts=True, viewer="agent_0") == set()
    near = bomb(position(11, TEAM, view=4), 5, 1, strength=4)
    assert in_range(near, blasts=True, viewer="agent_0") == {(y, x) for y, x in in_range(near, blasts=True) if y <= 5}


def test_the_pointer_is_on_a_cell():
    state, side = position(), drawing.cell_side(11)
    for row, col in ((0, 0), (5, 7), (10, 10)):
        for x, y in ((0, 0), (side - 1, side - 1)):
            assert drawing.point(state, drawing.EDGE + col * side + x, drawing.EDGE + row * side + y) == {
                "cell": row * 11 + col
            }
    for x, y in (
        (drawing.EDGE - 1, 100),
        (100, drawing.EDGE - 1),
        (drawing.EDGE + 11 * side, 100),
        (100, drawing.EDGE + 11 * side),
        (-9, -9),
    ):
        assert drawing.point(state, x, y) == {}


# -------------------------------------------------------------------------------------------------------- beside the board


def test_column_shows_live_agents_and_actions():
    state = position()
    last = np.array([[0], [5], [3], [1]])
    assert "@1 agent_1  bomb, ammo 1" in text(state, last)
    assert "@2 agent_2  left, ammo 1" in text(state, last)
    assert not np.array_equal(column(state), column(state, last))
    assert np.array_equal(column(state, last), column(state, last[:, 0]))
    without = dead(position(), 2)
    assert "@2 agent_2  dead" in text(without)
    assert not np.array_equal(column(state), column(without))
    assert not np.array_equal(square(without, 9, 9), square(position(), 5, 5))


def test_column_shows_progress():
    state, later = position(), position()
    later["ply"] = 400
    assert "step 400 of 800" in text(later)
    assert not np.array_equal(column(state), column(later))


def test_W1_W2_falling_rings_are_announced_and_marked():
    state = position(9)
    state["first_collapse"] = 500
    assert "a ring falls at step 500" in text(state)
    state["ply"] = 575
    assert "a ring falls at step 650" in text(state)
    assert not np.array_equal(column(state), column(position(9)))
    still = {(y, x): square(state, y, x) for y, x in np.ndindex(9, 9)}
    state["falling"] = 1
    assert "falls now" in text(state)
    for (y, x), before in still.items():
        ring = min(y, x, 8 - y, 8 - x)
        assert np.array_equal(square(state, y, x), before) == (ring != 1)
    state["ply"], state["falling"] = 725, -1
    assert "ring" not in text(state)


def test_result_is_shown():
    state = position(11, TEAM)
    state["over"], state["winners"] = 1, 0b1010
    assert "agents 1 and 3 have won" in text(state)
    state["winners"] = 0b0100
    assert "agent_2 has won" in text(state)
    lost = state.copy()
    lost["winners"] = 0
    assert "no agent has won" in text(lost)
    assert not np.array_equal(column(state), column(lost))


def test_team_mates_share_color_and_shape_and_differ_in_their_number():
    def outer(state, row, col):
        """The edge of an agent, without the number on it."""
        tile = square(state, row, col).copy()
        side = len(tile)
        tile[side // 5 : -side // 5, side // 5 : -side // 5] = 0
        return tile

    places = [(1, 1), (9, 1), (9, 9), (1, 9)]
    together, apart = position(11, TEAM), position(11, FFA)
    for a, b in itertools.combinations(range(4), 2):
        assert np.array_equal(outer(together, *places[a]), outer(together, *places[b])) == ((a - b) % 2 == 0)
        assert not np.array_equal(outer(apart, *places[a]), outer(apart, *places[b]))
        assert not np.array_equal(square(together, *places[a]), square(together, *places[b]))


def test_text_is_plain_ascii():
    for make, _ in KINDS.values():
        assert text(make(position()), blasts=True).isascii()


# --------------------------------------------------------------------------------------------------------------- colors


@pytest.mark.parametrize("vision", SIGHTS)
def test_colors_are_distinguishable(vision):
    assert closest([*tiles.SEATS, canvas.PAPER], vision) > 0.12
    for seat in tiles.SEATS:
        assert closest([seat, tiles.FLOOR], vision) > 0.12
    assert closest([tiles.FLOOR, tiles.STONE, tiles.PLANK], vision) > 0.12
    assert closest([tiles.FLOOR, tiles.MIST], vision) > 0.1
    assert closest([tiles.FLOOR, tiles.HATCHES[tiles.IN_RANGE][1], tiles.HATCHES[tiles.FALLING][1]], vision) > 0.12
    assert closest([tiles.RED, tiles.INK], vision) > 0.1


def test_outlines_of_agents_differ():
    side, ink = 34, (0, 0, 0)
    shapes = [canvas.paint(side, canvas.WHITE, tiles.outline(k, 0.06, ink))[..., 0] < 128 for k in range(4)]
    for one, other in itertools.combinations(shapes, 2):
        assert (one ^ other).sum() > 0.08 * (one | other).sum()


def test_keys_choose_every_action_and_no_letter_means_two_things():
    for mode in (FFA, RADIO):
        choices = drawing.build_keys(mode).choices
        assert sorted(value for parts, value in choices.values() if parts == (0,)) == list(range(6))
        letters = [option.name[0] for option in drawing.build_options(("agent_0",), 11)] + ["p", "q"]
        assert len({*letters, *choices}) == len(letters) + len(choices)
    assert {value for parts, value in drawing.build_keys(RADIO).choices.values() if parts == (1, 2)} == set(range(9))
