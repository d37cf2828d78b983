# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The compiled loops over the layers of MO-Breakthrough: all positions after the same number of moves.

Every move brings a piece forward, so that no position comes twice in a game and the layers are solved from the last to the
first. Letters: N positions of a layer, K objectives, M actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.games.breakthrough.rules import CAPTURES, LOSSES
from momagames.games.breakthrough.solver.packed_words import (
    ZERO,
    covers,
    insert,
    lower,
    minus,
    pack_reward,
    place_of,
    plus,
    read_position,
    write_position,
)
from momagames.kernels.jit import driver, kernel

FULL = -1  # what `settle` returns if a buffer is too small


@dataclass(frozen=True)
class Loops:
    """Compiled for the rules; a `desk` is a state record[2], a mask int8[M], an action int64[1, 1], a reward float32[2, K].

    grow(words, ply, mover, desk.., out)
        the positions after each move from uint64[N] that does not end the game, with repetitions; returns their number
    settle(words, ply, mover, agent, units, desk.., next_words, next_starts, next_points, counts, points, first, second)
        the fronts that `agent` can guarantee: counts int64[N], points uint64[...]; returns how many points, or FULL
    choose(states, wants, agent, units, desk.., next_words, next_starts, next_points, actions)
        for states record[n] with `agent` to move, an action behind which the vector `wants` is still guaranteed, or -1
    reach(words, ply, mover, agent, units, begun, asked, desk.., next_words, next_bits, bits)
        one bit for each of up to 64 vectors `asked`: whether `agent` can have at least that in the whole game, of which
        `begun` says how many pieces the agent and the other had at the start
    """

    grow: Callable[..., Any]
    settle: Callable[..., Any]
    choose: Callable[..., Any]
    reach: Callable[..., Any]


@once_for_rules
def player(game: Game) -> Callable[..., Any]:
    """The kernel that plays an action."""
    step = game.kernels.step

    @kernel
    def play(state, action, desk, move, reward):
        """The state after an action goes to the second record of the desk; returns whether the game is over."""
        desk[1] = state
        move[0, 0] = action
        step(desk[1], move, reward)
        return desk[1]["over"] != 0

    return play


@once_for_rules
def loops(game: Game) -> Loops:
    legal, play = game.kernels.legal, player(game)

    def grow(words, ply, mover, desk, mask, move, reward, out):
        count = 0
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, desk[0])
            legal(desk[0], mover, mask)
            for action in range(mask.shape[0]):
                if mask[action] and not play(desk[0], action, desk, move, reward):
                    out[count] = read_position(desk[1])
                    count += 1
        return count

    @kernel
    def best_of(front, count, new, size, gain):
        """The union of two fronts, the second of which `gain` is added to, without what is dominated."""
        for i in range(size):
            count = insert(plus(new[i], gain), front, count)
        return count

    @kernel
    def worst_of(front, count, new, size, gain, other):
        """What is in both down-sets: the smaller values of each pair, without what is dominated. Uses `other` up."""
        met = 0
        for i in range(count):
            for j in range(size):
                met = insert(lower(front[i], plus(new[j], gain)), other, met)
        for i in range(met):
            front[i] = other[i]
        return met

    def settle(
        words, ply, mover, agent, units, desk, mask, move, reward, next_words, next_starts, next_points,
        counts, points, first, second,
    ):  # fmt: skip
        end = 0
        room = first.shape[0]
        finished = np.uint64(ZERO)
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, desk[0])
            legal(desk[0], mover, mask)
            count = -1
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                over = play(desk[0], action, desk, move, reward)
                gain = pack_reward(reward[agent], units)
                start, size = 0, 0
                if not over:
                    place = place_of(read_position(desk[1]), next_words)
                    start, size = next_starts[place], next_starts[place + 1] - next_starts[place]
                if max(count, 1) * max(size, 1) + max(count, 0) > room:
                    return FULL
                if count < 0 or mover == agent:
                    count = max(count, 0)
                    if over:
                        count = insert(plus(finished, gain), first, count)
                    else:
                        count = best_of(first, count, next_points[start:], size, gain)
                elif over:
                    met = 0
                    for i in range(count):
                        met = insert(lower(first[i], plus(finished, gain)), second, met)
                    for i in range(met):
                        first[i] = second[i]
                    count = met
                else:
                    count = worst_of(first, count, next_points[start:], size, gain, second)
            if end + count > points.shape[0]:
                return FULL
            for i in range(count):
                points[end + i] = first[i]
            counts[n] = count
            end += count
        return end

    def choose(states, wants, agent, units, desk, mask, move, reward, next_words, next_starts, next_points, actions):
        finished = np.uint64(ZERO)
        for n in range(states.shape[0]):
            legal(states[n], agent, mask)
            actions[n] = -1
            for action in range(mask.shape[0]):
                if mask[action] == 0 or actions[n] >= 0:
                    continue
                over = play(states[n], action, desk, move, reward)
                left = minus(wants[n], pack_reward(reward[agent], units))
                if over:
                    if covers(finished, left):
                        actions[n] = action
                    continue
                place = place_of(read_position(desk[1]), next_words)
                for i in range(next_starts[place], next_starts[place + 1]):
                    if covers(next_points[i], left):
                        actions[n] = action

    @kernel
    def attained(state, agent, reward, units, columns, begun, asked):
        """One bit for each asked vector: whether a game that ends so is at least that. Pieces that are gone say what was
        captured on the whole way."""
        bits = np.uint64(0)
        for i in range(asked.shape[0]):
            enough = True
            for k in range(units.shape[0]):
                value = np.int64(np.rint(np.float64(reward[agent, k]) * units[k]))
                if columns[k] == CAPTURES:
                    value = begun[1] - np.int64(state["count"][1 - agent])
                elif columns[k] == LOSSES:
                    value = np.int64(state["count"][agent]) - begun[0]
                enough &= value >= asked[i, k]
            bits |= np.uint64(enough) << np.uint64(i)
        return bits

    def reach(words, ply, mover, agent, units, columns, begun, asked, desk, mask, move, reward, next_words, next_bits, bits):
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, desk[0])
            legal(desk[0], mover, mask)
            found = np.uint64(0) if mover == agent else ~np.uint64(0)
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                if play(desk[0], action, desk, move, reward):
                    here = attained(desk[1], agent, reward, units, columns, begun, asked)
                else:
                    here = next_bits[place_of(read_position(desk[1]), next_words)]
                found = found | here if mover == agent else found & here
            bits[n] = found

    name = f"{game.rules_key}.guaranteed"
    return Loops(
        grow=driver(grow, f"{name}.grow"),
        settle=driver(settle, f"{name}.settle"),
        choose=driver(choose, f"{name}.choose"),
        reach=driver(reach, f"{name}.reach"),
    )
