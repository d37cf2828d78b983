"""Short trainings give what they gave, or the method has a new revision (see tests/golden_trainings.py)."""

import pytest

from momagames.baselines import METHODS, method
from tests import golden_trainings

pytestmark = pytest.mark.long
RECORDS = golden_trainings.read_records()


@pytest.mark.parametrize("case", RECORDS["trainings"])
def test_a_training_gives_what_it_gave(case):
    for package in ("torch", "pymoo", "cma", "pyarrow"):
        pytest.importorskip(package)
    now = golden_trainings.record(case)
    is_same = golden_trainings.find_processor() == RECORDS["processor"]
    changed = golden_trainings.find_difference(case, RECORDS["trainings"][case], now, is_same)
    assert not changed, changed


def test_every_method_that_trains_has_records_in_every_family_that_it_plays():
    for package in ("torch", "pymoo", "cma", "pyarrow"):
        pytest.importorskip(package)
    assert set(golden_trainings.list_cases()) == set(RECORDS["trainings"])
    own = {
        name for name in METHODS if method(name).trains and not method(name).__module__.startswith("momagames.baselines.morl")
    }
    assert own == set(golden_trainings.OPTIONS)


@pytest.mark.parametrize("is_same_processor", [True, False])
def test_a_change_is_found(is_same_processor):
    case, stored = next(iter(RECORDS["trainings"].items()))
    changed = {**stored, "sha256": "0", "summary": {name: [mean + 1, std] for name, (mean, std) in stored["summary"].items()}}
    assert golden_trainings.find_difference(case, stored, stored, is_same_processor) == ""
    said = golden_trainings.find_difference(case, stored, changed, is_same_processor)
    assert f"{case}: the training gives other policies" in said
    assert "raise `revision` of the method, then python -m tests.golden_trainings" in said
    near = {**changed, "summary": {name: [mean + 0.02 * std, std] for name, (mean, std) in stored["summary"].items()}}
    assert golden_trainings.find_difference(case, stored, near, is_same_processor)
    last = {**changed, "summary": {name: [mean + 1e-11, std] for name, (mean, std) in stored["summary"].items()}}
    assert golden_trainings.find_difference(case, stored, last, is_same_processor) == ""
    same = golden_trainings.find_difference(case, stored, {**stored, "sha256": "0"}, is_same_processor)
    assert bool(same) == is_same_processor
    other = golden_trainings.find_difference(case, stored, {**changed, "revision": stored["revision"] + 1}, is_same_processor)
    assert f"recorded with revision {stored['revision']}, now {stored['revision'] + 1}" in other
