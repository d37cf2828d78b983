# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops over the layers of MO-Breakthrough: all positions after the same number of moves.

Every move advances a piece, so no position repeats in a game, and the layers are solved from the last to the first. Shapes: N
positions of a layer, K objectives, M actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead
from momagames.engine.loops import cache_by_rules
from momagames.games.breakthrough.rules import CAPTURES, LOSSES
from momagames.games.breakthrough.solver.packed_words import (
    ZERO,
    add,
    elementwise_min,
    find_word,
    insert_nondominated,
    pack_reward,
    read_position,
    subtract,
    weakly_dominates,
    write_position,
)
from momagames.kernels.jit import compile_entry_point, kernel

BUFFER_FULL = -1  # returned by `solve_layer` if a buffer is too small


@dataclass(frozen=True)
class GuaranteeLoops:
    """Loops compiled for the rules.

    trial: see `Trial`; its first state is a position of the layer, and its second one the position after a move.

    list_successors(words, ply, mover, trial, out)
        the positions after each move from uint64[N] that does not end the game, with repetitions; returns their number
    solve_layer(words, ply, mover, agent, units, trial, next_words, next_starts, next_points, counts, points, first, second)
        the fronts that `agent` can guarantee: counts int64[N], points uint64[...]; returns the number of points, or
        BUFFER_FULL
    choose(states, targets, agent, units, trial, next_words, next_starts, next_points, actions)
        for states record[n] with `agent` to move, an action after which the vector `targets` is still guaranteed, or -1
    solve_threshold_games(words, ply, mover, agent, units, columns, initial_counts, thresholds, trial, next_words,
        next_bits, bits)
        one bit for each of up to 64 vectors `thresholds`: whether `agent` can guarantee at least that in the whole game;
        `initial_counts` holds the numbers of pieces of the agent and of the opponent at the start
    """

    list_successors: Callable[..., Any]
    solve_layer: Callable[..., Any]
    choose: Callable[..., Any]
    solve_threshold_games: Callable[..., Any]


@cache_by_rules
def compile_guarantee_loops(game: Game) -> GuaranteeLoops:
    legal, play_copy = game.kernels.legal, make_lookahead(game).play_copy

    def list_successors(words, ply, mover, trial, out):
        pair, mask, count = trial.states, trial.mask, 0
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, pair[0])
            legal(pair[0], mover, mask)
            for action in range(mask.shape[0]):
                if mask[action] and not play_copy(pair[0], action, pair, 1, trial):
                    out[count] = read_position(pair[1])
                    count += 1
        return count

    @kernel
    def merge_union(front, count, new, size, gain):
        """Merge the second front, plus `gain`, into the first: the front of the union. Returns its size."""
        for i in range(size):
            count = insert_nondominated(add(new[i], gain), front, count)
        return count

    @kernel
    def merge_intersection(front, count, new, size, gain, scratch_front):
        """Replace the first front by the front of its element-wise minima with the second one plus `gain`. Returns its size."""
        num_minima = 0
        for i in range(count):
            for j in range(size):
                num_minima = insert_nondominated(elementwise_min(front[i], add(new[j], gain)), scratch_front, num_minima)
        for i in range(num_minima):
            front[i] = scratch_front[i]
        return num_minima

    def solve_layer(
        words, ply, mover, agent, units, trial, next_words, next_starts, next_points, counts, points, first, second
    ):  # fmt: skip
        pair, mask, reward = trial.states, trial.mask, trial.reward
        end = 0
        capacity = first.shape[0]
        finished = np.uint64(ZERO)
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, pair[0])
            legal(pair[0], mover, mask)
            count = -1
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                over = play_copy(pair[0], action, pair, 1, trial)
                gain = pack_reward(reward[agent], units)
                start, size = 0, 0
                if not over:
                    index = find_word(read_position(pair[1]), next_words)
                    start, size = next_starts[index], next_starts[index + 1] - next_starts[index]
                if max(count, 1) * max(size, 1) + max(count, 0) > capacity:
                    return BUFFER_FULL
                if count < 0 or mover == agent:
                    count = max(count, 0)
                    if over:
                        count = insert_nondominated(add(finished, gain), first, count)
                    else:
                        count = merge_union(first, count, next_points[start:], size, gain)
                elif over:
                    num_minima = 0
                    for i in range(count):
                        num_minima = insert_nondominated(elementwise_min(first[i], add(finished, gain)), second, num_minima)
                    for i in range(num_minima):
                        first[i] = second[i]
                    count = num_minima
                else:
                    count = merge_intersection(first, count, next_points[start:], size, gain, second)
            if end + count > points.shape[0]:
                return BUFFER_FULL
            for i in range(count):
                points[end + i] = first[i]
            counts[n] = count
            end += count
        return end

    def choose(states, targets, agent, units, trial, next_words, next_starts, next_points, actions):
        pair, mask, reward = trial.states, trial.mask, trial.reward
        finished = np.uint64(ZERO)
        for n in range(states.shape[0]):
            legal(states[n], agent, mask)
            actions[n] = -1
            for action in range(mask.shape[0]):
                if mask[action] == 0 or actions[n] >= 0:
                    continue
                over = play_copy(states[n], action, pair, 1, trial)
                remaining = subtract(targets[n], pack_reward(reward[agent], units))
                if over:
                    if weakly_dominates(finished, remaining):
                        actions[n] = action
                    continue
                index = find_word(read_position(pair[1]), next_words)
                for i in range(next_starts[index], next_starts[index + 1]):
                    if weakly_dominates(next_points[i], remaining):
                        actions[n] = action

    @kernel
    def list_attained(state, agent, reward, units, columns, initial_counts, thresholds):
        """Return one bit for each threshold vector: whether the returns of a finished game reach it. Captures and losses are
        derived from the numbers of pieces at the start and at the end."""
        bits = np.uint64(0)
        for i in range(thresholds.shape[0]):
            is_attained = True
            for k in range(units.shape[0]):
                value = np.int64(np.rint(np.float64(reward[agent, k]) * units[k]))
                if columns[k] == CAPTURES:
                    value = initial_counts[1] - np.int64(state["count"][1 - agent])
                elif columns[k] == LOSSES:
                    value = np.int64(state["count"][agent]) - initial_counts[0]
                is_attained &= value >= thresholds[i, k]
            bits |= np.uint64(is_attained) << np.uint64(i)
        return bits

    def solve_threshold_games(
        words, ply, mover, agent, units, columns, initial_counts, thresholds, trial, next_words, next_bits, bits
    ):  # fmt: skip
        pair, mask, reward = trial.states, trial.mask, trial.reward
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, pair[0])
            legal(pair[0], mover, mask)
            result = np.uint64(0) if mover == agent else ~np.uint64(0)
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                if play_copy(pair[0], action, pair, 1, trial):
                    value = list_attained(pair[1], agent, reward, units, columns, initial_counts, thresholds)
                else:
                    value = next_bits[find_word(read_position(pair[1]), next_words)]
                result = result | value if mover == agent else result & value
            bits[n] = result

    name = f"{game.rules_key}.guaranteed"
    return GuaranteeLoops(
        list_successors=compile_entry_point(list_successors, f"{name}.list_successors"),
        solve_layer=compile_entry_point(solve_layer, f"{name}.solve_layer"),
        choose=compile_entry_point(choose, f"{name}.choose"),
        solve_threshold_games=compile_entry_point(solve_threshold_games, f"{name}.solve_threshold_games"),
    )
