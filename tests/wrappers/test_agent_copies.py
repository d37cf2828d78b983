"""`clone` and `peek` of AEC and parallel environments, plain and wrapped: what a step gives, without side effects."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import BaseWrapper

import momagames
from momagames.errors import IllegalAction, InvalidCall
from momagames.wrappers import Flatten, HandleIllegal, NormalizeReward, RecordEpisodeStatistics, RecordReplay, Scalarize
from tests.adapters.test_dry_run import equal
from tests.wrappers.games import breakthrough, gemwalk, legal

BOMBS = "mo-pommerman-duel-v0"
STACKS: dict[str, Any] = {
    "plain": lambda env: env,
    "Scalarize": lambda env: Scalarize(env, utility=np.sum),
    "NormalizeReward": NormalizeReward,
    "stack": lambda env: Flatten(
        RecordEpisodeStatistics(Scalarize(NormalizeReward(HandleIllegal(env, "random")), utility=np.sum))
    ),
}
GAMES: dict[str, Any] = {"turns": breakthrough, "at once": lambda api: momagames.make(BOMBS, api=api, board_size=7)}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", STACKS)
def test_aec(name: str, game: str) -> None:
    env, rng = STACKS[name](GAMES[game]("aec")), np.random.default_rng(0)
    env.reset(seed=1)
    for _ in range(40):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        action = legal(observation["action_mask"], rng)
        env.peek(action)  # computes what is cached
        before = pickle.dumps(env)
        peeked, clone = env.peek(action), env.clone()
        assert pickle.dumps(env) == before
        env.step(action)
        assert equal(peeked, env.last())
        clone.step(action)
        assert equal(clone.last(), env.last())
        assert clone.unwrapped.episode.states.tobytes() == env.unwrapped.episode.states.tobytes()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", STACKS)
def test_parallel(name: str, game: str) -> None:
    env, rng = STACKS[name](GAMES[game]("parallel")), np.random.default_rng(0)
    observations, _ = env.reset(seed=1)
    for _ in range(40):
        if not env.agents:
            break
        masks = {agent: seen["action_mask"] for agent, seen in observations.items()}
        actions = {agent: legal(mask, rng) for agent, mask in masks.items() if mask.any()}
        env.peek(actions)  # computes what is cached
        before = pickle.dumps(env)
        peeked, clone = env.peek(actions), env.clone()
        assert pickle.dumps(env) == before
        result = env.step(actions)
        assert equal(peeked, result)
        assert equal(clone.step(actions), result)
        observations = result[0]


def test_errors_are_those_of_a_step() -> None:
    for env in (gemwalk(), Scalarize(gemwalk(), [1, 2])):
        with pytest.raises(InvalidCall, match="before reset"):
            env.peek(0)
        env.reset(seed=1)
        with pytest.raises(IllegalAction):
            env.peek(99)

    class Locked(BaseWrapper):  # type: ignore[misc]
        def __deepcopy__(self, memo: Any) -> None:
            raise TypeError("no copies")

    with pytest.raises(InvalidCall, match=r"cannot be copied \(TypeError: no copies\)"):
        Scalarize(Locked(gemwalk()), [1, 2]).clone()


def test_a_peek_records_nothing(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(), tmp_path)
    env.reset(seed=1)
    while env.agents:
        observation, _, terminated, truncated, _ = env.last()
        action = None if terminated or truncated else int(observation["action_mask"].argmax())
        if action is not None:
            env.peek(action)
        assert len(list(tmp_path.iterdir())) == 0
        env.step(action)
        if all(env.terminations.values()):
            break
    assert len(list(tmp_path.iterdir())) == 1
