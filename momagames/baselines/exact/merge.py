"""The front of a position from the fronts of its children."""

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.exact.table import NONE, UNKNOWN
from momagames.kernels.jit import kernel, quiet


def merger(words: int) -> Callable[..., Any]:
    """The kernel `merge` for vectors of so many words (see lanes.py)."""

    @quiet
    def put_head(pool, at, gain, head, guards):
        """The next candidate of a child; returns whether it is within bounds."""
        inside = True
        for w in range(words):
            head[w] = pool[at + w] + gain[w]
            inside &= head[w] & guards[w] == NONE
        return inside

    @kernel
    def before(u, v):
        """Whether u comes before v in descending order."""
        for w in range(words):
            if u[w] != v[w]:
                return u[w] > v[w]
        return False

    @quiet
    def dominated(vector, pool, first, end, guards):
        """Whether a point of the pool is at least `vector` everywhere; looks at the latest first."""
        while end > first:
            end -= words
            above = True
            for w in range(words):
                above &= ((pool[end + w] | guards[w]) - vector[w]) & guards[w] == guards[w]
            if above:
                return True
        return False

    @kernel
    def merge(pool, first, key_words, children, gains, live, spans, heads, guards):
        """Write the front of the children's points plus rewards to the pool; uses the list of children up.

        Candidates come in descending order, so that none dominates an earlier one.
        Returns the end of the points, or UNKNOWN if one is out of bounds
        """
        inside = True
        for i in range(live):
            spans[i, 0] = children[i] + key_words + 1
            spans[i, 1] = spans[i, 0] + words * np.int64(pool[children[i] + key_words])
            inside &= put_head(pool, spans[i, 0], gains[i], heads[i], guards)
        end = first
        while live > 0:
            best = 0
            for i in range(1, live):
                if before(heads[i], heads[best]):
                    best = i
            if not dominated(heads[best], pool, first, end, guards):
                for w in range(words):
                    pool[end + w] = heads[best, w]
                end += words
            spans[best, 0] += words
            if spans[best, 0] < spans[best, 1]:
                inside &= put_head(pool, spans[best, 0], gains[best], heads[best], guards)
            else:
                live -= 1
                spans[best, 0], spans[best, 1] = spans[live, 0], spans[live, 1]
                for w in range(words):
                    gains[best, w], heads[best, w] = gains[live, w], heads[live, w]
        return end if inside else UNKNOWN

    return merge
