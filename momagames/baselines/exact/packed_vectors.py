"""Return vectors packed into machine words, one lane of bits for each objective.

A vector is stored as the sum over k of (value[k] * scale - offset[k]) << shift[k]. A guard bit above each lane makes the
addition of a reward one integer addition per word. It also makes weak dominance one subtraction: u is at least v in every
lane if (u | guards) - v keeps all guard bits. Objective 0 has the uppermost lane of the first word, so the order of the
words is the lexicographic order of the vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Objective
from momagames.errors import InvalidParameter

WORD_BITS = 64
MAX_RANGE = 2.0**50  # largest difference between two returns


@dataclass(frozen=True)
class PackedLayout:
    """Lane of each objective.

    scale     lane units per unit of return: 1 for whole rewards, else a power of 2
    offset    lowest value of each lane, in lane units
    low, high bounds of one step's reward, in lane units
    word      index of the word of each objective
    shift     number of bits below the lane
    width     bits of the lane, without the guard bit
    """

    scale: int
    offset: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    word: tuple[int, ...]
    shift: tuple[int, ...]
    width: tuple[int, ...]

    @property
    def num_words(self) -> int:
        return self.word[-1] + 1

    @property
    def guards(self) -> NDArray[np.uint64]:
        """Bit above each lane, uint64[W]."""
        guards = [0] * self.num_words
        for word, shift, width in zip(self.word, self.shift, self.width, strict=True):
            guards[word] |= 1 << (shift + width)
        return np.array(guards, np.uint64)

    @property
    def zero(self) -> NDArray[np.uint64]:
        """Zero vector, uint64[W]."""
        zero = [0] * self.num_words
        for word, shift, offset in zip(self.word, self.shift, self.offset, strict=True):
            zero[word] += -offset << shift
        return np.array(zero, np.uint64)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """low, high, word and shift of each objective for the compiled search, int64[K, 4]."""
        return np.array([self.low, self.high, self.word, self.shift], np.int64).T.copy()

    def unpack(self, packed: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Unpack vectors: uint64[n, W] -> float64[n, K]."""
        mask = np.array([(1 << width) - 1 for width in self.width], np.uint64)
        units = (packed[:, list(self.word)] >> np.array(self.shift, np.uint64)) & mask
        return (units.astype(np.int64) + np.array(self.offset, np.int64)) / self.scale


def make_packed_layout(game: Game, fractional: bool = False) -> PackedLayout:
    """Make the layout for the returns from every position of a game, from its declared bounds.

    fractional   one word for each objective, whose spare bits hold fractions; else whole numbers only
    """
    bounds = [_remaining_return_bounds(objective, game.max_episode_steps) for objective in game.objectives]
    largest = max(high - low for low, high in bounds)
    if not largest < MAX_RANGE:
        raise InvalidParameter(
            f"{game.id}: invalid return bounds: their range is {largest:g}; expected for exact fronts: below {MAX_RANGE:g}"
        )
    scale = 1 << (WORD_BITS - 2 - int(largest).bit_length()) if fractional else 1
    offset = tuple(math.floor(low * scale) for low, _ in bounds)
    width = tuple(max(1, (math.ceil(high * scale) - low).bit_length()) for (_, high), low in zip(bounds, offset, strict=True))
    word: list[int] = []
    shift: list[int] = []
    current, free_bits = 0, WORD_BITS
    for bits in width:
        if bits + 1 > free_bits:
            current, free_bits = current + 1, WORD_BITS
        free_bits -= bits + 1
        word.append(current)
        shift.append(free_bits)
    return PackedLayout(
        scale=scale,
        offset=offset,
        low=tuple(math.floor(_widen_bound(o.low, -1) * scale) for o in game.objectives),
        high=tuple(math.ceil(_widen_bound(o.high, 1) * scale) for o in game.objectives),
        word=tuple(word),
        shift=tuple(shift),
        width=width,
    )


def has_integer_bounds(game: Game) -> bool:
    """Return whether all declared bounds are whole numbers, as they are for games with whole rewards."""
    return all(float(x).is_integer() for o in game.objectives for x in (o.low, o.high, o.return_low, o.return_high))


def _remaining_return_bounds(objective: Objective, plies: int) -> tuple[float, float]:
    """Return bounds of the return from any position.

    Without negative rewards the rest of an episode returns at most as much as an episode. Otherwise the bounds are those of
    a step times the number of plies.
    """
    if objective.low >= 0:
        return 0.0, _widen_bound(objective.return_high, 1)
    return plies * _widen_bound(objective.low, -1), plies * max(_widen_bound(objective.high, 1), 0.0)


def _widen_bound(bound: float, side: int) -> float:
    """Widen a bound by the rounding error of float32 rewards; whole numbers up to 2^24 are exact."""
    exact = float(bound).is_integer() and abs(bound) <= 1 << 24
    return bound if exact else bound + side * abs(bound) * 2.0**-23
