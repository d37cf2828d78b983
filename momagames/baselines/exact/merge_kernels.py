# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The front of a position from the fronts of its children."""

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.exact.transposition_table import NONE, ONE, UNKNOWN
from momagames.kernels.jit import kernel, quiet


def merger(words: int) -> Callable[..., Any]:
    """The kernel `merge` for vectors of so many words (see lanes.py). Unsigned positions: none is looked at from the end."""
    size = np.uint64(words)

    @quiet
    def put_head(pool, at, gain, head, guards):
        """The next candidate of a child; returns whether it is within bounds."""
        inside = True
        for w in range(size):
            head[w] = pool[at + w] + gain[w]
            inside &= head[w] & guards[w] == NONE
        return inside

    @kernel
    def before(u, v):
        """Whether u comes before v in descending order."""
        for w in range(size):
            if u[w] != v[w]:
                return u[w] > v[w]
        return False

    @kernel
    def foremost(heads, live):
        """The first of the vectors in descending order."""
        best, highest = NONE, heads[NONE, NONE]
        for i in range(ONE, live):
            ahead = heads[i, NONE] > highest
            if words > 1 and heads[i, NONE] == highest:
                ahead = before(heads[i], heads[best])
            best, highest = (i, heads[i, NONE]) if ahead else (best, highest)
        return best

    @quiet
    def dominated(vector, pool, first, end, guards):
        """Whether a point of the pool is at least `vector` everywhere; looks at the latest first."""
        while end > first:
            end -= size
            above = True
            for w in range(size):
                above &= ((pool[end + w] | guards[w]) - vector[w]) & guards[w] == guards[w]
            if above:
                return True
        return False

    @kernel
    def merge(pool, first, key_words, children, gains, count, spans, heads, guards):
        """Write the front of the children's points plus rewards to the pool; uses the list of children up.

        Candidates come in descending order, so that none dominates an earlier one.
        Returns the end of the points, or UNKNOWN if one is out of bounds
        """
        first, live = np.uint64(first), np.uint64(count)
        inside = True
        for i in range(live):
            length = np.uint64(children[i] + key_words)
            spans[i, 0] = length + ONE
            spans[i, 1] = length + ONE + size * pool[length]
            inside &= put_head(pool, length + ONE, gains[i], heads[i], guards)
        end = first
        while live > NONE:
            best = foremost(heads, live)
            if not dominated(heads[best], pool, first, end, guards):
                for w in range(size):
                    pool[end + w] = heads[best, w]
                end += size
            spans[best, 0] += size
            if spans[best, 0] < spans[best, 1]:
                inside &= put_head(pool, spans[best, 0], gains[best], heads[best], guards)
            else:
                live -= ONE
                spans[best, 0], spans[best, 1] = spans[live, 0], spans[live, 1]
                for w in range(size):
                    gains[best, w], heads[best, w] = gains[live, w], heads[live, w]
        return np.int64(end) if inside else UNKNOWN

    return merge
