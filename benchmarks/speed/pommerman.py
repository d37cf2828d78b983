"""MO-Pommerman: joint steps, with the full observations of all agents written at every step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import momagames
from benchmarks.speed import originals
from benchmarks.speed.throughput import Recording
from benchmarks.speed.timing import Measure, scale
from momagames.engine.episode import Episode

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "Pommerman FFA": ("mo-pommerman-ffa-v0", {}),
    "Pommerman team, fog": ("mo-pommerman-team-v0", {}),
    "Pommerman radio, fog": ("mo-pommerman-radio-v0", {}),
}
# Joint steps a second of the original (package 0.2.0) with all observations, on one Zen 4 core; it is in no package registry.
ORIGINAL = {"Pommerman FFA": 4810, "Pommerman team, fog": 980, "Pommerman radio, fog": 1060}
REQUIRED = {
    "Pommerman FFA": {"N=1024": 100, "parallel": 10},
    "Pommerman team, fog": {"N=1024": 400, "parallel": 10},
}
GAMES = 40


def copy_fields(episode: Episode) -> Callable[[Iterable[Any]], list[dict[str, Any]]]:
    """Replace `Episode.observe_all` by the fastest way without a pool of buffers: copy each field of all agents at once."""
    fields = episode.game.observation_views(episode.observations)
    names = (*fields, "action_mask")

    def observe_all(masks: Iterable[Any]) -> list[dict[str, Any]]:
        agents = zip(*(field.copy("K") for field in fields.values()), masks)  # noqa: B905 - equally long
        return [dict(zip(names, values)) for values in agents]  # noqa: B905

    return observe_all


def parallel_loop(case: str, num_games: int, pool: bool = True) -> Measure:
    """ns a joint step of the plain Parallel loop over recorded games; the policy's time is not counted."""
    id, params = CASES[case]
    env = momagames.make(id, api="parallel", **params)
    if not pool:
        env.aec_env.episode.observe_all = copy_fields(env.aec_env.episode)
    rng = np.random.default_rng(0)
    parts = env.aec_env.game.actions
    games: list[list[dict[str, Any]]] = []
    for seed in range(num_games):
        env.reset(seed=seed)
        games.append([])
        while env.agents:
            chosen = rng.integers(0, parts, (len(env.agents), len(parts)))
            actions = dict(zip(env.agents, chosen if len(parts) > 1 else chosen[:, 0].tolist(), strict=True))
            games[-1].append(actions)
            env.step(actions)

    def replay() -> float:
        start, steps = time.process_time(), 0
        for seed, actions in enumerate(games):
            env.reset(seed=seed)
            for joint in actions:
                env.step(joint)
            steps += len(actions)
        return (time.process_time() - start) / steps * 1e9

    return replay


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a joint step, and gains over the original's figure: {case: {variant: median}}."""
    out = {}
    for case, (id, params) in CASES.items():
        recording = Recording(id, params, 1024, steps=steps)
        measures: dict[str, Measure] = {
            "N=1024": recording.time_vector_env,
            "N=1024, engine": recording.time_engine,
            "N=1024, rollouts": recording.rollouts,
            "parallel": parallel_loop(case, scale(GAMES, steps)),
            "parallel, no pool": parallel_loop(case, scale(GAMES, steps), pool=False),
        }
        out[case] = originals.gains(measures, ORIGINAL[case], rounds)
    return out


def remark(case: str, variant: str, values: dict[str, float]) -> str:
    """What a figure is to be measured by."""
    return originals.remark(variant, values, REQUIRED.get(case, {}))
