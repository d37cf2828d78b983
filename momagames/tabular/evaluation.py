"""Exact values of policies, and best policies for a weighted sum of the objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile, InvalidParameter, invalid_value
from momagames.tabular.explore import Clock
from momagames.tabular.model import END, TabularModel, Vector, dot, find_components, list_successors

FLOAT_SWEEPS = 20_000  # of value iteration, which only proposes a policy
FLOAT_PRECISION = 1e-13

Policy = NDArray[np.int64]  # int64[S], the action of each state


def check_discount(model: TabularModel, gamma: Fraction) -> None:
    """Raise InvalidParameter unless every policy has a finite value: the discount is below 1, or no state occurs twice."""
    if not 0 < gamma <= 1:
        raise InvalidParameter(invalid_value("gamma", float(gamma), "above 0, to 1"))
    if gamma == 1 and not has_no_loops(model):
        raise InvalidParameter("invalid gamma=1: expected gamma below 1, or a horizon, because episodes may not end")


def has_no_loops(model: TabularModel) -> bool:
    """Return whether no state can be reached from itself."""
    successors = list_successors(model)
    return all(len(part) == 1 and part[0] not in successors[part[0]] for part in find_components(successors))


def evaluate_policy(model: TabularModel, policy: Sequence[int] | Policy, gamma: Fraction) -> Vector:
    """Return the expected discounted return of a stationary policy from the start, exactly.

    policy    an action for each state; those of states that the policy does not reach are not used
    Raises    InvalidFile for an illegal action in a reached state
    """
    reached = list(reach_by_policy(model, policy))
    position = {state: i for i, state in enumerate(reached)}
    terms = [model.outcomes(state, int(policy[state])) for state in reached]
    rows = [[(one.probability, position.get(one.next_state, END)) for one in found] for found in terms]
    return tuple(
        _solve_chain(rows, [sum((one.probability * one.reward[k] for one in found), Fraction(0)) for found in terms], gamma)[0]
        for k in range(model.num_objectives)
    )


def reach_by_policy(model: TabularModel, policy: Sequence[int] | Policy) -> dict[int, None]:
    """Return the states that a policy reaches, in the order of a breadth-first traversal; InvalidFile for an illegal action."""
    reached, queue = {0: None}, [0]
    for state in queue:
        action = int(policy[state])
        found = model.outcomes(state, action) if 0 <= action < model.num_actions else []
        if not found:
            raise InvalidFile(f"the policy plays {action} in state {state}, which is not legal")
        for one in found:
            if one.next_state != END and one.next_state not in reached:
                reached[one.next_state] = None
                queue.append(one.next_state)
    return reached


def _solve_chain(rows: list[list[tuple[Fraction, int]]], rewards: list[Fraction], gamma: Fraction) -> list[Fraction]:
    """Return the solution of V = rewards + gamma P V, component by component of the graph of the chain."""
    values: list[Fraction] = [Fraction(0)] * len(rows)
    for component in find_components([[target for _, target in row] for row in rows]):
        inside = set(component)
        equations: dict[int, dict[int, Fraction]] = {}
        for state in component:
            constant = rewards[state]
            unknown: dict[int, Fraction] = {}
            for probability, target in rows[state]:
                if target in inside:
                    unknown[target] = unknown.get(target, Fraction(0)) + gamma * probability
                elif target != END:
                    constant += gamma * probability * values[target]
            equations[state] = {END: constant, **unknown}  # value = constant + sum of coefficient * value
        _eliminate(component, equations, values)
    return values


def _eliminate(component: list[int], equations: dict[int, dict[int, Fraction]], values: list[Fraction]) -> None:
    """Solve the equations of a component by elimination and write the values."""
    order = list(component)
    for number, state in enumerate(order):
        row = equations[state]
        own = row.pop(state, Fraction(0))
        if own == 1:
            raise InvalidParameter("invalid gamma=1: expected gamma below 1, because a policy never ends the episode")
        if own:
            row = equations[state] = {target: share / (1 - own) for target, share in row.items()}
        for other in order[number + 1 :]:
            share = equations[other].pop(state, None)
            if share:
                target_row = equations[other]
                for target, amount in row.items():
                    target_row[target] = target_row.get(target, Fraction(0)) + share * amount
    for state in reversed(order):
        row = equations[state]
        constant = row.pop(END, Fraction(0))
        values[state] = sum((share * values[target] for target, share in row.items()), constant)


@dataclass(frozen=True)
class WeightedSolution:
    """A best policy for a weighted sum.

    policy    int64[S], best in every state
    values    of the weighted sum in every state, exact
    """

    policy: Policy
    values: list[Fraction]


class WeightedSolver:
    """Best policies of a model for weighted sums of the objectives, by policy iteration in exact arithmetic (Howard, 1960).

    Value iteration in floating point proposes the first policy. The exact values of a policy prove it best: no action has a
    higher value in any state (see `improve`).
    """

    def __init__(self, model: TabularModel, gamma: Fraction, clock: Clock | None = None) -> None:
        check_discount(model, gamma)
        self.model, self.gamma, self._clock, self.solved = model, gamma, clock, 0
        ends = model.offsets
        self._legal = np.diff(ends, axis=1) > 0
        flat = np.flatnonzero(self._legal.ravel())
        self._pairs, self._starts = flat, ends[:, :-1].ravel()[flat]
        self._float_rewards = np.array([[float(x) for x in reward] for reward in model.rewards])[model.reward_ids]
        self._float_probabilities = np.array([float(p) for p in model.probabilities])[model.probability_ids]
        self._ends_episode = model.next_states == END
        self._terms = [
            [[(one.probability, one.next_state, one.reward) for one in model.outcomes(s, a)] for a in range(model.num_actions)]
            for s in range(model.num_states)
        ]

    def solve(self, weights: Vector) -> WeightedSolution:
        """Return a best policy for weights."""
        policy = self._propose(np.array([float(w) for w in weights]))
        while True:
            self.solved += 1
            if self._clock is not None:
                self._clock.check(self.solved)
            values = self.evaluate(policy, weights)
            better = self.improve(policy, values, weights)
            if better is None:
                return WeightedSolution(policy, values)
            policy = better

    def is_legal(self, policy: Policy) -> bool:
        """Return whether a policy, int64[S], plays a legal action in every state."""
        inside = ((policy >= 0) & (policy < self.model.num_actions)).all()
        return bool(inside and self._legal[np.arange(self.model.num_states), policy].all())

    def evaluate(self, policy: Policy, weights: Vector) -> list[Fraction]:
        """Return the weighted sum of the returns of a policy from every state, exactly."""
        rows, rewards = [], []
        for state, action in enumerate(policy.tolist()):
            terms = self._terms[state][action]
            rows.append([(probability, target) for probability, target, _ in terms])
            rewards.append(sum((p * dot(weights, reward) for p, _, reward in terms), Fraction(0)))
        return _solve_chain(rows, rewards, self.gamma)

    def improve(self, policy: Policy, values: list[Fraction], weights: Vector) -> Policy | None:
        """Return a better policy, or None if none exists.

        If values[s] >= sum over outcomes of p (weights . reward + gamma values[s']) for all states and actions, `values` is a
        feasible solution of the dual of the linear program of the weighted problem, and bounds the value of every policy, also
        of policies that depend on the history or are randomized (Puterman, "Markov Decision Processes", 1994, section 6.9).
        """
        weighted: dict[Any, Fraction] = {}
        better, changed = policy.copy(), False
        for state, actions in enumerate(self._terms):
            best = values[state]
            for action, terms in enumerate(actions):
                if not terms:
                    continue
                total = Fraction(0)
                for probability, target, reward in terms:
                    gain = weighted.get(reward)
                    if gain is None:
                        gain = weighted[reward] = dot(weights, reward)
                    total += probability * (gain if target == END else gain + self.gamma * values[target])
                if total > best:
                    best, better[state], changed = total, action, True
        return better if changed else None

    def _propose(self, weights: NDArray[np.float64]) -> Policy:
        """Return a policy that is best up to rounding, by value iteration."""
        gamma, values = float(self.gamma), np.zeros(self.model.num_states)
        gains = self._float_rewards @ weights
        table = np.full(self._legal.size, -np.inf)
        for _ in range(FLOAT_SWEEPS):
            following = np.where(self._ends_episode, 0.0, values[self.model.next_states])
            table[self._pairs] = np.add.reduceat(self._float_probabilities * (gains + gamma * following), self._starts)
            updated = table.reshape(self._legal.shape).max(axis=1)
            change = np.abs(updated - values).max()
            values = updated
            if change < FLOAT_PRECISION:
                break
        policy: Policy = table.reshape(self._legal.shape).argmax(axis=1)
        return policy
