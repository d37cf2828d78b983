"""One-shot games whose payoffs depend on a table of counts: how many agents of each class take each option.

Agents of a class have the same options and the same payoffs, so that a table stands for all joint actions with its counts:
those of 4,200 agents of one class with three options are 8.8 million tables in place of 3^4200 joint actions. A deviation
moves one agent from a column of its row to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.weight_lattice import list_compositions
from momagames.errors import InvalidParameter, TooLarge

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
BLOCK = 1 << 14  # tables that are rated at a time
TOLERANCE = 1e-9  # a gain up to this is none


@dataclass(frozen=True)
class Equilibria:
    """Pure Nash equilibria.

    counts    int64[n, C, M]
    means     float64[n, K], payoffs of an agent on average
    tables    number of tables that were compared, or of steps of a search
    """

    counts: Counts
    means: Floats
    tables: int


@dataclass(frozen=True)
class SymmetricGame:
    """A one-shot game by counts.

    agents     number of agents of each of the C classes
    options    bool[C, M], the options of each class
    rate       tables int64[N, C, M] -> payoffs float64[N, C, M, K] of an agent of a class that takes an option; entries
               where the count is 0 are not read
    class_names, option_names    for tables in a terminal
    """

    agents: tuple[int, ...]
    options: NDArray[np.bool_]
    rate: Callable[[Counts], Floats]
    class_names: tuple[str, ...] = ()
    option_names: tuple[str, ...] = ()

    def count_tables(self) -> int:
        """Return the number of tables."""
        sizes = self.options.sum(axis=1).tolist()
        return prod(comb(agents + size - 1, size - 1) for agents, size in zip(self.agents, sizes, strict=True))

    def iterate_tables(self, max_tables: int) -> Iterator[Counts]:
        """Yield all tables in blocks, int64[n, C, M]; TooLarge if there are more than `max_tables`."""
        if (count := self.count_tables()) > max_tables:
            raise TooLarge(f"{count:,} tables of counts; expected at most max_tables={max_tables:,}")
        rows = []
        for agents, own in zip(self.agents, self.options, strict=True):
            divided = list_compositions(agents, int(own.sum()))
            rows.append(np.zeros((len(divided), len(own)), np.int64))
            rows[-1][:, own] = divided
        lengths = tuple(len(one) for one in rows)
        for first in range(0, count, BLOCK):
            chosen = np.unravel_index(np.arange(first, min(first + BLOCK, count)), lengths)
            yield np.stack([one[index] for one, index in zip(rows, chosen, strict=True)], axis=1)

    def average(self, counts: Counts) -> Floats:
        """Return the payoffs of an agent on average for tables, float64[N, K]."""
        payoffs = np.where(counts[..., None] > 0, self.rate(counts), 0)
        means: Floats = (payoffs * counts[..., None]).sum(axis=(1, 2)) / sum(self.agents)
        return means

    def find_stable(self, counts: Counts, weights: Any, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
        """Return in which tables, int64[N, C, M], no agent gains more than `tolerance` by another option, bool[N].

        weights    of the objectives, float64[K], or for each class float64[C, K]
        """
        weights = self._read_weights(weights)
        payoffs, rows = self.rate(counts), np.arange(len(counts))  # rows: where no gain is found yet
        for kind, old, new in self._list_moves():
            open_rows = rows[counts[rows, kind, old] > 0]
            if not len(open_rows):
                continue
            moved = _move_agents(counts[open_rows], kind, old, new)
            gains = (self.rate(moved)[:, kind, new] - payoffs[open_rows, kind, old]) @ weights[kind]
            rows = np.setdiff1d(rows, open_rows[gains > tolerance], assume_unique=True)
        stable = np.zeros(len(counts), np.bool_)
        stable[rows] = True
        return stable

    def list_equilibria(self, weights: Any, max_tables: int = 10_000_000, tolerance: float = TOLERANCE) -> Equilibria:
        """Return all pure Nash equilibria for weights as in `find_stable`; TooLarge as in `iterate_tables`."""
        found = [block[self.find_stable(block, weights, tolerance)] for block in self.iterate_tables(max_tables)]
        counts = np.concatenate(found)
        return Equilibria(counts, self.average(counts), self.count_tables())

    def find_front(self, max_tables: int = 10_000_000) -> tuple[Floats, Counts]:
        """Return the Pareto front of the average payoffs, float64[n, K] ascending, with a table for each, int64[n, C, M]."""
        values, tables = np.zeros((0, 0)), np.zeros((0, *self.options.shape), np.int64)
        for block in self.iterate_tables(max_tables):
            means = self.average(block)
            values, tables = np.concatenate([values.reshape(-1, means.shape[1]), means]), np.concatenate([tables, block])
            best = is_nondominated(values)
            values, tables = values[best], tables[best]
        order = np.lexsort(values.T[::-1])
        return values[order], tables[order]

    def find_best(self, max_tables: int = 10_000_000) -> Floats:
        """Return the highest average payoff in each objective, float64[K]."""
        best: Floats = np.max([self.average(block).max(axis=0) for block in self.iterate_tables(max_tables)], axis=0)
        return best

    def respond(
        self, counts: Counts, weights: Any, max_steps: int = 100_000, tolerance: float = TOLERANCE
    ) -> tuple[Counts, int]:
        """Let one agent after the other change to its best option, the one that gains the most first.

        counts     int64[C, M]
        weights    as in `find_stable`
        Returns    the last table, an equilibrium, and the number of changes
        Raises     TooLarge if agents still gain after `max_steps`: such responses may cycle
        """
        weights = self._read_weights(weights)
        moves = np.array(list(self._list_moves())).reshape(-1, 3)
        counts = np.array(counts, np.int64)
        for step in range(max_steps + 1):
            open_moves = moves[counts[moves[:, 0], moves[:, 1]] > 0]
            kinds, old, new = open_moves.T
            tables = np.repeat(counts[None], len(open_moves), axis=0)
            rows = np.arange(len(open_moves))
            tables[rows, kinds, old] -= 1
            tables[rows, kinds, new] += 1
            payoffs = self.rate(tables)[rows, kinds, new] - self.rate(counts[None])[0, kinds, old]
            gains = (payoffs * weights[kinds]).sum(axis=1)
            if not len(gains) or gains.max() <= tolerance:
                return counts, step
            counts = tables[gains.argmax()]
        raise TooLarge(f"best responses have not ended after max_steps={max_steps:,}")

    def _list_moves(self) -> Iterator[tuple[int, int, int]]:
        """Yield the class, the option that an agent leaves and the one that it takes, of all deviations."""
        for kind, own in enumerate(self.options):
            for pair in combinations(np.flatnonzero(own).tolist(), 2):
                yield kind, pair[0], pair[1]
                yield kind, pair[1], pair[0]

    def _read_weights(self, weights: Any) -> Floats:
        """Return weights as float64[C, K]."""
        given = np.asarray(weights, np.float64)
        if given.ndim not in (1, 2) or (given.ndim == 2 and len(given) != len(self.agents)):
            raise InvalidParameter(f"invalid weights of shape {given.shape}: expected [K], or [{len(self.agents)}, K]")
        return np.broadcast_to(given, (len(self.agents), given.shape[-1]))


def _move_agents(counts: Counts, kind: int, old: int, new: int) -> Counts:
    """Return tables in which an agent of a class has moved from an option to another."""
    moved = counts.copy()
    moved[:, kind, old] -= 1
    moved[:, kind, new] += 1
    return moved


def compute_prices(best: Any, means: Any) -> Floats:
    """Return the price of anarchy of each objective, float64[K]: how much better the best average payoff is than the worst of
    the equilibria, as a factor of at least 1.

    best     float64[K], as `SymmetricGame.find_best`
    means    float64[n, K], of the equilibria. Payoffs of an objective have one sign: negative ones are costs

    Source: Koutsoupias and Papadimitriou, "Worst-case equilibria", 1999.
    """
    best, worst = np.asarray(best, np.float64), np.min(means, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        prices: Floats = np.where(best == worst, 1.0, np.where(worst < 0, worst / best, best / worst))
    return prices
