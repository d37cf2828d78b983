"""Witnesses, replayed in the environment itself: without restored states, scripted random numbers or a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium

from momagames.errors import InvalidFile
from momagames.tabular.environments import name_environment_errors
from momagames.tabular.evaluation import Policy
from momagames.tabular.model import END, TabularModel, Vector
from momagames.tabular.simulators import Simulator, read_reward, strip_wrappers


def replay_actions(env: gymnasium.Env[Any, Any], actions: Sequence[int], seed: int | None) -> tuple[list[Vector], bool]:
    """Return the rewards of an episode, and whether it ends with the last action; InvalidFile if it ends before.

    The time limit of the registry is not applied.
    """
    inner = strip_wrappers(env)
    first = int(getattr(inner.action_space, "start", 0))
    with name_environment_errors("reset()"):
        inner.reset(seed=seed)
    rewards, is_over = [], False
    for number, action in enumerate(actions):
        if is_over:
            raise InvalidFile(f"the episode ends after {number} of {len(actions)} actions")
        if not inner.action_space.contains(action + first):
            raise InvalidFile(f"action {number}, {action}, is not in {inner.action_space}")
        with name_environment_errors(f"action {number}"):
            _, reward, terminated, truncated, _ = inner.step(action + first)
            rewards.append(read_reward(reward))
            is_over = bool(terminated or truncated)
    return rewards, is_over


def play_policy(
    env: gymnasium.Env[Any, Any], simulator: Simulator, model: TabularModel, policy: Policy, episodes: int, seed: int | None
) -> list[list[Vector]]:
    """Play episodes with the environment's own random numbers, and return the rewards of each.

    seed      seed of all start states; None: seed e for episode e
    Raises    InvalidFile for a step that is not among the outcomes of the model
    """
    inner = strip_wrappers(env)
    first = int(getattr(inner.action_space, "start", 0))
    played = []
    for episode in range(episodes):
        state, rewards = 0, list[Vector]()
        with name_environment_errors(f"episode {episode}"):
            observation, _ = inner.reset(seed=episode if seed is None else seed)
            is_start = simulator.observe(inner, observation) == model.keys[0]
        if not is_start:
            raise InvalidFile(f"episode {episode} starts in another state than the model")
        while state != END:
            action = int(policy[state])
            with name_environment_errors(f"episode {episode}, step {len(rewards) + 1}"):
                observation, reward, terminated, truncated, _ = inner.step(action + first)
                rewards.append(read_reward(reward))
                key, is_over = simulator.observe(inner, observation), bool(terminated or truncated)
            matching = [
                one
                for one in model.outcomes(state, action)
                if one.reward == rewards[-1] and (one.next_state == END or (model.keys[one.next_state] == key and not is_over))
            ]
            if not matching:
                raise InvalidFile(f"episode {episode}, step {len(rewards)}: an outcome that the model does not have")
            state = matching[0].next_state
        played.append(rewards)
    return played
