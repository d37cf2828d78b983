"""Steps in batches: observation, mask and reward vector of every environment are written at every step."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.peers import CASES, momaland_env
from benchmarks.speed.timing import STEPS, Measure, interleaved, record, replay, samples
from momagames.engine.random_rollouts import random_rollouts, random_steps
from momagames.kernels.rng import random_words

WARM_UP = 100  # steps before the recording: games in all phases
PASSES = 9  # of a run with threads
GAIN = "gain"  # ends the name of a ratio among times


class Recording:
    """A batch that plays recorded actions again and again from the same positions."""

    def __init__(self, id: str, params: dict[str, Any], num_envs: int, threads: int = 1, steps: int = STEPS) -> None:
        self.envs = momagames.make_vec(id, num_envs=num_envs, threads=threads, **params)
        self.batch = self.envs.batch
        self.envs.reset(seed=1)
        self.words = random_words(1, num_envs)
        random_steps(self.batch, self.words, WARM_UP)
        self.length = max(4, min(2000, steps // num_envs))
        self.start = self.batch.states.copy()
        self.batch.load(self.start)
        self.actions = []
        for _ in range(self.length):
            self.actions.append(self.batch.sample_actions(self.words).copy())
            self.batch.step(self.actions[-1])
        self.end = self.batch.states.copy()
        shape = [n for n in self.actions[0].shape[1:] if n > 1]
        self.shaped = [actions.reshape(num_envs, *shape) for actions in self.actions]

    def _check(self) -> None:
        if self.batch.states.tobytes() != self.end.tobytes():
            raise RuntimeError("the replay differs from the recording")

    def time_vector_env(self, clock: Any = time.process_time) -> float:
        """ns a step through make_vec(...).step, with its checks."""
        self.batch.load(self.start)
        start = clock()
        for actions in self.shaped:
            self.envs.step(actions)
        spent = clock() - start
        self._check()
        return float(spent / self.length / len(self.end) * 1e9)

    def time_engine(self, clock: Any = time.process_time) -> float:
        """ns a step of the compiled loop alone."""
        self.batch.load(self.start)
        start = clock()
        for actions in self.actions:
            self.batch.step(actions)
        spent = clock() - start
        self._check()
        return float(spent / self.length / len(self.end) * 1e9)

    def time_random_rollouts(self) -> float:
        """ns a step with random actions chosen inside one compiled call, everything written."""
        start = time.process_time()
        random_steps(self.batch, self.words, self.length)
        return (time.process_time() - start) / self.length / len(self.end) * 1e9

    def rollouts(self) -> float:
        """ns a step of Monte-Carlo play: no observations."""
        start = time.process_time()
        _, lengths = random_rollouts(self.batch.game, self.start, 3)
        return float((time.process_time() - start) / max(1, lengths.sum()) * 1e9)


def select_sizes(sizes: tuple[int, ...], steps: int) -> list[int]:
    """Return the batch sizes for runs of so many steps: all up to 1024, and larger ones that make a step."""
    return [n for n in sizes if n <= max(1024, steps)]


def momaland_loop(case: str, games: int) -> Measure | None:
    """momaland's plain loop (reset, last, step) over recorded games, or None; a step is one of all that act at once."""
    env = momaland_env(case)
    if env is None:
        return None
    recorded = record(env, range(games), np.random.default_rng(0))
    id, params = CASES[case]
    calls = momagames.spec(id, **params).actors if hasattr(env, "last") else 1
    return lambda: replay(env, recorded, time.process_time) * calls


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step: {case: {variant: median}}."""
    measures: dict[str, Measure] = {}
    for case in CASES:
        sizes = (1024,) if "20x20" in case or "agents" in case else (1, 32, 1024, 16384)
        for n in select_sizes(sizes, steps):
            recording = Recording(*CASES[case], n, steps=steps)
            measures[f"{case}|N={n}"] = recording.time_vector_env
            if n == 1024:
                measures[f"{case}|N={n}, engine"] = recording.time_engine
                measures[f"{case}|N={n}, random inside"] = recording.time_random_rollouts
                measures[f"{case}|N={n}, rollouts"] = recording.rollouts
        peer = momaland_loop(case, 6 if "8x8" in case else 2)
        if peer:
            measures[f"{case}|momaland"] = peer
    return grouped(interleaved(measures, rounds))


def measure_threads(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns of wall time a step, and gains over one thread, each a median over rounds: {case: {variant: median}}.

    "at once" are two batches of half the size, one thread each, with nothing between them: what the machine's second core
    is worth at that moment. A gain is that of one round, because cores that are shared change from second to second.
    Apart from the rest, because threads that wait count as CPU time.
    """
    out: dict[str, dict[str, float]] = {}
    for case in ("SameGame 15x15x5", "Breakthrough 8x8"):
        out[case] = {}
        for n in select_sizes((1024, 16384), steps):
            halves = [Recording(*CASES[case], n // 2, steps=steps) for _ in range(2)]
            measures: dict[str, Measure] = {
                "threads=1": partial(steadily, Recording(*CASES[case], n, 1, steps)),
                "threads=2": partial(steadily, Recording(*CASES[case], n, 2, steps)),
                "at once": partial(at_once, halves),
            }
            found = samples(measures, rounds)
            for name, values in found.items():
                out[case][f"N={n}, {name}"] = median(values)
                if name != "threads=1":
                    pairs = zip(found["threads=1"], values, strict=True)
                    out[case][f"N={n}, {name}, {GAIN}"] = median(one / value for one, value in pairs)
    return out


def steadily(recording: Recording) -> float:
    """Several passes, the first one apart: a worker that sleeps is woken once, not in every pass."""
    recording.time_engine(time.perf_counter)
    return median(recording.time_engine(time.perf_counter) for _ in range(PASSES))


def at_once(recordings: list[Recording]) -> float:
    """Batches that run at the same time, each on a thread of its own."""
    start = threading.Barrier(len(recordings))

    def run(recording: Recording) -> float:
        start.wait()
        return steadily(recording)

    with ThreadPoolExecutor(len(recordings)) as pool:
        return sum(pool.map(run, recordings)) / len(recordings) ** 2


def grouped(flat: dict[str, float]) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for name, value in flat.items():
        case, _, variant = name.partition("|")
        out.setdefault(case, {})[variant] = value
    return out
