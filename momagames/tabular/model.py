"""Finite Markov decision processes with vector rewards, as arrays and exact numbers.

Probabilities, rewards and discounts are `Fraction`. A float stands for the shortest decimal that rounds to it: 0.1 for the
float64 0.1, and 0.7 for the float32 0.7. The same decimal is printed by `repr`, so sources and tables agree.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidParameter, TooLarge, invalid_value

END = -1  # the next state of an outcome that ends the episode
MAX_MODEL_STATES = 20_000_000

Vector = tuple[Fraction, ...]
Ints = NDArray[np.int64]


def to_fraction(value: Any, name: str) -> Fraction:
    """Return the shortest decimal that rounds to a number, as a fraction; InvalidParameter for a number that is not finite."""
    number = value.item() if isinstance(value, np.integer) else value
    if isinstance(number, (int, Fraction)):  # bool is an int
        return Fraction(number)
    if not isinstance(number, (float, np.floating)) or not isfinite(number):
        raise InvalidParameter(invalid_value(name, value, "a finite number"))
    return _read_shortest(number, number.dtype.char if isinstance(number, np.floating) else "")


@functools.lru_cache(1 << 12)
def _read_shortest(number: float, dtype: str) -> Fraction:
    """Return the shortest decimal of a float, of the dtype if it is a NumPy number: equal numbers may have different ones."""
    return Fraction(np.format_float_scientific(number, unique=True) if dtype else repr(number))


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Return the scalar product of two vectors."""
    return sum((x * y for x, y in zip(one, other, strict=True) if x and y), Fraction(0))


def weakly_dominates(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether a vector is at least as good as another one in every objective."""
    return all(x >= y for x, y in zip(one, other, strict=True))


@dataclass(frozen=True)
class Outcome:
    """One result of an action.

    next_state    index, or END
    """

    probability: Fraction
    next_state: int
    reward: Vector


@dataclass(frozen=True, eq=False)
class TabularModel:
    """A finite Markov decision process; state 0 is the start.

    offsets           int64[S, A + 1], the outcomes of action a in state s are offsets[s, a] up to offsets[s, a + 1]; an action
                      without outcomes is not legal
    next_states       int64[N], END where the episode ends
    reward_ids        int64[N], rows of `rewards`
    probability_ids   int64[N], entries of `probabilities`
    keys              of the states in the environment, see `Simulator.key`; empty for a model without one
    """

    offsets: Ints
    next_states: Ints
    reward_ids: Ints
    probability_ids: Ints
    rewards: tuple[Vector, ...]
    probabilities: tuple[Fraction, ...]
    keys: tuple[bytes, ...] = ()

    @property
    def num_states(self) -> int:
        return len(self.offsets)

    @property
    def num_actions(self) -> int:
        return int(self.offsets.shape[1]) - 1

    @property
    def num_objectives(self) -> int:
        return len(self.rewards[0])

    @property
    def num_bytes(self) -> int:
        """Size of the arrays."""
        return self.offsets.nbytes + self.next_states.nbytes + self.reward_ids.nbytes + self.probability_ids.nbytes

    @property
    def is_deterministic(self) -> bool:
        """Whether every action has one outcome."""
        return bool((np.diff(self.offsets, axis=1) <= 1).all())

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """Return the outcomes of an action; the empty list if it is not legal."""
        first, last = self.offsets[state, action : action + 2].tolist()
        return [
            Outcome(self.probabilities[p], s, self.rewards[r])
            for p, s, r in zip(
                self.probability_ids[first:last].tolist(),
                self.next_states[first:last].tolist(),
                self.reward_ids[first:last].tolist(),
                strict=True,
            )
        ]

    def legal_actions(self, state: int) -> list[int]:
        return np.flatnonzero(np.diff(self.offsets[state])).tolist()

    def digest(self) -> str:
        """Return the SHA-256 of the model, which names the states of stored policies."""
        numbers = [list(map(str, row)) for row in (*self.rewards, self.probabilities)]
        content = hashlib.sha256(json.dumps(numbers).encode())
        for array in (self.offsets, self.next_states, self.reward_ids, self.probability_ids):
            content.update(np.ascontiguousarray(array, "<i8").tobytes())
        return content.hexdigest()


class ModelBuilder:
    """Collects the outcomes of states in ascending order and returns a model."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions
        self.offsets: list[int] = [0]  # all ends, state by state
        self.next_states: list[int] = []
        self.reward_ids: list[int] = []
        self.probability_ids: list[int] = []
        self.rewards: dict[Vector, int] = {}
        self.probabilities: dict[Fraction, int] = {}

    @property
    def num_states(self) -> int:
        """Number of states whose outcomes are complete."""
        return (len(self.offsets) - 1) // self.num_actions

    def add_action(self, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of the next action."""
        for one in outcomes:
            self.next_states.append(one.next_state)
            self.reward_ids.append(self.rewards.setdefault(one.reward, len(self.rewards)))
            self.probability_ids.append(self.probabilities.setdefault(one.probability, len(self.probabilities)))
        self.offsets.append(len(self.next_states))

    def add_illegal_actions(self, count: int) -> None:
        """Add actions without outcomes."""
        self.offsets += [len(self.next_states)] * count

    def build(self, keys: Iterable[bytes] = ()) -> TabularModel:
        """Return the model; InvalidParameter if the probabilities of an action do not add up to 1."""
        ends = np.array(self.offsets, np.int64)
        rows = ends[: self.num_states * self.num_actions].reshape(-1, self.num_actions)
        model = TabularModel(
            np.column_stack([rows, ends[self.num_actions :: self.num_actions]]),
            np.array(self.next_states, np.int64),
            np.array(self.reward_ids, np.int64),
            np.array(self.probability_ids, np.int64),
            tuple(self.rewards),
            tuple(self.probabilities),
            tuple(keys),
        )
        check_model(model)
        return model


def check_model(model: TabularModel) -> None:
    """Raise InvalidParameter unless the arrays fit together and the probabilities of each action add up to 1."""
    if len({len(reward) for reward in model.rewards}) != 1:
        raise InvalidParameter("invalid rewards: expected vectors of one length")
    targets = model.next_states
    if model.num_states < 1 or (len(targets) and not END <= targets.min() <= targets.max() < model.num_states):
        raise InvalidParameter(f"invalid next states: expected {END} up to {model.num_states - 1}")
    if any(probability <= 0 for probability in model.probabilities):
        raise InvalidParameter("invalid probabilities: expected positive numbers")
    for state, action in np.argwhere(np.diff(model.offsets, axis=1) > 0).tolist() if not _are_all_certain(model) else ():
        total = sum(one.probability for one in model.outcomes(state, action))
        if total != 1:
            raise InvalidParameter(f"state {state}, action {action}: the probabilities add up to {total}: expected 1")
    silent = np.flatnonzero((np.diff(model.offsets, axis=1) == 0).all(axis=1))
    if len(silent):
        raise InvalidParameter(f"state {silent[0]} has no legal action and does not end the episode")


def _are_all_certain(model: TabularModel) -> bool:
    return model.is_deterministic and model.probabilities == (Fraction(1),)


def limit_horizon(model: TabularModel, horizon: int, max_states: int = MAX_MODEL_STATES) -> TabularModel:
    """Return the model whose episodes end after `horizon` actions at the latest; its states are pairs of state and time.

    Policies of this model may depend on the time. State 0 is the start again.
    """
    builder = ModelBuilder(model.num_actions)
    keys: list[bytes] = []
    layer, first = [0], 0  # states of the current time, index of the first one
    for left in range(horizon - 1, -1, -1):
        next_index: dict[int, int] = {}
        base = first + len(layer)
        keys.extend(model.keys[state] for state in layer if model.keys)
        for state in layer:
            for action in range(model.num_actions):
                found = []
                for one in model.outcomes(state, action):
                    after = END
                    if left and one.next_state != END:
                        after = base + next_index.setdefault(one.next_state, len(next_index))
                    found.append(Outcome(one.probability, after, one.reward))
                builder.add_action(_merge(found))
        layer, first = list(next_index), base
        if base + len(layer) > max_states:
            raise TooLarge(f"more than max_states={max_states:,} pairs of state and time, {left} actions before the horizon")
        if not layer:
            break
    return builder.build(keys)


def _merge(outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes with equal ones merged, as at the horizon."""
    found: dict[tuple[int, Vector], Fraction] = {}
    for one in outcomes:
        key = one.next_state, one.reward
        found[key] = found.get(key, Fraction(0)) + one.probability
    return [Outcome(probability, state, reward) for (state, reward), probability in found.items()]


def find_components(successors: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph, each after all those that it leads to (Tarjan, 1972).

    successors    of each node; negative numbers are ignored
    """
    order = [-1] * len(successors)
    low = [0] * len(successors)
    is_open = bytearray(len(successors))
    stack: list[int] = []
    count = 0
    for root in range(len(successors)):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, edge = work.pop()
            if edge == 0:
                order[node] = low[node] = count
                count += 1
                stack.append(node)
                is_open[node] = 1
            targets = successors[node]
            while edge < len(targets):
                other = targets[edge]
                edge += 1
                if other < 0:
                    continue
                if order[other] < 0:
                    work.append((node, edge))
                    work.append((other, 0))
                    break
                if is_open[other]:
                    low[node] = min(low[node], order[other])
            else:
                if low[node] == order[node]:
                    component = []
                    while True:
                        other = stack.pop()
                        is_open[other] = 0
                        component.append(other)
                        if other == node:
                            break
                    yield component
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])


def list_successors(model: TabularModel) -> list[list[int]]:
    """Return the states that follow each state in one step."""
    ends = model.offsets[:, [0, -1]].tolist()
    following = model.next_states.tolist()
    return [following[first:last] for first, last in ends]
