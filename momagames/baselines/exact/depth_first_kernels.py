# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled depth-first search over positions, each solved once, with an explicit stack of frames.

The search allocates no memory. It returns when an array is full and resumes at the next call.

A frame is a position with its actions, a cursor into them, and its children so far: the record in the pool and the reward
of each. The front of a position is merged when all its children are solved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.baselines.exact.merge_kernels import make_merge
from momagames.baselines.exact.transposition_table import ONE, UNKNOWN, ZERO, find_record, insert_record
from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead
from momagames.engine.loops import make_distinct_legal
from momagames.kernels.jit import compile_entry_point, kernel, wrapping_kernel

# Return values of `Search.run`
SOLVED, PAUSED, POOL_FULL, TABLE_FULL, FRACTION, OUT_OF_BOUNDS, TOO_DEEP = range(7)
# Registers of the search between calls: the current frame, the end of the pool's records, the number of solved positions, the
# size that the pool needs, and the record of the position solved last
REGISTERS = range(5)
DEPTH, TOP, STATES, NEED, LAST = REGISTERS
NO_MOVE = -1


@dataclass(frozen=True)
class Search:
    """Compiled loops over the arrays of `depth_first.Solver`.

    start(...)     initialize the search with the position in the first frame
    run(...)       solve at most `budget` positions
    rehash(...)    insert all records of the pool into an empty table
    trace(...)     write the actions from the start that attain a point of its front; returns their number
    """

    start: Callable[..., Any]
    run: Callable[..., Any]
    rehash: Callable[..., Any]
    trace: Callable[..., Any]


_searches: dict[tuple[str, int], Search] = {}


def compile_search(game: Game, words: int) -> Search:
    """Return the compiled search for a game's rules and vectors of that many words."""
    if (game.rules_key, words) not in _searches:
        _searches[game.rules_key, words] = _compile(game, words)
    return _searches[game.rules_key, words]


def _compile(game: Game, words: int) -> Search:
    assert game.search.exact is not None  # see unsupported_reasons
    play, make_key = make_lookahead(game).play, game.search.exact.write_key
    write_legal = make_distinct_legal(game)
    merge = make_merge(words)

    @kernel
    def open_frame(states, depth, mask, moves, cursor, counts):
        """Open the frame of a position: list its actions, ended by NO_MOVE, and reset the cursor and the children."""
        write_legal(states[depth], mask)
        actions = moves[depth]
        count = np.uint64(0)
        for action in range(mask.shape[0]):
            actions[count] = action
            count += np.uint64(mask[action] != 0)
        actions[count] = NO_MOVE
        cursor[depth] = 0
        counts[depth] = 0

    @wrapping_kernel
    def pack_reward(reward, scale, layout, gain):
        """Pack a reward into lanes. A negative value borrows from the lane above; adding the vector to a sum reverts that."""
        status = SOLVED
        for w in range(words):
            gain[w] = ZERO
        for k in range(layout.shape[0]):
            units = np.float64(reward[0, k]) * scale
            value = np.int64(units)
            if np.float64(value) != units:
                status = FRACTION
            elif value < layout[k, 0] or value > layout[k, 1]:
                status = OUT_OF_BOUNDS
            gain[layout[k, 2]] += np.uint64(value) << np.uint64(layout[k, 3])
        return status

    @kernel
    def take_action(depth, action, scale, layout, states, images, trial, gain, keys, pool, table):
        """Take an action of a frame: write the next position to the next frame and the reward to `gain`.

        Returns the record of the position (0 if the game is over), or UNKNOWN, or minus the status of an invalid reward
        """
        for i in range(images.shape[1]):
            images[depth + 1, i] = images[depth, i]
        play(states[depth + 1], action, trial)
        status = pack_reward(trial.reward, scale, layout, gain)
        if status != SOLVED:
            return -status
        if states[depth + 1]["over"]:
            return 0
        make_key(states[depth + 1], keys[depth + 1])
        return find_record(keys[depth + 1], pool, table)

    @kernel
    def equal_vectors(u, v):
        equal = True
        for w in range(words):
            equal &= u[w] == v[w]
        return equal

    @kernel
    def add_child(record, children, gains, count):
        """Append a child with reward `gains[count]` unless an equal child is listed; return the new length.

        Actions with the same effect are thus merged once.
        """
        for i in range(count):
            if children[i] == record and equal_vectors(gains[i], gains[count]):
                return count
        children[count] = record
        return count + 1

    @kernel
    def count_point_words(pool, key_words, children, count):
        """Return the number of words of the points of all children."""
        points = 0
        for i in range(count):
            points += np.int64(pool[children[i] + key_words])
        return points * words

    def start(states, trial, moves, cursor, counts, keys, zero, registers, pool):
        key_words = keys.shape[1]
        for w in range(key_words):
            pool[w] = ZERO
        pool[key_words] = ONE
        for w in range(words):
            pool[key_words + 1 + w] = zero[w]
        registers[DEPTH], registers[TOP], registers[STATES] = 0, key_words + 1 + words, 0
        make_key(states[0], keys[0])
        open_frame(states, 0, trial.mask, moves, cursor, counts)

    def run(
        budget, scale, layout, guards, states, images, trial, moves, cursor, counts, children, gains, keys, spans, candidates,
        registers, pool, table,
    ):  # fmt: skip
        key_words = keys.shape[1]
        depth, top, solved, record = registers[DEPTH], registers[TOP], registers[STATES], registers[LAST]
        target = solved + budget
        status = PAUSED
        while status == PAUSED and solved < target:
            action = moves[depth, cursor[depth]]
            count = counts[depth]
            if action != NO_MOVE:  # a child
                if depth + 1 == moves.shape[0]:
                    status = TOO_DEEP
                    continue
                known = take_action(depth, action, scale, layout, states, images, trial, gains[depth, count], keys, pool, table)
                if known < UNKNOWN:
                    status = -known
                    continue
                cursor[depth] += 1
                if known == UNKNOWN:
                    depth += 1
                    open_frame(states, depth, trial.mask, moves, cursor, counts)
                else:
                    counts[depth] = add_child(known, children[depth], gains[depth], count)
                continue
            if count == 0:  # no legal action: no further reward, as in a finished game
                children[depth, 0], count = 0, 1
                for w in range(words):
                    gains[depth, 0, w] = ZERO
            first = top + key_words + 1
            need = first + count_point_words(pool, key_words, children[depth], count)
            if need > pool.shape[0]:
                registers[NEED] = need
                status = POOL_FULL
                continue
            if 3 * (solved + 1) > 2 * table.shape[0]:
                status = TABLE_FULL
                continue
            end = merge(pool, first, key_words, children[depth], gains[depth], count, spans, candidates, guards)
            if end == UNKNOWN:
                status = OUT_OF_BOUNDS
                continue
            for w in range(key_words):
                pool[top + w] = keys[depth, w]
            pool[top + key_words] = np.uint64((end - first) // words)
            insert_record(top, keys[depth], table)
            record, top = top, end
            solved += 1
            if depth == 0:
                status = SOLVED
            else:
                depth -= 1
                counts[depth] = add_child(record, children[depth], gains[depth], counts[depth])
        registers[DEPTH], registers[TOP], registers[STATES], registers[LAST] = depth, top, solved, record
        return status

    def rehash(key_words, top, pool, table):
        record = key_words + 1 + words
        while record < top:
            insert_record(record, pool[record : record + key_words], table)
            record += key_words + 1 + np.int64(pool[record + key_words]) * words

    @wrapping_kernel
    def has_point(pool, record, key_words, target, gain):
        """Return whether a record has the point `target` - `gain`."""
        first = record + key_words + 1
        for i in range(first, first + np.int64(pool[record + key_words]) * words, words):
            equal = True
            for w in range(words):
                equal &= pool[i + w] + gain[w] == target[w]
            if equal:
                return True
        return False

    @wrapping_kernel
    def subtract(target, gain):
        for w in range(words):
            target[w] -= gain[w]

    def trace(target, scale, layout, states, images, trial, moves, cursor, counts, keys, gains, pool, table, path):
        depth = 0
        open_frame(states, depth, trial.mask, moves, cursor, counts)
        while moves[depth, cursor[depth]] != NO_MOVE:
            action = moves[depth, cursor[depth]]
            cursor[depth] += 1
            record = take_action(depth, action, scale, layout, states, images, trial, gains[depth, 0], keys, pool, table)
            if has_point(pool, record, keys.shape[1], target, gains[depth, 0]):
                subtract(target, gains[depth, 0])
                path[depth] = action
                depth += 1
                open_frame(states, depth, trial.mask, moves, cursor, counts)
        return depth

    name = f"{game.rules_key}.exact.{words}"
    return Search(
        start=compile_entry_point(start, f"{name}.start"),
        run=compile_entry_point(run, f"{name}.run"),
        rehash=compile_entry_point(rehash, f"{name}.rehash"),
        trace=compile_entry_point(trace, f"{name}.trace"),
    )
