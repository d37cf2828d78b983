"""Small games, and ways to play them, that the tests of the wrappers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import momagames

SAMEGAME = {"board_width": 5, "board_height": 4, "num_colors": 3}
GEMWALK = {"board_width": 5, "board_height": 6}
BREAKTHROUGH = {"board_width": 3, "board_height": 5}


def gemwalk(api: str = "aec", **options: Any) -> Any:
    return momagames.make("mo-gemwalk-v0", api=api, **{**GEMWALK, **options})


def samegame(api: str = "aec", **options: Any) -> Any:
    return momagames.make("mo-samegame-v0", api=api, **{**SAMEGAME, **options})


def breakthrough(api: str = "aec", **options: Any) -> Any:
    return momagames.make("mo-breakthrough-v0", api=api, **{**BREAKTHROUGH, **options})


def samegames(num_envs: int = 6, **options: Any) -> Any:
    return momagames.make_vec("mo-samegame-v0", num_envs, **{**SAMEGAME, **options})


def gemwalks(num_envs: int = 6, **options: Any) -> Any:
    return momagames.make_vec("mo-gemwalk-v0", num_envs, **{**GEMWALK, **options})


def breakthroughs(num_envs: int = 6, **options: Any) -> Any:
    return momagames.make_vec("mo-breakthrough-v0", num_envs, **{**BREAKTHROUGH, **options})


def legal(mask: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def play(env: Any, seed: int = 0) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """A random game through an AEC environment: who moved, `rewards` of the step, and what its last() had said."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        env.step(legal(observation["action_mask"], rng))
        yield agent, env.rewards, reward


def rounds(env: Any, seed: int = 0) -> Iterator[tuple[Any, ...]]:
    """A random game through a parallel environment: the results of step()."""
    rng = np.random.default_rng(seed)
    observations, _ = env.reset(seed=seed)
    while env.agents:
        masks = {agent: seen["action_mask"] for agent, seen in observations.items()}
        step = env.step({agent: legal(mask, rng) for agent, mask in masks.items() if mask.any()})
        observations = step[0]
        yield step


def steps(env: Any, seed: int = 0) -> Iterator[tuple[Any, ...]]:
    """A random episode of a Gymnasium environment: the results of step()."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    over = False
    while not over:
        step = env.step(legal(info["action_mask"], rng))
        info, over = step[4], step[2] or step[3]
        yield step


def batches(env: Any, count: int = 25, seed: int = 0) -> Iterator[tuple[Any, ...]]:
    """`count` random steps of a vector environment, the results copied."""
    rng = np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    for _ in range(count):
        actions = [legal(mask, rng) if mask.any() else 0 for mask in infos["action_mask"]]
        _, rewards, terminated, truncated, infos = env.step(np.array(actions))
        yield np.array(rewards), terminated.copy(), truncated.copy(), infos


Wrap = Callable[[Any], Any]


def same_pay(one: Any, other: Any, seed: int = 0) -> None:
    """Both AEC environments pay the same on the same moves, by `rewards` and by last(), within their equal spaces."""
    received = 0
    for (agent, rewards, last), (agent_2, rewards_2, last_2) in zip(play(one, seed), play(other, seed), strict=True):
        assert agent == agent_2
        np.testing.assert_array_equal(last, last_2)
        for name, reward in rewards.items():
            assert reward.dtype == rewards_2[name].dtype == np.float32
            np.testing.assert_array_equal(reward, rewards_2[name])
            assert one.reward_space(name).contains(reward)
            received += bool(np.any(reward))
    assert received > 0
    for agent in one.possible_agents:
        assert one.reward_space(agent) == other.reward_space(agent)
