"""Pareto fronts of large deterministic models with few rewards, by backward induction over the ways between rewards.

Without negative rewards and with a discount below 1, the shortest way to a transition with a reward is at least as good in
every objective as any longer one. So a policy need only choose, at the start and after each reward, the next reward, and take
the shortest way to it. The returns of a state are those of its ways, each followed by a return of the state that it leads to.
They are exact integers over a common denominator, as are all comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from momagames.tabular.explore import Clock, Limits
from momagames.tabular.model import END, TabularModel, Vector, weakly_dominates

MIN_STATES = 50_000  # smaller models are solved by label setting, and proven by induction over all states
Integers = tuple[int, ...]


@dataclass(frozen=True)
class Way:
    """The shortest way from a state to a transition with a reward, or to the end."""

    actions: tuple[int, ...]
    target: int
    reward: Vector


@dataclass(frozen=True)
class Return:
    """A return of a state, times a common denominator: the way that leads to it, and the index of the return after it."""

    vector: Integers
    way: int
    following: int


def fits_ways(model: TabularModel, gamma: Fraction) -> bool:
    """Return whether a model is large, and has the properties that the induction over ways needs, apart from loops."""
    has_no_loss = all(x >= 0 for reward in model.rewards for x in reward)
    return model.num_states >= MIN_STATES and model.is_deterministic and gamma < 1 and has_no_loss


def find_ways(model: TabularModel, clock: Clock) -> dict[int, list[Way]]:
    """Return the ways of the start state and of all states that ways lead to."""
    targets, rewards = model.next_states.tolist(), [model.rewards[i] for i in model.reward_ids.tolist()]
    offsets = model.offsets.tolist()
    found: dict[int, list[Way]] = {}
    queue = [0]
    for start in queue:
        if start in found:
            continue
        ways: dict[tuple[int, Vector], Way] = {}
        reached = {start}
        layer: list[tuple[int, tuple[int, ...]]] = [(start, ())]
        while layer:
            following: list[tuple[int, tuple[int, ...]]] = []
            for state, actions in layer:
                for action, (first, last) in enumerate(pairwise(offsets[state])):
                    if first == last:
                        continue
                    target, reward = targets[first], rewards[first]
                    if target == END or any(reward):
                        ways.setdefault((target, reward), Way((*actions, action), target, reward))
                    elif target not in reached:
                        reached.add(target)
                        following.append((target, (*actions, action)))
            layer = following
        found[start] = list(ways.values())
        clock.check(len(found))
        queue.extend(way.target for way in found[start] if way.target != END)
    return found


def sort_states(ways: dict[int, list[Way]]) -> list[int] | None:
    """Return the states with ways so that each comes after those that its ways lead to; None if ways form a loop."""
    order: list[int] = []
    is_done: dict[int, bool] = {}
    stack = [0]
    while stack:
        state = stack[-1]
        if state in is_done:
            stack.pop()
            if not is_done[state]:
                is_done[state] = True
                order.append(state)
            continue
        is_done[state] = False
        for way in ways[state]:
            if is_done.get(way.target) is False:
                return None
            if way.target != END and way.target not in is_done:
                stack.append(way.target)
    return order


def find_front_by_ways(
    model: TabularModel, gamma: Fraction, limits: Limits
) -> tuple[list[Vector], list[list[int]], int] | None:
    """Return the Pareto front of the discounted returns in ascending order, an episode for each, and the number of returns of
    all states; None if rewards form a loop, or a state has no way to an end."""
    ways = find_ways(model, Clock(limits, "states contracted"))
    order = sort_states(ways)
    if order is None or not all(ways.values()):
        return None
    p, q = gamma.numerator, gamma.denominator
    steps = {END: 0}
    for state in order:
        steps[state] = max(len(way.actions) + steps[way.target] for way in ways[state])
    scale = lcm(*(x.denominator for reward in model.rewards for x in reward)) * q ** steps[0]
    returns: dict[int, list[Return]] = {END: [Return((0,) * model.num_objectives, 0, 0)]}
    clock, count = Clock(limits, "returns of states"), 0
    for state in order:
        candidates = []
        for number, way in enumerate(ways[state]):
            up, down = p ** len(way.actions), q ** len(way.actions)
            gain = [int(x * scale) * (up // p) // (down // q) for x in way.reward]
            for i, after in enumerate(returns[way.target]):  # a multiple of `down`, since `steps` counts those of the way
                vector = tuple(x + y * up // down for x, y in zip(gain, after.vector, strict=True))
                candidates.append(Return(vector, number, i))
        returns[state] = select_nondominated(candidates)
        count += len(returns[state])
        clock.check(count)
    vectors = [tuple(Fraction(x, scale) for x in one.vector) for one in returns[0]]
    episodes = []
    for number in range(len(vectors)):
        actions, state = list[int](), 0
        while state != END:
            one = returns[state][number]
            way = ways[state][one.way]
            actions += way.actions
            state, number = way.target, one.following
        episodes.append(actions)
    return vectors, episodes, count


def select_nondominated(candidates: Sequence[Return]) -> list[Return]:
    """Return one candidate for each vector that no other one dominates, in ascending order."""
    front: list[Return] = []
    others: list[Integers] = []  # the non-dominated ones without the first value, in which those before are at least as good
    for one in sorted(candidates, key=lambda one: one.vector, reverse=True):
        rest = one.vector[1:]
        if not any(weakly_dominates(other, rest) for other in others):
            front.append(one)
            others = [*(other for other in others if not weakly_dominates(rest, other)), rest]
    return front[::-1]
