"""All wrappers in all environment APIs that they support, beside the unwrapped environment."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import momagames
from benchmarks.speed import timing
from benchmarks.speed.timing import Measure, interleaved, scale
from momagames import wrappers
from momagames.wrappers.centralize import Centralize

NUM_ENVS, UNWRAPPED = 256, "unwrapped"
DUEL, PUZZLE, BOMBS = "mo-breakthrough-v0", "mo-samegame-v0", "mo-pommerman-ffa-v0"
Wrap = Callable[[Any], Any]


def weigh(env: Any) -> Any:
    """Scalarize with a weight of 1 for each objective."""
    return wrappers.Scalarize(env, weights=[1.0] * len(env.unwrapped.game.objectives))


def record_replays(env: Any) -> Any:
    """RecordReplay that follows every episode and writes none."""
    return wrappers.RecordReplay(env, tempfile.gettempdir(), when=lambda episode: False)


REWARDS: dict[str, Wrap] = {
    "Scalarize": weigh,
    "ShareTeamReward": lambda env: wrappers.ShareTeamReward(env, "all"),
    "SelectObjectives": lambda env: wrappers.SelectObjectives(env, [0]),
    "NormalizeReward": wrappers.NormalizeReward,
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "HandleIllegal": lambda env: wrappers.HandleIllegal(env, "next"),
}
EPISODES: dict[str, Wrap] = {"FixedInstance": wrappers.FixedInstance, "RecordReplay": record_replays}
SPLIT: dict[str, Wrap] = {"SplitColors": wrappers.SplitColors}
MERGE: dict[str, Wrap] = {"MergeColors": wrappers.MergeColors}
AGENTS: dict[str, Wrap] = {"FrameStack": wrappers.FrameStack, "AgentIndicator": wrappers.AgentIndicator}
SINGLE = REWARDS | EPISODES | {"Flatten": wrappers.Flatten}
CENTRAL: dict[str, Wrap] = {"Centralize": lambda env: wrappers.Centralize(env, observation="agents")}
STAYING: dict[str, Wrap] = {"BlackDeath": wrappers.BlackDeath}
TABULAR: dict[str, Wrap] = {"TabularObservation": lambda env: wrappers.TabularObservation(env, 10**7)}
CASES: list[tuple[str, str, dict[str, Any], dict[str, Wrap]]] = [  # API, id, parameters, wrappers
    ("aec", DUEL, {}, SINGLE | AGENTS),
    ("aec", PUZZLE, {"num_agents": 2, "color_rewards": False}, SPLIT),
    ("aec", PUZZLE, {"num_agents": 2}, MERGE),
    ("parallel", DUEL, {}, SINGLE | CENTRAL | AGENTS | STAYING),
    ("parallel", BOMBS, {}, SINGLE | CENTRAL | AGENTS | STAYING),
    ("gymnasium", PUZZLE, {}, {name: SINGLE[name] for name in SINGLE if name != "ShareTeamReward"} | TABULAR),
    ("vector", DUEL, {}, REWARDS),
    ("vector", PUZZLE, {"num_agents": 2, "color_rewards": False}, SPLIT),
    ("vector", PUZZLE, {"num_agents": 2}, MERGE),
]
ILLEGAL = ("next", "random")  # in a batch, with illegal actions only


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step, of one environment of a batch: {API and game: {wrapper: median}}."""
    out = {}
    for api, id, params, wraps in CASES:
        name = f"{api}, {id}" + "".join(f", {key}={value}" for key, value in params.items())
        out[name] = interleaved(make_measures(api, id, params, wraps, steps), rounds)
    return out


def make_measures(api: str, id: str, params: dict[str, Any], wraps: dict[str, Wrap], steps: int) -> dict[str, Measure]:
    """Return the replays of recorded games by the unwrapped environment and with each wrapper."""
    if api == "vector":
        return make_batch_measures(id, params, wraps, scale(200, steps))
    make: Callable[[], Any] = lambda: momagames.make(id, api, **params)  # noqa: E731
    record, replay = LOOPS[api]
    games = record(make(), [0] * scale(20, steps))  # of one instance, that of FixedInstance
    envs = {UNWRAPPED: make()} | {name: wrap(make()) for name, wrap in wraps.items()}
    return {name: lambda env=env: replay(env, games) for name, env in envs.items()}


def make_batch_measures(id: str, params: dict[str, Any], wraps: dict[str, Wrap], steps: int) -> dict[str, Measure]:
    """Return replays of random legal actions, and of illegal actions that the environment replaces."""
    make: Callable[..., Any] = lambda **options: momagames.make_vec(id, NUM_ENVS, **params, **options)  # noqa: E731
    envs = {UNWRAPPED: make()} | {name: wrap(make()) for name, wrap in wraps.items()}
    source = make()
    source.reset(seed=0)
    actions = []
    for _ in range(steps):
        actions.append(source.sample_actions().copy())
        source.step(actions[-1])
    illegal = [np.full_like(actions[0], -1)] * steps
    measures = {name: lambda env=env: replay_batch(env, actions) for name, env in envs.items()}
    replaced = {f'illegal="{how}"': make(illegal=how) for how in ILLEGAL if "HandleIllegal" in wraps}
    return measures | {name: lambda env=env: replay_batch(env, illegal) for name, env in replaced.items()}


def replay_batch(env: Any, actions: list[Any]) -> float:
    env.reset(seed=0)
    start = time.process_time()
    for action in actions:
        env.step(action)
    return (time.process_time() - start) / (len(actions) * NUM_ENVS) * 1e9


def record_aec(env: Any, seeds: list[int]) -> list[Any]:
    return timing.record(env, seeds, np.random.default_rng(0))


def replay_aec(env: Any, games: list[Any]) -> float:
    return timing.replay(env, games, time.process_time)


def record_parallel(env: Any, seeds: list[int]) -> list[Any]:
    """Games of random legal actions, as (seed, joint actions)."""
    rng, games = np.random.default_rng(0), []
    for seed in seeds:
        observations, joint = env.reset(seed=seed)[0], []
        while env.agents:
            masks = {agent: seen["action_mask"] for agent, seen in observations.items()}
            joint.append({agent: int(rng.choice(np.flatnonzero(mask))) for agent, mask in masks.items() if mask.any()})
            observations = env.step(joint[-1])[0]
        games.append((seed, joint))
    return games


def record_single(env: Any, seeds: list[int]) -> list[Any]:
    """Games of random legal actions, as (seed, actions)."""
    rng, games = np.random.default_rng(0), []
    for seed in seeds:
        info, actions, over = env.reset(seed=seed)[1], [], False
        while not over:
            actions.append(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            _, _, terminated, truncated, info = env.step(actions[-1])
            over = terminated or truncated
        games.append((seed, actions))
    return games


def replay_steps(env: Any, games: list[Any]) -> float:
    """ns a step of recorded games; Centralize gets the joint actions of all agents, whose values are the same."""
    if isinstance(env, Centralize):
        order = env.env.possible_agents
        games = [(seed, [np.array([one.get(agent, 0) for agent in order]) for one in actions]) for seed, actions in games]
    start = time.process_time()
    for seed, actions in games:
        env.reset(seed=seed)
        for action in actions:
            env.step(action)
    return (time.process_time() - start) / sum(len(actions) for _, actions in games) * 1e9


LOOPS: dict[str, tuple[Callable[..., list[Any]], Callable[..., float]]] = {
    "aec": (record_aec, replay_aec), "parallel": (record_parallel, replay_steps), "gymnasium": (record_single, replay_steps),
}  # fmt: skip


def remark(variant: str, values: dict[str, float]) -> str:
    """The time of a step beside that of the unwrapped environment."""
    return "" if variant == UNWRAPPED else f"{values[variant] / values[UNWRAPPED]:.2f} x unwrapped"
