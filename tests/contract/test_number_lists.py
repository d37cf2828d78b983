"""Lists of numbers of parameters and positions: what is accepted, and what a message says."""

import numpy as np
import pytest

from momagames.contract import Parameter, position_numbers, read_number_list
from momagames.errors import InvalidParameter, InvalidState

COUNTS = Parameter("counts", None, "agents", 0, 100, optional=True, shape=((2, 4),))
ROWS = Parameter("chances", ((0.5, 1.0),), "rows", 0.0, 1.0, shape=((1, 3), 2))


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (COUNTS, [0, 100], (0, 100)),
        (COUNTS, np.array([1, 2, 3], np.uint8), (1, 2, 3)),
        (COUNTS, (np.int32(4), 5), (4, 5)),
        (COUNTS, None, None),
        (ROWS, [[0, 1]], ((0.0, 1.0),)),
        (ROWS, np.full((3, 2), 0.5, np.float32), ((0.5, 0.5),) * 3),
    ],
)
def test_lists_become_tuples_of_one_type(parameter, value, expected):
    assert repr(parameter.check("game", value)) == repr(expected)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        (COUNTS, [1], "game: invalid counts=[1]: expected a list of 2 to 4 integers in 0..100"),
        (COUNTS, [1] * 5, "a list of 2 to 4 integers"),
        (COUNTS, [], "a list of 2 to 4 integers"),
        (COUNTS, [1.0, 2.0], "a list of 2 to 4 integers"),
        (COUNTS, [True, 2], "a list of 2 to 4 integers"),
        (COUNTS, [2**70, 2], "a list of 2 to 4 integers"),
        (COUNTS, [[1, 2], [3]], "a list of 2 to 4 integers"),
        (COUNTS, "1,2", "a list of 2 to 4 integers"),
        (COUNTS, 3, "a list of 2 to 4 integers"),
        (COUNTS, [5, 101], "game: invalid counts[1]=101: expected an integer in 0..100"),
        (ROWS, [], "invalid chances=[]: expected a list of 1 to 3 rows of 2 numbers in 0..1"),
        (ROWS, [[0, 1, 0]], "rows of 2 numbers"),
        (ROWS, None, "rows of 2 numbers"),
        (ROWS, [[0, 1], [0, float("nan")]], "invalid chances[1][1]=nan: expected a number in 0..1"),
    ],
)
def test_what_is_refused(parameter, value, message):
    with pytest.raises(InvalidParameter) as raised:
        parameter.check("game", value)
    assert message in str(raised.value)


def test_descriptions_for_tables():
    assert COUNTS.allowed == "a list of 2 to 4 integers in 0..100, or None"
    assert ROWS.allowed == "a list of 1 to 3 rows of 2 numbers in 0..1"
    assert Parameter("w", None, "", 0.0, 1e6, shape=(8,)).allowed == "a list of 8 numbers in 0..1000000"


def test_ranges_of_entries():
    cells = position_numbers({"cells": "[[0, 1], [2, 0]]"}, "cells", 0, np.array([2, 1]), ((0, 9), 2))
    assert cells.dtype == np.int64
    assert cells.tolist() == [[0, 1], [2, 0]]
    assert read_number_list([], "cells", 0, np.array([2, 1]), ((0, 9), 2)).shape == (0, 2)
    with pytest.raises(InvalidState, match=r"cells\[1\]\[1\]=2: expected an integer in 0..1, row and column"):
        read_number_list([[0, 1], [2, 2]], "cells", 0, np.array([2, 1]), ((0, 9), 2), "row and column")
