# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops for best responses to a random or greedy opponent; see `guarantee_kernels`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead, weigh
from momagames.engine.loops import cache_by_rules
from momagames.games.breakthrough.solver.convex_chains import add_minkowski, merge_hull
from momagames.games.breakthrough.solver.packed_words import find_word, read_position, write_position
from momagames.kernels.jit import compile_entry_point, kernel

BUFFER_FULL = -1


@dataclass(frozen=True)
class ResponseLoops:
    """Loops compiled for the rules.

    trial is that of `GuaranteeLoops`. `opponent_weights`, float64[K], are the weights of the opponent's greedy
    policy; if all are zero it plays uniformly random legal actions. Values are in the units of the returns.

    solve_layer(words, ply, mover, agent, opponent_weights, trial, next_words, next_starts, next_points, counts, points,
        buffers..)
        the chains of expected returns: counts int64[N], points float64[..., 2]; returns the number of points, or BUFFER_FULL
    solve_scalarized(words, ply, mover, agent, opponent_weights, utility_weights, trial, next_words, next_values, values)
        the best expected sum of returns weighted by `utility_weights` float64[K], float64[N]
    choose(states, agent, utility_weights, trial, next_words, next_starts, next_points, actions)
        for states record[n] with `agent` to move, the action of the best weighted sum
    """

    solve_layer: Callable[..., Any]
    solve_scalarized: Callable[..., Any]
    choose: Callable[..., Any]


@cache_by_rules
def compile_response_loops(game: Game) -> ResponseLoops:
    legal, play_copy = game.kernels.legal, make_lookahead(game).play_copy

    @kernel
    def write_reply_probabilities(state, mover, opponent_weights, trial, probabilities):
        """Write the probability of each action of a greedy opponent, float64[M]; equal values have equal probabilities."""
        mask, best, ties = trial.mask, -np.inf, 0
        for action in range(mask.shape[0]):
            probabilities[action] = -np.inf
            if mask[action]:
                play_copy(state, action, trial.states, 1, trial)
                value = weigh(opponent_weights, trial.reward, mover)
                probabilities[action] = value
                if value > best:
                    best, ties = value, 0
                if value == best:
                    ties += 1
        for action in range(mask.shape[0]):
            probabilities[action] = 1.0 / ties if probabilities[action] == best else 0.0

    def solve_layer(
        words, ply, mover, agent, opponent_weights, trial, next_words, next_starts, next_points, counts, points,
        probabilities, front, scratch_front, child,
    ):  # fmt: skip
        pair, mask, reward, end = trial.states, trial.mask, trial.reward, 0
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, pair[0])
            legal(pair[0], mover, mask)
            if mover != agent:
                write_reply_probabilities(pair[0], mover, opponent_weights, trial, probabilities)
            count = 0
            for action in range(mask.shape[0]):
                if mask[action] == 0 or (mover != agent and probabilities[action] == 0.0):
                    continue
                probability = 1.0 if mover == agent else probabilities[action]
                over = play_copy(pair[0], action, pair, 1, trial)
                size = 1
                start = 0
                if not over:
                    index = find_word(read_position(pair[1]), next_words)
                    start, size = next_starts[index], next_starts[index + 1] - next_starts[index]
                if count + size > front.shape[0]:
                    return BUFFER_FULL
                for i in range(size):
                    for k in range(2):
                        value = np.float64(reward[agent, k])
                        if not over:
                            value += next_points[start + i, k]
                        child[i, k] = probability * value
                if count == 0:
                    count = merge_hull(front, 0, child, size, scratch_front)
                elif mover == agent:
                    count = merge_hull(front, count, child, size, scratch_front)
                else:
                    count = add_minkowski(front, count, child, size, scratch_front)
            if end + count > points.shape[0]:
                return BUFFER_FULL
            for i in range(count):
                points[end + i, 0], points[end + i, 1] = front[i, 0], front[i, 1]
            counts[n] = count
            end += count
        return end

    def solve_scalarized(
        words, ply, mover, agent, opponent_weights, utility_weights, trial, next_words, next_values, probabilities, values
    ):  # fmt: skip
        pair, mask = trial.states, trial.mask
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, pair[0])
            legal(pair[0], mover, mask)
            if mover != agent:
                write_reply_probabilities(pair[0], mover, opponent_weights, trial, probabilities)
            total = -np.inf if mover == agent else 0.0
            for action in range(mask.shape[0]):
                if mask[action] == 0 or (mover != agent and probabilities[action] == 0.0):
                    continue
                over = play_copy(pair[0], action, pair, 1, trial)
                value = weigh(utility_weights, trial.reward, agent)
                if not over:
                    value += next_values[find_word(read_position(pair[1]), next_words)]
                total = max(total, value) if mover == agent else total + probabilities[action] * value
            values[n] = total

    def choose(states, agent, utility_weights, trial, next_words, next_starts, next_points, actions):
        pair, mask, reward = trial.states, trial.mask, trial.reward
        for n in range(states.shape[0]):
            legal(states[n], agent, mask)
            best = -np.inf
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                over = play_copy(states[n], action, pair, 1, trial)
                value = utility_weights[0] * reward[agent, 0] + utility_weights[1] * reward[agent, 1]
                if not over:
                    index = find_word(read_position(pair[1]), next_words)
                    best_next = -np.inf
                    for i in range(next_starts[index], next_starts[index + 1]):
                        best_next = max(
                            best_next, utility_weights[0] * next_points[i, 0] + utility_weights[1] * next_points[i, 1]
                        )
                    value += best_next
                if value > best:
                    best = value
                    actions[n] = action

    name = f"{game.rules_key}.responses"
    return ResponseLoops(
        solve_layer=compile_entry_point(solve_layer, f"{name}.solve_layer"),
        solve_scalarized=compile_entry_point(solve_scalarized, f"{name}.solve_scalarized"),
        choose=compile_entry_point(choose, f"{name}.choose"),
    )
