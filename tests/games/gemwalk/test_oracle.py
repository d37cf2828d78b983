"""Rules and oracle of MO-GemWalk play the same episodes."""

import numpy as np
import pytest

import momagames
from tests.games.gemwalk.cases import SMALL
from tests.games.gemwalk.naive import GemWalk

LETTERS = {0: ".", 1: "r", -1: "e", 9: "p"}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("params", SMALL["mo-gemwalk-v0"], ids=str)
def test_rules_and_oracle_play_the_same_episodes(params, seed):
    env = momagames.make("mo-gemwalk-v0", api="gymnasium", **params)
    observation, info = env.reset(seed=seed)
    rows = ["".join(LETTERS[cell] for cell in row) for row in observation.tolist()]
    assert all("rep" in 2 * row and set(row) <= set("rep.") for row in rows)  # §2, with the end of a row at its start
    rng, oracle, terminated = np.random.default_rng(seed), GemWalk(rows), False
    while not terminated:
        assert observation.tolist() == oracle.observation()
        assert np.flatnonzero(info["action_mask"]).tolist() == oracle.legal()
        action = int(rng.choice(oracle.legal()))
        observation, reward, terminated, _, info = env.step(action)
        assert reward.tolist() == oracle.step(action)
    assert len(oracle.gems) == len(rows)
