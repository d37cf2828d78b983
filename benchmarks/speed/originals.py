"""Gains over originals that cannot be run beside ours, by way of a program that can.

What such an original made was measured once on another core, and momaland, pure Python too, on the same core. "The original's
figure" is scaled by what momaland makes here in the same minutes.
"""

from __future__ import annotations

from statistics import median

from benchmarks.speed.throughput import GAIN, momaland_loop
from benchmarks.speed.timing import Measure, samples

YARDSTICK_CASE, YARDSTICK = "Breakthrough 8x8", 15_800  # momaland's steps a second on the core of the figures


def gains(measures: dict[str, Measure], original: float, rounds: int) -> dict[str, float]:
    """ns a step of each variant, and its gain over the original's steps a second: {variant: median}.

    A gain is the median over rounds of what that round says: the pace of a shared machine changes from second to second.
    """
    yardstick = momaland_loop(YARDSTICK_CASE, 6)
    found = samples({**measures, **({"momaland": yardstick} if yardstick else {})}, rounds)
    paces = [1e9 / value / YARDSTICK for value in found.get("momaland", [])] or [1.0] * rounds
    out = {}
    for variant, values in found.items():
        out[variant] = median(values)
        if variant != "momaland":
            gained = [1e9 / value / (pace * original) for value, pace in zip(values, paces, strict=True)]
            out[f"{variant}, {GAIN}"] = median(gained)
    return out


def remark(variant: str, values: dict[str, float], required: dict[str, int]) -> str:
    """What a figure is to be measured by; the gains that are asked for, by variant."""
    if variant == "momaland":
        return f"{YARDSTICK_CASE}: {1e9 / values[variant] / YARDSTICK:.2f} of the speed of the machine of the figures"
    if not variant.endswith(GAIN):
        return ""
    asked = required.get(variant.removesuffix(f", {GAIN}"))
    return "over the original's figure" + (f" (at least {asked} x)" if asked else "")
