"""Who sits where when policies play."""

import numpy as np
import pytest

import momagames
from momagames.baselines import method
from momagames.benchmark.episodes import make_episode_seeds, play_from_starts
from momagames.benchmark.evaluate import evaluate_run
from momagames.engine.playouts import generate_starts
from tests.benchmark.tiny import POLICIES, suite


@pytest.mark.long
@pytest.mark.parametrize(("seat", "side"), [(0, [0, 2]), (3, [1, 3])])
def test_team_mates_play_the_same_policy(seat, side):
    """A static team does not move, and their opponents do."""
    game = momagames.spec("mo-pommerman-team-v0", objectives=["movement"], max_steps=20)
    ((static,), (other,)) = (method(name, game)().policies(game) for name in ("stationary", "random"))
    words = np.arange(20, dtype=np.uint64).reshape(5, 4)
    done = play_from_starts(game, (static,), other, seat, generate_starts(game, np.arange(5, dtype=np.uint64)), words)
    moved = (done.returns[:, :, 0] < 0).any(axis=0)
    assert [agent for agent in range(4) if not moved[agent]] == side


def test_a_named_episode_set_has_the_same_start_positions_for_all_seeds():
    def list_starts(seed, **params):
        run, _ = suite({**POLICIES, "seeds": [seed], **params}).list_runs()
        starts, words = make_episode_seeds(run, run.game.make_game())
        rows = list(evaluate_run(run, {}))
        assert {row["start"] for row in rows} == set(starts.tolist())
        return starts.tolist(), words.tolist()

    named, other_seed = list_starts(0, episode_set="main"), list_starts(1, episode_set="main")
    assert named[0] == other_seed[0]
    assert named[1] != other_seed[1]
    assert named[0] != list_starts(0, episode_set="other")[0]
    assert list_starts(0)[0] != list_starts(1)[0]
