# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of `label_setting`: the distinct children of a layer of positions, and the labels that reach them.

A label is an action sequence that reaches a position: the return so far (float64[K]), the parent label, and the last action.
A label is pruned if a known value weakly dominates the label's return plus the upper bound of its position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.search.beam import allow_pass, hash_row
from momagames.contract import Game
from momagames.engine.lookahead import make_heuristic, make_lookahead
from momagames.engine.loops import cache_by_rules, make_distinct_legal
from momagames.kernels.jit import compile_entry_point, kernel


@kernel
def find_slot(words, row, table):
    """Return the slot of a row of uint64[n, W] in a hash table of rows, or the free slot for it (which holds -1)."""
    top = np.uint64(table.shape[0] - 1)
    slot = hash_row(words, row) & top
    while table[slot] >= 0:
        known = np.int64(table[slot])
        equal = True
        for w in range(words.shape[1]):
            if words[known, w] != words[row, w]:
                equal = False
                break
        if equal:
            return slot
        slot = (slot + np.uint64(1)) & top
    return slot


@kernel
def weakly_dominates(vectors, at, vector):
    """Return whether label `at` weakly dominates the vector."""
    for k in range(vector.shape[0]):  # noqa: SIM110 - compiled without generators
        if vectors[at, k] < vector[k]:
            return False
    return True


@kernel
def is_weakly_dominated(vectors, at, vector):
    """Return whether the vector weakly dominates label `at`."""
    for k in range(vector.shape[0]):  # noqa: SIM110
        if vectors[at, k] > vector[k]:
            return False
    return True


@kernel
def is_pruned(vector, bound, known):
    """Return whether a row of float64[n, K] weakly dominates vector + bound; that row moves forward, to be tested sooner."""
    for i in range(known.shape[0]):
        dominated = True
        for k in range(vector.shape[0]):
            if known[i, k] < vector[k] + bound[k]:
                dominated = False
                break
        if dominated:
            for k in range(vector.shape[0]):
                known[i, k], known[i // 2, k] = known[i // 2, k], known[i, k]
            return True
    return False


def _insert_rows(words, num_rows, table):
    """Insert the first rows into an empty table."""
    for row in range(num_rows):
        table[find_slot(words, row, table)] = row


def _merge_labels(
    first, last, order, starts, edges, gains, spans, vectors, bounds, known, new_vectors, parents, actions, ends, top, trial
):  # fmt: skip
    """Write the labels of the positions first..last-1 that are neither dominated nor pruned.

    Returns the first position that is not done because the arrays are full, and the number of labels.

    order, starts    the edges sorted by child: those of child c are order[starts[c] : starts[c + 1]]
    edges            int32[E, 3]: parent, action, child; gains float64[E, K]
    spans            int64[P, 2]: the range of each parent's labels in `vectors`
    bounds, known    upper bound of each child, float64[C, K]; known values, float64[n, K]
    new_vectors, parents, actions, ends    the new labels, and the end of those of each child
    """
    for child in range(first, last):
        begin = top
        needed = 0
        for e in range(starts[child], starts[child + 1]):
            parent = edges[order[e], 0]
            needed += spans[parent, 1] - spans[parent, 0]
        if top + needed > new_vectors.shape[0]:
            return child, top
        for e in range(starts[child], starts[child + 1]):
            edge = order[e]
            parent = edges[edge, 0]
            for label in range(spans[parent, 0], spans[parent, 1]):
                for k in range(trial.shape[0]):
                    trial[k] = vectors[label, k] + gains[edge, k]
                dominated = False
                for other in range(begin, top):
                    if weakly_dominates(new_vectors, other, trial):
                        dominated = True
                        break
                if dominated or is_pruned(trial, bounds[child], known):
                    continue
                end = begin
                for other in range(begin, top):
                    if not is_weakly_dominated(new_vectors, other, trial):
                        for k in range(trial.shape[0]):
                            new_vectors[end, k] = new_vectors[other, k]
                        parents[end] = parents[other]
                        actions[end] = actions[other]
                        end += 1
                for k in range(trial.shape[0]):
                    new_vectors[end, k] = trial[k]
                parents[end] = label
                actions[end] = edges[edge, 1]
                top = end + 1
        ends[child] = top
    return last, top


insert_rows: Callable[..., Any] = compile_entry_point(_insert_rows, "label_setting.insert_rows")
merge_labels: Callable[..., Any] = compile_entry_point(_merge_labels, "label_setting.merge")


@cache_by_rules
def make_expander(game: Game) -> Callable[..., Any]:
    """Compile the expansion of a layer for this game's rules."""
    play_copy, write_legal = make_lookahead(game).play_copy, make_distinct_legal(game)
    write_optimistic = make_heuristic(game.search.optimistic)

    @kernel
    def any_unpruned(label, end, vectors, gain, bound, known, total):
        """Return whether one of the labels label..end-1, extended by a gain, is not pruned; total, float64[K], is a buffer."""
        while label < end:
            for k in range(gain.shape[0]):
                total[k] = vectors[label, k] + gain[k]
            if not is_pruned(total, bound, known):
                return True
            label += 1
        return False

    def expand(
        positions, first, last, spans, vectors, known, children, words, bounds, num_children, table, edges, gains, num_edges,
        trial, total,
    ):  # fmt: skip
        """Append the unpruned children of the positions first..last-1 to the `num_children` present ones.

        Returns the new numbers of children and of edges. The arrays must have room for all.
        """
        mask, reward = trial.mask, trial.reward
        for i in range(first, last):
            agent = np.int64(positions[i]["to_move"])
            write_legal(positions[i], mask)
            allow_pass(mask)
            for a in range(mask.shape[0]):
                if mask[a] == 0:
                    continue
                play_copy(positions[i], a, children, num_children, trial)
                for k in range(gains.shape[1]):
                    gains[num_edges, k] = reward[agent, k]
                if known.shape[0]:
                    bounds[num_children] = 0.0
                    if not children[num_children]["over"]:
                        write_optimistic(children[num_children], trial, bounds[num_children])
                    if not any_unpruned(
                        spans[i, 0], spans[i, 1], vectors, gains[num_edges], bounds[num_children], known, total
                    ):
                        continue
                slot = find_slot(words, num_children, table)
                if table[slot] < 0:
                    table[slot] = num_children
                    num_children += 1
                edges[num_edges, 0] = i
                edges[num_edges, 1] = a
                edges[num_edges, 2] = table[slot]
                num_edges += 1
        return num_children, num_edges

    return compile_entry_point(expand, f"{game.rules_key}.layer")
