# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Loops of crowding games. A crowd is a vector of counts by class, and its index the number with these digits."""

from __future__ import annotations

from collections.abc import Callable

from momagames.kernels.jit import compile_entry_point, kernel

ROUNDING = 1e-11  # of sums of payoffs in another order
FULL = -1


@kernel
def fits(crowds, smaller, larger):
    """Return whether a crowd has no more agents of any class than another."""
    for kind in range(crowds.shape[1]):  # noqa: SIM110 - compiled without generators
        if crowds[smaller, kind] > crowds[larger, kind]:
            return False
    return True


@kernel
def dominates(points, i, j):
    """Return whether a row is at least another one in every objective."""
    for k in range(points.shape[1]):  # noqa: SIM110 - compiled without generators
        if points[i, k] < points[j, k] - ROUNDING:
            return False
    return True


@kernel
def insert_point(points, size, from_crowd, from_point):
    """Insert the row behind `size` rows that do not dominate each other; return how many there are then."""
    for i in range(size):
        if dominates(points, i, size):
            if i > 0:  # what dominates one candidate often dominates the next one
                swap_rows(points, from_crowd, from_point, i, i // 2)
            return size
    end = 0
    for i in range(size + 1):
        if i == size or not dominates(points, size, i):
            if i > end:
                copy_row(points, from_crowd, from_point, i, end)
            end += 1
    return end


@kernel
def copy_row(points, from_crowd, from_point, source, target):
    for k in range(points.shape[1]):
        points[target, k] = points[source, k]
    from_crowd[target], from_point[target] = from_crowd[source], from_point[source]


@kernel
def swap_rows(points, from_crowd, from_point, i, j):
    for k in range(points.shape[1]):
        points[i, k], points[j, k] = points[j, k], points[i, k]
    from_crowd[i], from_crowd[j] = from_crowd[j], from_crowd[i]
    from_point[i], from_point[j] = from_point[j], from_point[i]


def add_option(crowds, worth, is_open, last_sizes, last_points, sizes, points, from_crowd, from_point):
    """Extend the fronts of all crowds that earlier options have by what one more option takes.

    crowds       int64[V, C], by index
    worth        float64[V, K], of an option that a crowd takes
    is_open      bool[V], the crowds that the options may have together
    last_*       int32[V] and float64[V, F, K], the fronts of earlier options
    sizes, ...   the fronts with this option, and for each point the crowd and the point that it extends
    Returns      whether each front has less than F points
    """
    room = points.shape[1]
    for whole in range(crowds.shape[0]):
        size = 0
        if is_open[whole]:
            for inside in range(whole + 1):
                if fits(crowds, inside, whole):
                    rest = whole - inside
                    for i in range(last_sizes[rest]):
                        for k in range(points.shape[2]):
                            points[whole, size, k] = last_points[rest, i, k] + worth[inside, k]
                        from_crowd[whole, size], from_point[whole, size] = rest, i
                        size = insert_point(points[whole], size, from_crowd[whole], from_point[whole])
                        if size == room:
                            return False
        sizes[whole] = size
    return True


def search_stable(crowds, order, sums, stay, join, options, tolerance, chosen, found):
    """Enumerate the ways to divide all agents among alike options in which no agent gains by another option.

    crowds     int64[V, C], by index; the last one has all agents
    order      int64[V], crowds by number of agents; the options take them in this order
    sums       int64[V], number of agents of each
    stay       float64[V, C], what an agent of a class has in a crowd, infinite if there is none
    join       float64[V, C], what it would have if it joined the crowd, minus infinity if there is none left to join
    chosen     int64[M + 1], a buffer: places in `order`
    found      int64[n, M]: crowds, in ascending order of their number of agents
    Returns    the number of ways, FULL if there are more than n, and the number of crowds that were tried
    """
    everyone, last = crowds.shape[0] - 1, options - 1
    count, tried, depth = 0, 0, 0
    left = everyone  # index of the crowd that is not placed yet
    chosen[0] = 0
    while depth >= 0:
        place = chosen[depth]
        if place == order.shape[0] or (options - depth) * sums[order[place]] > sums[left]:
            depth -= 1
            if depth >= 0:
                left += order[chosen[depth]]
                chosen[depth] += 1
            continue
        crowd = order[place]
        tried += 1
        suits = fits(crowds, crowd, left) and (depth < last or crowd == left)
        for other in range(depth):
            suits = suits and is_pair_stable(stay, join, order[chosen[other]], crowd, tolerance)
        if not suits:
            chosen[depth] += 1
        elif depth == last:
            if count == found.shape[0]:
                return FULL, tried
            for option in range(options):
                found[count, option] = order[chosen[option]]
            count += 1
            chosen[depth] += 1
        else:
            left -= crowd
            chosen[depth + 1] = place
            depth += 1
    return count, tried


@kernel
def is_pair_stable(stay, join, first, second, tolerance):
    """Return whether no agent gains by going from one of two crowds to the other."""
    for kind in range(stay.shape[1]):
        if join[second, kind] > stay[first, kind] + tolerance or join[first, kind] > stay[second, kind] + tolerance:
            return False
    return True


extend_fronts: Callable[..., bool] = compile_entry_point(add_option, "symmetric.add_option")
list_stable: Callable[..., tuple[int, int]] = compile_entry_point(search_stable, "symmetric.search_stable")
