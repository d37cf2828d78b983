"""MO-Breakthrough as a hand-written C loop, driven through ctypes; skipped where there is no compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.peers import CASES
from benchmarks.speed.throughput import grouped
from benchmarks.speed.timing import Measure, interleaved
from momagames.engine.batch import Batch

SOURCE = Path(__file__).with_name("breakthrough.c")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


def compiled(folder: str, *flags: str, source: Path = SOURCE) -> Any:
    """A source as a library; None without a compiler, or one that does not know the machine's instructions."""
    cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if cc is None:
        return None
    target = Path(folder) / f"loop{len(flags)}.so"
    done = subprocess.run([cc, *FLAGS, *flags, str(source), "-o", str(target)], capture_output=True, check=False)
    return ctypes.CDLL(str(target)) if done.returncode == 0 else None


class CLoop:
    """N games in C, with arrays as those of `Batch`."""

    def __init__(self, library: Any, batch: Batch) -> None:
        self.library, n = library, batch.num_envs
        self.size = batch.game.params["board_width"], batch.game.params["board_height"]
        self.states = np.zeros((n, library.state_bytes()), np.uint8)
        same = ("observations", "masks", "rewards", "terminated", "truncated", "to_move", "_ended", "_sums", "lengths",
                "returns", "final_lengths", "finished")  # fmt: skip
        self.arrays = {name: np.zeros_like(getattr(batch, name)) for name in same}
        self.pointers = [ctypes.c_void_p(array.ctypes.data) for array in self.arrays.values()]
        self.reset()

    def reset(self) -> None:
        for array in self.arrays.values():
            array[:] = 0
        first, second = self.pointers[:2]
        self.library.start(ctypes.c_void_p(self.states.ctypes.data), len(self.states), *self.size, first, second)

    def step(self, actions: int) -> None:
        """`actions` is the address of int64[N]."""
        states = ctypes.c_void_p(self.states.ctypes.data)
        self.library.run(states, len(self.states), ctypes.c_void_p(actions), *self.pointers)


def verify(loop: CLoop, batch: Batch, actions: list[Any]) -> None:
    """The same games from the start: every output is equal after every step, or RuntimeError."""
    loop.reset()
    batch.reset()
    batch.returns[:], batch.final_lengths[:] = 0, 0
    for one in actions:
        batch.step(one)
        loop.step(one.ctypes.data)
        for name, array in loop.arrays.items():
            if not np.array_equal(array, getattr(batch, name)):
                raise RuntimeError(f"the C loop differs in {name}")


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """ns a step at N=1024 from the start position on: {case: {"ours", "C", "C with AVX-512"}}."""
    measures: dict[str, Measure] = {}
    with tempfile.TemporaryDirectory() as folder:
        libraries = {"C": compiled(folder), "C with AVX-512": compiled(folder, "-DWIDE")}
        for case in ("Breakthrough 8x8", "Breakthrough 20x20"):
            id, params = CASES[case]
            batch = Batch(momagames.spec(id, **params), 1024)
            batch.reset()
            words = np.arange(1024, dtype=np.uint64)
            actions = []
            for _ in range(120):
                actions.append(batch.sample_actions(words).copy())
                batch.step(actions[-1])

            def ours(batch: Batch = batch, actions: list[Any] = actions) -> float:
                batch.reset()
                start = time.process_time()
                for one in actions:
                    batch.step(one)
                return (time.process_time() - start) / len(actions) / batch.num_envs * 1e9

            measures[f"{case}|ours"] = ours
            for name, library in libraries.items():
                if library is None:
                    continue
                loop = CLoop(library, batch)
                verify(loop, batch, actions)

                def theirs(loop: CLoop = loop, actions: list[Any] = actions) -> float:
                    loop.reset()
                    places = [one.ctypes.data for one in actions]
                    start = time.process_time()
                    for place in places:
                        loop.step(place)
                    return (time.process_time() - start) / len(actions) / len(loop.states) * 1e9

                measures[f"{case}|{name}"] = theirs
        return grouped(interleaved(measures, rounds))
