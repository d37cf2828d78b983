"""`momagames warmup`: compile games ahead of their first use."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer

from momagames import registry
from momagames.environments import make, make_vec
from momagames.games import REFERENCE

STEPS = 3


def find_games(ids: Sequence[str]) -> list[str]:
    """Return the first id of each set of rules among `ids` (all if there are none). Raises UnknownId."""
    found: dict[str, str] = {}
    for id in ids or registry.ids():
        found.setdefault(registry.spec(id).rules_key, id)
    return list(found.values())


def compile_game(id: str) -> float:
    """Compile the loops of one environment and of a batch, or load them from disk; return the seconds taken."""
    start = time.perf_counter()
    env = make(id)
    env.reset(seed=0)
    for agent in env.possible_agents:
        env.observe(agent)
    for _ in range(STEPS * len(env.possible_agents)):
        if env.agents:
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else env.action_space(env.agent_selection).sample(observation["action_mask"]))
    envs = make_vec(id, 2)
    envs.reset(seed=0)
    for _ in range(STEPS):
        envs.step(envs.sample_actions())
    envs.close()
    return time.perf_counter() - start


def compile_wrappers() -> float:
    """Compile the loops of the wrappers, which are the same for all games; return the seconds taken."""
    from momagames.wrappers import NormalizeReward, RecordEpisodeStatistics, Scalarize

    start = time.perf_counter()
    apis: tuple[Any, ...] = (make, partial(make_vec, num_envs=2))
    for api in apis:
        env: Any = NormalizeReward(RecordEpisodeStatistics(api(REFERENCE)))
        env = Scalarize(env, weights=[1] * len(env.game.objectives))
        env.reset(seed=0)
        for _ in range(env.game.max_episode_steps):
            env.step(env.sample_actions() if api is not make else int(env.last()[0]["action_mask"].argmax()))
    return time.perf_counter() - start


def warmup(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of environments, see `momagames list` [all].")] = None,
) -> None:
    """Compile games ahead, so that their first use on this machine does not wait."""
    from concurrent.futures import ProcessPoolExecutor, as_completed

    games = find_games(ids or [])
    with ProcessPoolExecutor(max_workers=min(1 + len(games), os.cpu_count() or 1)) as pool:
        running = {pool.submit(compile_game, id): id for id in games}
        running[pool.submit(compile_wrappers)] = "wrappers"
        for done in as_completed(running):
            print(f"{running[done]}: {done.result():.1f} s", flush=True)
