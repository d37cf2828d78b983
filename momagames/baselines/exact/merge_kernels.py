# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Merge of the fronts of the children into the front of a position."""

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.exact.transposition_table import ONE, UNKNOWN, ZERO
from momagames.kernels.jit import kernel, wrapping_kernel


def make_merge(words: int) -> Callable[..., Any]:
    """Make the kernel `merge` for vectors of that many words (see packed_vectors.py). Offsets are unsigned, which saves the
    handling of negative indices."""
    size = np.uint64(words)

    @wrapping_kernel
    def load_candidate(pool, at, gain, candidate, guards):
        """Load the next candidate of a child; return whether it is within bounds."""
        in_bounds = True
        for w in range(size):
            candidate[w] = pool[at + w] + gain[w]
            in_bounds &= candidate[w] & guards[w] == ZERO
        return in_bounds

    @kernel
    def precedes(u, v):
        """Return whether u precedes v in descending order."""
        for w in range(size):
            if u[w] != v[w]:
                return u[w] > v[w]
        return False

    @kernel
    def find_largest(candidates, num_open):
        """Return the index of the lexicographically largest vector."""
        largest, largest_word = ZERO, candidates[ZERO, ZERO]
        for i in range(ONE, num_open):
            is_larger = candidates[i, ZERO] > largest_word
            if words > 1 and candidates[i, ZERO] == largest_word:
                is_larger = precedes(candidates[i], candidates[largest])
            largest, largest_word = (i, candidates[i, ZERO]) if is_larger else (largest, largest_word)
        return largest

    @wrapping_kernel
    def is_dominated(vector, pool, first, end, guards):
        """Return whether a point of the pool weakly dominates `vector`; the latest points are compared first."""
        while end > first:
            end -= size
            dominates = True
            for w in range(size):
                dominates &= ((pool[end + w] | guards[w]) - vector[w]) & guards[w] == guards[w]
            if dominates:
                return True
        return False

    @kernel
    def merge(pool, first, key_words, children, gains, count, spans, candidates, guards):
        """Write the front of the children's points plus rewards to the pool; overwrites the arrays of the children.

        Candidates are visited in descending order, so none dominates an earlier one.
        Returns the end of the points, or UNKNOWN if one is out of bounds
        """
        first, num_open = np.uint64(first), np.uint64(count)
        in_bounds = True
        for i in range(num_open):
            length = np.uint64(children[i] + key_words)
            spans[i, 0] = length + ONE
            spans[i, 1] = length + ONE + size * pool[length]
            in_bounds &= load_candidate(pool, length + ONE, gains[i], candidates[i], guards)
        end = first
        while num_open > ZERO:
            largest = find_largest(candidates, num_open)
            if not is_dominated(candidates[largest], pool, first, end, guards):
                for w in range(size):
                    pool[end + w] = candidates[largest, w]
                end += size
            spans[largest, 0] += size
            if spans[largest, 0] < spans[largest, 1]:
                in_bounds &= load_candidate(pool, spans[largest, 0], gains[largest], candidates[largest], guards)
            else:
                num_open -= ONE
                spans[largest, 0], spans[largest, 1] = spans[num_open, 0], spans[num_open, 1]
                for w in range(size):
                    gains[largest, w], candidates[largest, w] = gains[num_open, w], candidates[num_open, w]
        return np.int64(end) if in_bounds else UNKNOWN

    return merge
