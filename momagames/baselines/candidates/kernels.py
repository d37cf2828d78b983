# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The kernel of candidate policies: `features` lists what it computes, `policy` its memory and scratch arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_heuristic, make_lookahead
from momagames.engine.loops import cache_by_rules, get_pruner, make_distinct_legal
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, mix, uniform, update_best


@kernel
def contract(vector, weights, sets, out, at):
    """Add the weighted and the plain sum of each set of objectives to out[at:]."""
    for k in range(sets.shape[0]):
        out[at + 2 * sets[k]] += weights[k] * vector[k]
        out[at + 2 * sets[k] + 1] += vector[k]


@kernel
def score_candidate(parameters, features, units):
    """Return the linear score of a candidate plus that of a hidden layer of H rectified units; units float64[H] is a buffer.

    parameters    a factor for each of F features; then of the hidden layer the biases [H], the factors of the features [F, H],
                  and the factors of the units [H]
    """
    size, hidden = features.shape[0], units.shape[0]
    score = 0.0
    at = size
    for h in range(hidden):
        units[h] = parameters[at + h]
    for f in range(size):
        score += parameters[f] * features[f]
        at += hidden
        for h in range(hidden):
            units[h] += parameters[at + h] * features[f]
    at += hidden
    for h in range(hidden):
        score += parameters[at + h] * max(units[h], 0.0)
    return score


def make_position_features(game: Game) -> Callable[..., Any]:
    """Return the kernel that writes the features of the position trial.states[0] for each objective."""
    present, optimistic, own = game.search.present, game.search.optimistic, game.learning.objective_features
    has_present, has_optimistic = present is not None, optimistic is not None
    write_present, write_optimistic = make_heuristic(present), make_heuristic(optimistic)
    write_own = own and own.write

    @kernel
    def write_declared(trial, out):
        write_own(trial.states[0], out)

    @kernel
    def write_heuristics(trial, out):
        if has_present:
            write_present(trial.states[0], trial, out[0])
        if has_optimistic:
            write_optimistic(trial.states[0], trial, out[np.int64(has_present)])

    return write_declared if write_own else write_heuristics


@cache_by_rules
def make_scoring_kernel(game: Game) -> Callable[..., Any]:
    """Return the kernel that scores all candidate actions of a position."""
    try_action, prune, write_legal = make_lookahead(game).try_action, get_pruner(game), make_distinct_legal(game)
    write_objective_features = make_position_features(game)

    @kernel
    def score_actions(state, agent, mask, memory, scratch, word):
        """Write the score of each candidate to scores[action], and which actions are candidates.

        Returns the generator word. Scratch and memory are those of `policy.CandidatePolicy`
        """
        candidates, scores, sets, before, after, features, units, settings, rows, cursor = scratch[:10]
        trial = Trial(*scratch[10:])
        parameters, weights, later, reward = memory["parameters"], memory["weights"], trial.mask, trial.reward
        trial.steps[0] = 0
        objectives, num_sets, samples = sets.shape[0], settings[0], settings[1]
        records, first_row, num_rows = rows.shape[0] > 0, cursor[0], 0
        for a in range(mask.shape[0]):
            candidates[a] = mask[a]
        prune(state, candidates)
        word = advance(word)
        first_word = mix(word)
        count_before = 0
        for a in range(-1, mask.shape[0]):  # -1: the position itself, in this loop because each call compiles a kernel again
            if a >= 0 and candidates[a] == 0:
                continue
            features[:] = 0.0
            trial_word = first_word
            for _ in range(1 if a < 0 else samples):
                over = False
                if a >= 0:
                    trial_word = advance(trial_word)  # the draws to come are unknown to the agent
                    over = try_action(state, a, mix(trial_word), trial)
                else:
                    trial.states[0] = state
                after[:] = 0.0
                count = 0
                if not over:
                    write_legal(trial.states[0], later)
                    for i in range(later.shape[0]):
                        count += np.int64(later[i])
                    write_objective_features(trial, after)
                if a < 0:
                    count_before = count
                    for v in range(after.shape[0]):
                        for k in range(objectives):
                            before[v, k] = after[v, k]
                    continue
                contract(reward[agent], weights, sets, features, 0)
                at = 2 * num_sets
                for k in range(objectives):
                    if reward[agent, k] != 0.0:
                        features[at + sets[k]] += weights[k]
                at += num_sets
                for v in range(after.shape[0]):
                    for k in range(objectives):
                        after[v, k] -= before[v, k]
                    contract(after[v], weights, sets, features, at)
                    at += 2 * num_sets
                features[at] += count - count_before
                features[at + 1] += np.float64(over)
            if a < 0:
                continue
            for f in range(features.shape[0]):
                features[f] /= samples
            scores[a] = score_candidate(parameters, features, units)
            if records:
                for f in range(features.shape[0]):
                    rows[first_row + num_rows, f] = features[f]
            num_rows += 1
        memory["first_row"], memory["num_rows"] = first_row, num_rows
        memory["lookahead_steps"] += trial.steps[0]
        cursor[0] += num_rows
        return word

    return score_actions


@cache_by_rules
def make_candidate_kernel(game: Game) -> Callable[..., Any]:
    """Return the policy kernel, see `engine.policies`."""
    score_actions = make_scoring_kernel(game)

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        word = score_actions(state, agent, mask, memory, scratch, word)
        candidates, scores, temperature = scratch[0], scratch[1], memory["temperature"]
        best, ties, number = -np.inf, 0, 0
        for a in range(mask.shape[0]):
            if candidates[a] == 0:
                continue
            value = scores[a]
            if temperature > 0.0:  # the maximum with Gumbel noise is a sample of the softmax
                word = advance(word)
                value -= temperature * np.log(-np.log(uniform(word)))
            is_best, best, ties, word = update_best(value, best, ties, word)
            if is_best:
                action[0] = a
                memory["choice"] = number
            number += 1
        return word

    return act


@cache_by_rules
def compile_candidate_encoder(game: Game) -> Callable[..., Any]:
    """Return a function that records the candidate actions of decisions, see `moppo.candidate_views.CandidateViews`.

    envs and agents int64[R], weights float32[R, K]. The scratch arrays, `policy.CandidatePolicy.make_scratch`, have the rows of
    the features and the next free one; memory is record[1] of a scorer whose parameters are zero, mask int8[M] a buffer.
    Without `looks_ahead` only positions are recorded. Returns the generator word
    """
    write_legal, score_actions = make_distinct_legal(game), make_scoring_kernel(game)

    def encode(states, envs, agents, weights, looks_ahead, first, starts, actions, positions, memory, mask, scratch, word):
        candidates, before, own = scratch[0], scratch[3], memory[0]
        end = starts[first]
        for r in range(envs.shape[0]):
            for k in range(weights.shape[1]):
                own["weights"][k] = weights[r, k]
            write_legal(states[envs[r]], mask)
            count = 0
            for a in range(mask.shape[0]):
                count += np.int64(mask[a])
                mask[a] *= looks_ahead
            word = score_actions(states[envs[r]], agents[r], mask, own, scratch, word)
            for a in range(mask.shape[0]):
                if candidates[a]:
                    actions[end] = a
                    end += 1
            starts[first + r + 1] = end
            at = 0
            for v in range(before.shape[0]):
                for k in range(before.shape[1]):
                    positions[first + r, at] = before[v, k]
                    at += 1
            positions[first + r, at] = count
        return word

    return compile_entry_point(encode, f"{game.rules_key}.candidates.encode")
