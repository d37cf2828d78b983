"""What a fresh process pays: for the import, and for the first game with and without compiled code on disk."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.speed.timing import scale

IMPORT = "import time, json, {module}; print(json.dumps([time.process_time(), 0]))"
FIRST = """
import time; start = time.perf_counter()
import json, momagames
env = momagames.make({id!r})
env.reset(seed=0)
env.step(int(env.last()[0]["action_mask"].argmax()))
print(json.dumps([time.process_time(), time.perf_counter() - start]))
"""


def run(code: str, **environment: str) -> tuple[float, float]:
    """CPU seconds of the process, and wall seconds if the code measures them."""
    completed = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    cpu, wall = json.loads(completed.stdout.strip().splitlines()[-1])
    return float(cpu), float(wall)


IDS = ("mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-ffa-v0", "mo-tileblast-v0", "mo-robotmail-v0")


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """Seconds: {"import": CPU of both imports, id: wall (and CPU) of make, reset and step, cold and warm}; up to 5 rounds."""
    rounds = min(rounds, 5)
    imports: dict[str, list[float]] = {"pettingzoo": [], "momagames": []}
    for _ in range(rounds):
        for module, seconds in imports.items():
            seconds.append(run(IMPORT.format(module=module))[0])
    out = {"import, CPU": {module: statistics.median(seconds) for module, seconds in imports.items()}}
    for id in IDS[: scale(len(IDS), steps)]:
        with tempfile.TemporaryDirectory() as folder:
            cold = run(FIRST.format(id=id), MOMAGAMES_CACHE_DIR=folder)
            warm = [run(FIRST.format(id=id), MOMAGAMES_CACHE_DIR=folder) for _ in range(rounds)]
        out[id] = {
            "cold CPU": cold[0], "cold wall": cold[1],
            "warm CPU": statistics.median(w[0] for w in warm), "warm wall": statistics.median(w[1] for w in warm),
        }  # fmt: skip
    return out
