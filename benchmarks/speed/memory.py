"""Bytes for each environment of a batch."""

from __future__ import annotations

import momagames
from benchmarks.speed.peers import CASES
from momagames.engine.batch import Batch

OUTPUTS = (
    "observations", "masks", "rewards", "terminated", "truncated", "to_move", "finished", "returns", "final_lengths",
    "final_observations", "final_masks",
)  # fmt: skip


def measure() -> dict[str, dict[str, int]]:
    """{case: {"state", "books" (sums, flags, actions), "outputs"}}, in bytes."""
    sizes = {}
    for case, (id, params) in CASES.items():
        batch = Batch(momagames.spec(id, **params), 64)
        arrays = {name: value.nbytes for name, value in vars(batch).items() if hasattr(value, "nbytes")}
        state, outputs = arrays.pop("states"), sum(arrays.pop(name) for name in OUTPUTS)
        books = sum(size for name, size in arrays.items() if name not in ("_parts", "_worst"))
        sizes[case] = {"state": state // 64, "books": books // 64, "outputs": outputs // 64}
    return sizes
