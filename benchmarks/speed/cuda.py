"""Random play on a CUDA card: actions, steps, observations, masks and rewards of all environments, beside the processor."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import momagames
from benchmarks.speed.timing import samples
from momagames.engine.batch import Batch
from momagames.engine.cuda_batch import CudaBatch
from momagames.engine.random_rollouts import random_steps
from momagames.kernels.jit.cuda import import_cuda
from momagames.kernels.rng import random_words

CASES = {
    "SameGame 15x15x5": "mo-samegame-v0",
    "Breakthrough 8x8": "mo-breakthrough-v0",
    "Pommerman FFA": "mo-pommerman-ffa-v0",
    "TileBlast": "mo-tileblast-v0",
    "RoboticMail 4 players x 3 robots": "mo-robotmail-4-v0",
}
SIZES, WARM_UP = (4096, 65536, 262144), 50
CPU_ENVS = 1024
PROCESSOR = "processor, 1 thread"


class CardPlay:
    """Random play of a batch on the card."""

    def __init__(self, id: str, num_envs: int, steps: int) -> None:
        self.batch = CudaBatch(momagames.spec(id), num_envs)
        self.length = max(4, steps // num_envs)
        self.batch.reset(1)
        self.play(WARM_UP)

    def play(self, length: int) -> None:
        for _ in range(length):
            self.batch.step_randomly()
        import_cuda().synchronize()

    def time(self) -> float:
        """Wall time of an agent step in ns."""
        start = time.perf_counter()
        self.play(self.length)
        return (time.perf_counter() - start) / self.length / self.batch.num_envs * 1e9


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step by case and batch size, wall time."""
    found = {}
    for case, id in CASES.items():
        batch, words = Batch(momagames.spec(id), CPU_ENVS), random_words(1, CPU_ENVS)
        batch.seed(1)
        batch.reset()
        random_steps(batch, words, WARM_UP)
        length = max(4, steps // CPU_ENVS)

        def time_processor(batch: Batch = batch, words: Any = words, length: int = length) -> float:
            start = time.perf_counter()
            random_steps(batch, words, length)
            return (time.perf_counter() - start) / length / CPU_ENVS * 1e9

        measures = {PROCESSOR: time_processor}
        for n in SIZES:
            measures[f"card, N={n}"] = CardPlay(id, n, 20 * steps).time
        found[case] = {name: float(median(values)) for name, values in samples(measures, rounds).items()}
    return found


def remark(variant: str, values: dict[str, float]) -> str:
    """The ratio that belongs to a figure."""
    return "" if variant == PROCESSOR else f"{values[PROCESSOR] / values[variant]:,.0f} x one thread of the processor"
