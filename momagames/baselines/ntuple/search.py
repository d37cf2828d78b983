# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Look-ahead with tables: alpha-beta of the weighted return of the agent that searches, one to five moves deep.

A leaf has the weighted rewards on the way plus the value of the tables for its position. The other agent is assumed to play for
the lowest weighted return of the one that searches. Moves before the last are tried in the order of their values by a
look-ahead of one, which cuts off most of the others. Copies draw with a random word of their own. Source of alpha-beta: Knuth
and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6, 1975.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.ntuple.heads import MOVED, OPPONENT, Heads
from momagames.baselines.ntuple.kernels import (
    Buffers,
    find_entries,
    make_buffers,
    update_entries,
    weigh_position,
)
from momagames.baselines.ntuple.patterns import Patterns, check_board
from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead, make_trial, weigh
from momagames.engine.loops import cache_by_rules
from momagames.engine.masks import list_actions
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, mix, update_best


class Search(NamedTuple):
    """Tables and scratch arrays of a search of depth D; level 0 is the position to move in.

    weights    float64[K]
    patterns   see `Patterns`
    heads      see `Heads`
    tables     float32[H, n]
    buffers    see `Buffers`
    trial      see `Trial`
    work       record[D + 1], the position of each level
    masks      int8[D, M], its legal actions
    order      int64[D, M + 1], the same as numbers in the order in which they are tried
    values     float64[M], by which they are ordered
    counts     int64[D], number of legal actions
    cursors    int64[D], number of those that were tried
    rewards    float64[D], the weighted rewards on the way to it
    best       float64[D], the best value of its moves so far, for its agent
    bounds     float64[D, 2], lower and upper bound of the values that matter
    """

    weights: NDArray[np.float64]
    patterns: Patterns
    heads: Heads
    tables: NDArray[np.float32]
    buffers: Buffers
    trial: Trial
    work: NDArray[Any]
    masks: NDArray[np.int8]
    order: NDArray[np.int64]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    cursors: NDArray[np.int64]
    rewards: NDArray[np.float64]
    best: NDArray[np.float64]
    bounds: NDArray[np.float64]


def make_search(
    game: Game, weights: NDArray[np.float64], patterns: Patterns, heads: Heads, tables: NDArray[np.float32], depth: int
) -> Search:
    """Return the tables with scratch arrays."""
    return Search(
        weights, patterns, heads, tables, make_buffers(patterns), make_trial(game), np.zeros(depth + 1, game.dtype),
        np.zeros((depth, game.mask_size), np.int8), np.zeros((depth, game.mask_size + 1), np.int64), np.zeros(game.mask_size),
        np.zeros(depth, np.int64), np.zeros(depth, np.int64), np.zeros(depth), np.zeros(depth), np.zeros((depth, 2)),
    )  # fmt: skip


@cache_by_rules
def make_choice_kernel(game: Game) -> Callable[..., Any]:
    """Return the kernel of a search, at most as deep as its scratch arrays."""
    legal, play_copy, write_codes = game.kernels.legal, make_lookahead(game).play_copy, check_board(game).write_codes

    @kernel
    def play_level(search, level, action, own):
        """Write the position after an action to the next level; return the weighted reward of the agent that searches."""
        play_copy(search.work[level], action, search.work, level + 1, search.trial)
        return weigh(search.weights, search.trial.reward, own)

    @kernel
    def weigh_leaf(search, level, mover, own):
        """Return the value of the tables for the position after a move of `mover`, from entries of the one before."""
        buffers = search.buffers
        write_codes(search.work[level + 1], mover, buffers.after)
        update_entries(search.patterns, buffers)
        return weigh_position(search.heads, search.tables, buffers.updated, MOVED if mover == own else OPPONENT)

    @kernel
    def sort_actions(search, level, mover, own):
        """Sort the legal actions of a level, the best ones for their agent by a look-ahead of one first."""
        order, values, sign = search.order[level], search.values, 1.0 if mover == own else -1.0
        for i in range(search.counts[level]):
            action = order[i]
            value = play_level(search, level, action, own)
            if not search.work[level + 1]["over"]:
                value += weigh_leaf(search, level, mover, own)
            value *= sign
            at = i
            while at > 0 and values[at - 1] < value:
                values[at], order[at] = values[at - 1], order[at - 1]
                at -= 1
            values[at], order[at] = value, action

    @kernel
    def choose(state, agent, mask, search, depth, word):
        """Return the action, the number of environment steps that the search took, and the generator word."""
        own, action, search.trial.steps[0] = agent, 0, 0
        work, buffers, bounds, best = search.work, search.buffers, search.bounds, search.best
        word = advance(word)
        work[0] = state
        work[0]["rng"] = mix(word)  # the draws to come are unknown to the agent
        search.rewards[0], bounds[0, 0], bounds[0, 1] = 0.0, -np.inf, np.inf
        level, ties, is_new = 0, 0, True
        while level >= 0:
            mover = np.int64(work[level]["to_move"])
            if is_new:
                is_new = False
                best[level] = -np.inf if mover == own else np.inf
                if level > 0:
                    legal(work[level], mover, search.masks[level])
                else:
                    for a in range(mask.shape[0]):
                        search.masks[0, a] = mask[a]
                search.cursors[level], search.counts[level] = 0, list_actions(search.masks[level], search.order[level])
                write_codes(work[level], mover, buffers.codes)
                find_entries(search.patterns, buffers)
                if level < depth - 1:
                    sort_actions(search, level, mover, own)
            if search.cursors[level] < search.counts[level]:
                value = search.rewards[level] + play_level(search, level, search.order[level, search.cursors[level]], own)
                search.cursors[level] += 1
                if not work[level + 1]["over"]:
                    if level + 1 < depth:
                        level += 1
                        search.rewards[level] = value
                        bounds[level, 0], bounds[level, 1] = bounds[level - 1, 0], bounds[level - 1, 1]
                        is_new = True
                        continue
                    value += weigh_leaf(search, level, mover, own)
            else:
                value = best[level]
                level -= 1
            if level == 0:
                is_best, best[0], ties, word = update_best(value, best[0], ties, word)
                if is_best:
                    action = search.order[0, search.cursors[0] - 1]
                bounds[0, 0] = best[0]
            elif level > 0:
                if work[level]["to_move"] == own:
                    best[level] = max(best[level], value)
                    bounds[level, 0] = max(bounds[level, 0], value)
                else:
                    best[level] = min(best[level], value)
                    bounds[level, 1] = min(bounds[level, 1], value)
                if bounds[level, 0] > bounds[level, 1]:  # not where they are equal: ties are broken at random
                    search.cursors[level] = search.counts[level]
        return action, search.trial.steps[0], word

    return choose


@cache_by_rules
def make_search_kernel(game: Game) -> Callable[..., Any]:
    """Return the policy kernel, see `engine.policies`; its scratch is a `Search`."""
    choose = make_choice_kernel(game)

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        action[0], steps, word = choose(state, agent, mask, scratch, scratch.masks.shape[0], word)
        memory["lookahead_steps"] += steps
        return word

    return act
