"""The compiled side of learning: what a network sees, a network's answer to one position, and advantages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.moppo.encoder import NEAR, ONE_OF, PLACE, SHARE
from momagames.contract import Game
from momagames.engine.loops import has_choice as choice
from momagames.engine.loops import once_for_rules
from momagames.kernels.jit import driver, kernel, routine
from momagames.kernels.rng import advance, mix

LOW_BITS, UNIT = np.uint64(11), 2.0**-53
NOTHING, FULL = np.float32(0.0), np.float32(1.0)


@kernel
def piece_of(values, first, cells, apart, how, a, b, out, place, step):
    """One piece of what is seen, see `sight.Piece`, at out[place], out[place + step], ..."""
    if how == PLACE:
        for i in range(cells):
            out[place + i * step] = NOTHING
        out[place + (np.int64(values[first]) * np.int64(b) + np.int64(values[first + 1])) * step] = FULL
        return
    for i in range(cells):
        value = np.float64(values[first + i * apart])
        if how == ONE_OF:
            out[place + i * step] = FULL if value == a else NOTHING
        elif how == SHARE:
            out[place + i * step] = np.float32((value - a) * b)
        elif how == NEAR:
            out[place + i * step] = FULL if abs(value - a) <= b else NOTHING
        else:
            out[place + i * step] = np.float32(np.log1p(value - a) * b)


@kernel
def pieces(table, room, out, step):
    """All planes (step: how many there are, so that a cell's values lie side by side) or all numbers (step 1)."""
    _, a, b, c, d, e = room
    for p in range(table.shape[0]):
        kind, first, cells, apart = np.int64(table[p, 0]), np.int64(table[p, 1]), np.int64(table[p, 2]), np.int64(table[p, 3])
        how, low, scale = np.int64(table[p, 4]), table[p, 5], table[p, 6]
        if kind == 0:
            piece_of(a, first, cells, apart, how, low, scale, out, p, step)
        elif kind == 1:
            piece_of(b, first, cells, apart, how, low, scale, out, p, step)
        elif kind == 2:
            piece_of(c, first, cells, apart, how, low, scale, out, p, step)
        elif kind == 3:
            piece_of(d, first, cells, apart, how, low, scale, out, p, step)
        else:
            piece_of(e, first, cells, apart, how, low, scale, out, p, step)


def _encode(rows, room, planes, numbers, boards, lists):
    for i in range(rows.shape[0]):
        copy(rows[i], room[0])
        pieces(planes, room, boards[i], planes.shape[0])
        pieces(numbers, room, lists[i], 1)


encode: Callable[..., None] = driver(_encode, "learn.encode")
"""Observations uint8[N, B] as planes float32[N, cells * P] (cell by cell) and numbers float32[N, >= V]; see `Sight`."""


@kernel
def dense(inputs, weights, biases, out):
    """out = inputs @ weights + biases; inputs that are zero cost nothing."""
    for j in range(out.shape[0]):
        out[j] = biases[j]
    add_dense(inputs, weights, out)


@kernel
def add_dense(inputs, weights, out):
    for i in range(inputs.shape[0]):
        value = inputs[i]
        if value != NOTHING:
            row = weights[i]
            for j in range(out.shape[0]):
                out[j] += value * row[j]


@kernel
def copy(values, out):
    for j in range(out.shape[0]):
        out[j] = values[j]


@kernel
def rectify(values):
    for j in range(values.shape[0]):
        values[j] = max(values[j], NOTHING)


@routine
def convolve(inputs, weights, rows, columns, out):
    """Add the 3x3 convolution of float32[cells, P] with weights float32[9, P, C] to out float32[cells, C]; zeros around."""
    for y in range(rows):
        for x in range(columns):
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if 0 <= y + dy < rows and 0 <= x + dx < columns:
                        add_dense(inputs[(y + dy) * columns + x + dx], weights[(dy + 1) * 3 + dx + 1], out[y * columns + x])


@routine
def answer(shape, net, work):
    """The logits of a network, from what it sees in `work`; see `network.Network` for its layers.

    shape    rows, columns, layers of convolution, actions that belong to a cell (0: none do), agents that are told apart, the
             plane that shows where the agent is (-1: none does)
    """
    rows, columns, layers, by_cell, spot = shape[0], shape[1], shape[2], shape[3], shape[5]
    first, around, first_bias, convolutions, biases, squeeze, squeeze_bias = net[:7]
    trunk, trunk_bias, second, second_bias, cell, cell_trunk, cell_trunk_bias, head, head_bias = net[7:]
    boards, numbers, near, far, flat, wide, deep, mixed, logits, _ = work
    cells = rows * columns
    if cells:
        dense(numbers, around, first_bias, mixed)
        for i in range(cells):
            copy(mixed, near[i])
        convolve(boards, first, rows, columns, near)
        for i in range(cells):
            rectify(near[i])
        for layer in range(layers):
            for i in range(cells):
                copy(biases[layer], far[i])
            convolve(near, convolutions[layer], rows, columns, far)
            for i in range(cells):
                rectify(far[i])
                for j in range(far.shape[1]):
                    near[i, j] += far[i, j]
        kept = squeeze_bias.shape[0]
        for i in range(cells):
            dense(near[i], squeeze, squeeze_bias, flat[i * kept : (i + 1) * kept])
        rectify(flat[: cells * kept])
        end = cells * kept + numbers.shape[0]
        copy(numbers, flat[cells * kept : end])
        for i in range(cells):
            if spot >= 0 and boards[i, spot] == FULL:
                copy(near[i], flat[end:])
    else:
        copy(numbers, flat)
    dense(flat, trunk, trunk_bias, wide)
    rectify(wide)
    dense(wide, second, second_bias, deep)
    rectify(deep)
    if by_cell:
        dense(deep, cell_trunk, cell_trunk_bias, mixed)
        for i in range(cells):
            copy(mixed, far[i])
            add_dense(near[i], cell, far[i])
            rectify(far[i])
            dense(far[i], head, head_bias, logits[i * by_cell : (i + 1) * by_cell])
    else:
        dense(deep, head, head_bias, logits)


@kernel
def chosen(logits, mask, greedy, word):
    """An action by softmax over what is legal, or the first that is best; and the generator word."""
    best = -1
    for a in range(mask.shape[0]):
        if mask[a] and (best < 0 or logits[a] > logits[best]):
            best = a
    if greedy or best < 0:
        return max(best, 0), word
    total = 0.0
    for a in range(mask.shape[0]):
        if mask[a]:
            total += np.exp(np.float64(logits[a] - logits[best]))
    word = advance(word)
    left = np.float64(mix(word) >> LOW_BITS) * UNIT * total
    for a in range(mask.shape[0]):
        if mask[a]:
            left -= np.exp(np.float64(logits[a] - logits[best]))
            if left < 0.0:
                return a, word
    return best, word


@once_for_rules
def network_act(game: Game) -> Callable[..., Any]:
    """The kernel of a policy that is a network, see `players.Compiled`."""
    observe = game.kernels.observe

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        planes, numbers, room, shape, net, work = scratch
        observe(state, agent, room[0])
        pieces(planes, room, work[9], planes.shape[0])
        pieces(numbers, room, work[1], 1)
        place, agents = numbers.shape[0], shape[4]
        for i in range(agents):
            work[1][place + i] = FULL if i == agent else NOTHING
        for k in range(work[1].shape[0] - place - agents):
            work[1][place + agents + k] = np.float32(memory["weights"][k])
        answer(shape, net, work)
        logits = work[8]
        start = 0
        for part in range(parts.shape[0]):
            end = start + parts[part]
            action[part], word = chosen(logits[start:end], mask[start:end], memory["greedy"], word)
            start = end
        return word

    return act


def _advantages(rewards, ended, movers, acted, values, later, gamma, trace, sums, out, good):
    """Generalized advantage estimates, one for each objective, of each agent from one of its decisions to the next.

    rewards float32[T, N, A, K], ended bool[T, N]; movers int32[T, N] says who acted where S is 1 (else agent s is actor s);
    acted bool[T, N, S]; values float32[T, N, S, K]; later float32[N, A, K], what agents expect behind the last step (NaN:
    not known); sums float64[3, K] to work in. Writes out float32[T, N, S, K], and where it could be told, good bool[T, N, S].

    Source: Schulman et al., "High-dimensional continuous control using generalized advantage estimation", 2016.
    """
    steps, games, actors, goals = values.shape
    agents = rewards.shape[2]
    for n in range(games):
        for a in range(agents):
            paid, ahead, trail = sums[0], sums[1], sums[2]
            known = not np.isnan(later[n, a, 0])
            for k in range(goals):
                paid[k], ahead[k], trail[k] = 0.0, later[n, a, k] if known else 0.0, 0.0
            for t in range(steps - 1, -1, -1):
                if ended[t, n]:
                    known = True
                    for k in range(goals):
                        paid[k], ahead[k], trail[k] = 0.0, 0.0, 0.0
                for k in range(goals):
                    paid[k] += np.float64(rewards[t, n, a, k])
                s = a if actors > 1 else 0
                if not acted[t, n, s] or (actors == 1 and movers[t, n] != a):
                    continue
                for k in range(goals):
                    value = np.float64(values[t, n, s, k])
                    if known:
                        trail[k] = paid[k] + gamma * ahead[k] - value + gamma * trace * trail[k]
                        out[t, n, s, k] = np.float32(trail[k])
                    ahead[k] = value
                    paid[k] = 0.0
                good[t, n, s] = known
                known = True


advantages: Callable[..., None] = driver(_advantages, "learn.advantages")


def _choices(masks, parts, out):
    for n in range(masks.shape[0]):
        for v in range(masks.shape[1]):
            out[n, v] = choice(masks[n, v], parts)


choices: Callable[..., None] = driver(_choices, "learn.choices")
"""Whether there is a choice to be made, bool[N, V], by masks int8[N, V, M] of these parts."""
