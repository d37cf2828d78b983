# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Elimination along a plan, see `elimination`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.bandits.elimination import Plan
from momagames.kernels.jit import kernel

FULL = False


class Pool(NamedTuple):
    """Scratch arrays of an elimination: the pairs of all messages, P at most.

    means, variances    float64[P], sums
    keys                float64[P], the least value of a pair with what is to come
    arms                int64[P], the action of the agent of the step
    picks               int32[P, D], the pair of each message that it read
    first, counts       int64[R], the pairs of each row of the messages
    least               float64[E], the least variance of the factors below each step
    factor_least        float64[F], the least variance of each factor
    stack, odometer     int64[E, 2], int64[D]
    """

    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    keys: NDArray[np.float64]
    arms: NDArray[np.int64]
    picks: NDArray[np.int32]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    least: NDArray[np.float64]
    factor_least: NDArray[np.float64]
    stack: NDArray[np.int64]
    odometer: NDArray[np.int64]


def make_pool(plan: Plan, factors: int, size: int) -> Pool:
    """Return scratch arrays for so many pairs."""
    steps, rows = len(plan.agents), int(plan.first_row[-1])
    means, variances, keys = np.zeros((3, size))
    return Pool(
        means, variances, keys, np.zeros(size, np.int64), np.zeros((size, plan.most_messages), np.int32),
        np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.zeros(steps), np.zeros(factors), np.zeros((steps, 2), np.int64),
        np.zeros(plan.most_messages, np.int64),
    )  # fmt: skip


@kernel
def measure_least(plan, variances, pool):
    """Write the least variances of factors and of the parts below each step; return the sum over all factors."""
    pool.factor_least[:] = np.inf
    for entry in range(variances.shape[0]):
        factor = plan.entry_factors[entry]
        pool.factor_least[factor] = min(pool.factor_least[factor], variances[entry])
    total = 0.0
    for step in range(plan.agents.shape[0]):
        below = 0.0
        for i in range(plan.first_factor[step], plan.first_factor[step + 1]):
            below += pool.factor_least[plan.factor_inputs[i]]
        total += below
        for i in range(plan.first_message[step], plan.first_message[step + 1]):
            below += pool.least[plan.message_inputs[i]]
        pool.least[step] = below
    return total


@kernel
def insert_pair(pool, first, count, mean, variance, key):
    """Remove pairs that a new one makes needless from a row; return their new number, and whether the new one joins them.

    A pair is needless if another one has at least its mean and variance, or at most its variance but at least its value with
    the least variance that is to come: the square root is concave, so that more of it only helps the one with less.
    """
    for i in range(first, first + count):
        is_larger = pool.means[i] >= mean and pool.variances[i] >= variance
        if is_larger or (pool.keys[i] >= key and pool.variances[i] <= variance):
            return count, False
    left = first
    for i in range(first, first + count):
        is_smaller = mean >= pool.means[i] and variance >= pool.variances[i]
        if not is_smaller and not (key >= pool.keys[i] and variance <= pool.variances[i]):
            if left != i:
                pool.means[left], pool.variances[left], pool.keys[left] = pool.means[i], pool.variances[i], pool.keys[i]
                pool.arms[left] = pool.arms[i]
                for place in range(pool.picks.shape[1]):
                    pool.picks[left, place] = pool.picks[i, place]
            left += 1
    return left - first, True


@kernel
def eliminate(plan, means, variances, pool, actions):
    """Write the joint action with the largest sum of means plus root of the sum of variances to actions int64[A, 1].

    means, variances    float64[N], of the entries of factors
    Returns             whether the pool was large enough
    """
    total, size, used = measure_least(plan, variances, pool), pool.means.shape[0], 0
    last = plan.agents.shape[0] - 1
    for step in range(last + 1):
        factors = plan.first_factor[step + 1] - plan.first_factor[step]
        message, messages = plan.first_message[step], plan.first_message[step + 1] - plan.first_message[step]
        rest, place = max(total - pool.least[step], 0.0), plan.first_index[step]
        for row in range(plan.rows[step]):
            count = 0
            for arm in range(plan.arms[step]):
                base_mean, base_variance = 0.0, 0.0
                for i in range(factors):
                    base_mean += means[plan.indices[place + i]]
                    base_variance += variances[plan.indices[place + i]]
                inner = place + factors
                for i in range(messages):
                    pool.odometer[i] = 0
                is_open = True
                while is_open:  # over the pairs of all messages that the step reads
                    mean, variance = base_mean, base_variance
                    for i in range(messages):
                        at = plan.first_row[plan.message_inputs[message + i]] + plan.indices[inner + i]
                        pair = pool.first[at] + pool.odometer[i]
                        mean += pool.means[pair]
                        variance += pool.variances[pair]
                    key = mean + np.sqrt(variance + rest)
                    count, joins = insert_pair(pool, used, count, mean, variance, key)
                    if joins:
                        new = used + count
                        if new == size:
                            return FULL
                        pool.means[new], pool.variances[new], pool.keys[new], pool.arms[new] = mean, variance, key, arm
                        for i in range(messages):
                            at = plan.first_row[plan.message_inputs[message + i]] + plan.indices[inner + i]
                            pool.picks[new, i] = pool.first[at] + pool.odometer[i]
                        count += 1
                    is_open = False
                    for i in range(messages):
                        at = plan.first_row[plan.message_inputs[message + i]] + plan.indices[inner + i]
                        pool.odometer[i] += 1
                        if pool.odometer[i] < pool.counts[at]:
                            is_open = True
                            break
                        pool.odometer[i] = 0
                place = inner + messages
            at = plan.first_row[step] + row
            pool.first[at], pool.counts[at] = used, count
            used += count
    best = pool.first[plan.first_row[last]]
    for pair in range(best + 1, used):
        if pool.keys[pair] > pool.keys[best]:
            best = pair
    pool.stack[0, 0], pool.stack[0, 1] = last, best
    depth = 1
    while depth > 0:  # from each pair to those that it was made of
        depth -= 1
        step, pair = pool.stack[depth, 0], pool.stack[depth, 1]
        actions[plan.agents[step], 0] = pool.arms[pair]
        for i in range(plan.first_message[step + 1] - plan.first_message[step]):
            pool.stack[depth, 0], pool.stack[depth, 1] = plan.message_inputs[plan.first_message[step] + i], pool.picks[pair, i]
            depth += 1
    return True
