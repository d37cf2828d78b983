# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What searches by nested rollout policy adaptation share: policies as tables, playouts that follow them, adaptation.

A policy gives each code of a move (see `move_codes`) a weight, 0 if it was never adapted, and takes a legal move with
probability exp(weight) / sum of exp(weight) over the legal moves. The tables hold exp(weight), the odds, so that a playout
needs no exponentials. They are hash tables with open addressing, of a fixed size; a code that finds no room any more keeps
the weight 0.

Sums run in a fixed order, and the exponential is our own, so that a search is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.search.move_codes import move_codes
from momagames.contract import Game
from momagames.engine.loops import keep_all
from momagames.engine.playouts import buffers
from momagames.errors import InvalidParameter
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, mix

SLOTS = 1 << 17  # of a table
ROOM = SLOTS * 3 // 4  # codes that it takes
MAX_BYTES = 2**29  # of the lines
NOTHING, ONE, UNIT_SHIFT = np.uint64(0), np.uint64(1), np.uint64(11)
UNIT = 2.0**-53
STEEP = 60.0  # greatest change of a weight at once
HALVINGS = 10
LEAST, MOST = 1e-100, 1e100  # odds


class Tables(NamedTuple):
    """P policies.

    keys     uint64[P, S], the codes; 0 where there is none
    odds     float64[P, S + 1], 1 where there is no code; the last belongs to all codes that find no room
    used     int32[P, S], the places of the codes, in order of arrival
    counts   int64[P], how many
    """

    keys: NDArray[np.uint64]
    odds: NDArray[np.float64]
    used: NDArray[np.int32]
    counts: NDArray[np.int64]


class Lines(NamedTuple):
    """Q lines of play, each with the codes of all moves that were legal.

    moves     int32[Q, T], the actions
    picks     int32[Q, T], which of the codes at that ply was chosen
    starts    int32[Q, T + 1], where the codes of a ply start
    codes     uint64[Q, R]
    lengths   int64[Q]
    values    float64[Q, K], the returns
    """

    moves: NDArray[np.int32]
    picks: NDArray[np.int32]
    starts: NDArray[np.int32]
    codes: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    values: NDArray[np.float64]


class Scratch(NamedTuple):
    """Working space: start, game and spare position; mask; actions and reward of a step; listed actions; sums of odds; for
    adaptation the change of each place of a table, the places of one ply, those that change, and by how much."""

    start: NDArray[Any]
    state: NDArray[Any]
    spare: NDArray[Any]
    mask: NDArray[np.int8]
    action: NDArray[np.int64]
    reward: NDArray[np.float32]
    actions: NDArray[np.int64]
    sums: NDArray[np.float64]
    delta: NDArray[np.float64]
    places: NDArray[np.int32]
    touched: NDArray[np.int32]
    growth: NDArray[np.float64]


def tables(count: int) -> Tables:
    """That many policies without a preference."""
    return Tables(
        np.zeros((count, SLOTS), np.uint64),
        np.ones((count, SLOTS + 1)),
        np.empty((count, SLOTS), np.int32),
        np.zeros(count, np.int64),
    )


def check_lines(name: str, game: Game, count: int) -> None:
    """Raise InvalidParameter if that many lines do not fit into memory."""
    needed = count * game.max_episode_steps * game.mask_size * 8
    if needed > MAX_BYTES:
        raise InvalidParameter(f"{name} needs {needed >> 20:,} MiB for {game.id}; allowed: {MAX_BYTES >> 20:,} MiB")


def lines(game: Game, count: int) -> Lines:
    """Room for that many lines; the system hands out memory only for what is written."""
    plies, codes = game.max_episode_steps, game.max_episode_steps * game.mask_size
    return Lines(
        np.empty((count, plies), np.int32),
        np.empty((count, plies), np.int32),
        np.empty((count, plies + 1), np.int32),
        np.empty((count, codes), np.uint64),
        np.zeros(count, np.int64),
        np.zeros((count, len(game.objectives))),
    )


def scratch(game: Game, start: NDArray[Any]) -> Scratch:
    codes = game.max_episode_steps * game.mask_size
    return Scratch(
        start.copy(),
        np.zeros(1, game.dtype),
        np.zeros(1, game.dtype),
        np.zeros(game.mask_size, np.int8),
        *buffers(game),
        np.zeros(game.mask_size + 1, np.int64),
        np.zeros(game.mask_size + 1),
        np.zeros(SLOTS + 1),
        np.zeros(game.mask_size + 1, np.int32),
        np.empty(codes + 1, np.int32),
        np.empty(codes + 1),
    )


@kernel
def find(keys, code):
    """Where a code stands, or the empty place where it would stand; keys uint64[S], S a power of two."""
    top = np.uint64(keys.shape[0] - 1)
    slot = code & top
    while keys[slot] != code and keys[slot] != NOTHING:
        slot = (slot + ONE) & top
    return np.int64(slot)


@kernel
def settle(tables, policy, code):
    """Where a code stands, after it was put there; the last place if the table is full."""
    slot = find(tables.keys[policy], code)
    if tables.keys[policy, slot] == NOTHING:
        count = tables.counts[policy]
        if count >= ROOM:
            return SLOTS
        tables.keys[policy, slot] = code
        tables.used[policy, count] = slot
        tables.counts[policy] = count + 1
    return slot


@kernel
def forget(tables, policy):
    """A policy without a preference."""
    for i in range(tables.counts[policy]):
        slot = tables.used[policy, i]
        tables.keys[policy, slot] = NOTHING
        tables.odds[policy, slot] = 1.0
    tables.counts[policy] = 0


@kernel
def copy_policy(tables, source, target):
    """The target becomes equal to the source, place by place."""
    forget(tables, target)
    for i in range(tables.counts[source]):
        slot = tables.used[source, i]
        tables.used[target, i] = slot
        tables.keys[target, slot] = tables.keys[source, slot]
        tables.odds[target, slot] = tables.odds[source, slot]
    tables.counts[target] = tables.counts[source]


@kernel
def copy_line(lines, source, target):
    length = lines.lengths[source]
    lines.lengths[target] = length
    for ply in range(length):
        lines.moves[target, ply] = lines.moves[source, ply]
        lines.picks[target, ply] = lines.picks[source, ply]
        lines.starts[target, ply] = lines.starts[source, ply]
    lines.starts[target, length] = lines.starts[source, length]
    for i in range(lines.starts[source, length]):
        lines.codes[target, i] = lines.codes[source, i]
    for k in range(lines.values.shape[1]):
        lines.values[target, k] = lines.values[source, k]


@kernel
def write(lines, line, batch, row, found):
    """A line as a row of a batch; see `harvest`."""
    for ply in range(lines.lengths[line]):
        batch.moves[row, ply] = lines.moves[line, ply]
    for k in range(lines.values.shape[1]):
        batch.values[row, k] = lines.values[line, k]
    batch.lengths[row] = lines.lengths[line]
    batch.found[row] = found


@kernel
def list_actions(mask, actions):
    """The legal actions in order; action 0, a pass, if there is none. Returns how many; actions int64[M + 1]."""
    count = 0
    for a in range(mask.shape[0]):
        actions[count] = a
        count += np.int64(mask[a])
    if count == 0:
        actions[0] = 0
        count = 1
    return count


@kernel
def unit(word):
    """A number in [0, 1) from a generator state."""
    return np.float64(mix(word) >> UNIT_SHIFT) * UNIT


@kernel
def exponential(x):
    """e to the power of x, clipped to -STEEP..STEEP: the series of x / 1024, squared ten times (relative error 1e-6)."""
    y = min(max(x, -STEEP), STEEP) * (1.0 / (1 << HALVINGS))
    power = 1.0 + y * (1.0 + y * (1 / 2) * (1.0 + y * (1 / 3) * (1.0 + y * (1 / 4))))
    for _ in range(HALVINGS):
        power *= power
    return power


@kernel
def adapt(tables, policy, lines, line, alpha, scratch):
    """Make a policy likelier to play a line: its moves gain `alpha`, all legal moves lose it by their probabilities."""
    delta, touched = scratch.delta, scratch.touched
    changed = 0
    for ply in range(lines.lengths[line]):
        first = np.int64(lines.starts[line, ply])
        count = np.int64(lines.starts[line, ply + 1]) - first
        total = 0.0
        for i in range(count):
            slot = settle(tables, policy, lines.codes[line, first + i])
            scratch.places[i] = slot
            total += tables.odds[policy, slot]
        for i in range(count):
            slot = scratch.places[i]
            touched[changed] = slot
            changed += np.int64(delta[slot] == 0.0)  # one that came back to 0 is listed twice: the second time nothing is left
            delta[slot] -= alpha * tables.odds[policy, slot] / total
        delta[scratch.places[lines.picks[line, ply]]] += alpha
    for i in range(changed):
        scratch.growth[i] = delta[touched[i]]
        delta[touched[i]] = 0.0
    for i in range(changed):
        scratch.growth[i] = exponential(scratch.growth[i])
    for i in range(changed):
        slot = touched[i]
        if slot < SLOTS:
            tables.odds[policy, slot] = min(max(tables.odds[policy, slot] * scratch.growth[i], LEAST), MOST)


def playout(game: Game) -> Callable[..., Any]:
    """A kernel that plays one game from the start by a policy, for this game's rules."""
    legal, step, thin = game.kernels.legal, game.kernels.step, game.search.prune_equivalent_actions or keep_all
    codes = move_codes(game)

    @kernel
    def play(tables, policy, lines, line, scratch, word, left):
        """Fills a line, in at most `left` steps. Returns whether the game came to its end, its steps, and the word."""
        scratch.state[0] = scratch.start[0]
        state = scratch.state[0]
        for k in range(lines.values.shape[1]):
            lines.values[line, k] = 0.0
        ply, filled = 0, 0
        while state["over"] == 0 and ply < left:
            agent = np.int64(state["to_move"])
            legal(state, agent, scratch.mask)
            thin(state, scratch.mask)
            count = list_actions(scratch.mask, scratch.actions)
            scratch.spare[0] = scratch.state[0]
            count = codes(scratch.spare[0], scratch.actions, count, lines.codes[line, filled:])
            total = 0.0
            for i in range(count):
                total += tables.odds[policy, find(tables.keys[policy], lines.codes[line, filled + i])]
                scratch.sums[i] = total
            word = advance(word)
            mark = unit(word) * total
            chosen = 0
            while chosen < count - 1 and scratch.sums[chosen] <= mark:
                chosen += 1
            lines.moves[line, ply] = scratch.actions[chosen]
            lines.picks[line, ply] = chosen
            lines.starts[line, ply] = filled
            filled += count
            scratch.action[0, 0] = scratch.actions[chosen]
            step(state, scratch.action, scratch.reward)
            for k in range(lines.values.shape[1]):
                lines.values[line, k] += scratch.reward[agent, k]
            ply += 1
        lines.starts[line, ply] = filled
        lines.lengths[line] = ply
        return state["over"] != 0, ply, word

    return play
