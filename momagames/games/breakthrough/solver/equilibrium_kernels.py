# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loop for equilibria of MO-Breakthrough with the objectives win and captures; see equilibria.py.

With N = 2 * width + 1, the vector of an agent is its number v = won * N + captures, and an outcome is the number
(winner * N + captures of player_0) * N + captures of player_1. A set of vectors is one word, a set of outcomes WORDS words.

What an agent can attain against a fixed strategy of its opponent matters only through the vectors that it dominates. It is
stored as 16 * P + Q: P is 1 + the most captures of a win, or 0, and Q is 1 + the most captures of any game.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead
from momagames.engine.loops import cache_by_rules
from momagames.games.breakthrough.solver.guarantee_kernels import BUFFER_FULL
from momagames.games.breakthrough.solver.packed_words import find_word, make_insertion, read_position, write_position
from momagames.kernels.jit import compile_entry_point, kernel

WORDS = 4  # of a set of outcomes: 242 on boards of five columns
MAX_WIDTH = 5
SCRATCH_FULL = -2
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


class Table(NamedTuple):
    """Results for the positions of a level with one agent to move.

    words       uint64[N], ascending
    forced      uint64[N, 2], for each agent the vectors u such that it can force one that dominates u
    paths       uint64[N, WORDS], outcomes of Pareto-Nash equilibria, as far as this position and those after it decide
    starts      int64[N], the first profile of each position
    stops       int64[N], the end of its profiles
    profiles    int64[...], subgame perfect equilibria
    """

    words: NDArray[np.uint64]
    forced: NDArray[np.uint64]
    paths: NDArray[np.uint64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    profiles: NDArray[np.int64]

    @property
    def bytes(self) -> int:
        return sum(part.nbytes for part in self)


def make_table(words: NDArray[np.uint64]) -> Table:
    """Allocate the results of positions."""
    count = len(words)
    sets = np.zeros((count, 2), np.uint64), np.zeros((count, WORDS), np.uint64)
    return Table(words, *sets, np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(0, np.int64))


class Scratch(NamedTuple):
    """Scratch arrays for the moves of a position and its profiles, see `compile_equilibrium_loop`."""

    children: NDArray[np.int64]
    chains: NDArray[np.int64]
    lengths: NDArray[np.int64]
    buffer: NDArray[np.int64]


def make_scratch(size: int, profiles: int) -> Scratch:
    """Allocate scratch arrays for positions of at most that many profiles."""
    rows = 6 * size
    return Scratch(
        np.zeros((rows, 3), np.int64),
        np.zeros((4 * rows, MAX_CHAIN), np.int64),
        np.zeros((rows + 1, 3), np.int64),
        np.zeros(profiles, np.int64),
    )


@cache_by_rules
def compile_equilibrium_loop(game: Game) -> Callable[..., int]:
    """Compile the loop over positions of a level with the same agent to move and the same advancement.

    rows      int64[n], indices of the positions in the table of the agent to move, `own`
    after     table of the other agent in the same level, for moves without a capture
    captured  the same in the level with one piece less
    end       the profiles that `own` has already

    Returns the number of profiles that it has then; BUFFER_FULL if they have no room there, SCRATCH_FULL if those of one
    position have none.
    """
    legal, play_copy = game.kernels.legal, make_lookahead(game).play_copy

    def solve_positions(rows, ply, mover, initial_counts, size, trial, own, after, captured, end, scratch):
        pair, mask = trial.states, trial.mask
        children, chains, lengths, buffer = scratch.children, scratch.chains, scratch.lengths, scratch.buffer
        for n in rows:
            write_position(own.words[n], ply, mover, pair[0])
            pieces = pair[0]["count"][0] + pair[0]["count"][1]
            legal(pair[0], mover, mask)
            own_forced, other_forced, num_children = np.uint64(0), ~np.uint64(0), 0
            for k in range(WORDS):
                own.paths[n, k] = 0
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                chain = chains[num_children]
                if play_copy(pair[0], action, pair, 1, trial):
                    lost = initial_counts[0] - np.int64(pair[1]["count"][0]), initial_counts[1] - np.int64(pair[1]["count"][1])
                    outcome = (mover * size + lost[1]) * size + lost[0]
                    own.paths[n, outcome >> 6] |= ONE << np.uint64(outcome & 63)
                    own_vector, other_vector = vector_of(outcome, mover, size), vector_of(outcome, 1 - mover, size)
                    own_bits = other_bits = np.uint64(0)
                    for u in range(2 * size):
                        own_bits |= np.uint64(dominates(own_vector, u, size)) << np.uint64(u)
                        other_bits |= np.uint64(dominates(other_vector, u, size)) << np.uint64(u)
                    children[num_children, 0], children[num_children, 1] = -1, outcome
                    chain[0], lengths[num_children, 0] = attain(own_vector, size), 1
                else:
                    is_capture = pair[1]["count"][0] + pair[1]["count"][1] < pieces
                    word = read_position(pair[1])
                    table = captured if is_capture else after
                    index = find_word(word, table.words)
                    own_bits, other_bits = table.forced[index, mover], table.forced[index, 1 - mover]
                    for k in range(WORDS):
                        own.paths[n, k] |= table.paths[index, k]
                    children[num_children, 0], children[num_children, 1] = table.starts[index], table.stops[index]
                    children[num_children, 2] = is_capture
                    length = 0
                    for i in range(table.starts[index], table.stops[index]):
                        length = insert_minimal((table.profiles[i] >> SHIFTS[mover]) & 255, chain, length)
                    lengths[num_children, 0] = length
                own_forced, other_forced = own_forced | own_bits, other_forced & other_bits
                num_children += 1
            own.forced[n, mover], own.forced[n, 1 - mover] = own_forced, other_forced
            for outcome in range(2 * size * size):
                if (own_forced >> np.uint64(vector_of(outcome, mover, size))) & ONE:
                    own.paths[n, outcome >> 6] &= ~(ONE << np.uint64(outcome & 63))
            # unions over the children before and from each one on
            capacity = children.shape[0]
            before, behind, others = chains[capacity:], chains[2 * capacity + 1 :], chains[3 * capacity + 2]
            before[0, 0], lengths[0, 1] = 0, 1
            behind[num_children, 0], lengths[num_children, 2] = 0, 1
            for i in range(num_children):
                lengths[i + 1, 1] = join_chains(before[i], lengths[i, 1], chains[i], lengths[i, 0], before[i + 1])
                k = num_children - 1 - i
                lengths[k, 2] = join_chains(behind[k + 1], lengths[k + 1, 2], chains[k], lengths[k, 0], behind[k])
            count = 0
            for child in range(num_children):
                length = join_chains(before[child], lengths[child, 1], behind[child + 1], lengths[child + 1, 2], others)
                start, stop = children[child, 0], children[child, 1]
                profiles = captured.profiles if children[child, 2] else after.profiles
                outcome = stop
                for i in range(0 if start < 0 else start, 1 if start < 0 else stop):
                    if start < 0:
                        own_set = attain(vector_of(outcome, mover, size), size)
                        other_set = attain(vector_of(outcome, 1 - mover, size), size)
                    else:
                        outcome = profiles[i] & 255
                        own_set = (profiles[i] >> SHIFTS[mover]) & 255
                        other_set = (profiles[i] >> SHIFTS[1 - mover]) & 255
                    for k in range(length):
                        total = join(own_set, others[k])
                        if can_improve(total, vector_of(outcome, mover, size), size):
                            continue
                        if count == buffer.shape[0]:
                            return SCRATCH_FULL
                        profile = outcome + (total << SHIFTS[mover]) + (other_set << SHIFTS[1 - mover])
                        count = insert_profile(profile, buffer, count)
            if end + count > own.profiles.shape[0]:
                return BUFFER_FULL
            for i in range(count):
                own.profiles[end + i] = buffer[i]
            own.starts[n], own.stops[n] = end, end + count
            end += count
        return end

    return compile_entry_point(solve_positions, f"{game.rules_key}.equilibria")
