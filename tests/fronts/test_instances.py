"""Stored fronts of instances: computed once, verified when read."""

import numpy as np
import pytest

from momagames.baselines.exact import exact_front
from momagames.benchmark.choices import GameChoice
from momagames.engine.playouts import generate_starts
from momagames.errors import TooLarge
from momagames.fronts import SearchLimits, instances, read_front, write_front

CHOICE = GameChoice(id="mo-samegame-v0", params={"board_width": 4, "board_height": 4, "num_colors": 2})
LIMITS = SearchLimits(100_000, 100_000_000)
SEED = 2**63 + 5  # more than a front file can have as a seed


def test_a_front_is_computed_once_and_again_if_it_was_changed(tmp_path, monkeypatch):
    front = instances.solve_instance(CHOICE, SEED, LIMITS, tmp_path)
    game = CHOICE.make_game()
    start = generate_starts(game, np.array([SEED], np.uint64))
    exact = exact_front(game, start, max_states=100_000, max_bytes=100_000_000).points
    assert sorted(front.values.tolist()) == sorted(exact.tolist())
    (file,) = tmp_path.iterdir()

    solve, calls = instances.returns_front, []
    monkeypatch.setattr(instances, "returns_front", lambda *given: calls.append(1) or solve(*given))
    assert instances.solve_instance(CHOICE, SEED, LIMITS, tmp_path) == front
    assert not calls
    point = front.points[0].model_copy(update={"value": tuple(value + 1 for value in front.points[0].value)})
    write_front(file, front.model_copy(update={"points": (point, *front.points[1:])}))  # its hash is right, its witness is not
    assert read_front(file) != front
    assert instances.solve_instance(CHOICE, SEED, LIMITS, tmp_path).values.tolist() == front.values.tolist()
    assert len(calls) == 1
    file.write_bytes(b"damaged")
    assert instances.solve_instance(CHOICE, SEED, LIMITS, tmp_path).values.tolist() == front.values.tolist()
    write_front(file, instances.solve_instance(CHOICE, SEED + 1, LIMITS, tmp_path))  # of another position
    assert instances.solve_instance(CHOICE, SEED, LIMITS, tmp_path).values.tolist() == front.values.tolist()
    assert len(calls) == 4


def test_limits_are_those_of_the_exact_search(tmp_path):
    with pytest.raises(TooLarge):
        instances.solve_instance(CHOICE, SEED, SearchLimits(1, 100_000_000), tmp_path)
    assert not list(tmp_path.iterdir())
