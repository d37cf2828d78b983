"""Environments of training libraries: through `momagames.integrations`, and as one makes them without.

Both sides play in one run, with random legal actions that a loop of the library chooses; libraries that are not installed are
left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.throughput import grouped
from benchmarks.speed.timing import Measure, interleaved
from momagames.errors import MissingExtra
from momagames.wrappers import Flatten, Scalarize

ID, WEIGHTS = "mo-samegame-v0", [1.0] * 5
TEAM = "mo-pommerman-team-v0"
SIZES, LENGTH = (8, 64), 25  # environments; steps of a rollout


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step: {"library, environments": {"plain route" or "integration": median}}."""
    measures: dict[str, Measure] = {}
    for name, make in CASES.items():
        try:
            measures |= {f"{name}, {case}": one for case, one in make(steps).items()}
        except MissingExtra:
            continue
    return grouped(interleaved(measures, rounds))


def remark(variant: str, values: dict[str, float]) -> str:
    """The steps per second, and the ratio to the plain route."""
    text = f"{1e9 / values[variant]:,.0f} steps/s"
    return text if variant == "plain route" else f"{text}, {values['plain route'] / values[variant]:.1f} x the plain route"


def time_loop(step: Callable[[], object], steps_of_one: int, steps: int) -> Measure:
    """Return a measure of the CPU time of a step, in ns, over calls that do several steps each."""

    def loop() -> float:
        calls = max(1, steps // steps_of_one)
        start = time.process_time()
        for _ in range(calls):
            step()
        return (time.process_time() - start) / (calls * steps_of_one) * 1e9

    return loop


def measure_sb3(steps: int) -> dict[str, Measure]:
    batch_env = import_module("momagames.integrations.sb3").BatchVecEnv
    dummy_env = import_module("stable_baselines3.common.vec_env").DummyVecEnv
    rng, measures = np.random.default_rng(0), {}
    for n in SIZES:
        plain = dummy_env([lambda: momagames.make(ID, api="gymnasium", weights=WEIGHTS)] * n)
        for variant, env in (("plain route", plain), ("integration", batch_env(ID, n, WEIGHTS))):
            env.reset()

            def step(env: Any = env) -> None:
                masks = np.stack(env.env_method("action_masks"))  # as MaskablePPO reads them
                env.step((rng.random(masks.shape) * masks).argmax(axis=1))

            measures[f"{n} environments|{variant}"] = time_loop(step, n, steps // 10)
    return measures


def measure_torchrl(steps: int) -> dict[str, Measure]:
    batch_env = import_module("momagames.integrations.torchrl").BatchEnv
    envs, torch, module = import_module("torchrl.envs"), import_module("torch"), import_module("tensordict.nn").TensorDictModule

    def make_one() -> Any:
        return envs.GymWrapper(Flatten(momagames.make(ID, api="gymnasium")), categorical_action_encoding=True)

    def make_team() -> Any:
        base = Flatten(Scalarize(momagames.make(TEAM, api="parallel"), WEIGHTS))
        return envs.PettingZooWrapper(base, use_mask=True, done_on_any=False)

    def draw(masks: Any) -> Any:
        return torch.multinomial(masks.flatten(0, -2).float(), 1).reshape(masks.shape[:-1])

    def play(env: Any) -> Callable[[], Any]:
        group = env.action_key[:-1] if isinstance(env.action_key, tuple) else ()
        policy = module(draw, in_keys=[(*group, "action_mask")], out_keys=[(*group, "action")])
        return lambda: env.rollout(LENGTH, policy=policy, break_when_any_done=False)

    n = SIZES[0]
    pairs = {
        f"{n} environments": (envs.SerialEnv(n, make_one), batch_env(ID, n)),
        f"{n} environments of four agents": (envs.SerialEnv(n, make_team), batch_env(TEAM, n, WEIGHTS)),
    }
    return {
        f"{case}|{variant}": time_loop(play(env), n * LENGTH, steps // 50)
        for case, pair in pairs.items()
        for variant, env in zip(("plain route", "integration"), pair, strict=True)
    }


def measure_rllib(steps: int) -> dict[str, Measure]:
    rllib = import_module("momagames.integrations.rllib")
    wrapper = import_module("ray.rllib.env.wrappers.pettingzoo_env").ParallelPettingZooEnv
    plain = wrapper(Flatten(Scalarize(momagames.make(TEAM, api="parallel"), WEIGHTS), key="observations"))
    envs = {
        "plain route": plain,
        "integration": rllib.make_multi_agent_env({"id": TEAM, "weights": WEIGHTS, "mask": "observation"}),
    }
    rng, measures = np.random.default_rng(0), {}
    for variant, env in envs.items():
        env.reset(seed=0)

        def step(env: Any = env) -> None:
            ends = env.step({agent: int(rng.integers(6)) for agent in env.agents})[2]
            if ends["__all__"]:
                env.reset()

        measures[f"an environment of four agents|{variant}"] = time_loop(step, 1, steps // 50)
    return measures


def measure_textarena(steps: int) -> dict[str, Measure]:
    options = {"legal_actions": "numbers", "illegal": "forfeit"}
    arena = import_module("momagames.integrations.textarena").TextArenaEnv(ID, WEIGHTS, **options)
    plain = momagames.make(ID, api="text", **options)

    def step_arena() -> None:
        arena.get_observation()
        if arena.step("1")[0]:
            arena.reset(num_players=1)

    def step_plain() -> None:
        plain.last()
        plain.step("1")
        if plain.terminations[plain.agent_selection]:
            plain.reset()

    arena.reset(num_players=1)
    plain.reset()
    pair = {"plain route": step_plain, "integration": step_arena}
    return {f"a game|{variant}": time_loop(step, 1, steps // 50) for variant, step in pair.items()}


CASES: dict[str, Callable[[int], dict[str, Measure]]] = {
    "Stable-Baselines3": measure_sb3,
    "TorchRL": measure_torchrl,
    "RLlib": measure_rllib,
    "TextArena": measure_textarena,
}
