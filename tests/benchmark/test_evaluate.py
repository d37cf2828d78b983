"""Who sits where when policies play."""

import numpy as np
import pytest

import momagames
from momagames.baselines import method
from momagames.benchmark.evaluate import play_from_starts
from momagames.engine.playouts import generate_starts


@pytest.mark.parametrize(("seat", "side"), [(0, [0, 2]), (3, [1, 3])])
def test_team_mates_play_the_same_policy(seat, side):
    """A static team does not move, and their opponents do."""
    game = momagames.spec("mo-pommerman-team-v0", objectives=["movement"], max_steps=20)
    ((static,), (other,)) = (method(name, game)().policies(game) for name in ("stationary", "random"))
    words = np.arange(20, dtype=np.uint64).reshape(5, 4)
    done = play_from_starts(game, (static,), other, seat, generate_starts(game, np.arange(5, dtype=np.uint64)), words)
    moved = (done.returns[:, :, 0] < 0).any(axis=0)
    assert [agent for agent in range(4) if not moved[agent]] == side
