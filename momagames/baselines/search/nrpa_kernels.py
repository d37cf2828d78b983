# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of nested rollout policy adaptation: tabular policies, playouts by a policy, and adaptation.

A policy has a weight for each move code (see `move_codes`), 0 before its first adaptation. It plays a legal move with
probability exp(weight + bias) / sum of exp(weight + bias) over the legal moves; lines hold exp(bias), the prior odds, where
there is a bias (see `nrpa_bias`). The tables hold exp(weight), the odds, so a playout without a bias computes no
exponentials. They are hash tables with open addressing and a fixed size; codes beyond the capacity keep the weight 0.

Sums have a fixed order and the exponential is implemented here, so a search is identical on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.search.move_codes import get_move_codes
from momagames.baselines.search.nrpa_bias import Bias, count_none, ignore_bias, make_bias_kernels
from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead, make_trial, weigh
from momagames.engine.loops import make_distinct_legal
from momagames.engine.masks import list_actions
from momagames.errors import InvalidParameter, invalid_value
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, uniform

NUM_SLOTS = 1 << 17  # slots of a table
MAX_CODES = NUM_SLOTS * 3 // 4  # capacity of a table
MAX_BYTES = 2**29  # largest memory of the lines
EMPTY_KEY, ONE = np.uint64(0), np.uint64(1)
MAX_CHANGE = 60.0  # largest change of a weight in one adaptation
HALVINGS = 10
NUM_GRADES = 16  # see `SearchGuidance.selective_moves`
MIN_ODDS, MAX_ODDS = 1e-100, 1e100


class PolicyTables(NamedTuple):
    """Hash tables of P policies.

    keys     uint64[P, S], the codes; 0 in an empty slot
    odds     float64[P, S + 1], 1 in an empty slot; the last entry is shared by all codes beyond the capacity
    used     int32[P, S], the slots in use, in order of insertion
    counts   int64[P], the number of codes
    """

    keys: NDArray[np.uint64]
    odds: NDArray[np.float64]
    used: NDArray[np.int32]
    counts: NDArray[np.int64]


class Lines(NamedTuple):
    """Q lines of play, each with the codes of all legal moves.

    moves     int32[Q, T], the actions
    picks     int32[Q, T], the index of the chosen code among those of the ply
    starts    int32[Q, T + 1], the start of each ply's codes
    codes     uint64[Q, R]
    lengths   int64[Q]
    values    float64[Q, K], the returns
    priors    float64[Q, R], the prior odds of the codes; without a bias float64[Q, 0]
    """

    moves: NDArray[np.int32]
    picks: NDArray[np.int32]
    starts: NDArray[np.int32]
    codes: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    values: NDArray[np.float64]
    priors: NDArray[np.float64]


class Scratch(NamedTuple):
    """Scratch arrays: start position; those of steps, with the position of a playout; listed actions; cumulative odds.
    Adaptation uses the weight change of each slot, the slots of one ply, the changed slots, and their changes. `grades` and
    `grade_odds` are the grades of the listed actions in selective playouts, and the prior odds of each grade. `bias` is that of
    the policies, or empty. `root` and `rank` say which guide selective playouts have: it stays that of the root when a search
    goes on from a later position."""

    root: NDArray[Any]
    rank: NDArray[np.int64]
    start: NDArray[Any]
    trial: Trial
    actions: NDArray[np.int64]
    sums: NDArray[np.float64]
    delta: NDArray[np.float64]
    slots: NDArray[np.int32]
    changed_slots: NDArray[np.int32]
    changes: NDArray[np.float64]
    grades: NDArray[np.int64]
    grade_odds: NDArray[np.float64]
    bias: Bias | tuple[()]


def make_policies(count: int) -> PolicyTables:
    """Make that many uniform policies."""
    return PolicyTables(
        np.zeros((count, NUM_SLOTS), np.uint64),
        np.ones((count, NUM_SLOTS + 1)),
        np.empty((count, NUM_SLOTS), np.int32),
        np.zeros(count, np.int64),
    )


def check_lines(name: str, game: Game, count: int, biased: bool = False) -> None:
    """Raise InvalidParameter if that many lines exceed the memory limit."""
    needed = count * game.max_episode_steps * game.mask_size * (16 if biased else 8)
    if needed > MAX_BYTES:
        raise InvalidParameter(
            f"{name} needs {needed >> 20:,} MiB of memory for {game.id}; expected at most {MAX_BYTES >> 20:,} MiB"
        )


def make_lines(game: Game, count: int, biased: bool = False) -> Lines:
    """Allocate that many lines, with or without priors; the system allocates only the pages that are written."""
    plies, codes = game.max_episode_steps, game.max_episode_steps * game.mask_size
    return Lines(
        np.empty((count, plies), np.int32),
        np.empty((count, plies), np.int32),
        np.empty((count, plies + 1), np.int32),
        np.empty((count, codes), np.uint64),
        np.zeros(count, np.int64),
        np.zeros((count, len(game.objectives))),
        np.empty((count, codes if biased else 0)),
    )


def make_scratch(game: Game, start: NDArray[Any], bias: Bias | tuple[()] = (), prior: float = 0.0, guide: int = 0) -> Scratch:
    """Allocate scratch arrays.

    prior   weight of the grades of selective playouts, see `SearchGuidance.selective_moves`
    guide   rank of the guide of selective playouts, see `SearchGuidance.playout_guide`
    """
    codes = game.max_episode_steps * game.mask_size
    return Scratch(
        start.copy(),
        np.array([guide]),
        start.copy(),
        make_trial(game),
        np.zeros(game.mask_size + 1, np.int64),
        np.zeros(game.mask_size + 1),
        np.zeros(NUM_SLOTS + 1),
        np.zeros(game.mask_size + 1, np.int32),
        np.empty(codes + 1, np.int32),
        np.empty(codes + 1),
        np.zeros(game.mask_size + 1, np.int64),
        np.exp(prior * np.arange(NUM_GRADES)),
        bias,
    )


@kernel
def find_slot(keys, code):
    """Return the slot of a code, or the empty slot for it; keys uint64[S], S a power of two."""
    slot_mask = np.uint64(keys.shape[0] - 1)
    slot = code & slot_mask
    while keys[slot] != code and keys[slot] != EMPTY_KEY:
        slot = (slot + ONE) & slot_mask
    return np.int64(slot)


@kernel
def insert_code(policies, policy, code):
    """Insert a code if it is new and return its slot, or the last slot if the table is full."""
    slot = find_slot(policies.keys[policy], code)
    if policies.keys[policy, slot] == EMPTY_KEY:
        count = policies.counts[policy]
        if count >= MAX_CODES:
            return NUM_SLOTS
        policies.keys[policy, slot] = code
        policies.used[policy, count] = slot
        policies.counts[policy] = count + 1
    return slot


@kernel
def reset_policy(policies, policy):
    """Make a policy uniform."""
    for i in range(policies.counts[policy]):
        slot = policies.used[policy, i]
        policies.keys[policy, slot] = EMPTY_KEY
        policies.odds[policy, slot] = 1.0
    policies.counts[policy] = 0


@kernel
def copy_policy(policies, source, target):
    """Copy the source policy to the target, slot by slot."""
    reset_policy(policies, target)
    for i in range(policies.counts[source]):
        slot = policies.used[source, i]
        policies.used[target, i] = slot
        policies.keys[target, slot] = policies.keys[source, slot]
        policies.odds[target, slot] = policies.odds[source, slot]
    policies.counts[target] = policies.counts[source]


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
        if lines.priors.shape[1] > 0:
            lines.priors[target, i] = lines.priors[source, i]
    for k in range(lines.values.shape[1]):
        lines.values[target, k] = lines.values[source, k]


@kernel
def write_game(lines, batch, row, steps):
    """Write the first line as a row of a batch; see `playout_buffer`."""
    for ply in range(lines.lengths[0]):
        batch.moves[row, ply] = lines.moves[0, ply]
    for k in range(lines.values.shape[1]):
        batch.values[row, k] = lines.values[0, k]
    batch.lengths[row] = lines.lengths[0]
    batch.steps[row] = steps


@kernel
def score_line(lines, line, weights):
    """Return the weighted return of a line."""
    return weigh(weights, lines.values, line)


@kernel
def exponential(x):
    """Return exp(x), x clipped to -MAX_CHANGE..MAX_CHANGE: the series of x / 1024, squared ten times (relative error 1e-6)."""
    y = min(max(x, -MAX_CHANGE), MAX_CHANGE) * (1.0 / (1 << HALVINGS))
    power = 1.0 + y * (1.0 + y * (1 / 2) * (1.0 + y * (1 / 3) * (1.0 + y * (1 / 4))))
    for _ in range(HALVINGS):
        power *= power
    return power


@kernel
def adapt(policies, policy, lines, line, alpha, scratch):
    """Adapt a policy towards a line.

    At each ply the weight of the move grows by `alpha`, and the weight of each legal move drops by `alpha` times its
    probability.
    """
    delta, changed_slots, biased = scratch.delta, scratch.changed_slots, lines.priors.shape[1] > 0
    num_changed = 0
    for ply in range(lines.lengths[line]):
        first = np.int64(lines.starts[line, ply])
        count = np.int64(lines.starts[line, ply + 1]) - first
        total = 0.0
        for i in range(count):
            slot = insert_code(policies, policy, lines.codes[line, first + i])
            scratch.slots[i] = slot
            total += policies.odds[policy, slot] * (lines.priors[line, first + i] if biased else 1.0)
        for i in range(count):
            slot = scratch.slots[i]
            changed_slots[num_changed] = slot
            num_changed += np.int64(delta[slot] == 0.0)  # a slot listed twice, after a delta of 0, has no second change
            delta[slot] -= alpha * policies.odds[policy, slot] * (lines.priors[line, first + i] if biased else 1.0) / total
        delta[scratch.slots[lines.picks[line, ply]]] += alpha
    for i in range(num_changed):
        scratch.changes[i] = delta[changed_slots[i]]
        delta[changed_slots[i]] = 0.0
    for i in range(num_changed):
        scratch.changes[i] = exponential(scratch.changes[i])
    for i in range(num_changed):
        slot = changed_slots[i]
        if slot < NUM_SLOTS:
            policies.odds[policy, slot] = min(max(policies.odds[policy, slot] * scratch.changes[i], MIN_ODDS), MAX_ODDS)


@kernel
def _find_no_guide(state, rank):
    return 0


def check_selective(name: str, game: Game, selective: bool) -> None:
    """Raise InvalidParameter if playouts are selective and the game has no such playouts."""
    if selective and not (game.search.guidance and game.search.guidance.selective_moves):
        raise InvalidParameter(
            invalid_value(f"{name}: selective", True, f"False, because {game.id} declares no selective playouts")
        )


def make_move_kernels(game: Game, selective: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the kernels that find the guide of playouts from a position, and that list the moves of a playout."""
    guidance = game.search.guidance
    if selective:
        assert guidance is not None
        assert guidance.playout_guide is not None
        assert guidance.selective_moves is not None
        return guidance.playout_guide, guidance.selective_moves
    write_codes = get_move_codes(game)

    @kernel
    def list_all_moves(state, guide, actions, count, codes, grades):
        return write_codes(state, actions, count, codes)

    return _find_no_guide, list_all_moves


@kernel
def _write_grade_priors(state, agent, scratch, count, policy, priors, word):
    """Write the prior odds of the grades of the listed actions."""
    for i in range(count):
        priors[i] = scratch.grade_odds[scratch.grades[i]]


grade_priors = count_none, _write_grade_priors


def make_playout(game: Game, biased: bool = False, selective: bool = False) -> Callable[..., Any]:
    """Make the kernel that plays one game from the start by a policy, for this game's rules.

    biased       whether `Scratch.bias` and the priors of lines are used
    selective    whether playouts are selective; the priors of lines, if there are any, then come from the grades of moves
    """
    play, write_legal = make_lookahead(game).play, make_distinct_legal(game)
    find_guide, list_moves = make_move_kernels(game, selective)
    if selective:
        count_lookahead, write_priors = grade_priors if biased else ignore_bias
    else:
        count_lookahead, write_priors = make_bias_kernels(game, exponential) if biased else ignore_bias

    @kernel
    def play_game(policies, policy, lines, line, scratch, word, max_steps):
        """Play a line of at most `max_steps` steps; return whether the game ended, its steps, and the generator word."""
        guide = find_guide(scratch.root[0], scratch.rank[0])
        trial = scratch.trial
        trial.states[0] = scratch.start[0]
        state, trial.steps[0] = trial.states[0], 0
        for k in range(lines.values.shape[1]):
            lines.values[line, k] = 0.0
        ply, filled = 0, 0
        while state["over"] == 0 and trial.steps[0] < max_steps:
            agent = np.int64(state["to_move"])
            write_legal(state, trial.mask)
            count = list_actions(trial.mask, scratch.actions)
            trial.steps[0] += count_lookahead(scratch.bias, count)
            if trial.steps[0] >= max_steps:  # the rest does not suffice for the look-ahead and a move
                trial.steps[0] = max_steps
                break
            trial.states[1] = state
            count = list_moves(trial.states[1], guide, scratch.actions, count, lines.codes[line, filled:], scratch.grades)
            write_priors(state, agent, scratch, count, policy, lines.priors[line, filled:], word)
            total = 0.0
            for i in range(count):
                odds = policies.odds[policy, find_slot(policies.keys[policy], lines.codes[line, filled + i])]
                total += odds * lines.priors[line, filled + i] if biased else odds
                scratch.sums[i] = total
            word = advance(word)
            threshold = uniform(word) * total
            chosen = 0
            while chosen < count - 1 and scratch.sums[chosen] <= threshold:
                chosen += 1
            lines.moves[line, ply] = scratch.actions[chosen]
            lines.picks[line, ply] = chosen
            lines.starts[line, ply] = filled
            filled += count
            play(state, scratch.actions[chosen], trial)
            for k in range(lines.values.shape[1]):
                lines.values[line, k] += trial.reward[agent, k]
            ply += 1
        lines.starts[line, ply] = filled
        lines.lengths[line] = ply
        return state["over"] != 0, int(trial.steps[0]), word

    return play_game
