"""Hostile inputs (tests/hostile): every target takes some without a fault, and planted faults are found."""

import copy
import json
import random
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.hostile.inputs import Hostile, Valid, encode_json, encode_npz, encode_text

EXAMPLE = {"id": "mo-samegame-v0", "seed": 3, "actions": [1, [2, 3], {"a": None}], "returns": [[0.5]], "nested": {"x": ["y"]}}
ARRAYS = {"head": np.frombuffer(json.dumps(EXAMPLE).encode(), np.uint8), "a": np.arange(6.0).reshape(2, 3), "b": np.arange(4)}


def make_inputs(source):
    """Return an input of each kind."""
    return (
        encode_json(source, EXAMPLE), encode_text(source, "a, b\nc, d\n"), source.raw(bytes(range(50))),
        encode_npz(source, ARRAYS),
    )  # fmt: skip


def test_inputs_are_repeated_and_leave_the_example_as_it_is():
    before, arrays = copy.deepcopy(EXAMPLE), copy.deepcopy(ARRAYS)
    valid = make_inputs(Valid())
    assert json.loads(valid[0]) == EXAMPLE
    changed = set()
    for number in range(60):
        made = make_inputs(Hostile(Random(number)))
        assert made == make_inputs(Hostile(Random(number)))
        changed |= {k for k, (one, other) in enumerate(zip(made, valid, strict=True)) if one != other}
    assert changed == {0, 1, 2, 3}
    assert before == EXAMPLE
    assert all(np.array_equal(array, arrays[name]) for name, array in ARRAYS.items())


@pytest.fixture
def runner(monkeypatch):
    """Starts processes, which import from the checkout, too. It needs a module that Windows lacks."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1]))
    return pytest.importorskip("tests.hostile.runner", exc_type=ImportError)


@pytest.mark.long
def test_planted_faults_are_found(runner):
    """Errors of other types, hangs in a call and in a loop, growth, and the end of the process; no other input is lost."""
    from tests.hostile import planted

    limits, count, seed = runner.Limits(seconds=1, again_seconds=1, bytes=60 << 20), 8, 5
    found, ends = runner.run(dict.fromkeys(planted.NAMES, count), seed, 2, ("tests.hostile.planted",), limits, print)
    kinds = {}
    for (name, error, _), line in found.items():
        kinds.setdefault(name, []).append(error)
        assert Random(f"{seed} {name} {line['input']}").random() < planted.SHARE
        assert f"--only '{name}' --seed {seed} --input {line['input']}" in runner.describe_fault(line, seed)
    assert kinds == {name: [error] for name, error in zip(planted.NAMES, planted.FAULTS.values(), strict=True)}
    for name, each in ends.items():
        chosen = sum(Random(f"{seed} {name} {number}").random() < planted.SHARE for number in range(count))
        assert (each["fault"], each["refused"]) == (chosen, count - chosen)
        assert chosen


@pytest.mark.long
def test_no_target_has_a_fault(runner):
    """With a few inputs of another seed each time; the schedule reads a million."""
    for module in ("polars", "pyarrow"):
        pytest.importorskip(module)
    from tests.hostile import apis, files  # noqa: F401 - the targets
    from tests.hostile.targets import TARGETS

    names, seed = [name for name in TARGETS if not name.startswith("planted")], random.randrange(10**9)
    print(f"seed {seed}")
    found, ends = runner.run(runner.share_inputs(700, names), seed)
    assert not found, "\n".join(runner.describe_fault(line, seed) for line in found.values())
    assert sum(each["returned"] + each["refused"] for each in ends.values()) >= 600
