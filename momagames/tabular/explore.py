"""Enumeration of all reachable states of an environment."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact import Checkpoint
from momagames.baselines.exact.checkpoint import CheckpointWriter
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.tabular.model import END, ModelBuilder, Outcome, TabularModel
from momagames.tabular.simulators import DRAWS, START_SEEDS, Simulator, Snapshot

Progress = Callable[[str, int], None]  # label, count
CHECK_EVERY = 256  # states between two looks at clock and limits
NO_PARENT = -1


@dataclass(frozen=True)
class Limits:
    """Limits of an enumeration and of a solver, and what they report.

    max_states      number of states
    max_labels      number of labels of a search for a Pareto front
    max_seconds     of each of the two
    max_bytes       largest memory that the process has taken so far; not checked where Python has no module `resource`
    progress        called a few times a second with a label and a count
    checkpoint      file of explored states from which an interrupted enumeration resumes
    """

    max_states: int = 2_000_000
    max_labels: int = 20_000_000
    max_seconds: float = float("inf")
    max_bytes: float = float("inf")
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None


class Clock:
    """Time limit and progress of a part of the work."""

    def __init__(self, limits: Limits, label: str) -> None:
        self._limits, self._label, self._start = limits, label, time.monotonic()

    def check(self, count: int) -> None:
        """Report the progress; TooLarge beyond the limits of time and memory."""
        if self._limits.progress is not None:
            self._limits.progress(self._label, count)
        if time.monotonic() - self._start > self._limits.max_seconds:
            raise TooLarge(f"{self._label}: more than max_seconds={self._limits.max_seconds:g}, at {count:,}")
        if (peak := measure_peak_memory()) > self._limits.max_bytes:
            limit = f"max_bytes={self._limits.max_bytes:,.0f}"
            raise TooLarge(f"{self._label}: more than {limit}, at {count:,}: the process has taken {peak:,} bytes")


def measure_peak_memory() -> int:
    """Return the largest memory of this process so far, in bytes; 0 where Python has no module `resource`."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10  # macOS counts bytes, other systems KiB


def explore(
    simulator: Simulator, limits: Limits, description: dict[str, Any], seed: int | None = None, horizon: int | None = None
) -> TabularModel:
    """Return the model of all states that are reachable from the start, numbered breadth first.

    description    JSON data that names the environment; a checkpoint of another one is refused
    seed           seed of the start state; None: the start must be the same for several seeds
    horizon        only states that are reached with fewer actions; others count as ends, as `limit_horizon` needs it
    Raises         InvalidParameter for an environment with a random start or unexpected random numbers; TooLarge beyond a
                   limit; InvalidFile for an invalid checkpoint
    """
    header = {"environment": description, "seed": seed, "horizon": horizon}
    return _Exploration(simulator, limits, header, seed, horizon).run()


class _Exploration:
    """Explored states, and snapshots of those that are still to be explored."""

    def __init__(
        self, simulator: Simulator, limits: Limits, header: dict[str, Any], seed: int | None, horizon: int | None
    ) -> None:
        self._simulator, self._limits, self._header, self._horizon = simulator, limits, header, horizon
        self._builder = ModelBuilder(simulator.num_actions)
        self._root = _reset(simulator, seed)
        self._index = {simulator.key(self._root): 0}
        self._depths = [0]  # number of actions that lead to each state
        self._origins: list[tuple[int, int, int]] = [(NO_PARENT, 0, 0)]  # of each state: parent, action, number of the outcome
        self._frontier: deque[Snapshot] = deque([self._root])
        self._random_states = simulator.random_states()

    def run(self) -> TabularModel:
        checkpoint, clock = self._limits.checkpoint, Clock(self._limits, "states explored")
        if checkpoint is not None and (loaded := checkpoint.load()) is not None:
            self._resume(*loaded, str(checkpoint.path))
        writer = CheckpointWriter(checkpoint)
        while self._frontier:
            self._expand(self._frontier.popleft())
            if self._builder.num_states % CHECK_EVERY == 0:
                clock.check(self._builder.num_states)
                self._check_random_states()
                writer.save_if_due(*self._pack()) if checkpoint else None
        self._check_random_states()
        return self._builder.build(self._index)

    def _expand(self, snapshot: Snapshot) -> None:
        parent, legal = self._builder.num_states, set(self._simulator.legal_actions(snapshot))
        for action in range(self._simulator.num_actions):
            results = self._simulator.outcomes(snapshot, action) if action in legal else []
            found = []
            for number, (probability, after, reward, is_over) in enumerate(results):
                found.append(Outcome(probability, END if is_over else self._find(after, (parent, action, number)), reward))
            self._builder.add_action(found)

    def _find(self, snapshot: Snapshot, origin: tuple[int, int, int]) -> int:
        key = self._simulator.key(snapshot)
        state = self._index.get(key)
        if state is None:
            depth = self._depths[origin[0]] + 1
            if depth == self._horizon:
                return END
            state = self._index[key] = len(self._index)
            self._depths.append(depth)
            if state >= self._limits.max_states:
                raise TooLarge(f"more than max_states={self._limits.max_states:,} states")
            self._origins.append(origin)
            self._frontier.append(snapshot)
        return state

    def _check_random_states(self) -> None:
        if self._simulator.random_states() != self._random_states:
            raise InvalidParameter(DRAWS)

    # ---------------------------------------------------------------------------------------------------------- checkpoints

    def _pack(self) -> tuple[dict[str, Any], NDArray[np.uint64]]:
        """Return a checkpoint: the model so far, the keys of all states, and how each state was reached."""
        builder = self._builder
        parts = [
            np.array(builder.offsets, np.int64),
            np.array([builder.next_states, builder.reward_ids, builder.probability_ids], np.int64).ravel(),
            np.array(self._origins, np.int64).ravel(),
            np.frombuffer(b"".join(self._index), np.int64),
        ]
        header = {
            **self._header,
            "sizes": [len(part) for part in parts],
            "rewards": [list(map(str, reward)) for reward in builder.rewards],
            "probabilities": list(map(str, builder.probabilities)),
        }
        return header, np.concatenate(parts).view(np.uint64)

    def _resume(self, header: dict[str, Any], pool: NDArray[np.uint64], place: str) -> None:
        for name, expected in self._header.items():
            if header.get(name) != expected:
                raise InvalidFile(f"{place}: invalid {name}={header.get(name)!r}: expected {expected!r}, as in this command")
        try:
            offsets, outcomes, origins, keys = np.split(pool.view(np.int64), np.cumsum(header["sizes"])[:-1])
            builder = self._builder
            builder.offsets = offsets.tolist()
            builder.next_states, builder.reward_ids, builder.probability_ids = outcomes.reshape(3, -1).tolist()
            builder.rewards = {tuple(map(Fraction, reward)): i for i, reward in enumerate(header["rewards"])}
            builder.probabilities = {Fraction(text): i for i, text in enumerate(header["probabilities"])}
            self._origins = [(a, b, c) for a, b, c in origins.reshape(-1, 3).tolist()]
            self._depths = [0]
            self._depths.extend(self._depths[parent] + 1 for parent, _, _ in self._origins[1:])
            content = keys.tobytes()
            first_key = next(iter(self._index))
            self._index = {content[i : i + 16]: i // 16 for i in range(0, len(content), 16)}
            if len(self._index) != len(self._origins) or next(iter(self._index)) != first_key:
                raise ValueError("its states are not those of the environment")
            self._frontier = self._rebuild_frontier()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidFile(f"{place}: not a checkpoint of an enumeration: {error}") from None

    def _rebuild_frontier(self) -> deque[Snapshot]:
        """Return the snapshots of the unexplored states: each is reached again from the start."""
        wanted, first = set(), self._builder.num_states
        for state in range(first, len(self._origins)):
            while state not in wanted and state != NO_PARENT:
                wanted.add(state)
                state = self._origins[state][0]
        snapshots = {0: self._root}
        keys = list(self._index)
        for state in sorted(wanted - {0}):  # a parent has a smaller number
            parent, action, number = self._origins[state]
            snapshots[state] = self._simulator.outcomes(snapshots[parent], action)[number][1]
            if self._simulator.key(snapshots[state]) != keys[state]:
                raise ValueError("its states are not those of the environment")
        return deque(snapshots[state] for state in range(first, len(self._origins)))


def _reset(simulator: Simulator, seed: int | None) -> Snapshot:
    """Return the start state."""
    if seed is not None:
        return simulator.reset(seed)
    starts = [simulator.reset(one) for one in START_SEEDS]
    if len({simulator.key(start) for start in starts}) > 1:
        raise InvalidParameter("the start state depends on the seed: expected one start state; give a seed to choose one")
    return starts[0]
