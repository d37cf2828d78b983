"""Medians of rounds in which the variants take turns: on a shared machine only such ratios mean anything."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

STEPS = 50_000  # environment steps of one run, about
Measure = Callable[[], float]  # runs once and returns the nanoseconds of a step


def scale(number: int, steps: int) -> int:
    """Return a number of games or steps that is right for runs of STEPS steps, for runs of `steps` steps; at least 1."""
    return max(1, number * steps // STEPS)


def interleaved(measures: dict[str, Measure], rounds: int) -> dict[str, float]:
    """Median of each measure, in ns a step; see `samples`."""
    return {name: statistics.median(values) for name, values in samples(measures, rounds).items()}


def samples(measures: dict[str, Measure], rounds: int) -> dict[str, list[float]]:
    """What each measure gave in each round; a round runs all of them once, after one that does not count."""
    found: dict[str, list[float]] = {name: [] for name in measures}
    for k in range(rounds + 1):
        for name, measure in measures.items():
            value = measure()
            if k:
                found[name].append(value)
    return found


def replay(env: Any, games: Iterable[tuple[int, list[Any]]], clock: Callable[[], float]) -> float:
    """The plain PettingZoo loop, reset, last (of AEC) and step, over recorded games: no policy in it. Returns ns a step."""
    steps, is_aec = 0, hasattr(env, "last")
    start = clock()
    for seed, actions in games:
        env.reset(seed=seed)
        for action in actions:
            if is_aec:
                env.last()
            env.step(action)
        steps += len(actions)
    return (clock() - start) / steps * 1e9


def record(env: Any, seeds: Iterable[int], rng: Any) -> list[tuple[int, list[Any]]]:
    """Games of uniformly random legal actions, as (seed, actions of every agent, None for one that has finished).

    A game ends early where the mask is empty (momaland's masks of MO-Breakthrough miss captures to the left).
    """
    games = []
    for seed in seeds:
        env.reset(seed=seed)
        actions: list[Any] = []
        while env.agents:
            if not hasattr(env, "last"):  # a Parallel environment without masks
                actions.append({agent: int(rng.integers(env.action_space(agent).n)) for agent in env.agents})
                env.step(actions[-1])
                continue
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                action = None
            else:
                has_mask = isinstance(seen, dict) and "action_mask" in seen  # momaland's games of simultaneous moves have none
                legal = seen["action_mask"].nonzero()[0] if has_mask else range(env.action_space(env.agent_selection).n)
                if not len(legal):
                    break
                action = int(rng.choice(legal))
            actions.append(action)
            env.step(action)
        games.append((seed, actions))
    return games
