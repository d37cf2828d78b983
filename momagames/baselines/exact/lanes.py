"""Vectors of returns in machine words: one lane of bits for each objective.

A vector is stored as sum over k of (value[k] * scale - least[k]) << shift[k]. With a spare bit above every lane, adding a
reward is one addition for each word, and "u is at least v in every lane" is one subtraction: (u | guards) - v keeps all
guard bits. Objective 0 is in the uppermost lane of the first word, so that the order of the words is the lexicographic
order of the vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Objective
from momagames.errors import InvalidParameter

WORD = 64
MOST = 2.0**50  # of the difference between two returns


@dataclass(frozen=True)
class Lanes:
    """Where each objective lies.

    scale     units of a lane in 1: 1 for whole rewards, else a power of 2
    least     the lowest value of each lane, in its units
    low, high bounds of one step's reward, in units
    place     index of the word of each objective
    shift     number of bits below its lane
    width     bits of its lane, without the guard
    """

    scale: int
    least: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    place: tuple[int, ...]
    shift: tuple[int, ...]
    width: tuple[int, ...]

    @property
    def words(self) -> int:
        return self.place[-1] + 1

    @property
    def guards(self) -> NDArray[np.uint64]:
        """The bit above each lane, uint64[W]."""
        guards = [0] * self.words
        for place, shift, width in zip(self.place, self.shift, self.width, strict=True):
            guards[place] |= 1 << (shift + width)
        return np.array(guards, np.uint64)

    @property
    def zero(self) -> NDArray[np.uint64]:
        """The vector of zeros, uint64[W]."""
        zero = [0] * self.words
        for place, shift, least in zip(self.place, self.shift, self.least, strict=True):
            zero[place] += -least << shift
        return np.array(zero, np.uint64)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """low, high, place and shift of each objective for the compiled search, int64[K, 4]."""
        return np.array([self.low, self.high, self.place, self.shift], np.int64).T.copy()

    def unpack(self, packed: NDArray[np.uint64]) -> NDArray[np.float64]:
        """uint64[n, W] -> float64[n, K]"""
        mask = np.array([(1 << width) - 1 for width in self.width], np.uint64)
        units = (packed[:, list(self.place)] >> np.array(self.shift, np.uint64)) & mask
        return (units.astype(np.int64) + np.array(self.least, np.int64)) / self.scale


def lanes(game: Game, fine: bool = False) -> Lanes:
    """Lanes that hold the returns from every position of a game: its declared bounds decide.

    fine   a word for each objective, and all bits that the bounds leave for fractions; else whole numbers only
    """
    bounds = [_bounds(objective, game.max_episode_steps) for objective in game.objectives]
    largest = max(high - low for low, high in bounds)
    if not largest < MOST:
        raise InvalidParameter(
            f"{game.id}: returns may differ by {largest:g}; exact fronts need declared bounds below {MOST:g}"
        )
    scale = 1 << (WORD - 2 - int(largest).bit_length()) if fine else 1
    least = tuple(math.floor(low * scale) for low, _ in bounds)
    width = tuple(max(1, (math.ceil(high * scale) - low).bit_length()) for (_, high), low in zip(bounds, least, strict=True))
    place: list[int] = []
    shift: list[int] = []
    word, free = 0, WORD
    for bits in width:
        if bits + 1 > free:
            word, free = word + 1, WORD
        free -= bits + 1
        place.append(word)
        shift.append(free)
    return Lanes(
        scale=scale,
        least=least,
        low=tuple(math.floor(_rounded(o.low, -1) * scale) for o in game.objectives),
        high=tuple(math.ceil(_rounded(o.high, 1) * scale) for o in game.objectives),
        place=tuple(place),
        shift=tuple(shift),
        width=width,
    )


def whole(game: Game) -> bool:
    """Whether the declared bounds are whole numbers, so that the rewards probably are."""
    return all(float(x).is_integer() for o in game.objectives for x in (o.low, o.high, o.return_low, o.return_high))


def _bounds(objective: Objective, plies: int) -> tuple[float, float]:
    """Bounds of what can still be collected from any position. Where no reward is negative, the rest of an episode gives
    no more than an episode; elsewhere only the bounds of the steps say something about a part of it."""
    if objective.low >= 0:
        return 0.0, _rounded(objective.return_high, 1)
    return plies * _rounded(objective.low, -1), plies * max(_rounded(objective.high, 1), 0.0)


def _rounded(bound: float, side: int) -> float:
    """A bound with room for the rounding of rewards to float32, which is exact for whole numbers up to 2^24."""
    exact = float(bound).is_integer() and abs(bound) <= 1 << 24
    return bound if exact else bound + side * abs(bound) * 2.0**-23
