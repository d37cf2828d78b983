# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Subgame perfect equilibria of games of two agents in turn, in pure strategies, derived from all positions.

A pair of strategies is subgame perfect if it is a Pareto-Nash equilibrium in every position, reached or not (Krieger, "On
Pareto equilibria in vector-valued extensive form games", Mathematical Methods of Operations Research 58, 2003). What an agent
attains against the strategy of the other matters only through the vectors that it dominates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.equilibria import compute_dominance
from momagames.baselines.position_layers import Layer, list_layers
from momagames.baselines.strategies import Floats
from momagames.contract import Game
from momagames.errors import TooLarge
from momagames.kernels.jit import compile_entry_point, kernel

MAX_VECTORS = 64  # different returns of an agent: bits of a word
MAX_PROFILES = 1 << 12  # of one position, before TooLarge
BUFFER_FULL, TOO_MANY = -1, -2
ONE = np.uint64(1)


def list_subgame_perfect(game: Game, start: NDArray[Any], max_states: int) -> Floats:
    """Return the returns of both agents in all subgame perfect equilibria, float64[n, 2 * K], rounded to DECIMALS.

    A profile of a position is an outcome together with two sets of vectors: those that each agent can improve on against the
    strategy of the other. A pair of strategies of the position consists of a pair after each move and of the move that is
    played. The agent to move attains what it attains after any of its moves, the other one what it attains after the move that
    is played. The pair is an equilibrium unless the agent to move can improve on its own return. Of profiles with the same
    outcome only those with minimal sets are stored: wherever another one leads to an equilibrium, they do.

    start     record[1]
    Raises    InvalidParameter for another game; TooLarge beyond max_states positions, or 64 different returns of an agent
    """
    return find_subgame_perfect(game, *list_layers(game, start, max_states))


def find_subgame_perfect(game: Game, layers: list[Layer], outcomes: Floats) -> Floats:
    """Return `list_subgame_perfect` of the layers and outcomes of `list_layers`."""
    vectors, improvable = [], []
    for own in np.hsplit(outcomes, 2):
        distinct, numbers = np.unique(own, axis=0, return_inverse=True)
        if len(distinct) > MAX_VECTORS:
            raise TooLarge(f"{game.id}: {len(distinct)} different returns of an agent: expected at most {MAX_VECTORS}")
        powers = ONE << np.arange(len(distinct), dtype=np.uint64)
        sets = (powers * compute_dominance(distinct)).sum(axis=1, dtype=np.uint64)
        vectors.append(powers[numbers.ravel()])
        improvable.append(sets[numbers.ravel()])
    own_returns, ends = np.stack(vectors), np.stack(improvable)
    profiles, starts = np.zeros((0, 3), np.uint64), np.zeros(1, np.int64)
    scratch = np.zeros((3, MAX_PROFILES), np.uint64), np.zeros((MAX_PROFILES, 3), np.uint64)
    for layer in reversed(layers):
        capacity = 8 * len(layer.movers) + MAX_PROFILES
        bounds = np.append(layer.firsts, len(layer.children))
        while True:
            found, counts = np.zeros((capacity, 3), np.uint64), np.zeros(len(layer.movers), np.int64)
            end = _solve(layer.movers, bounds, layer.children, own_returns, ends, profiles, starts, *scratch, found, counts)
            if end == TOO_MANY:
                raise TooLarge(f"{game.id}: a position has more than {MAX_PROFILES:,} profiles; choose a smaller start")
            if end != BUFFER_FULL:
                break
            capacity *= 2
        profiles, starts = found[:end].copy(), np.concatenate([[0], np.cumsum(counts)])
    return outcomes[np.unique(profiles[:, 0]).astype(np.int64)]


@kernel
def _insert_set(value, sets, count):
    """Insert a set into a list of sets without a subset of another one; return the new length."""
    for i in range(count):
        if sets[i] & ~value == 0:
            return count
    size = 0
    for i in range(count):
        if value & ~sets[i] != 0:
            sets[size] = sets[i]
            size += 1
    sets[size] = value
    return size + 1


@kernel
def _insert_profile(outcome, first, second, found, count):
    """Insert a profile as `_insert_set`; found uint64[MAX_PROFILES, 3], or return TOO_MANY."""
    for i in range(count):
        if found[i, 0] == outcome and found[i, 1] & ~first == 0 and found[i, 2] & ~second == 0:
            return count
    size = 0
    for i in range(count):
        if found[i, 0] != outcome or first & ~found[i, 1] != 0 or second & ~found[i, 2] != 0:
            for k in range(3):
                found[size, k] = found[i, k]
            size += 1
    if size == found.shape[0]:
        return TOO_MANY
    found[size, 0], found[size, 1], found[size, 2] = outcome, first, second
    return size + 1


def _solve_layer(movers, bounds, children, own_returns, ends, profiles, starts, sets, chosen, found, counts):
    """Write the profiles of the positions of a layer; return their number, BUFFER_FULL or TOO_MANY.

    own_returns    uint64[2, outcomes], the bit of the vector of each agent
    ends           uint64[2, outcomes], the vectors that the return of each agent dominates
    profiles, starts    of the next layer: outcome, set of agent 0, set of agent 1
    """
    end = 0
    for n in range(movers.shape[0]):
        mover, count = movers[n], 0
        for move in range(bounds[n], bounds[n + 1]):
            others, other_count = sets[0], 1  # minimal unions of one set after each of the other moves
            others[0] = 0
            for other in range(bounds[n], bounds[n + 1]):
                if other == move:
                    continue
                after, after_count = sets[1], 0
                child = children[other]
                if child < 0:
                    after[0], after_count = ends[mover, -1 - child], 1
                else:
                    for i in range(starts[child], starts[child + 1]):
                        after_count = _insert_set(profiles[i, 1 + mover], after, after_count)
                unions, union_count = sets[2], 0
                for i in range(other_count):
                    for j in range(after_count):
                        if union_count == unions.shape[0]:
                            return TOO_MANY
                        union_count = _insert_set(others[i] | after[j], unions, union_count)
                for i in range(union_count):
                    others[i] = unions[i]
                other_count = union_count
            child = children[move]
            for i in range(0 if child < 0 else starts[child], 1 if child < 0 else starts[child + 1]):
                if child < 0:
                    outcome = np.int64(-1 - child)
                    own, opposite = ends[mover, outcome], ends[1 - mover, outcome]
                else:
                    outcome = np.int64(profiles[i, 0])
                    own, opposite = profiles[i, 1 + mover], profiles[i, 2 - mover]
                for k in range(other_count):
                    total = own | others[k]
                    if total & own_returns[mover, outcome] != 0:
                        continue
                    first, second = (total, opposite) if mover == 0 else (opposite, total)
                    count = _insert_profile(np.uint64(outcome), first, second, chosen, count)
                    if count == TOO_MANY:
                        return TOO_MANY
        if end + count > found.shape[0]:
            return BUFFER_FULL
        for i in range(count):
            for k in range(3):
                found[end + i, k] = chosen[i, k]
        counts[n] = count
        end += count
    return end


_solve = compile_entry_point(_solve_layer, "equilibria.subgame_perfect")
