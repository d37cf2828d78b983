"""Coordination graphs: the joint action with the largest sum of local values, by elimination of one agent after the other.

Each factor has a table of entries, one for each joint action of its agents (or of classes of these actions). An entry has a
mean and a variance, and the value of a joint action is the sum of its means plus the square root of the sum of its variances.
As this is no sum, elimination goes on with all pairs of sums that may still be best, which for equal variances is one: upper
confidence variable elimination (Bargiacchi et al. 2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log10, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import RewardFactor
from momagames.errors import InvalidParameter

MAX_ROWS = 2_000_000  # of the tables of an elimination together
Ints = NDArray[np.int64]


class Plan(NamedTuple):
    """The elimination of the agents of a coordination graph; step e writes a message, a table over its neighbors.

    agents        int64[E], the agent of each step
    rows, arms    int64[E], entries of its message, and actions of the agent
    first_factor, first_message     int64[E + 1], its inputs are factor_inputs and message_inputs [first[e], first[e + 1])
    factor_inputs    int64, the factors
    message_inputs   int64, the steps whose messages they are
    first_index      int64[E], where its part of `indices` begins
    indices          int32, for each row, action and input (factors first): the entry of the factor, or the row of the message
    first_row        int64[E + 1], the number of the first row of its message among all rows
    entry_factors    int64[N], the factor of each entry
    """

    agents: Ints
    rows: Ints
    arms: Ints
    first_factor: Ints
    factor_inputs: Ints
    first_message: Ints
    message_inputs: Ints
    first_index: Ints
    indices: NDArray[np.int32]
    first_row: Ints
    entry_factors: Ints

    @property
    def most_messages(self) -> int:
        """The largest number of messages that a step reads."""
        return int(np.diff(self.first_message).max())


@dataclass(frozen=True)
class Graph:
    """A coordination graph with A agents.

    factors    each of C_f classes of actions for each of its agents; the last agent changes fastest in its table
    arms       number of actions of each agent
    first      int64[F + 1], the first entry of each factor
    """

    factors: tuple[RewardFactor, ...]
    arms: tuple[int, ...]
    first: Ints

    def find_entry(self, number: int, actions: Mapping[int, Ints] | Ints) -> Ints:
        """Return the entry of a factor for the actions of agents, int64[n] by index: int64[n], or int64[] without agents."""
        factor, entry = self.factors[number], np.zeros((), np.int64)
        for place, agent in enumerate(factor.agents):
            classes = np.array(list_classes(factor, place, self.arms))
            entry = entry * (int(classes.max()) + 1) + classes[actions[agent]]
        found: Ints = self.first[number] + entry
        return found


def list_classes(factor: RewardFactor, place: int, arms: Sequence[int]) -> tuple[int, ...]:
    """Return the class of each action of the agent at a place of a factor."""
    return factor.classes[place] if factor.classes else tuple(range(arms[factor.agents[place]]))


def make_graph(factors: Sequence[RewardFactor], arms: Sequence[int], name: str) -> Graph:
    """Return the graph. Raises InvalidParameter if a table is too large."""
    sizes = [prod(max(list_classes(one, i, arms)) + 1 for i in range(len(one.agents))) for one in factors]
    check_rows(name, sum(sizes), "entries of local rewards")
    return Graph(tuple(factors), tuple(arms), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def check_rows(name: str, rows: int, what: str) -> None:
    """Raise InvalidParameter if a table is too large."""
    if rows > MAX_ROWS:
        size = f"{rows:,}" if rows < 10**15 else f"about 10^{log10(rows):.0f}"
        raise InvalidParameter(
            f"{name}: {size} {what}: expected at most {MAX_ROWS:,}; a game with fewer joint actions, or with a sparser "
            "coordination graph, fits"
        )


def make_plan(graph: Graph, name: str) -> Plan:
    """Return an order of elimination, the agent with the smallest message first, with the tables of indices.

    Raises InvalidParameter if the graph is too dense
    """
    arms, open_factors, messages = graph.arms, dict(enumerate(set(one.agents) for one in graph.factors)), dict[int, set[int]]()
    neighbors: dict[int, set[int]] = {agent: set() for agent in range(len(arms))}
    for agents in open_factors.values():
        for agent in agents:
            neighbors[agent] |= agents - {agent}
    steps, total = list[tuple[int, list[int], list[int], list[int]]](), 0
    while neighbors:
        agent = min(neighbors, key=lambda one: (prod(arms[i] for i in neighbors[one]), one))
        scope = sorted(neighbors.pop(agent))
        for one in scope:
            neighbors[one] = (neighbors[one] | set(scope)) - {agent, one}
        factors = sorted(f for f, agents in open_factors.items() if agent in agents or not agents)
        # A message without agents, the value of a part of the graph, joins the next step
        inputs = sorted(m for m, agents in messages.items() if agent in agents or not agents)
        total += prod(arms[i] for i in scope) * arms[agent] * (len(factors) + len(inputs))
        check_rows(name, total, "rows of an elimination")
        steps.append((agent, scope, factors, inputs))
        for f in factors:
            del open_factors[f]
        for m in inputs:
            del messages[m]
        messages[len(steps) - 1] = set(scope)
    indices = [_list_indices(graph, steps, number) for number in range(len(steps))]
    rows = np.array([prod(arms[i] for i in scope) for _, scope, _, _ in steps])
    first_factor, first_message = (
        np.concatenate([[0], np.cumsum([len(one) for one in inputs])]).astype(np.int64)
        for inputs in ([step[2] for step in steps], [step[3] for step in steps])
    )
    return Plan(
        np.array([agent for agent, _, _, _ in steps]), rows, np.array([arms[agent] for agent, _, _, _ in steps]),
        first_factor, np.array([f for step in steps for f in step[2]], np.int64),
        first_message, np.array([m for step in steps for m in step[3]], np.int64),
        np.cumsum([0, *(part.size for part in indices[:-1])]), np.concatenate([part.ravel() for part in indices]),
        np.concatenate([[0], np.cumsum(rows)]), np.repeat(np.arange(len(graph.factors)), np.diff(graph.first)),
    )  # fmt: skip


def _list_indices(graph: Graph, steps: Sequence[tuple[int, list[int], list[int], list[int]]], number: int) -> NDArray[np.int32]:
    """Return the inputs of a step, int32[rows, arms, inputs]."""
    agent, scope, factors, inputs = steps[number]
    axes = np.indices([graph.arms[i] for i in (*scope, agent)]).reshape(len(scope) + 1, -1)
    chosen = dict(zip((*scope, agent), axes, strict=True))
    columns = []
    for f in factors:
        columns.append(np.broadcast_to(graph.find_entry(f, chosen), axes.shape[1:]))
    for m in inputs:
        row = np.zeros(axes.shape[1], np.int64)
        for i in steps[m][1]:
            row = row * graph.arms[i] + chosen[i]
        columns.append(row)
    return np.array(columns, np.int32).reshape(len(columns), -1).T.copy()


def list_joint_actions(arms: Sequence[int]) -> Ints:
    """Return all joint actions, int64[n, A]; the last agent changes fastest."""
    return np.array(list(product(*map(range, arms))), np.int64)
