"""Exact Pareto front of the returns of a deterministic game of one agent or one team, by dynamic programming over positions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact import depth_first_kernels as loops
from momagames.baselines.exact.checkpoint import Checkpoint, CheckpointWriter
from momagames.baselines.exact.packed_vectors import PackedLayout, has_integer_bounds, make_packed_layout
from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.engine.loops import compile_episode_loops
from momagames.engine.positions import load_state
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.registry import format_id

SLICE_POSITIONS = 20_000  # positions per call of the compiled loop (tens of milliseconds), which Ctrl-C and `progress` wait for
INITIAL_TABLE_SIZE, INITIAL_POOL_SIZE = 1 << 10, 1 << 13  # slots, words
POOL_GROWTH = 1.5  # growth factor of the pool; the table doubles

Progress = Callable[[int, int], None]


class SearchOptions(TypedDict, total=False):
    """Options that all searches for a front share; see `pareto_front`."""

    seed: int
    max_states: Required[int]
    max_bytes: Required[int]
    progress: Progress | None


@dataclass(frozen=True)
class Front:
    """A Pareto front and the action sequences that attain it.

    points      float64[n, K], in ascending lexicographic order; no point dominates or equals another
    witnesses   for each point an action sequence from the start that attains it
    states      number of solved positions
    bytes       peak memory of the tables
    seconds     wall-clock time
    search      name of the algorithm
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
    """Compute the exact Pareto front of the returns from a position.

    Every reachable position is solved once. Its front is the set of non-dominated sums of the reward of an action and a
    point of the successor's front (White, "Multi-objective infinite-horizon discounted Markov decision processes", 1982,
    for a finite horizon without chance). The result is exact: state keys are compared in full, and returns are added as
    whole numbers (or binary fractions).

    state        a record, the dict form or the text of a position (default: the start position of `seed`); earlier rewards
                 do not count
    max_states   largest number of solved positions
    max_bytes    largest memory, in bytes
    progress     called several times a second with (solved positions, bytes)
    checkpoint   file to which solved positions are written at intervals; an interrupted search (Ctrl-C, a crash) resumes from
                 it with the same result
    Raises       TooLarge if a limit is reached; InvalidParameter for a game whose agents have rewards of their own, chance
                 during play, simultaneous moves, no state keys, or rewards outside the declared bounds; InvalidState;
                 InvalidFile for a checkpoint of another search
    """
    if unsupported_reasons(game):
        raise InvalidParameter(
            f"{game.id}: exact fronts need one agent or one team, sequential moves, no chance during play, one number per "
            f"action and state keys; this game has {', '.join(unsupported_reasons(game))}"
        )
    start = resolve_start(game, state, seed)
    start_time = time.perf_counter()
    try:
        solver = Solver(game, start, make_packed_layout(game, fractional=not has_integer_bounds(game)), max_states, max_bytes)
        solver.solve(progress, checkpoint)
    except FractionalRewardError:
        solver = Solver(game, start, make_packed_layout(game, fractional=True), max_states, max_bytes)
        solver.solve(progress, checkpoint)
    points, witnesses = solver.front()
    return Front(points, witnesses, solver.solved, solver.bytes, time.perf_counter() - start_time)


def resolve_start(game: Game, state: Any, seed: int) -> NDArray[Any]:
    """Return the start of a search, record[1]: a position in any form, or the start position of `seed`."""
    if state is not None:
        return load_state(game, state)
    start = game.make_state(seed)
    compile_episode_loops(game).generate(start)
    return start


def unsupported_reasons(game: Game) -> list[str]:
    """List the features of a game that `pareto_front` does not support."""
    reasons = {
        f"{len(game.agents)} agents with rewards of their own": len({*game.teams}) != 1,
        f"{game.dynamics} moves": not game.sequential,
        "chance during play": game.chance == "step",
        "actions with several components": len(game.actions) != 1,
        "no state keys": game.search.exact is None,
    }
    return [reason for reason, holds in reasons.items() if holds]


class FractionalRewardError(Exception):
    """A reward is a fraction although the declared bounds are whole numbers."""


class Solver:
    """Arrays of one search and their growth. Shapes: D frames, M actions, W words of a vector."""

    def __init__(self, game: Game, start: NDArray[Any], layout: PackedLayout, max_states: int, max_bytes: int) -> None:
        self.game, self.layout, self.max_states, self.max_bytes = game, layout, max_states, max_bytes
        depth, actions, num_words = game.max_episode_steps + 2, game.mask_size, layout.num_words
        self._position = game.codec.save(start[0])  # the search overwrites the frames
        compact = game.search.exact and game.search.exact.compact
        packed_game, start = (compact and compact(game, start)) or (game, start)
        assert packed_game.search.exact is not None  # see unsupported_reasons
        self.loops = loops.compile_search(packed_game, num_words)
        self.states = np.zeros(depth, packed_game.dtype)
        self.states[0] = start[0]
        self.images = self.states.view(np.uint64).reshape(depth, -1)  # copies a position word by word
        self.trial = make_trial(packed_game)
        self.moves = np.zeros((depth, actions + 1), np.int64)
        self.cursor = np.zeros(depth, np.int64)
        self.counts = np.zeros(depth, np.int64)
        self.children = np.zeros((depth, actions), np.int64)
        self.gains = np.zeros((depth, actions, num_words), np.uint64)
        self.keys = np.zeros((depth, packed_game.search.exact.key_words), np.uint64)
        self.spans = np.zeros((actions, 2), np.uint64)
        self.candidates = np.zeros((actions, num_words), np.uint64)
        self.registers = np.zeros(len(loops.REGISTERS), np.int64)
        self.pool = np.zeros(INITIAL_POOL_SIZE, np.uint64)
        self.table = np.zeros(INITIAL_TABLE_SIZE, np.uint64)
        frames = (self.states, self.moves, self.children, self.gains, self.keys)
        self._fixed = sum(array.nbytes for array in frames)
        self.bytes = self._fixed + self.pool.nbytes + self.table.nbytes
        zero = layout.zero
        self.loops.start(
            self.states, self.trial, self.moves, self.cursor, self.counts, self.keys, zero, self.registers, self.pool
        )

    @property
    def solved(self) -> int:
        return int(self.registers[loops.STATES])

    def solve(self, progress: Progress | None, checkpoint: Checkpoint | None = None) -> None:
        """Run the search in slices until the start is solved."""
        layout = self.layout
        if self.bytes > self.max_bytes:
            raise self._too_large("bytes")
        if checkpoint is not None:
            self._resume(checkpoint)
        writer = CheckpointWriter(checkpoint)
        while True:
            budget = min(SLICE_POSITIONS, self.max_states - self.solved)
            status = self.loops.run(
                budget, float(layout.scale), layout.table, layout.guards, self.states, self.images, self.trial, self.moves,
                self.cursor, self.counts, self.children, self.gains, self.keys, self.spans, self.candidates, self.registers,
                self.pool, self.table,
            )  # fmt: skip
            if status == loops.SOLVED:
                return
            if status == loops.POOL_FULL:
                self._grow_pool()
            elif status == loops.TABLE_FULL:
                self._grow_table()
            elif status != loops.PAUSED:
                self._raise_invalid(status)
            elif self.solved >= self.max_states:
                raise self._too_large("states")
            if progress is not None:
                progress(self.solved, self.bytes)
            writer.save_if_due(self._header(), self.pool[: int(self.registers[loops.TOP])])

    def _header(self) -> dict[str, Any]:
        """Return the search that the records of the pool belong to, and their number."""
        game = self.game
        return {
            "game": format_id(game.id, game.params),
            "position": self._position,
            "lanes": [list(map(int, row)) for row in self.layout.table.T] + [self.layout.scale],
            "states": self.solved,
        }

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Load the solved positions of an earlier search if the checkpoint exists."""
        found = checkpoint.load()
        if found is None:
            return
        header, pool = found
        own = self._header()
        if header.get("game") != own["game"] or header.get("position") != own["position"]:
            raise InvalidFile(
                f"{checkpoint.path}: a checkpoint of {header.get('game')} from another start; expected: {own['game']}"
            )
        if header.get("lanes") != own["lanes"]:  # written by the second attempt, which allows fractions
            if self.layout.scale == 1:
                raise FractionalRewardError
            return
        slots = len(self.table)
        while 2 * slots < 3 * (header["states"] + 1):
            slots *= 2
        needed = self._fixed + 2 * pool.nbytes + slots * self.table.itemsize  # the loaded array, and a copy that can grow
        if needed > self.max_bytes:
            raise self._too_large("bytes")
        self.pool, self.table = pool.copy(), np.zeros(slots, np.uint64)
        self.registers[loops.TOP], self.registers[loops.STATES] = len(pool), header["states"]
        self.loops.rehash(self.keys.shape[1], len(pool), self.pool, self.table)
        self._count_bytes()

    def _grow_pool(self) -> None:
        needed = int(self.registers[loops.NEED])
        allowed = (self.max_bytes - self._fixed - self.table.nbytes) // self.pool.itemsize
        if needed > allowed:
            raise self._too_large("bytes")
        self.pool.resize(
            min(max(needed, int(POOL_GROWTH * len(self.pool))), allowed), refcheck=False
        )  # in place where possible
        self._count_bytes()

    def _grow_table(self) -> None:
        if self._fixed + self.pool.nbytes + 3 * self.table.nbytes > self.max_bytes:  # old and new table
            raise self._too_large("bytes")
        self.bytes = max(self.bytes, self._fixed + self.pool.nbytes + 3 * self.table.nbytes)
        self.table = np.zeros(2 * len(self.table), np.uint64)
        self.loops.rehash(self.keys.shape[1], int(self.registers[loops.TOP]), self.pool, self.table)
        self._count_bytes()

    def _count_bytes(self) -> None:
        self.bytes = max(self.bytes, self._fixed + self.pool.nbytes + self.table.nbytes)

    def _too_large(self, limit: str) -> TooLarge:
        return TooLarge(
            f"{self.game.id}: the front from this position is too large to compute within max_states={self.max_states:,} and "
            f"max_bytes={self.max_bytes:,}: max_{limit} was reached after {self.solved:,} positions and {self.bytes:,} bytes; "
            "raise the limits or choose a smaller game"
        )

    def _raise_invalid(self, status: int) -> None:
        """Raise an error for a reward or an episode that contradicts the game's declaration."""
        if status == loops.FRACTION and self.layout.scale == 1:
            raise FractionalRewardError
        reason = {
            loops.FRACTION: f"returned a reward that is not a multiple of {1 / self.layout.scale:g}",
            loops.OUT_OF_BOUNDS: "returned a reward outside the bounds of its objectives",
            loops.TOO_DEEP: f"continues after max_episode_steps={self.game.max_episode_steps}",
        }[status]
        raise InvalidParameter(f"{self.game.id} {reason}; no exact front can be computed")

    def front(self) -> tuple[NDArray[np.float64], list[list[int]]]:
        """Return the points of the solved start in ascending order, and an action sequence for each."""
        size, num_words = int(self.registers[loops.LAST]) + self.keys.shape[1], self.layout.num_words
        count = int(self.pool[size])
        packed = self.pool[size + 1 : size + 1 + count * num_words].reshape(count, num_words)[::-1]
        return self.layout.unpack(packed), [self._trace_actions(point.copy()) for point in packed]

    def _trace_actions(self, target: NDArray[np.uint64]) -> list[int]:
        """Return actions that attain a point of the start's front; each leads to a position whose front has the remainder."""
        path = np.zeros(len(self.states), np.int64)
        plies = self.loops.trace(
            target, float(self.layout.scale), self.layout.table, self.states, self.images, self.trial, self.moves, self.cursor,
            self.counts, self.keys, self.gains, self.pool, self.table, path,
        )  # fmt: skip
        return [int(action) for action in path[:plies]]
