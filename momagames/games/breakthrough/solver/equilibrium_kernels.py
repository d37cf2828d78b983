# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loop for equilibria of MO-Breakthrough with the objectives win and captures; see equilibria.py.

With N = 2 * width + 1, the vector of an agent is its number v = won * N + captures, and an outcome is the number
(winner * N + captures of player_0) * N + captures of player_1. A set of vectors is one word, a set of outcomes WORDS words.

What an agent can attain against a fixed strategy of its opponent matters only through the vectors that it dominates. It is
stored as 16 * P + Q: P is 1 + the most captures of a win, or 0, and Q is 1 + the most captures of any game.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.games.breakthrough.solver.guarantee_kernels import BUFFER_FULL, make_step_copy
from momagames.games.breakthrough.solver.packed_words import find_word, make_insertion, read_position, write_position
from momagames.kernels.jit import compile_entry_point, kernel

WORDS = 4  # of a set of outcomes: 242 on boards of five columns
MAX_WIDTH = 5
MAX_CHAIN = 16  # minimal attainable sets: at most one for each P
ONE = np.uint64(1)
SHIFTS = (8, 16)  # of the attainable sets in a profile: outcome + (set of player_0 << 8) + (set of player_1 << 16)


@kernel
def vector_of(outcome, agent, size):
    """Return the number of an agent's vector in an outcome."""
    captures = outcome // size % size if agent == 0 else outcome % size
    return (size if outcome // (size * size) == agent else 0) + captures


@kernel
def dominates(v, u, size):
    """Return whether vector v dominates vector u."""
    return v != u and v // size >= u // size and v % size >= u % size


@kernel
def attain(v, size):
    """Return the attainable set that holds one vector."""
    return (17 if v >= size else 1) * (1 + v % size)


@kernel
def join(a, b):
    """Return the union of attainable sets."""
    return 16 * max(a >> 4, b >> 4) + max(a & 15, b & 15)


@kernel
def can_improve(a, u, size):
    """Return whether an attainable set holds a vector that dominates u."""
    captures = 1 + u % size
    return a >> 4 > captures if u >= size else a >> 4 >= captures or a & 15 > captures


@kernel
def is_within(a, b):
    """Return whether attainable set b dominates all vectors that a dominates."""
    return a >> 4 <= b >> 4 and a & 15 <= b & 15


@kernel
def is_profile_within(one, other):
    """Return whether two profiles have one outcome, and the attainable sets of the second contain those of the first."""
    return (
        one & 255 == other & 255
        and is_within((one >> 8) & 255, (other >> 8) & 255)
        and is_within((one >> 16) & 255, (other >> 16) & 255)
    )


insert_minimal = make_insertion(is_within)  # attainable sets
insert_profile = make_insertion(is_profile_within)


@kernel
def join_chains(first, first_count, second, second_count, out):
    """Write the minimal unions of one set of each chain; return their number."""
    count = 0
    for i in range(first_count):
        for j in range(second_count):
            count = insert_minimal(join(first[i], second[j]), out, count)
    return count


@cache_by_rules
def compile_equilibrium_loop(game: Game) -> Callable[..., int]:
    """Compile the loop over the positions of a layer.

    Returns the number of profiles, or BUFFER_FULL. `forced` uint64[N, 2]: for each agent the vectors u such that it can force
    one that dominates u. `paths` uint64[N, WORDS]: outcomes of Pareto-Nash equilibria, as far as this position and those
    after it decide. `counts` int64[N] and `profiles` int64[...]: subgame perfect equilibria.
    """
    legal, step_copy = game.kernels.legal, make_step_copy(game)

    def solve_layer(
        words, ply, mover, initial_counts, size, pair, mask, move, reward, next_words, next_forced, next_paths, next_starts,
        next_profiles, forced, paths, counts, profiles, children, chains, lengths, buffer,
    ):  # fmt: skip
        end = 0
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, pair[0])
            legal(pair[0], mover, mask)
            own, other, num_children = np.uint64(0), ~np.uint64(0), 0
            for k in range(WORDS):
                paths[n, k] = 0
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                chain = chains[num_children]
                if step_copy(pair[0], action, pair, move, reward):
                    captured = (
                        initial_counts[1] - np.int64(pair[1]["count"][1]),
                        initial_counts[0] - np.int64(pair[1]["count"][0]),
                    )
                    outcome = (mover * size + captured[0]) * size + captured[1]
                    paths[n, outcome >> 6] |= ONE << np.uint64(outcome & 63)
                    own_vector, other_vector = vector_of(outcome, mover, size), vector_of(outcome, 1 - mover, size)
                    own_bits = other_bits = np.uint64(0)
                    for u in range(2 * size):
                        own_bits |= np.uint64(dominates(own_vector, u, size)) << np.uint64(u)
                        other_bits |= np.uint64(dominates(other_vector, u, size)) << np.uint64(u)
                    children[num_children, 0], children[num_children, 1] = -1, outcome
                    chain[0], lengths[num_children, 0] = attain(own_vector, size), 1
                else:
                    index = find_word(read_position(pair[1]), next_words)
                    own_bits, other_bits = next_forced[index, mover], next_forced[index, 1 - mover]
                    for k in range(WORDS):
                        paths[n, k] |= next_paths[index, k]
                    children[num_children, 0], children[num_children, 1] = next_starts[index], next_starts[index + 1]
                    length = 0
                    for i in range(next_starts[index], next_starts[index + 1]):
                        length = insert_minimal((next_profiles[i] >> SHIFTS[mover]) & 255, chain, length)
                    lengths[num_children, 0] = length
                own, other = own | own_bits, other & other_bits
                num_children += 1
            forced[n, mover], forced[n, 1 - mover] = own, other
            for outcome in range(2 * size * size):
                if (own >> np.uint64(vector_of(outcome, mover, size))) & ONE:
                    paths[n, outcome >> 6] &= ~(ONE << np.uint64(outcome & 63))
            # unions over the children before and from each one on
            rows = children.shape[0]
            before, after, others = chains[rows:], chains[2 * rows + 1 :], chains[3 * rows + 2]
            before[0, 0], lengths[0, 1] = 0, 1
            after[num_children, 0], lengths[num_children, 2] = 0, 1
            for i in range(num_children):
                lengths[i + 1, 1] = join_chains(before[i], lengths[i, 1], chains[i], lengths[i, 0], before[i + 1])
                k = num_children - 1 - i
                lengths[k, 2] = join_chains(after[k + 1], lengths[k + 1, 2], chains[k], lengths[k, 0], after[k])
            count = 0
            for child in range(num_children):
                length = join_chains(before[child], lengths[child, 1], after[child + 1], lengths[child + 1, 2], others)
                start, stop = children[child, 0], children[child, 1]
                outcome = stop
                for i in range(0 if start < 0 else start, 1 if start < 0 else stop):
                    if start < 0:
                        own_set = attain(vector_of(outcome, mover, size), size)
                        other_set = attain(vector_of(outcome, 1 - mover, size), size)
                    else:
                        outcome = next_profiles[i] & 255
                        own_set = (next_profiles[i] >> SHIFTS[mover]) & 255
                        other_set = (next_profiles[i] >> SHIFTS[1 - mover]) & 255
                    for k in range(length):
                        total = join(own_set, others[k])
                        if can_improve(total, vector_of(outcome, mover, size), size):
                            continue
                        if count == buffer.shape[0]:
                            return BUFFER_FULL
                        profile = outcome + (total << SHIFTS[mover]) + (other_set << SHIFTS[1 - mover])
                        count = insert_profile(profile, buffer, count)
            if end + count > profiles.shape[0]:
                return BUFFER_FULL
            for i in range(count):
                profiles[end + i] = buffer[i]
            counts[n] = count
            end += count
        return end

    return compile_entry_point(solve_layer, f"{game.rules_key}.equilibria")
