"""State records have no hidden bytes: equal states are equal bytes."""

import numpy as np
import pytest

import momagames
from momagames.kernels.record import HEADER, record

DTYPES = {id: momagames.spec(id).dtype for id in momagames.ids()}
DTYPES["odd sizes"] = record(3, a=("u1", (5,)), b=("f8",), c=("i2", (3,)), d=("i4",))
DTYPES["nothing"] = record(1)


@pytest.mark.parametrize("name", DTYPES)
def test_no_hidden_bytes(name):
    dtype = DTYPES[name]
    assert sum(field.itemsize for field, *_ in dtype.fields.values()) == dtype.itemsize
    end = 0
    for field, offset in (dtype.fields[name][:2] for name in dtype.names):
        assert offset == end
        assert offset % field.base.itemsize == 0  # every number at a multiple of its own size
        end = offset + field.itemsize
    assert dtype.itemsize % max(field.base.itemsize for field, *_ in dtype.fields.values()) == 0


@pytest.mark.parametrize("name", DTYPES)
def test_header(name):
    assert {*HEADER, "gone"} <= set(DTYPES[name].names)


def test_copies_are_equal_bytes():
    states = np.zeros(50, DTYPES["odd sizes"])
    states["c"] = np.arange(150).reshape(50, 3)
    for i in range(50):
        other = np.frombuffer(b"\xff" * states.itemsize, states.dtype).copy()  # old contents must not shine through
        other[0] = states[i]
        assert other.tobytes() == states[i : i + 1].tobytes()


def test_hidden_bytes_would_be_noticed():
    aligned = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    assert sum(field.itemsize for field, *_ in aligned.fields.values()) != aligned.itemsize
