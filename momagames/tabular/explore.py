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
from momagames.tabular.environments import name_environment_errors
from momagames.tabular.model import END, ModelBuilder, Outcome, TabularModel
from momagames.tabular.simulators import DRAWS, START_SEEDS, Result, Simulator, Snapshot

Progress = Callable[[str, int], None]  # label, count
CHECK_EVERY = 256  # states between two looks at clock and limits
CHECK_SECONDS = 0.05  # between two looks, where few states take long
NO_PARENT = -1
CHANGES = (
    "another result when the action is taken again: expected a step that depends on the state and the action alone, not on a "
    "clock, a counter or an attribute that is not restored"
)


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
        self._next = self._start + CHECK_SECONDS

    def check_sometimes(self, count: int) -> None:
        """Check if the last time was some time ago."""
        if (now := time.monotonic()) > self._next:
            self._next = now + CHECK_SECONDS
            self.check(count)

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
        self._builder, self._clock = ModelBuilder(simulator.num_actions), Clock(limits, "states explored")
        with name_environment_errors("start state"):
            self._root = _reset(simulator, seed, self._clock)
        self._index = {simulator.key(self._root): 0}
        self._depths = [0]  # number of actions that lead to each state
        self._origins: list[tuple[int, int, int]] = [(NO_PARENT, 0, 0)]  # of each state: parent, action, number of the outcome
        self._frontier: deque[Snapshot] = deque([self._root])
        self._random_states = simulator.random_states()

    def run(self) -> TabularModel:
        checkpoint = self._limits.checkpoint
        if checkpoint is not None and (loaded := checkpoint.load()) is not None:
            self._resume(*loaded, str(checkpoint.path))
        writer = CheckpointWriter(checkpoint)
        while self._frontier:
            self._expand(self._frontier.popleft())
            if self._builder.num_states % CHECK_EVERY == 0:
                self._clock.check(self._builder.num_states)
                self._check_random_states()
                writer.save_if_due(*self._pack()) if checkpoint else None
        self._check_random_states()
        return self._builder.build(self._index)

    def _expand(self, snapshot: Snapshot) -> None:
        parent, following = self._builder.num_states, 0
        with name_environment_errors(f"state {parent}"):
            legal = self._simulator.legal_actions(snapshot)
        for action in legal:
            if action >= self._simulator.num_actions:
                break
            self._builder.add_illegal_actions(action - following)
            following, found = action + 1, []
            for number, (result, key) in enumerate(self._take(snapshot, parent, action)):
                probability, after, reward, is_over = result
                target = END if is_over else self._find(after, key, (parent, action, number))
                found.append(Outcome(probability, target, reward))
            self._builder.add_action(found)
            self._clock.check_sometimes(parent)
        self._builder.add_illegal_actions(self._simulator.num_actions - following)

    def _take(self, snapshot: Snapshot, state: int, action: int) -> list[tuple[Result, bytes]]:
        """Return the outcomes of an action with the keys of their states, after it was taken twice with the same result."""
        place = f"state {state}, action {action}"
        with name_environment_errors(place):
            found, again = (
                [(one, self._make_key(one)) for one in self._simulator.outcomes(snapshot, action)] for _ in range(2)
            )
        if [(key, one[0], *one[2:]) for one, key in found] != [(key, one[0], *one[2:]) for one, key in again]:
            self._check_random_states()
            raise InvalidParameter(f"{place}: {CHANGES}")
        return found

    def _make_key(self, result: Result) -> bytes:
        """Return the key of the state of an outcome; none where the episode ends."""
        return b"" if result[3] else self._simulator.key(result[1])

    def _find(self, snapshot: Snapshot, key: bytes, origin: tuple[int, int, int]) -> int:
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
            with name_environment_errors(f"state {parent}, action {action}"):
                snapshots[state] = self._simulator.outcomes(snapshots[parent], action)[number][1]
            if self._simulator.key(snapshots[state]) != keys[state]:
                raise ValueError("its states are not those of the environment")
        return deque(snapshots[state] for state in range(first, len(self._origins)))


def _reset(simulator: Simulator, seed: int | None, clock: Clock) -> Snapshot:
    """Return the start state, which must be the same again, also for other seeds if none is given."""
    start = simulator.reset(START_SEEDS[0] if seed is None else seed)
    key = simulator.key(start)
    for other in START_SEEDS[1:] if seed is None else [seed]:
        clock.check_sometimes(0)
        if simulator.key(simulator.reset(other)) != key:
            if seed is not None:
                raise InvalidParameter(
                    f"the start state of seed {seed} is another one when it is reset again: expected the same"
                )
            raise InvalidParameter("the start state depends on the seed: expected one start state; give a seed to choose one")
    return start
