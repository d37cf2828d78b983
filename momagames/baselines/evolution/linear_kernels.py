"""The kernels of linear policies: `linear_policy` says how they choose, `linear_sight` what they see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.kernels.jit import driver, kernel
from momagames.kernels.rng import advance, lot, mix


@kernel
def look_at(pieces, room, out):
    """Write what there is in an observation, see `Sight`, to out float64[count]."""
    _, a, b, c, d, e = room
    at = 0
    for p in range(pieces.shape[0]):
        kind, start, rows, columns = pieces[p, 0], pieces[p, 1], pieces[p, 2], pieces[p, 3]
        if kind == 0:
            measure(a, start, rows, columns, 1, out, at)
        elif kind == 1:
            measure(b, start, rows, columns, 1, out, at)
        elif kind == 2:
            measure(c, start, rows, columns, 1, out, at)
        elif kind == 3:
            measure(d, start, rows, columns, 1.0, out, at)
        else:
            measure(e, start, rows, columns, 1.0, out, at)
        at += 3 if rows else 1


@kernel
def measure(cells, start, rows, columns, one, out, at):
    """A number, or the three of a board. one: 1 to count in whole numbers, which is several times as fast; else 1.0"""
    if rows == 0:
        out[at] = cells[start]
        return
    total, down, right = 0 * one, 0 * one, 0 * one
    for row in range(rows):
        line = 0 * one
        for column in range(columns):
            value = cells[start + row * columns + column] * one
            line += value
            right += value * (2 * column - columns + 1)
        total += line
        down += line * (2 * row - rows + 1)
    size = rows * columns
    out[at] = total / size
    out[at + 1] = down / (size * max(1, rows - 1))
    out[at + 2] = right / (size * max(1, columns - 1))


@once_for_rules
def look(game: Game) -> Callable[..., None]:
    """The compiled loop behind `LinearPolicy.seen`."""
    observe = game.kernels.observe

    def run(states, pieces, room, out):
        for i in range(states.shape[0]):
            for agent in range(out.shape[1]):
                observe(states[i], agent, room[0])
                look_at(pieces, room, out[i, agent])

    return driver(run, f"{game.rules_key}.linear.look")


@kernel
def without_thinning(state, mask):
    pass


@once_for_rules
def ahead_act(game: Game) -> Callable[..., Any]:
    """The kernel of a policy that looks ahead, see `players.Compiled`."""
    observe, step, thin = game.kernels.observe, game.kernels.step, game.search.prune_equivalent_actions or without_thinning

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        rows, pieces, seen, room, size, trial, few, actions, reward = scratch
        goals = reward.shape[1]
        base = rows[agent] * size[0]
        for a in range(mask.shape[0]):
            few[a] = mask[a]
        thin(state, few)
        word = advance(word)
        luck = mix(word)
        best, ties = -np.inf, 0
        for a in range(mask.shape[0]):
            if few[a]:
                trial[0] = state
                trial[0]["rng"] = luck
                actions[0, 0] = a
                step(trial[0], actions, reward)
                memory["looked"] += 1
                observe(trial[0], agent, room[0])
                look_at(pieces, room, seen)
                value = memory["numbers"][base + goals] * np.int64(trial[0]["over"])
                for k in range(goals):
                    value += memory["numbers"][base + k] * np.float64(reward[agent, k])
                for f in range(seen.shape[0]):
                    value += memory["numbers"][base + goals + 1 + f] * seen[f]
                taken, best, ties, word = lot(value, best, ties, word)
                if taken:
                    action[0] = a
        return word

    return act


@once_for_rules
def now_act(game: Game) -> Callable[..., Any]:
    """The kernel of a policy that weighs what the agent sees now."""
    observe = game.kernels.observe

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        rows, pieces, seen, room, size, _trial, _few, _actions, _reward = scratch
        observe(state, agent, room[0])
        look_at(pieces, room, seen)
        own = 1 + seen.shape[0]
        at = rows[agent] * size[0]
        place = 0
        for part in range(parts.shape[0]):
            best, ties = -np.inf, 0
            for choice in range(parts[part]):
                if mask[place]:
                    value = memory["numbers"][at]
                    for f in range(seen.shape[0]):
                        value += memory["numbers"][at + 1 + f] * seen[f]
                    taken, best, ties, word = lot(value, best, ties, word)
                    if taken:
                        action[part] = choice
                place += 1
                at += own
        return word

    return act
