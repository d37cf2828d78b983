# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of linear policies: `linear_policy` describes their decisions, `linear_features` their features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead
from momagames.engine.loops import cache_by_rules, get_pruner
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, mix, update_best


@kernel
def write_features(sources, workspace, out):
    """Write the features of an observation, see `FeatureLayout`, to out float64[count]."""
    _, v0, v1, v2, v3, v4 = workspace
    at = 0
    for p in range(sources.shape[0]):
        dtype, offset, rows, columns = sources[p, 0], sources[p, 1], sources[p, 2], sources[p, 3]
        if dtype == 0:
            write_source(v0, offset, rows, columns, 1, out, at)
        elif dtype == 1:
            write_source(v1, offset, rows, columns, 1, out, at)
        elif dtype == 2:
            write_source(v2, offset, rows, columns, 1, out, at)
        elif dtype == 3:
            write_source(v3, offset, rows, columns, 1.0, out, at)
        else:
            write_source(v4, offset, rows, columns, 1.0, out, at)
        at += 3 if rows else 1


@kernel
def write_source(values, offset, rows, columns, one, out, at):
    """Write a number or the three features of a board. one: 1 for integer sums, which are several times faster; else 1.0"""
    if rows == 0:
        out[at] = values[offset]
        return
    total, row_moment, column_moment = 0 * one, 0 * one, 0 * one
    for row in range(rows):
        row_total = 0 * one
        for column in range(columns):
            value = values[offset + row * columns + column] * one
            row_total += value
            column_moment += value * (2 * column - columns + 1)
        total += row_total
        row_moment += row_total * (2 * row - rows + 1)
    size = rows * columns
    out[at] = total / size
    out[at + 1] = row_moment / (size * max(1, rows - 1))
    out[at + 2] = column_moment / (size * max(1, columns - 1))


@cache_by_rules
def make_feature_loop(game: Game) -> Callable[..., None]:
    """Return the compiled loop of `LinearPolicy.compute_features`."""
    observe = game.kernels.observe

    def run(states, sources, workspace, out):
        for i in range(states.shape[0]):
            for agent in range(out.shape[1]):
                observe(states[i], agent, workspace[0])
                write_features(sources, workspace, out[i, agent])

    return compile_entry_point(run, f"{game.rules_key}.linear.features")


@cache_by_rules
def make_lookahead_kernel(game: Game) -> Callable[..., Any]:
    """Return the policy kernel with one-step lookahead, see `engine.policies`."""
    observe, prune, try_action = game.kernels.observe, get_pruner(game), make_lookahead(game).try_action

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        rows, sources, features, workspace, size = scratch[:5]
        trial = Trial(*scratch[5:])
        candidates, objectives = trial.mask, trial.reward.shape[1]
        trial.steps[0] = 0
        base = rows[agent] * size[0]
        for a in range(mask.shape[0]):
            candidates[a] = mask[a]
        prune(state, candidates)
        word = advance(word)
        trial_word = mix(word)
        best, ties = -np.inf, 0
        for a in range(mask.shape[0]):
            if candidates[a]:
                try_action(state, a, trial_word, trial)
                after = trial.states[0]
                observe(after, agent, workspace[0])
                write_features(sources, workspace, features)
                value = memory["parameters"][base + objectives] * np.int64(after["over"])
                for k in range(objectives):
                    value += memory["parameters"][base + k] * np.float64(trial.reward[agent, k])
                for f in range(features.shape[0]):
                    value += memory["parameters"][base + objectives + 1 + f] * features[f]
                is_best, best, ties, word = update_best(value, best, ties, word)
                if is_best:
                    action[0] = a
        memory["lookahead_steps"] += trial.steps[0]
        return word

    return act


@cache_by_rules
def make_reactive_kernel(game: Game) -> Callable[..., Any]:
    """Return the policy kernel that scores actions by the features of the current observation."""
    observe = game.kernels.observe

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        rows, sources, features, workspace, size = scratch[:5]
        observe(state, agent, workspace[0])
        write_features(sources, workspace, features)
        stride = 1 + features.shape[0]
        at = rows[agent] * size[0]
        position = 0
        for part in range(parts.shape[0]):
            best, ties = -np.inf, 0
            for choice in range(parts[part]):
                if mask[position]:
                    value = memory["parameters"][at]
                    for f in range(features.shape[0]):
                        value += memory["parameters"][at + 1 + f] * features[f]
                    is_best, best, ties, word = update_best(value, best, ties, word)
                    if is_best:
                        action[part] = choice
                position += 1
                at += stride
        return word

    return act
