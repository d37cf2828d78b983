"""The compiled rules count the same sequences of legal actions as the oracles did."""

import json

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.positions import load_state
from tests.perft.count import FOLDER, ORACLES, POSITIONS, count

CASES = [(id, case) for id in ORACLES for case in json.loads((FOLDER / f"{id}.json").read_text())]


def positions(game, states):
    """A batch that stands on these states."""
    batch = Batch(game, len(states), autoreset="disabled")
    batch.load(states)
    return batch


def count_by_rules(id, case, most):
    """Sequences of each length, level by level, until a level would have more than `most`."""
    game = momagames.spec(id, **case["params"])
    start = {"board": case["board"], "next_agent": game.agents[case["first"]]}
    batch = positions(game, load_state(game, start))
    counts = []
    for known in case["counts"]:
        parents, actions = np.nonzero(batch.masks[:, 0])
        counts.append(len(parents))
        if known > most or not len(parents):
            break
        batch = positions(game, batch.states[parents])
        batch.step(batch.actions(actions))
    return counts


@pytest.mark.parametrize(("id", "case"), CASES, ids=[f"{id}-{case['params']}" for id, case in CASES])
def test_rules(id, case, interpreted):
    counts = count_by_rules(id, case, most=500 if interpreted else 20_000)
    assert len(counts) >= 2
    assert counts == case["counts"][: len(counts)]


@pytest.mark.parametrize("most", [200, pytest.param(2_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("id", "case"), CASES, ids=[f"{id}-{case['params']}" for id, case in CASES])
def test_files_are_the_oracles(id, case, most):
    assert (case["params"], case["board"], case["first"], len(case["counts"])) in POSITIONS[id]
    depth = sum(number < most for number in case["counts"])
    oracle = ORACLES[id].given(case["board"], case["first"], **case["params"])
    assert count(oracle, depth) == case["counts"][:depth]
