"""The compiled search: depth first over positions, each solved once, with an explicit stack of frames.

Nothing is allocated here: the search returns when an array is full, and goes on where it was when it is called again.

A frame is a position with its actions, how many of them have been tried, and its children so far: the record in the pool
and the reward of each. The front of a position is merged when all its children are solved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.baselines.exact.merge import merger
from momagames.baselines.exact.table import NONE, ONE, UNKNOWN, enter, find
from momagames.contract import Game
from momagames.engine.loops import keep_all
from momagames.kernels.jit import driver, kernel, quiet

# Why `Search.run` returned
SOLVED, PAUSED, POOL_FULL, TABLE_FULL, FRACTION, OUT_OF_BOUNDS, TOO_DEEP = range(7)
# What `book` remembers between calls: the frame, the end of the pool's records, positions solved, the size that the pool
# needs, and the record of the position solved last
BOOK = range(5)
DEPTH, TOP, STATES, NEED, LAST = BOOK
NO_MOVE = -1


@dataclass(frozen=True)
class Search:
    """Compiled loops over the arrays of `solve.Solver`.

    start(...)     begin with the position in the first frame
    run(...)       solve at most `budget` positions
    rehash(...)    enter all records of the pool into an empty table
    walk(...)      actions from the start that attain a point of its front; returns their number
    """

    start: Callable[..., Any]
    run: Callable[..., Any]
    rehash: Callable[..., Any]
    walk: Callable[..., Any]


_searches: dict[tuple[str, int], Search] = {}


def search(game: Game, words: int) -> Search:
    """The search for a game's rules, with vectors of so many words."""
    if (game.rules_key, words) not in _searches:
        _searches[game.rules_key, words] = _make(game, words)
    return _searches[game.rules_key, words]


def _make(game: Game, words: int) -> Search:
    legal, step, make_key = game.kernels.legal, game.kernels.step, game.search.state_key
    thin = game.search.prune_equivalent_actions or keep_all
    merge = merger(words)

    @kernel
    def meet(states, depth, mask, moves, cursor, counts):
        """Begin with the position of a frame. Its actions are the first ones of a list that ends with NO_MOVE."""
        legal(states[depth], 0, mask)
        thin(states[depth], mask)
        found = moves[depth]
        count = np.uint64(0)
        for action in range(mask.shape[0]):
            found[count] = action
            count += np.uint64(mask[action] != 0)
        found[count] = NO_MOVE
        cursor[depth] = 0
        counts[depth] = 0

    @quiet
    def pack(reward, scale, lanes, gain):
        """A reward as a vector of lanes. A negative one borrows from the lane above; in the sum that is undone."""
        status = SOLVED
        for w in range(words):
            gain[w] = NONE
        for k in range(lanes.shape[0]):
            units = np.float64(reward[0, k]) * scale
            value = np.int64(units)
            if np.float64(value) != units:
                status = FRACTION
            elif value < lanes[k, 0] or value > lanes[k, 1]:
                status = OUT_OF_BOUNDS
            gain[lanes[k, 2]] += np.uint64(value) << np.uint64(lanes[k, 3])
        return status

    @kernel
    def visit(depth, action, scale, lanes, states, images, move, reward, gain, keys, pool, table):
        """Play an action of a frame: the position after it goes into the next frame, the reward into `gain`.

        Returns the record of the position (0 if the game is over), or UNKNOWN, or minus the status of a bad reward
        """
        for i in range(images.shape[1]):
            images[depth + 1, i] = images[depth, i]
        move[0, 0] = action
        step(states[depth + 1], move, reward)
        status = pack(reward, scale, lanes, gain)
        if status != SOLVED:
            return -status
        if states[depth + 1]["over"]:
            return 0
        make_key(states[depth + 1], keys[depth + 1])
        return find(keys[depth + 1], pool, table)

    @kernel
    def same(u, v):
        equal = True
        for w in range(words):
            equal &= u[w] == v[w]
        return equal

    @kernel
    def add_child(at, children, gains, count):
        """A child, whose reward is `gains[count]`, joins the list unless its like is there; returns the new length.

        So several actions with one effect are merged once.
        """
        for i in range(count):
            if children[i] == at and same(gains[i], gains[count]):
                return count
        children[count] = at
        return count + 1

    @kernel
    def room(pool, key_words, children, count):
        """Words that the points of all children take."""
        points = 0
        for i in range(count):
            points += np.int64(pool[children[i] + key_words])
        return points * words

    def start(states, mask, moves, cursor, counts, keys, zero, book, pool):
        key_words = keys.shape[1]
        for w in range(key_words):
            pool[w] = NONE
        pool[key_words] = ONE
        for w in range(words):
            pool[key_words + 1 + w] = zero[w]
        book[DEPTH], book[TOP], book[STATES] = 0, key_words + 1 + words, 0
        make_key(states[0], keys[0])
        meet(states, 0, mask, moves, cursor, counts)

    def run(
        budget, scale, lanes, guards, states, images, mask, moves, cursor, counts, children, gains, keys,
        move, reward, spans, heads, book, pool, table,
    ):  # fmt: skip
        key_words = keys.shape[1]
        depth, top, solved, at = book[DEPTH], book[TOP], book[STATES], book[LAST]
        target = solved + budget
        status = PAUSED
        while status == PAUSED and solved < target:
            action = moves[depth, cursor[depth]]
            count = counts[depth]
            if action != NO_MOVE:  # a child
                if depth + 1 == moves.shape[0]:
                    status = TOO_DEEP
                    continue
                known = visit(depth, action, scale, lanes, states, images, move, reward, gains[depth, count], keys, pool, table)
                if known < UNKNOWN:
                    status = -known
                    continue
                cursor[depth] += 1
                if known == UNKNOWN:
                    depth += 1
                    meet(states, depth, mask, moves, cursor, counts)
                else:
                    counts[depth] = add_child(known, children[depth], gains[depth], count)
                continue
            if count == 0:  # nothing is legal, nothing more is paid: as a finished game
                children[depth, 0], count = 0, 1
                for w in range(words):
                    gains[depth, 0, w] = NONE
            first = top + key_words + 1
            need = first + room(pool, key_words, children[depth], count)
            if need > pool.shape[0]:
                book[NEED] = need
                status = POOL_FULL
                continue
            if 3 * (solved + 1) > 2 * table.shape[0]:
                status = TABLE_FULL
                continue
            end = merge(pool, first, key_words, children[depth], gains[depth], count, spans, heads, guards)
            if end == UNKNOWN:
                status = OUT_OF_BOUNDS
                continue
            for w in range(key_words):
                pool[top + w] = keys[depth, w]
            pool[top + key_words] = np.uint64((end - first) // words)
            enter(top, keys[depth], table)
            at, top = top, end
            solved += 1
            if depth == 0:
                status = SOLVED
            else:
                depth -= 1
                counts[depth] = add_child(at, children[depth], gains[depth], counts[depth])
        book[DEPTH], book[TOP], book[STATES], book[LAST] = depth, top, solved, at
        return status

    def rehash(key_words, top, pool, table):
        at = key_words + 1 + words
        while at < top:
            enter(at, pool[at : at + key_words], table)
            at += key_words + 1 + np.int64(pool[at + key_words]) * words

    @quiet
    def holds(pool, at, key_words, target, gain):
        """Whether a record has the point `target` - `gain`."""
        first = at + key_words + 1
        for i in range(first, first + np.int64(pool[at + key_words]) * words, words):
            equal = True
            for w in range(words):
                equal &= pool[i + w] + gain[w] == target[w]
            if equal:
                return True
        return False

    @quiet
    def subtract(target, gain):
        for w in range(words):
            target[w] -= gain[w]

    def walk(target, scale, lanes, states, images, mask, moves, cursor, counts, keys, gains, move, reward, pool, table, path):
        depth = 0
        meet(states, depth, mask, moves, cursor, counts)
        while moves[depth, cursor[depth]] != NO_MOVE:
            action = moves[depth, cursor[depth]]
            cursor[depth] += 1
            at = visit(depth, action, scale, lanes, states, images, move, reward, gains[depth, 0], keys, pool, table)
            if holds(pool, at, keys.shape[1], target, gains[depth, 0]):
                subtract(target, gains[depth, 0])
                path[depth] = action
                depth += 1
                meet(states, depth, mask, moves, cursor, counts)
        return depth

    name = f"{game.rules_key}.exact.{words}"
    return Search(
        start=driver(start, f"{name}.start"),
        run=driver(run, f"{name}.run"),
        rehash=driver(rehash, f"{name}.rehash"),
        walk=driver(walk, f"{name}.walk"),
    )
