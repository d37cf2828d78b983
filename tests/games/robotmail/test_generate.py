"""Random layouts: accepted by the linter, with the given numbers of things, fully reachable, and determined by the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momagames.errors import InvalidParameter
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.layouts.generator import generate
from tests.games.robotmail.test_layouts import is_good, reached, steps

pytestmark = pytest.mark.compiled

# generate(11, 7, 5, 0.1)
KNOWN = {
    "colors": ["b,y,g,y,g,g,g", "g,w,w,w,w,r,y", "y,w,w,w,w,r,g", "r,w,gr,w,w,g,g", "y,g,g,g,y,g,r"],
    "targets": ["0,6,0,4,0,0,0", "0,0,0,0,0,0,2", "3,0,0,0,0,0,0", "0,0,0,0,0,0,0", "1,0,0,0,5,0,0"],
}
SIDES = st.integers(4, 24)
SEEDS = st.integers(0, 10**9)


def test_a_layout_never_changes():
    """The layout of a seed never changes."""
    assert generate(11, 7, 5, 0.1).data == KNOWN
    assert generate(11, 7, 5, 0.1) == generate(np.int64(11), np.int64(7), 5, np.float64(0.1))
    assert len({generate(seed) for seed in range(20)}) == 20


@settings(max_examples=30, deadline=None)
@given(SEEDS, SIDES, SIDES, st.floats(0, 0.2))
def test_every_size_and_seed(seed, width, height, density):
    found = generate(seed, width, height, density)
    assert loader.list_problems(found) == []
    assert (found.width, found.height) == (width, height)
    assert len(found.cells("r")) == round(density * width * height)
    assert found.indices == list(range(1, len(found.cells("y")) + 1))
    assert len(found.cells("y")) == round((2 * (width + height) - 4) / 3.5)
    assert len(found.cells("gr")) == max(1, round(width * height / 27))
    assert len(found.cells("b")) == max(1, round(width * height / 40))
    assert {target for row in found.targets for target in row} == {0, *found.indices}
    assert generate(seed, width, height, density) == found


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(4, 9), st.integers(4, 9), st.floats(0, 0.2))
def test_every_robot_reaches_every_cell(seed, width, height, density):
    """By the rules, from wherever a robot can get with what it carries: to mails, to its receiver, and beside a charger."""
    found = generate(seed, width, height, density)
    assert is_good(found)
    docks = {near for cell in found.cells("b") if cell not in found.narrow for near in found.neighbors(cell)}
    for mail in (0, 1, len(found.indices)):
        starts = found.cells("gr") if mail else [*found.cells("w"), *found.cells("y")]
        ways = set().union(*(reached(found, cell, mail) for cell in starts))
        for cell in ways:
            assert found.color(cell) not in "wg" or docks & {cell, *reached(found, cell, mail)}


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 12), st.integers(1, 6), st.integers(0, 5), st.sampled_from([0.05, 0.2, 0.5]))
def test_requested_counts_are_placed(seed, receivers, greens, chargers, white):
    found = generate(seed, 12, 10, 0.1, receivers, greens, chargers, white)
    assert [len(found.cells(code)) for code in ("y", "gr", "b", "r")] == [receivers, greens, chargers, 12]
    assert abs(len(found.cells("w")) / 120 - white) < white / 3 + 0.07
    assert loader.list_problems(found) == []


def test_boards_are_well_shaped():
    """Receivers on the edge, none in a crowd; chargers apart; mails off the edge; a room in the middle."""
    for seed in range(40):
        found = generate(seed)
        assert all(x in (0, 8) or y in (0, 8) for x, y in found.cells("y"))
        assert all(sum(found.color(near) == "y" for near in found.neighbors(cell)) < 2 for cell in found.cells("y"))
        assert all(0 < x < 8 and 0 < y < 8 for x, y in found.cells("gr"))
        assert all(2 <= x <= 6 and 2 <= y <= 6 for x, y in found.cells("w"))
        assert len(found.cells("w")) >= 17
        (a, b), (c, d) = found.cells("b")
        assert abs(a - c) + abs(b - d) > 3
        assert not {near for cell in found.cells("b") for near in found.neighbors(cell)} & set(found.cells("w"))


def test_most_of_the_room_stays_white():
    """§10.4 Two thirds of it, however many walls there are."""
    counts = {len(generate(seed, density=0.2).cells("w")) for seed in range(30)}
    assert min(counts) == 17  # of 25


def test_two_boards_in_three_are_symmetric():
    def alike(found, turn):
        return {(8 - x, 8 - y if turn else y) for x, y in found.cells("b")} == set(found.cells("b"))

    boards = [generate(seed) for seed in range(90)]
    mirrored, turned = (sum(alike(found, turn) for found in boards) for turn in (False, True))
    assert 15 < mirrored < 45
    assert 15 < turned < 45


SMALL = {"width": 5, "height": 5}
BAD = {
    "width": ({"width": 3}, r"invalid width=3: .*4\.\.24"),
    "height": ({"height": 25}, r"invalid height=25: .*4\.\.24"),
    "seed": ({"seed": -1}, "seed=-1"),
    "no whole seed": ({"seed": 1.5}, r"invalid seed=1\.5: expected an integer"),
    "density": ({"density": 0.21}, r"invalid density=0\.21: .*0\.\.0\.2"),
    "no number": ({"density": "much"}, "density='much'"),
    "nan": ({"density": float("nan")}, "density=nan"),
    "receivers": ({"receivers": 0}, r"invalid receivers=0: .*1\.\.63"),
    "greens": ({"greens": 65}, r"invalid greens=65: .*1\.\.64"),
    "chargers": ({"chargers": -1}, r"invalid chargers=-1: .*0\.\.64"),
    "white": ({"white": 0.7}, r"invalid white=0\.7: .*0\.05\.\.0\.6"),
    "too many receivers": ({**SMALL, "receivers": 63}, r"receivers=63 do not fit on 5 x 5 cells, only \d+ do: take fewer"),
    "too many greens": ({**SMALL, "greens": 60}, "greens=60 do not fit on 5 x 5 cells"),
    "too many chargers": ({**SMALL, "chargers": 60}, "chargers=60 do not fit on 5 x 5 cells"),
    "too many walls": ({"density": 0.2, "receivers": 17, "greens": 8}, r"density=0\.2 \(16 walls\) do not fit"),
}


def test_invalid_arguments():
    for params, message in BAD.values():
        with pytest.raises(InvalidParameter, match=message):
            generate(**params)


def test_the_search_of_these_tests_stops_at_walls():
    """Else the tests above would say little."""
    found = loader.load({"colors": ["w,gr,g,y", "g,g,r,g"], "targets": ["0,0,0,1", "0,0,0,0"]})
    assert reached(found, (1, 0), 1) == {(0, 0), (0, 1), (1, 1), (2, 0), (3, 0)}
    assert reached(found, (1, 0), 2) == {(0, 0), (0, 1), (1, 1)}
    assert set(steps(found, (3, 0), 0)) == {(2, 0), (3, 1)}
