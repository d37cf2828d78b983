"""python -m benchmarks.speed [--json FILE] [--rounds N] [--steps N] [--only PART ...]"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.speed import (
    aec,
    c_loop,
    cold_start,
    cuda,
    http,
    integrations,
    memory,
    pommerman,
    robotmail,
    search,
    throughput,
    tileblast,
    wrappers,
)
from benchmarks.speed.peers import REQUIRED_AEC, REQUIRED_BATCH
from benchmarks.speed.timing import STEPS

PARTS: dict[str, Callable[[int, int], dict[str, Any]]] = {  # of rounds and steps
    "throughput": throughput.measure,
    "aec": aec.measure,
    "pommerman": pommerman.measure,
    "http": http.measure,
    "tileblast": tileblast.measure,
    "robotmail": robotmail.measure,
    "search": search.measure,
    "c_loop": lambda rounds, steps: c_loop.measure(rounds),
    "cold_start": cold_start.measure,
    "memory": lambda rounds, steps: memory.measure(),
    "threads": throughput.measure_threads,
    "wrappers": wrappers.measure,
    "integrations": integrations.measure,
    "cuda": cuda.measure,
}
DEFAULT = [part for part in PARTS if part not in ("integrations", "cuda")]  # which need other libraries and a card
VERSIONED = ("momagames", "numba", "numpy", "pettingzoo", "gymnasium", "momaland")


def machine() -> dict[str, Any]:
    """Where and with what it was measured."""
    found: dict[str, Any] = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found["processor"] = next(
            (s.partition(":")[2].strip() for s in lines if s.startswith("model name")), found["processor"]
        )
    found["load"] = [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
    found["python"] = platform.python_version()
    for name in VERSIONED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    try:
        found["compiler"] = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[
            0
        ]
    except (OSError, subprocess.CalledProcessError):
        found["compiler"] = None
    return found


def remark(part: str, case: str, values: dict[str, Any], variant: str) -> str:
    """The ratio that belongs to a figure."""
    value = values[variant]
    if part in ("throughput", "aec") and "momaland" in values and variant != "momaland":
        text = f"{values['momaland'] / value:,.0f} x momaland"
        needed = {"throughput": REQUIRED_BATCH, "aec": REQUIRED_AEC}[part].get(case)
        if needed and (part == "aec" or variant == "N=1024"):
            text += f" (at least {needed:,} x)"
        return text
    if part in ("pommerman", "robotmail"):
        return {"pommerman": pommerman, "robotmail": robotmail}[part].remark(case, variant, values)
    if part == "http":
        return f"{1e9 / value:,.0f} steps/s" + (f" (at least {http.REQUIRED:,})" if variant == "new connections" else "")
    if part == "cuda":
        return cuda.remark(variant, values)
    if part == "integrations":
        return integrations.remark(variant, values)
    if part == "search":
        return search.remark(variant, value)
    if part == "wrappers":
        return wrappers.remark(variant, values)
    if part == "tileblast":
        return tileblast.remark(case, variant)
    if part == "c_loop" and variant != "ours":
        return f"ours: {value / values['ours']:.2f} x its speed"
    if part == "threads" and variant.endswith(f"threads=2, {throughput.GAIN}"):
        control = values[variant.replace("threads=2", "at once")]
        return f"at least 1.7 x on idle cores; {value / control:.2f} of what two batches at once gain"
    if part == "cold_start" and variant == "momagames":
        return f"{value - values['pettingzoo']:+.3f} s beside pettingzoo (at most +0.05)"
    if part == "cold_start" and variant.endswith("wall"):
        return "under 8 s" if variant.startswith("cold") else "under 0.8 s"
    if part == "memory" and variant == "books":
        return f"{values['state'] + value:,} B apart from the outputs" + (" (under 2 KB)" if "15x15" in case else "")
    return ""


def format_figure(part: str, variant: str, value: float) -> tuple[str, str]:
    """A figure as text, and as millions of steps a second where it is a time per step."""
    if part == "memory":
        return f"{value:,} B", ""
    if part == "cold_start":
        return f"{value:.3f} s", ""
    if variant.endswith(throughput.GAIN):
        return f"{value:,.2f} x", ""
    return f"{value:,.0f} ns", f"{1000 / value:.3g} M/s"


def describe_machine(facts: dict[str, Any]) -> str:
    """Processor, cores, load and versions as one line."""
    versions = ", ".join(f"{name} {facts[name]}" for name in VERSIONED if facts[name])
    line = f"{facts['processor']}, {facts['cores']} cores, load {facts['load']}; Python {facts['python']}, {versions}"
    return line + (f"; {facts['compiler']}" if facts["compiler"] else "")


def table(part: str, found: dict[str, dict[str, float]]) -> Table:
    """The figures of a part."""
    out = Table(caption="CPU time a step, median of interleaved rounds; threads, http, cuda and 'wall': wall time")
    for name in ("what", "case", "variant"):
        out.add_column(name)
    out.add_column("median", justify="right")
    out.add_column("steps", justify="right")
    out.add_column("ratio")
    for case, values in found.items():
        for variant, value in values.items():
            out.add_row(part, case, variant, *format_figure(part, variant, value), remark(part, case, values, variant))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures there too, after each part")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each measurement (9)")
    parser.add_argument(
        "--steps",
        type=int,
        default=STEPS,
        help=f"environment steps of a run ({STEPS:,}); with fewer, games and sizes are fewer",
    )
    parser.add_argument(
        "--only", nargs="+", choices=list(PARTS), default=DEFAULT, help="some of the parts; integrations and cuda only here"
    )
    given = parser.parse_args()
    console = Console(width=max(Console().width, 150))
    results: dict[str, Any] = {"machine": machine()}
    console.print(describe_machine(results["machine"]))
    failed = []
    for part in PARTS:
        if part not in given.only:
            continue
        try:
            with console.status(part):
                results[part] = PARTS[part](given.rounds, given.steps)
        except Exception:  # the other parts are measured all the same
            failed.append(part)
            console.print(f"{part} failed:\n{traceback.format_exc()}", style="red", markup=False)
            continue
        console.print(table(part, results[part]))
        results["load after"] = [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
        if given.json:
            given.json.write_text(json.dumps(results, indent=1) + "\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
