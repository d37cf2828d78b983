"""FixedInstance: every game begins alike. TabularObservation: positions as numbers, for learners with tables."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import momagames
from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import FixedInstance, HandleIllegal, TabularObservation
from tests.wrappers.games import breakthrough, gemwalk, gemwalks


def board(env: Any) -> Any:
    return env.get_state()["board"]


@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium"])
def test_every_episode_starts_from_the_instance(api: str) -> None:
    plain, env = gemwalk(api), FixedInstance(gemwalk(api), 4)
    plain.reset(seed=4)
    for seed in (None, None, 9):
        env.reset(seed=seed)
        assert board(env) == board(plain)
    env = FixedInstance(gemwalk(api), 5)
    env.reset()
    assert board(env) != board(plain)


def test_what_the_game_draws_comes_again_and_others_play_anew() -> None:
    puzzle = FixedInstance(momagames.make("mo-tileblast-v0", api="gymnasium", level=1), 2)
    seen = []
    for _ in range(2):
        _, info = puzzle.reset()
        for _ in range(5):
            _, _, _, _, info = puzzle.step(int(np.flatnonzero(info["action_mask"])[0]))
        seen.append(puzzle.get_state())
    assert seen[0] == seen[1]
    duel = FixedInstance(breakthrough("gymnasium"), 2)
    duel.reset(seed=0)
    replies = set()
    for _ in range(20):
        _, info = duel.reset()
        duel.step(int(np.flatnonzero(info["action_mask"])[0]))
        replies.add(str(board(duel)))
    assert len(replies) > 1


def test_the_recipe_makes_it_again() -> None:
    env = TabularObservation(FixedInstance(gymnasium.make("momagames/mo-gemwalk-v0"), 3), 50)
    again = gymnasium.make(env.spec)
    env.reset()
    again.reset()
    assert board(env) == board(again)
    assert again.observation_space == gymnasium.spaces.MultiDiscrete([50])


def test_numbers_of_observations() -> None:
    env = TabularObservation(FixedInstance(gemwalk("gymnasium"), 1), 400)
    for first in (0, 0):
        observation, info = env.reset()
        assert observation.tolist() == [first]
        assert env.observation_space.contains(observation)
    action = int(np.flatnonzero(info["action_mask"])[0])
    one = env.step(action)[0]
    assert one.tolist() == [1]
    env.reset()
    assert env.step(action)[0].tolist() == [1]


def test_more_observations_than_the_limit() -> None:
    env = TabularObservation(HandleIllegal(gemwalk("gymnasium"), "next"), 2)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(InvalidCall, match="limit=2"):
        env.step(0)
    with pytest.raises(InvalidCall, match="limit=2"):
        env.reset(seed=3)
    env.reset(seed=0)


def test_invalid_arguments() -> None:
    with pytest.raises(InvalidParameter, match=r"invalid environment for FixedInstance: .* got a Gymnasium vector environment"):
        FixedInstance(gemwalks(), 0)
    with pytest.raises(InvalidParameter, match="seed=-1"):
        FixedInstance(gemwalk(), -1)
    with pytest.raises(InvalidParameter, match="limit=0"):
        TabularObservation(gemwalk("gymnasium"), 0)
    with pytest.raises(InvalidParameter, match="invalid environment for TabularObservation"):
        TabularObservation(gemwalk(), 10)
