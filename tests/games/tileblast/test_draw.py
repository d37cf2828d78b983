"""MO-TileBlast for people: pictures and text of positions made by hand."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.rules.pieces import ATTRIBUTES, BASIC, BIG, CODES, COLORED, COVERS, KINDS, UNITS
from momagames.games.tileblast.rules.state import CELLS, HEIGHT, WIDTH, state_dtype
from momagames.games.tileblast.view import drawing, tiles
from momagames.games.tileblast.view.color_marks import INKS
from momagames.games.tileblast.view.text import CELL_WIDTH, LETTERS, format_text
from momagames.render.text import plain
from tests.adapters.test_render import SIGHTS, closest

pytestmark = pytest.mark.compiled

RED, BLUE, YELLOW = 1, 2, 3
SINGLE = [kind.name for kind in KINDS[1:] if not kind.attributes & BIG]
LARGE = [kind.name for kind in KINDS[1:] if kind.attributes & BIG]


def position(*goals, **given):
    """An empty board on which all cells are active; goals are (unit, color, rest)."""
    state = np.zeros(1, state_dtype)[0]
    state["active"], state["limit"], state["strict_moves"] = 1, 30, 1
    state["goals"] = len(goals)
    for k, (unit, color, rest) in enumerate(goals):
        state["goal_units"][k], state["goal_color"][k], state["rest"][k] = UNITS[unit], color, rest
    for name, value in given.items():
        state[name] = value
    return state


def put(state, x, y, name, hp=None, full=None, color=0, cover="", counts=()):
    """Place a piece with its lower left cell at (x, y); hit points as in the catalog if not given."""
    cell, kind = WIDTH * y + x, CODES[name]
    hp = hp or sum(counts) or KINDS[kind].usual
    for at in [cell, cell + 1, cell + WIDTH, cell + WIDTH + 1] if ATTRIBUTES[kind] & BIG else [cell]:
        state["kind"][at], state["anchor"][at] = kind, cell
    state["hp"][cell], state["full"][cell], state["color"][cell] = hp, full or max(hp, KINDS[kind].usual), color
    state["cover"][cell] = COVERS.index(cover)
    state["counters"][cell] = sum(count << 4 * k for k, count in enumerate(counts))
    return state


def usual(name):
    """A piece as it may stand in a level."""
    if name == "gnomes":
        return {"counts": (2, 0, 3)}
    return {"color": RED} if KINDS[CODES[name]].color == "one" else {}


def square(state, x, y, size=1, **options):
    """Some cells of the picture, of which (x, y) is the lower left."""
    side = size * drawing.SIDE
    top, left = drawing.top_left(WIDTH * y + x, high=side)
    return drawing.draw_picture(state, **options)[top : top + side, left : left + side]


def top(state):
    """The bar."""
    return drawing.draw_picture(state)[: drawing.BAR]


def text(state, last=None):
    return plain(format_text(state, last))


def rows(state, last=None):
    """The cells of the text, from the lower left, each with the character before it."""
    lines = [line.ljust(2 + CELL_WIDTH * WIDTH + 1) for line in text(state, last).splitlines()[:HEIGHT]]
    return [[line[2 + CELL_WIDTH * x :][: CELL_WIDTH + 1] for x in range(WIDTH)] for line in reversed(lines)]


def differs(a, b):
    """The share of pixels that differ clearly."""
    return (abs(a.astype(int) - b).max(axis=2) > 60).mean()


def assert_apart(pictures, least=0.03):
    for (one, a), (other, b) in itertools.combinations(pictures.items(), 2):
        assert differs(a, b) > least, (one, other)


# ------------------------------------------------------------------------------------------------------------------ pieces


@pytest.mark.parametrize(("names", "size"), [(SINGLE, 1), (LARGE, 2)])
def test_every_kind_looks_different(names, size):
    """With equal hit points, which do not distinguish the kinds."""
    pictures = {name: square(put(position(), 3, 4, name, 1, 1, **usual(name)), 3, 4, size) for name in names}
    pictures["empty"] = square(position(), 3, 4, size)
    pictures["inactive"] = square(position(active=0), 3, 4, size)
    empty = {frozenset(("empty", "inactive"))}
    for (one, a), (other, b) in itertools.combinations(pictures.items(), 2):
        assert differs(a, b) > 0.05 or frozenset((one, other)) in empty, (one, other)
    assert not np.array_equal(pictures["empty"], pictures["inactive"])


def test_every_kind_has_its_letter():
    for name in SINGLE + LARGE:
        state = put(position(), 3, 4, name, **usual(name))
        assert rows(state)[4][3][1] == ("r" if name == "basic" else LETTERS[name])
        assert (f"{LETTERS[name]} {name}" in text(state)) == (name != "basic")
    letters = [letter for name, letter in LETTERS.items() if name != "basic"]
    assert len(set(letters) - set("rbyopk.#~[]")) == len(KINDS) - 2


@pytest.mark.parametrize("name", [kind.name for kind in KINDS if kind.color == "one" or kind.name == "butterfly"])
def test_colors_look_different(name):
    colors = range(name == "basic", 7) if name in ("basic", "butterfly") else range(1, 7)
    pictures = {c: square(put(position(), 3, 4, name, color=c), 3, 4) for c in colors}
    assert_apart(pictures)
    texts = [rows(put(position(), 3, 4, name, color=c))[4][3] for c in colors]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", ["basic", "flask", "pot", "mushroom", "butterfly"])
def test_marks_distinguish_colors_without_color(name, monkeypatch):
    """The marks differ even if all colors are equal."""
    tiles.draw_piece.cache_clear()
    for module in ("color_marks", "art"):
        monkeypatch.setattr(f"momagames.games.tileblast.view.{module}.INKS", (INKS[BLUE],) * 7)
    pictures = {c: square(put(position(), 3, 4, name, color=c), 3, 4) for c in range(1, 7)}
    tiles.draw_piece.cache_clear()
    assert_apart(pictures, 0.01)


@pytest.mark.parametrize("vision", SIGHTS)
def test_colors_are_distinguishable(vision):
    assert closest(INKS[1:], vision) > 0.12


def test_size_two_is_one_picture_in_four_cells():
    for name in LARGE:
        state = put(position(), 3, 4, name, **usual(name))
        whole = square(state, 3, 4, 2)
        look = drawing.describe_piece(state, WIDTH * 4 + 3)[1]
        assert np.array_equal(whole, tiles.draw_piece(2 * drawing.SIDE, look))
        assert all(rows(state)[y][x][1] == LETTERS[name] for x in (3, 4) for y in (4, 5))
        changed = (drawing.draw_picture(state) != drawing.draw_picture(position())).any(axis=2)
        ys, xs = np.nonzero(changed)
        upper, left = drawing.top_left(WIDTH * 4 + 3, high=2 * drawing.SIDE)
        assert ys.min() >= upper
        assert xs.min() >= left
        assert max(ys.max() - upper, xs.max() - left) < 2 * drawing.SIDE


SEVERAL = [(kind.name, kind.high) for kind in KINDS if kind.high > 1 and kind.name != "gnomes"]


@pytest.mark.parametrize(("name", "most"), SEVERAL)
def test_hit_points_are_drawn(name, most):
    size = 2 if name in LARGE else 1
    states = {hp: put(position(), 3, 4, name, hp, most, **usual(name)) for hp in range(1, most + 1)}
    assert_apart({hp: square(state, 3, 4, size) for hp, state in states.items()}, 0.002)
    for hp, state in states.items():
        assert rows(state)[4][3].strip().endswith(str(hp))


@pytest.mark.parametrize("name", [name for name, most in SEVERAL if most < 10])
def test_lost_hit_points_are_drawn(name):
    one, other = (put(position(), 3, 4, name, 1, full, **usual(name)) for full in (2, 3))
    size = 2 if name in LARGE else 1
    assert not np.array_equal(square(one, 3, 4, size), square(other, 3, 4, size))


def test_many_hit_points_are_a_number():
    one, other = (square(put(position(), 3, 4, "bush", hp, 10), 3, 4, 2) for hp in (6, 7))
    assert differs(one[-drawing.SIDE // 2 :, -drawing.SIDE // 2 :], other[-drawing.SIDE // 2 :, -drawing.SIDE // 2 :]) > 0.01


def test_gnomes_show_their_counters():
    counts = [(1,), (2,), (0, 1), (1, 1), (1, 2), (2, 1), (1, 1, 1), (0, 0, 1, 1, 1, 1), (1, 1, 1, 1, 1), (1,) * 6, (10,)]
    states = {count: put(position(), 3, 4, "gnomes", counts=count) for count in counts}
    assert_apart({count: square(state, 3, 4, 2) for count, state in states.items()}, 0.002)
    assert "gnomes (3,4)  red 1  blue 2\n" in text(states[1, 2])


def test_covers_lie_over_pieces():
    for name in SINGLE:
        pictures = {cover: square(put(position(), 3, 4, name, cover=cover, **usual(name)), 3, 4) for cover in COVERS}
        assert_apart(pictures, 0.02)
        for sign, cover in zip(" #~", COVERS, strict=True):
            assert rows(put(position(), 3, 4, name, cover=cover, **usual(name)))[4][3][CELL_WIDTH - 1] == sign
    for cover in COVERS[1:]:
        pieces = {c: square(put(position(), 3, 4, "basic", color=c, cover=cover), 3, 4) for c in range(1, 7)}
        assert_apart(pieces)
        assert f" {cover}" in text(put(position(), 3, 4, "basic", color=RED, cover=cover))
    bare = position()
    bare["cover"][0] = COVERS.index("bubble")
    assert rows(bare)[0][0] == " .  ~ "
    assert differs(square(bare, 0, 0), square(position(), 0, 0)) > 0.01


# ------------------------------------------------------------------------------------------------------- groups, last tap


def gap(state, x, y, right=True, **options):
    """The middle of the gap right of a cell, or above it."""
    upper, left = drawing.top_left(WIDTH * y + x)
    at = (upper + drawing.SIDE // 2, left + drawing.SIDE) if right else (upper, left + drawing.SIDE // 2)
    return tuple(drawing.draw_picture(state, **options)[at].tolist())


def pair(x, y, **other):
    """A red basic at (3, 4), and at (x, y) another one."""
    return put(put(position(), 3, 4, "basic", color=RED), x, y, "basic", **{"color": RED, **other})


def test_tiles_that_burst_together_are_joined():
    assert gap(pair(4, 4), 3, 4) == INKS[RED]
    assert gap(pair(3, 5), 3, 4, False) == INKS[RED]
    assert gap(pair(4, 4, cover="bubble"), 3, 4) == INKS[RED]
    for state in (pair(4, 4, color=BLUE), pair(4, 4, cover="cage"), put(pair(0, 0), 4, 4, "pot", color=RED)):
        assert gap(state, 3, 4) != INKS[RED]
    assert gap(pair(4, 4), 3, 4, groups=False) != INKS[RED]
    assert gap(pair(3, 5), 3, 4, False, groups=False) != INKS[RED]


def test_a_block_of_four_has_no_hole():
    state = put(put(pair(4, 4), 3, 5, "basic", color=RED), 4, 5, "basic", color=RED)
    upper, left = drawing.top_left(WIDTH * 4 + 3)
    assert tuple(drawing.draw_picture(state)[upper, left + drawing.SIDE].tolist()) == INKS[RED]
    other = put(state.copy(), 4, 5, "basic", color=BLUE)
    assert tuple(drawing.draw_picture(other)[upper, left + drawing.SIDE].tolist()) != INKS[RED]


@pytest.mark.parametrize("cell", [0, 12, 13, 56, CELLS - 1])
def test_the_last_tap_is_marked(cell):
    state = put(position(), 3, 4, "basic", color=RED)
    changed = (drawing.draw_picture(state, cell) != drawing.draw_picture(state)).any(axis=2)
    ys, xs = np.nonzero(changed)
    upper, left = drawing.top_left(cell)
    assert (ys.min(), xs.min(), ys.max(), xs.max()) == (upper, left, upper + drawing.SIDE - 1, left + drawing.SIDE - 1)
    found = [(x, y) for y, row in enumerate(rows(state, cell)) for x, cells in enumerate(row) if cells[0] == "["]
    assert found == [(cell % WIDTH, cell // WIDTH)]
    assert rows(state, cell)[cell // WIDTH][cell % WIDTH][-1] == "]"
    assert "[" not in text(state)


# -------------------------------------------------------------------------------------------------------------------- bar


def test_every_unit_has_its_picture():
    pictures = {name: tiles.draw_unit(drawing.GLYPH, bits, 0) for name, bits in UNITS.items()}
    assert_apart(pictures, 0.02)
    for name in COLORED:
        assert_apart({c: tiles.draw_unit(drawing.GLYPH, UNITS[name], c) for c in range(7)}, 0.02)


def test_goals_are_drawn_with_their_rest():
    state = position(("pot", RED, 9), ("bee", 0, 4))
    assert text(state).endswith("\n\n30 moves left, score 0\npot.red  9 left\nbee  4 left")
    for changed in (
        position(("pot", BLUE, 9), ("bee", 0, 4)),
        position(("pot", RED, 8), ("bee", 0, 4)),
        position(("pot", RED, 9), ("bee", 0, 0)),
        position(("pot", RED, 9)),
    ):
        assert not np.array_equal(top(changed), top(state))
        assert text(changed) != text(state)
    glyph = np.s_[:, drawing.EDGE : drawing.EDGE + drawing.GLYPH]
    assert differs(top(position(("pot", RED, 0)))[glyph], top(state)[glyph]) > 0.1  # it is pale
    assert "bee  reached" in text(position(("pot", RED, 9), ("bee", 0, 0)))


def test_moves_score_and_result_are_drawn():
    states = {
        "30 moves left, score 0": position(),
        "1 move left, score 0": position(moves=29),
        "29 moves of 30, score 0": position(moves=29, strict_moves=0),
        "35 moves of 30, score 0": position(moves=35, strict_moves=0),
        "30 moves left, score 77": position(score=77),
        "0 moves left, score 0  LOST": position(moves=30, over=1),
        "9 moves left, score 0  LOST, no tap left": position(moves=21, over=1, dead=1),
        "9 moves left, score 0  WON": position(moves=21, over=1, won=1),
        "9 moves left, score 0  CUT OFF": position(moves=21, over=1, truncated=1),
    }
    for words, state in states.items():
        assert words in text(state).splitlines()
    assert_apart({words: top(state) for words, state in states.items()}, 0.0005)


def test_four_goals_and_the_longest_result_have_room():
    """Nothing is written over the goals."""
    goals = [("basic", YELLOW, 117)] * 4
    plain_bar, ended = top(position(*goals)), top(position(*goals, over=1, dead=1))
    changed = np.nonzero((plain_bar != ended).any(axis=(0, 2)))[0]
    empty = top(position())
    written = np.nonzero((plain_bar != empty).any(axis=(0, 2)))[0]
    assert written.max() < changed.min()


# ------------------------------------------------------------------------------------------------------------------ levels


@pytest.mark.parametrize("number", range(1, loader.NUM_LEVELS + 1))
def test_levels_are_drawn_quickly_and_cached_pieces_do_not_change(number):
    state = position()
    loader.write_level(loader.load(number), state)
    for name in ("kind", "hp", "color", "cover", "anchor", "counters"):
        state[name] = state[f"start_{name}"]
    state["full"] = state["hp"]
    state["color"][(state["kind"] == BASIC) & (state["color"] == 0)] = BLUE
    before, first = state.tobytes(), drawing.draw_picture(state)
    assert first.dtype == np.uint8
    assert first.shape == (
        drawing.BAR + HEIGHT * drawing.SIDE + drawing.EDGE,
        drawing.EDGE + WIDTH * drawing.SIDE + drawing.RIGHT_MARGIN,
        3,
    )
    assert 480 <= max(first.shape) <= 660
    copy = first.copy()
    first[:] = 7
    began = time.perf_counter()
    assert np.array_equal(drawing.draw_picture(state), copy)
    assert time.perf_counter() - began < 0.2  # about 2 ms; a machine may be busy
    assert state.tobytes() == before
    assert max(len(line) for line in text(state).splitlines()) < 80
