import numpy as np
import pytest

from momagames.errors import BadParameter
from momagames.experiments.statistics import bootstrap


def test_interval_of_a_normal_sample():
    """Against the normal approximation of a mean, which 200 values justify."""
    values = np.random.default_rng(1).normal(5, 2, 200)
    found = bootstrap(values)
    error = 1.96 * values.std() / np.sqrt(200)
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - error, abs=0.02)
    assert found.high == pytest.approx(values.mean() + error, abs=0.02)
    assert found.runs == 200


def test_same_values_same_interval_and_more_confidence_is_wider():
    values = [0.1, 0.5, 0.9, 0.4]
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap(values, 0.99).low < bootstrap(values, 0.5).low


def test_one_run_has_no_width():
    found = bootstrap([3.0])
    assert (found.low, found.mean, found.high, found.runs) == (3.0, 3.0, 3.0, 1)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [[1.0]]])
def test_what_has_no_mean(values):
    with pytest.raises(BadParameter, match="finite numbers"):
        bootstrap(values)
