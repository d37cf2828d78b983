"""Pareto fronts of deterministic models, by label setting with bounds; large models with few rewards by `ways`.

A label is a return so far in a state. Labels are extended by all actions, step by step. A label is dropped if another label of
the same state is at least as good in every objective: every continuation of the one is a continuation of the other (Martins,
"On a multicriteria shortest path problem", 1984). With a discount below 1 and negative rewards only labels of the same time
are compared; without negative rewards no label gains from being later, so that earlier ones drop it, too. A label is also
dropped if the best that it can still reach in each objective does not exceed the return of an episode that is known. Returns
are exact integers over a common denominator. Bounds are floats, rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidParameter, TooLarge, invalid_value
from momagames.tabular.explore import Clock, Limits
from momagames.tabular.model import END, TabularModel, Vector, find_components, list_successors, weakly_dominates
from momagames.tabular.ways import find_front_by_ways, fits_ways

SWEEPS = 5_000  # of the bounds: each tightens them, none is needed
SLACK = 1e-9  # relative, added to the bounds; far above the rounding of some thousand additions
CHECK_EVERY = 1024

Labels = dict[tuple[int, ...], int]  # the return times a denominator -> number of the step that led to it
NO_STEP = -1


@dataclass(frozen=True)
class ParetoFront:
    """A Pareto front.

    vectors     in ascending order
    actions     an episode for each vector
    is_stationary    whether no episode visits a state twice, so that a stationary policy plays it
    labels      number of labels that were extended, or of returns of all states in the induction over ways
    """

    vectors: list[Vector]
    actions: list[list[int]]
    is_stationary: bool
    labels: int
    method: str = "label setting"


def find_pareto_front(model: TabularModel, gamma: Fraction, limits: Limits) -> ParetoFront:
    """Return the Pareto front of the discounted returns of all deterministic policies from the start.

    Policies may depend on the history. With a discount of 1, policies whose return diverges are left out.

    Raises    InvalidParameter for a model with random outcomes, and for a discount of 1 where a loop earns a positive reward or
              a policy that never ends is not dominated; TooLarge beyond a limit, always if the front is infinite
    """
    if not model.is_deterministic:
        raise InvalidParameter(
            "expected deterministic dynamics for a Pareto front of deterministic policies; use a coverage set"
        )
    if not 0 < gamma <= 1:
        raise InvalidParameter(invalid_value("gamma", float(gamma), "above 0, to 1"))
    if fits_ways(model, gamma) and (found := find_front_by_ways(model, gamma, limits)):
        vectors, episodes, count = found
        return ParetoFront(vectors, episodes, all(is_simple(model, one) for one in episodes), count, "induction over ways")
    return _LabelSetting(model, gamma, limits).run()


class _LabelSetting:
    """Labels of the current time, and the steps that led to all labels."""

    def __init__(self, model: TabularModel, gamma: Fraction, limits: Limits) -> None:
        self._model, self._gamma, self._limits = model, gamma, limits
        self._scale = lcm(*(x.denominator for reward in model.rewards for x in reward))
        rewards = [tuple(int(x * self._scale) for x in reward) for reward in model.rewards]
        self._steps: list[tuple[int, int]] = []  # the step before, action
        self._edges = [
            [
                (action, int(model.next_states[first]), rewards[int(model.reward_ids[first])])
                for action, (first, last) in enumerate(pairwise(ends))
                if last > first
            ]
            for ends in model.offsets.tolist()
        ]
        bounds = compute_bounds(model, gamma)
        self._bounds, self._is_zero = bounds.tolist(), (bounds == 0.0).tolist()
        self._margins = SLACK * (1.0 + np.abs(bounds).max(axis=0))
        self._settled: dict[int, tuple[Labels, int]] = {}  # labels of all times where they are compared, and their last time
        self._points: dict[Vector, int] = {}
        self._point_floats = np.zeros((0, model.num_objectives))
        self._point_vectors: list[Vector] = []

    def run(self) -> ParetoFront:
        gamma, clock, done = self._gamma, Clock(self._limits, "labels extended"), 0
        compares_times = gamma == 1 or all(x >= 0 for reward in self._model.rewards for x in reward)
        layer: dict[int, Labels] = {0: {(0,) * self._model.num_objectives: NO_STEP}}
        up, down, time = 1, 1, 0  # gamma^time is up / (down * q)
        while layer:
            following: dict[int, Labels] = {}
            denominator = self._scale * down
            discount = float(gamma) ** time
            for state, labels in layer.items():
                for returns, step in labels.items():
                    if time and not self._is_promising(state, returns, denominator // gamma.denominator, discount):
                        continue
                    done += 1
                    if done % CHECK_EVERY == 0:
                        clock.check(done)
                    if done > self._limits.max_labels:
                        raise TooLarge(f"more than max_labels={self._limits.max_labels:,} labels, at {time} actions")
                    for action, target, reward in self._edges[state]:
                        total = tuple(a * gamma.denominator + up * b for a, b in zip(returns, reward, strict=True))
                        if target == END:
                            self._add_point(tuple(Fraction(a, denominator) for a in total), step, action)
                        elif not compares_times or self._settle(target, total, time):
                            self._add_label(following.setdefault(target, {}), total, step, action)
            layer, time = following, time + 1
            up, down = up * gamma.numerator, down * gamma.denominator
        vectors = sorted(vector for vector in self._points if not self._is_exceeded(vector))
        if gamma == 1:
            self._check_endless()
        actions = [self._trace(self._points[vector]) for vector in vectors]
        return ParetoFront(vectors, actions, all(is_simple(self._model, one) for one in actions), done)

    def _settle(self, state: int, total: tuple[int, ...], time: int) -> bool:
        """Return whether no label of a state so far is as good as a new one, and add it then. Totals of a time have the
        denominator of that time, which grows by that of the discount with each action."""
        labels, since = self._settled.get(state, ({}, time))
        if since < time and self._gamma.denominator > 1:
            factor = self._gamma.denominator ** (time - since)
            labels = {tuple(a * factor for a in vector): NO_STEP for vector in labels}
        self._settled[state] = labels, time
        return insert_vector(labels, total, NO_STEP)

    def _add_label(self, labels: Labels, total: tuple[int, ...], step: int, action: int) -> None:
        if insert_vector(labels, total, len(self._steps)):
            self._steps.append((step, action))

    def _add_point(self, vector: Vector, step: int, action: int) -> None:
        if vector in self._points or self._is_exceeded(vector):
            return
        self._steps.append((step, action))
        self._points[vector] = len(self._steps) - 1
        self._point_vectors = [*(v for v in self._point_vectors if not _dominates(vector, v)), vector]
        self._point_floats = np.array([[float(x) for x in v] for v in self._point_vectors])

    def _is_exceeded(self, vector: Vector) -> bool:
        return any(_dominates(other, vector) for other in self._point_vectors if other != vector)

    def _is_promising(self, state: int, returns: tuple[int, ...], denominator: int, discount: float) -> bool:
        """Return whether a label may lead to a return that no known episode reaches in every objective."""
        if not self._point_vectors:
            return True
        so_far = np.array([a / denominator for a in returns])
        best = so_far + discount * np.array(self._bounds[state])
        zero = np.array(self._is_zero[state])  # nothing to gain: compared exactly
        candidates = (self._point_floats >= best + np.where(zero, -self._margins, self._margins)).all(axis=1)
        return not any(
            all(not is_zero or self._point_vectors[i][k] * denominator >= returns[k] for k, is_zero in enumerate(zero))
            for i in np.flatnonzero(candidates).tolist()
        )

    def _check_endless(self) -> None:
        """Raise InvalidParameter if a policy that stays in a loop without rewards for ever is not dominated."""
        for state in find_loops_without_rewards(self._model):
            labels, _ = self._settled.get(state, ({(0,) * self._model.num_objectives: NO_STEP} if state == 0 else {}, 0))
            for returns in labels:
                vector = tuple(Fraction(a, self._scale) for a in returns)
                if not any(weakly_dominates(point, vector) for point in self._points):
                    raise InvalidParameter(
                        f"a policy that never ends has the return {list(map(float, vector))}, which no episode that ends "
                        "reaches: expected a gamma below 1, or a horizon"
                    )

    def _trace(self, step: int) -> list[int]:
        actions = []
        while step != NO_STEP:
            step, action = self._steps[step]
            actions.append(action)
        return actions[::-1]


def is_simple(model: TabularModel, actions: list[int]) -> bool:
    """Return whether an episode visits no state twice."""
    state, seen = 0, set()
    for action in actions:
        seen.add(state)
        state = int(model.next_states[model.offsets[state, action]])
    return len(seen) == len(actions)


def _dominates(one: Vector, other: Vector) -> bool:
    """Return whether a vector is at least as good in every objective, and another one."""
    return one != other and weakly_dominates(one, other)


def insert_vector(vectors: Labels, vector: tuple[int, ...], number: int) -> bool:
    """Insert a vector with its number unless another one dominates or equals it, remove those that it dominates, and return
    whether it was inserted."""
    if any(weakly_dominates(other, vector) for other in vectors):
        return False
    for other in [other for other in vectors if weakly_dominates(vector, other)]:
        del vectors[other]
    vectors[vector] = number
    return True


def compute_bounds(model: TabularModel, gamma: Fraction) -> NDArray[np.float64]:
    """Return upper bounds of the discounted return from each state in each objective, float64[S, K].

    0 stands for a state from which no positive reward can be reached. Other bounds are value iteration from above, rounded.

    Raises    InvalidParameter if a loop earns a positive reward and the discount is 1
    """
    gains = np.array([[float(x) for x in reward] for reward in model.rewards])[model.reward_ids]
    ends, starts = model.next_states == END, model.offsets[:, 0]
    following = np.where(ends, 0, model.next_states)
    if gamma < 1:
        bounds = np.tile(np.maximum(gains.max(axis=0), 0.0) / (1.0 - float(gamma)), (model.num_states, 1))
    else:
        bounds = np.array([[float(x) for x in vector] for vector in bound_by_components(model)])
    for _ in range(SWEEPS):
        updated = np.maximum.reduceat(gains + float(gamma) * np.where(ends[:, None], 0.0, bounds[following]), starts)
        change = np.abs(updated - bounds).max()
        bounds = np.minimum(bounds, updated)
        if change < 1e-13:
            break
    can_gain = find_reachable_gains(model)
    bounds[can_gain & (bounds == 0.0)] = np.finfo(np.float64).tiny  # a rounded sum, not the exact 0
    return np.where(can_gain, bounds, np.where(bounds > -SLACK, 0.0, bounds))


def find_reachable_gains(model: TabularModel) -> NDArray[np.bool_]:
    """Return whether a positive reward of an objective can be reached from a state, bool[S, K]."""
    gains = np.array([[x > 0 for x in reward] for reward in model.rewards])[model.reward_ids]
    ends = (model.next_states == END)[:, None]
    following = np.where(model.next_states == END, 0, model.next_states)
    can_gain = np.zeros((model.num_states, model.num_objectives), np.bool_)
    while True:
        grown = np.maximum.reduceat(gains | (~ends & can_gain[following]), model.offsets[:, 0])
        if (grown == can_gain).all():
            return can_gain
        can_gain = grown


def bound_by_components(model: TabularModel) -> list[Vector]:
    """Return exact upper bounds of the undiscounted returns; InvalidParameter for a positive reward in a loop."""
    bounds: list[Vector] = [()] * model.num_states
    successors, first = list_successors(model), model.offsets[:, 0].tolist()
    rewards = model.reward_ids.tolist()
    for component in find_components(successors):
        inside, best = set(component), [Fraction(0)] * model.num_objectives
        is_loop = len(component) > 1 or component[0] in successors[component[0]]
        for state in component:
            for number, target in enumerate(successors[state]):
                gain = model.rewards[rewards[first[state] + number]]
                if is_loop and target in inside:
                    if any(x > 0 for x in gain):
                        raise InvalidParameter(
                            "invalid gamma=1: expected gamma below 1, or a horizon, because a loop earns a positive reward"
                        )
                else:
                    after = gain if target == END else [x + y for x, y in zip(gain, bounds[target], strict=True)]
                    best = [max(x, y) for x, y in zip(best, after, strict=True)]
        for state in component:
            bounds[state] = tuple(best)
    return bounds


def find_loops_without_rewards(model: TabularModel) -> list[int]:
    """Return the states that lie on a loop without rewards."""
    is_free = np.array([not any(reward) for reward in model.rewards])[model.reward_ids]
    targets = np.where(is_free, model.next_states, END).tolist()
    successors = [targets[first:last] for first, last in model.offsets[:, [0, -1]].tolist()]
    return [s for part in find_components(successors) for s in part if len(part) > 1 or s in successors[s]]
