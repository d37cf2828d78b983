# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Convex fronts of two objectives as chains of corners, float64[n, 2].

A chain leads from the best point in the first objective to the best in the second: the first objective decreases, the second
increases, and every turn is to the left.
"""

from momagames.kernels.jit import kernel

TOLERANCE = 1e-14  # smallest deviation of a corner from a line; about 50 times the rounding error of a sum of two


@kernel
def cross(a, b, c):
    """Return twice the signed area of a triangle; positive for a left turn."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


@kernel
def is_corner(a, b, c):
    """Return whether b lies outside the line from a to c by more than the tolerance."""
    return cross(a, b, c) > TOLERANCE * (abs(c[0] - a[0]) + abs(c[1] - a[1]))


@kernel
def push_point(point, chain, count):
    """Append a point whose first objective is no better than that of the last corner; return the new number of corners."""
    if count and point[1] <= chain[count - 1, 1] + TOLERANCE:
        return count
    if count and point[0] >= chain[count - 1, 0] - TOLERANCE:
        count -= 1
    while count >= 2 and not is_corner(chain[count - 2], chain[count - 1], point):
        count -= 1
    chain[count, 0], chain[count, 1] = point[0], point[1]
    return count + 1


@kernel
def merge_hull(front, count, other, size, scratch):
    """Replace a front by the convex hull of the front and another chain; return its number of corners."""
    i, j, length = 0, 0, 0
    while i < count or j < size:
        if j == size or (i < count and precedes(front[i], other[j])):
            length = push_point(front[i], scratch, length)
            i += 1
        else:
            length = push_point(other[j], scratch, length)
            j += 1
    for i in range(length):
        front[i, 0], front[i, 1] = scratch[i, 0], scratch[i, 1]
    return length


@kernel
def precedes(u, v):
    """Return whether u precedes v on a chain."""
    return u[0] > v[0] or (u[0] == v[0] and u[1] > v[1])


@kernel
def add_minkowski(front, count, other, size, scratch):
    """Replace a front by its Minkowski sum with another chain, edges in order of their slope; return its number of corners."""
    i, j, length = 0, 0, 1
    scratch[0, 0], scratch[0, 1] = front[0, 0] + other[0, 0], front[0, 1] + other[0, 1]
    while i + 1 < count or j + 1 < size:
        turn = 0.0
        if i + 1 < count and j + 1 < size:
            one, two = front[i + 1, 0] - front[i, 0], front[i + 1, 1] - front[i, 1]
            turn = one * (other[j + 1, 1] - other[j, 1]) - two * (other[j + 1, 0] - other[j, 0])
        if j + 1 == size or (i + 1 < count and turn > 0):
            i += 1
        else:
            j += 1
        scratch[length, 0], scratch[length, 1] = front[i, 0] + other[j, 0], front[i, 1] + other[j, 1]
        length += 1
    count = 0
    for i in range(length):
        count = push_point(scratch[i], front, count)
    return count
