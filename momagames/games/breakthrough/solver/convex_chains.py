# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Convex fronts of two objectives as chains of corners, float64[n, 2], from the best in the first objective to the best in
the second. Along a chain the first objective falls, the second rises, and every turn is to the left."""

from momagames.kernels.jit import kernel

SMALL = 1e-14  # a corner that stands out by less is none; some 50 times what rounding does to a sum of two


@kernel
def cross(a, b, c):
    """Twice the area of three corners; above 0: a turn to the left."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


@kernel
def stands_out(a, b, c):
    """Whether the corner b lies outside of the line from a to c, by more than rounding."""
    return cross(a, b, c) > SMALL * (abs(c[0] - a[0]) + abs(c[1] - a[1]))


@kernel
def push(point, chain, count):
    """A point whose first objective is no better than that of the last corner; returns the new number of corners."""
    if count and point[1] <= chain[count - 1, 1] + SMALL:
        return count
    if count and point[0] >= chain[count - 1, 0] - SMALL:
        count -= 1
    while count >= 2 and not stands_out(chain[count - 2], chain[count - 1], point):
        count -= 1
    chain[count, 0], chain[count, 1] = point[0], point[1]
    return count + 1


@kernel
def hull(front, count, new, first, size, other):
    """The corners of a front and a chain together replace the front. Uses `other` up."""
    i, j, kept = 0, 0, 0
    while i < count or j < size:
        if j == size or (i < count and comes_first(front[i], new[first + j])):
            kept = push(front[i], other, kept)
            i += 1
        else:
            kept = push(new[first + j], other, kept)
            j += 1
    for i in range(kept):
        front[i, 0], front[i, 1] = other[i, 0], other[i, 1]
    return kept


@kernel
def comes_first(u, v):
    return u[0] > v[0] or (u[0] == v[0] and u[1] > v[1])


@kernel
def add(front, count, new, size, other):
    """The corners of all sums of a point of a front and one of a chain replace the front: edges in order of their slope."""
    i, j, kept = 0, 0, 1
    other[0, 0], other[0, 1] = front[0, 0] + new[0, 0], front[0, 1] + new[0, 1]
    while i + 1 < count or j + 1 < size:
        turn = 0.0
        if i + 1 < count and j + 1 < size:
            one, two = front[i + 1, 0] - front[i, 0], front[i + 1, 1] - front[i, 1]
            turn = one * (new[j + 1, 1] - new[j, 1]) - two * (new[j + 1, 0] - new[j, 0])
        if j + 1 == size or (i + 1 < count and turn > 0):
            i += 1
        else:
            j += 1
        other[kept, 0], other[kept, 1] = front[i, 0] + new[j, 0], front[i, 1] + new[j, 1]
        kept += 1
    count = 0
    for i in range(kept):
        count = push(other[i], front, count)
    return count
