"""The exact Pareto front of the returns of a deterministic game of one agent, by dynamic programming over positions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact import search as loops
from momagames.baselines.exact.checkpoint import Checkpoint, Keeper
from momagames.baselines.exact.lanes import Lanes, lanes, whole
from momagames.baselines.exact.packed import packed
from momagames.contract import Game
from momagames.engine.loops import single
from momagames.engine.play import loaded
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.registry import spelled

SLICE = 20_000  # positions between two looks at the clock, at Ctrl-C and at `progress`: some hundredths of a second
FIRST_TABLE, FIRST_POOL = 1 << 10, 1 << 13  # slots and words to begin with
GROWTH = 1.5  # of the pool; the table doubles

Progress = Callable[[int, int], None]


class Bounds(TypedDict, total=False):
    """What the searches for a front have in common besides the game and the start; see `pareto_front`."""

    seed: int
    max_states: Required[int]
    max_bytes: Required[int]
    progress: Progress | None


@dataclass(frozen=True)
class Front:
    """A Pareto front and how it is attained.

    points      float64[n, K], in ascending lexicographic order; no point dominates or equals another
    witnesses   for each point the actions, from the start on, that attain it
    states      positions solved
    bytes       memory of the tables at their largest
    seconds     wall time
    search      how it was found
    """

    points: NDArray[np.float64]
    witnesses: list[list[int]]
    states: int
    bytes: int
    seconds: float
    search: str = "exact"


def pareto_front(
    game: Game,
    state: Any = None,
    *,
    seed: int = 0,
    max_states: int,
    max_bytes: int,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Front:
    """The exact Pareto front of the returns from a position on.

    Every position that can be reached is solved once: its front is the set of non-dominated vectors among the rewards of
    the actions plus the fronts behind them (White, "Multi-objective infinite-horizon discounted Markov decision
    processes", 1982, for a finite horizon without chance). Exact: keys of positions are compared in full, and returns are
    added as whole numbers (or binary fractions).

    state        a record, the dict form or the text of a position (default: the position dealt with `seed`); what was
                 paid before it does not count
    max_states   positions to solve at most
    max_bytes    memory to use at most
    progress     called several times a second with (positions solved, bytes used)
    checkpoint   a file that solved positions are written to now and then; a search that was broken off (Ctrl-C, a crash)
                 goes on from it, with the same result
    Raises       TooLarge if a limit is reached; InvalidParameter for a game of several agents, with chance during play, with
                 simultaneous moves, without keys, or whose rewards are not within what it declares; InvalidState; InvalidFile
                 for a checkpoint of another search
    """
    if misfits(game):
        raise InvalidParameter(
            f"{game.id}: exact fronts need one agent that moves in turn, no chance during play, one number as action and keys "
            f"of positions; this game has {', '.join(misfits(game))}"
        )
    start = begun(game, state, seed)
    began = time.perf_counter()
    try:
        solver = Solver(game, start, lanes(game, fine=not whole(game)), max_states, max_bytes)
        solver.solve(progress, checkpoint)
    except NotWhole:
        solver = Solver(game, start, lanes(game, fine=True), max_states, max_bytes)
        solver.solve(progress, checkpoint)
    points, witnesses = solver.front()
    return Front(points, witnesses, solver.solved, solver.bytes, time.perf_counter() - began)


def begun(game: Game, state: Any, seed: int) -> NDArray[Any]:
    """The start of a search, record[1]: a position in whatever form, or a deal."""
    if state is not None:
        return loaded(game, state)
    start = game.start(seed)
    single(game).deal(start)
    return start


def misfits(game: Game) -> list[str]:
    """Why the method does not fit a game."""
    reasons = {
        f"{len(game.agents)} agents": len(game.agents) != 1,
        f"{game.dynamics} moves": not game.sequential,
        "chance during play": game.chance == "step",
        "actions of several parts": len(game.actions) != 1,
        "no keys of positions": game.search.state_key is None,
    }
    return [reason for reason, holds in reasons.items() if holds]


class NotWhole(Exception):
    """A reward is a fraction although the declared bounds are whole."""


class Solver:
    """The arrays of one search (letters: D frames, M actions, W words of a vector), and their growth."""

    def __init__(self, game: Game, start: NDArray[Any], layout: Lanes, max_states: int, max_bytes: int) -> None:
        self.game, self.lanes, self.max_states, self.max_bytes = game, layout, max_states, max_bytes
        depth, actions, words = game.max_episode_steps + 2, game.mask_size, layout.words
        self._position = game.codec.save(start[0])  # the frames are used up by the search
        searched, start = packed(game, start)
        self.loops = loops.search(searched, words)
        self.states = np.zeros(depth, searched.dtype)
        self.states[0] = start[0]
        self.images = self.states.view(np.uint64).reshape(depth, -1)  # to copy a position word by word
        self.mask = np.zeros(actions, np.int8)
        self.moves = np.zeros((depth, actions + 1), np.int64)
        self.cursor = np.zeros(depth, np.int64)
        self.counts = np.zeros(depth, np.int64)
        self.children = np.zeros((depth, actions), np.int64)
        self.gains = np.zeros((depth, actions, words), np.uint64)
        self.keys = np.zeros((depth, searched.search.key_words), np.uint64)
        self.move = np.zeros((1, 1), np.int64)
        self.reward = np.zeros((1, len(game.objectives)), np.float32)
        self.spans = np.zeros((actions, 2), np.uint64)
        self.heads = np.zeros((actions, words), np.uint64)
        self.book = np.zeros(len(loops.BOOK), np.int64)
        self.pool = np.zeros(FIRST_POOL, np.uint64)
        self.table = np.zeros(FIRST_TABLE, np.uint64)
        frames = (self.states, self.moves, self.children, self.gains, self.keys)
        self._fixed = sum(array.nbytes for array in frames)
        self.bytes = self._fixed + self.pool.nbytes + self.table.nbytes
        zero = layout.zero
        self.loops.start(self.states, self.mask, self.moves, self.cursor, self.counts, self.keys, zero, self.book, self.pool)

    @property
    def solved(self) -> int:
        return int(self.book[loops.STATES])

    def solve(self, progress: Progress | None, checkpoint: Checkpoint | None = None) -> None:
        """Run in slices until the start is solved."""
        layout = self.lanes
        if self.bytes > self.max_bytes:
            raise self._too_large("bytes")
        if checkpoint is not None:
            self._go_on(checkpoint)
        keeper = Keeper(checkpoint)
        while True:
            budget = min(SLICE, self.max_states - self.solved)
            status = self.loops.run(
                budget, float(layout.scale), layout.table, layout.guards, self.states, self.images, self.mask, self.moves,
                self.cursor, self.counts, self.children, self.gains, self.keys, self.move, self.reward, self.spans, self.heads,
                self.book, self.pool, self.table,
            )  # fmt: skip
            if status == loops.SOLVED:
                return
            if status == loops.POOL_FULL:
                self._grow_pool()
            elif status == loops.TABLE_FULL:
                self._grow_table()
            elif status != loops.PAUSED:
                self._refuse(status)
            elif self.solved >= self.max_states:
                raise self._too_large("states")
            if progress is not None:
                progress(self.solved, self.bytes)
            keeper.look(self._facts(), self.pool[: int(self.book[loops.TOP])])

    def _facts(self) -> dict[str, Any]:
        """What the records in the pool belong to, and how many they are."""
        game = self.game
        return {
            "game": spelled(game.id, game.params),
            "position": self._position,
            "lanes": [list(map(int, row)) for row in self.lanes.table.T] + [self.lanes.scale],
            "states": self.solved,
        }

    def _go_on(self, checkpoint: Checkpoint) -> None:
        """Take over what an earlier search has solved, if there is a checkpoint."""
        found = checkpoint.load()
        if found is None:
            return
        head, pool = found
        own = self._facts()
        if head.get("game") != own["game"] or head.get("position") != own["position"]:
            raise InvalidFile(
                f"{checkpoint.path}: a checkpoint of {head.get('game')} from another start; needed: {own['game']}"
            )
        if head.get("lanes") != own["lanes"]:  # of the attempt with fractions, which follows
            if self.lanes.scale == 1:
                raise NotWhole
            return
        slots = len(self.table)
        while 2 * slots < 3 * (head["states"] + 1):
            slots *= 2
        needed = self._fixed + 2 * pool.nbytes + slots * self.table.itemsize  # what was read, and an array that can grow
        if needed > self.max_bytes:
            raise self._too_large("bytes")
        self.pool, self.table = pool.copy(), np.zeros(slots, np.uint64)
        self.book[loops.TOP], self.book[loops.STATES] = len(pool), head["states"]
        self.loops.rehash(self.keys.shape[1], len(pool), self.pool, self.table)
        self._count_bytes()

    def _grow_pool(self) -> None:
        needed = int(self.book[loops.NEED])
        allowed = (self.max_bytes - self._fixed - self.table.nbytes) // self.pool.itemsize
        if needed > allowed:
            raise self._too_large("bytes")
        self.pool.resize(min(max(needed, int(GROWTH * len(self.pool))), allowed), refcheck=False)  # in place where possible
        self._count_bytes()

    def _grow_table(self) -> None:
        if self._fixed + self.pool.nbytes + 3 * self.table.nbytes > self.max_bytes:  # the old and the new one
            raise self._too_large("bytes")
        self.bytes = max(self.bytes, self._fixed + self.pool.nbytes + 3 * self.table.nbytes)
        self.table = np.zeros(2 * len(self.table), np.uint64)
        self.loops.rehash(self.keys.shape[1], int(self.book[loops.TOP]), self.pool, self.table)
        self._count_bytes()

    def _count_bytes(self) -> None:
        self.bytes = max(self.bytes, self._fixed + self.pool.nbytes + self.table.nbytes)

    def _too_large(self, limit: str) -> TooLarge:
        return TooLarge(
            f"{self.game.id}: the front from this position is too large to compute within max_states={self.max_states:,} and "
            f"max_bytes={self.max_bytes:,}: max_{limit} was reached after {self.solved:,} positions and {self.bytes:,} bytes; "
            "raise the limits, or take a smaller game"
        )

    def _refuse(self, status: int) -> None:
        """Raise for a reward or an episode that is not as declared."""
        if status == loops.FRACTION and self.lanes.scale == 1:
            raise NotWhole
        reason = {
            loops.FRACTION: f"pays a reward that is not a multiple of {1 / self.lanes.scale:g}",
            loops.OUT_OF_BOUNDS: "pays more or less than its objectives declare",
            loops.TOO_DEEP: f"goes on after max_episode_steps={self.game.max_episode_steps}",
        }[status]
        raise InvalidParameter(f"{self.game.id} {reason}; no exact front can be computed")

    def front(self) -> tuple[NDArray[np.float64], list[list[int]]]:
        """The points of the solved start in ascending order, and the actions that attain each."""
        head, words = int(self.book[loops.LAST]) + self.keys.shape[1], self.lanes.words
        count = int(self.pool[head])
        packed = self.pool[head + 1 : head + 1 + count * words].reshape(count, words)[::-1]
        return self.lanes.unpack(packed), [self._witness(point.copy()) for point in packed]

    def _witness(self, target: NDArray[np.uint64]) -> list[int]:
        """The actions that attain a point of the start's front: each leads to a position whose front has the rest of it."""
        path = np.zeros(len(self.states), np.int64)
        plies = self.loops.walk(
            target, float(self.lanes.scale), self.lanes.table, self.states, self.images, self.mask, self.moves, self.cursor,
            self.counts, self.keys, self.gains, self.move, self.reward, self.pool, self.table, path,
        )  # fmt: skip
        return [int(action) for action in path[:plies]]
