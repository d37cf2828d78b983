"""How hard levels of MO-TileBlast are: against the rates that were measured on another model of the same rules."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from momagames.errors import InvalidLevel, InvalidParameter, UnknownId
from momagames.games.tileblast.cli.difficulty import measure_moves_to_win, rate_level, win_quantile
from momagames.games.tileblast.levels import loader

pytestmark = pytest.mark.compiled

# policy, runs that were made of each level; level -> share that was won within the limit, median moves to a win
MEASURED = {
    ("random", 200): {1: (1.00, 10), 2: (0.43, 20), 3: (0.04, 39), 5: (0.22, 68), 9: (0.04, 85), 11: (0.09, 81)},
    ("greedy_contact", 80): {
        1: (1.00, 7),
        2: (0.99, 12),
        3: (0.41, 24),
        4: (0.35, 34),
        6: (0.25, 37),
        7: (0.17, 36),
        9: (0.41, 53),
    },
    ("one_step_lookahead", 50): {
        1: (1.00, 6),
        2: (0.98, 13),
        3: (0.94, 11),
        4: (0.84, 19),
        6: (0.74, 21),
        7: (0.80, 17),
        8: (0.72, 24),
    },
}
RUNS = 200


@pytest.mark.parametrize(
    ("policy", "runs"),
    [pytest.param(*case, marks=pytest.mark.long if case[0] == "one_step_lookahead" else ()) for case in MEASURED],
)
def test_rates(policy, runs):
    """Within 3.5 standard errors of the difference; the median within a fifth."""
    for level, (share, median) in MEASURED[policy, runs].items():
        found = rate_level(level, policy, RUNS)
        pooled = (found.win_rate * RUNS + share * runs + 1) / (RUNS + runs + 2)
        error = math.sqrt(pooled * (1 - pooled) * (1 / RUNS + 1 / runs))
        assert abs(found.win_rate - share) <= 3.5 * error, (level, found)
        assert found.median == pytest.approx(median, rel=0.2), level
        assert found.dead == 0


def test_dead_games_are_counted():
    """Weeds overgrow level 10: 19 of 200 random games were measured."""
    found = rate_level(10, "random", RUNS)
    assert (found.win_rate, found.median) == (0.0, None)
    assert 5 <= found.dead <= 45


@pytest.mark.long
def test_games_of_a_policy_without_draws_depend_on_their_seeds_only():
    more, _ = measure_moves_to_win(loader.load(4), "one_step_lookahead", 20)
    assert (measure_moves_to_win(loader.load(4), "one_step_lookahead", 5, 1010)[0] == more[10:15]).all()


@pytest.mark.long
def test_the_better_policy_wins_more():
    for level in (3, 7):
        shares = [rate_level(level, policy, 100).win_rate for policy in ("random", "greedy_contact", "one_step_lookahead")]
        assert shares == sorted(shares)
        assert shares[0] < shares[1] - 0.1 < shares[2] - 0.2


def test_a_rating_depends_on_its_arguments_alone():
    found = rate_level(4, "greedy_contact", 40)
    assert (
        found == rate_level(loader.load(4), "greedy_contact", 40) == rate_level(dict(loader.load(4).data), "greedy_contact", 40)
    )
    assert asdict(found) != asdict(rate_level(4, "greedy_contact", 40, seed=5000))
    assert found.error == pytest.approx(math.sqrt(found.win_rate * (1 - found.win_rate) / 40))


def test_games_do_not_depend_on_their_number():
    some, _ = measure_moves_to_win(loader.load(4), "greedy_contact", 5)
    more, _ = measure_moves_to_win(loader.load(4), "greedy_contact", 20)
    assert (some == more[:5]).all()


def test_the_cap():
    took, dead = measure_moves_to_win(loader.load(4), "random", 40, cap=40)
    longer, _ = measure_moves_to_win(loader.load(4), "random", 40)
    assert (took == np.where(longer <= 40, longer, np.inf)).all()
    assert np.isinf(took).any()
    assert not dead.any()


def test_quantiles():
    took = np.array([np.inf, 5, 9, 7])
    assert [win_quantile(took, share) for share in (0.05, 0.25, 0.5, 0.75, 0.76)] == [5, 5, 7, 9, None]


def test_invalid_arguments():
    with pytest.raises(InvalidLevel, match=r"1\.\.12"):
        rate_level(13)
    with pytest.raises(UnknownId, match="one_step_lookahead"):
        rate_level(1, "lookahed")
    with pytest.raises(UnknownId, match="mo-tileblast"):
        rate_level(1, "simple")
    for wrong in ({"runs": 0}, {"cap": 0}):
        with pytest.raises(InvalidParameter, match="=0: expected"):
            rate_level(1, "random", **wrong)
