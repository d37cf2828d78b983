"""Random numbers for generators of boards: the draws of kernels/rng.py, on Python integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class SeededRng:
    """Seeded generator: its k-th draw equals the k-th draw of a state whose generator word starts at the seed."""

    def __init__(self, seed: int) -> None:
        self.word = seed % 2**64

    def below(self, n: int) -> int:
        """Return a uniformly random integer from 0..n-1."""
        self.word = (self.word + 0x9E3779B97F4A7C15) % 2**64
        z = self.word
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return ((z ^ z >> 31) >> 32) * n >> 32

    def randint(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` different items in their original order."""
        remaining = list(range(len(items)))
        indices = [remaining.pop(self.below(len(remaining))) for _ in range(count)]
        return [items[k] for k in sorted(indices)]
