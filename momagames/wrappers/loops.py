# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops of the wrappers, over N environments (1 for a single one), A agents and K objectives.

A step of NumPy on arrays of this size takes about a microsecond, whatever it computes, and a step of an environment six. The
loops add in the order in which NumPy adds, so that results are those of its expressions to the bit.
"""

from __future__ import annotations

import numpy as np

from momagames.kernels.jit import compile_entry_point, kernel

ALL = -1  # in place of the agent that acted: all agents
LANES = 8  # NumPy adds rows of at least so many numbers in so many partial sums


@kernel
def _add_products(reward, weights):
    """Return the weighted sum of one reward vector, float[K]."""
    size, total = reward.shape[0], 0.0
    if size < LANES:
        for k in range(size):
            total += reward[k] * weights[k]
        return total
    parts = (
        _add_lane(reward, weights, 0) + _add_lane(reward, weights, 1),
        _add_lane(reward, weights, 2) + _add_lane(reward, weights, 3),
        _add_lane(reward, weights, 4) + _add_lane(reward, weights, 5),
        _add_lane(reward, weights, 6) + _add_lane(reward, weights, 7),
    )
    total = (parts[0] + parts[1]) + (parts[2] + parts[3])
    for k in range(size - size % LANES, size):
        total += reward[k] * weights[k]
    return total


@kernel
def _add_lane(reward, weights, lane):
    total = reward[lane] * weights[lane]
    for k in range(lane + LANES, reward.shape[0] - reward.shape[0] % LANES, LANES):
        total += reward[k] * weights[k]
    return total


def _weigh(reward, weights, sums):
    for i in range(reward.shape[0]):
        for agent in range(reward.shape[1]):
            sums[i, agent, 0] = _add_products(reward[i, agent], weights[agent])


@kernel
def _update_end(terminated, truncated, same_step, over, gone, i):
    """Update `over` and `gone` of an environment; return whether its episode ended in this step."""
    was_over, is_over = over[i], True
    for agent in range(gone.shape[1]):
        gone[i, agent] = terminated[i, agent] or truncated[i, agent]
        is_over &= gone[i, agent]
    for agent in range(gone.shape[1]):
        gone[i, agent] &= not is_over
    over[i] = is_over and not same_step
    return is_over and not was_over


@kernel
def _add_reward(returns, discounted, discount, reward, i, agent):
    for k in range(returns.shape[2]):
        returns[i, agent, k] += reward[i, agent, k]
        if discounted.shape[0]:
            discounted[i, agent, k] += discount * reward[i, agent, k]


def _track(terminated, truncated, same_step, over, gone, moved, acting, ended):
    for i in range(over.shape[0]):
        moved[i] = not over[i]
        for agent in range(gone.shape[1]):
            acting[i, agent] = not over[i] and not gone[i, agent]
        ended[i] = _update_end(terminated, truncated, same_step, over, gone, i)


@kernel
def _discount(discounted, gamma, step):
    """Return the discount of a step; 1 where there are no discounted returns."""
    return gamma ** np.float64(step) if discounted.shape[0] else 1.0


def _add_step(returns, discounted, moves, steps, gamma, reward, acting, moved):
    for i in range(returns.shape[0]):
        discount = _discount(discounted, gamma, steps[i])
        for agent in range(returns.shape[1]):
            _add_reward(returns, discounted, discount, reward, i, agent)
            moves[i, agent] += acting[i, agent]
        steps[i] += moved[i]


def _record_step(
    returns, discounted, moves, steps, gamma, reward, movers, terminated, truncated, same_step, over, gone, ended
):  # fmt: skip
    count = 0
    for i in range(returns.shape[0]):
        discount = _discount(discounted, gamma, steps[i])
        for agent in range(returns.shape[1]):
            _add_reward(returns, discounted, discount, reward, i, agent)
            moves[i, agent] += not over[i] and not gone[i, agent] and (movers[i] == agent or movers[i] == ALL)
        steps[i] += not over[i]
        ended[i] = _update_end(terminated, truncated, same_step, over, gone, i)
        count += ended[i]
    return count


@kernel
def pool_statistics(mean, var, count, other_mean, other_var, other_count):
    """Return mean and variance of the union of two samples (Chan, Golub and LeVeque 1979)."""
    total = count + other_count
    delta = other_mean - mean
    squares = var * count + other_var * other_count + delta**2 * count * other_count / total
    return mean + delta * other_count / total, squares / total


def _finish_episodes(
    ended, returns, discounted, moves, steps, all_returns, all_discounted, all_moves, all_steps,
    ended_returns, ended_discounted, ended_moves, ended_steps,
):  # fmt: skip
    place = 0
    for i in range(ended.shape[0]):
        _copy_sums(returns[i], moves[i], all_returns[i], all_moves[i])
        all_steps[i] = steps[i]
        if discounted.shape[0]:
            _copy_sums(discounted[i], moves[i], all_discounted[i], all_moves[i])
        if ended[i]:
            _copy_sums(returns[i], moves[i], ended_returns[place], ended_moves[place])
            ended_steps[place] = steps[i]
            if discounted.shape[0]:
                _copy_sums(discounted[i], moves[i], ended_discounted[place], ended_moves[place])
                discounted[i] = 0.0
            returns[i] = 0.0
            moves[i] = 0
            steps[i] = 0
            place += 1


@kernel
def _copy_sums(returns, moves, to_returns, to_moves):
    for agent in range(returns.shape[0]):
        for k in range(returns.shape[1]):
            to_returns[agent, k] = returns[agent, k]
        to_moves[agent] = moves[agent]


def _normalize(reward, chosen, acting, ended, frozen, gamma, epsilon, running, mean, var, count, normalized):
    num_envs = reward.shape[0]
    for agent in range(reward.shape[1]):
        for k in range(reward.shape[2]):
            for i in range(num_envs):
                normalized[i, agent, k] = reward[i, agent, k]
        number = 0
        for i in range(num_envs):
            number += acting[i, agent]
        for j in range(chosen.shape[0]):
            k = chosen[j]
            if not frozen:
                sums = 0.0
                for i in range(num_envs):
                    if acting[i, agent]:
                        running[i, agent, j] = running[i, agent, j] * gamma + reward[i, agent, k]
                        sums += running[i, agent, j]
                new_mean, squares = sums / max(number, 1), 0.0
                for i in range(num_envs):
                    if acting[i, agent]:
                        squares += (running[i, agent, j] - new_mean) ** 2
                    if ended[i]:
                        running[i, agent, j] = 0.0
                mean[agent, j], var[agent, j] = pool_statistics(
                    mean[agent, j], var[agent, j], count[agent, 0], new_mean, squares / max(number, 1), number
                )
            for i in range(num_envs):
                normalized[i, agent, k] = np.float64(reward[i, agent, k]) / np.sqrt(var[agent, j] + epsilon)
        if not frozen:
            count[agent, 0] += number


# weigh(reward, weights, sums): weighted sums float64[N, A, 1] of reward[N, A, K], weights float64[A, K]
weigh = compile_entry_point(_weigh, "wrappers.weigh", nogil=False)
# track(terminated, truncated, same_step, over, gone, moved, acting, ended): the `StepContext` of a step of a vector
# environment; updates `over` and `gone`, see `wrappers.vector.Wrapper`
track = compile_entry_point(_track, "wrappers.track", nogil=False)
# add_step(returns, discounted, moves, steps, gamma, reward, acting, moved): adds a step to `EpisodeStatistics`
add_step = compile_entry_point(_add_step, "wrappers.add_step", nogil=False)
# record_step(returns, discounted, moves, steps, gamma, reward, movers, ..., ended): both for a vector environment, with the
# agents whose actions the step applied, int32[N], or ALL; returns the number of episodes that ended
record_step = compile_entry_point(_record_step, "wrappers.record_step", nogil=False)
# finish_episodes(ended, ...): copies the sums of all environments and of those that ended, whose sums start again
finish_episodes = compile_entry_point(_finish_episodes, "wrappers.finish_episodes", nogil=False)
# normalize(reward, chosen, ..., normalized): updates the statistics of `NormalizeReward` and writes normalized rewards
normalize = compile_entry_point(_normalize, "wrappers.normalize", nogil=False)
