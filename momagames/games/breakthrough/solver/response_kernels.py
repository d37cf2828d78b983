# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops for best responses to an opponent that plays by lot; see `loops` for what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.games.breakthrough.solver.convex_chains import add, hull
from momagames.games.breakthrough.solver.guarantee_kernels import player
from momagames.games.breakthrough.solver.packed_words import place_of, read_position, write_position
from momagames.kernels.jit import driver, kernel

FULL = -1


@dataclass(frozen=True)
class ReplyLoops:
    """Compiled for the rules; `desk` as in `loops.Loops`. The other's `weights` are those of its greedy play, float64[K]; all
    zero: it plays anything legal with equal chances. Values are in the units of the returns.

    respond(words, ply, mover, agent, weights, desk.., next_words, next_starts, next_points, counts, points, buffers..)
        the chains of expected returns: counts int64[N], points float64[..., 2]; returns how many points, or FULL
    scalar(words, ply, mover, agent, weights, user, desk.., next_words, next_values, values)
        the best expected sum of returns, weighted by `user` float64[K], float64[N]
    choose(states, agent, user, desk.., next_words, next_starts, next_points, actions)
        for states record[n] with `agent` to move the action of the best weighted sum
    """

    respond: Callable[..., Any]
    scalar: Callable[..., Any]
    choose: Callable[..., Any]


@once_for_rules
def reply_loops(game: Game) -> ReplyLoops:
    legal, play = game.kernels.legal, player(game)

    @kernel
    def likely(state, mover, weights, desk, mask, move, reward, chances):
        """How likely each action of the other is, float64[M]: as `greedy` chooses, with equal chances where values tie."""
        best, ties = -np.inf, 0
        for action in range(mask.shape[0]):
            chances[action] = -np.inf
            if mask[action]:
                play(state, action, desk, move, reward)
                value = 0.0
                for k in range(weights.shape[0]):
                    value += weights[k] * reward[mover, k]
                chances[action] = value
                if value > best:
                    best, ties = value, 0
                if value == best:
                    ties += 1
        for action in range(mask.shape[0]):
            chances[action] = 1.0 / ties if chances[action] == best else 0.0

    def respond(
        words, ply, mover, agent, weights, desk, mask, move, reward, next_words, next_starts, next_points,
        counts, points, chances, front, other, child,
    ):  # fmt: skip
        end = 0
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, desk[0])
            legal(desk[0], mover, mask)
            if mover != agent:
                likely(desk[0], mover, weights, desk, mask, move, reward, chances)
            count = 0
            for action in range(mask.shape[0]):
                if mask[action] == 0 or (mover != agent and chances[action] == 0.0):
                    continue
                share = 1.0 if mover == agent else chances[action]
                over = play(desk[0], action, desk, move, reward)
                size = 1
                start = 0
                if not over:
                    place = place_of(read_position(desk[1]), next_words)
                    start, size = next_starts[place], next_starts[place + 1] - next_starts[place]
                if count + size > front.shape[0]:
                    return FULL
                for i in range(size):
                    for k in range(2):
                        value = np.float64(reward[agent, k])
                        if not over:
                            value += next_points[start + i, k]
                        child[i, k] = share * value
                if count == 0:
                    count = hull(front, 0, child, 0, size, other)
                elif mover == agent:
                    count = hull(front, count, child, 0, size, other)
                else:
                    count = add(front, count, child, size, other)
            if end + count > points.shape[0]:
                return FULL
            for i in range(count):
                points[end + i, 0], points[end + i, 1] = front[i, 0], front[i, 1]
            counts[n] = count
            end += count
        return end

    def scalar(words, ply, mover, agent, weights, user, desk, mask, move, reward, next_words, next_values, chances, values):
        for n in range(words.shape[0]):
            write_position(words[n], ply, mover, desk[0])
            legal(desk[0], mover, mask)
            if mover != agent:
                likely(desk[0], mover, weights, desk, mask, move, reward, chances)
            total = -np.inf if mover == agent else 0.0
            for action in range(mask.shape[0]):
                if mask[action] == 0 or (mover != agent and chances[action] == 0.0):
                    continue
                over = play(desk[0], action, desk, move, reward)
                value = 0.0
                for k in range(user.shape[0]):
                    value += user[k] * reward[agent, k]
                if not over:
                    value += next_values[place_of(read_position(desk[1]), next_words)]
                total = max(total, value) if mover == agent else total + chances[action] * value
            values[n] = total

    def choose(states, agent, user, desk, mask, move, reward, next_words, next_starts, next_points, actions):
        for n in range(states.shape[0]):
            legal(states[n], agent, mask)
            best = -np.inf
            for action in range(mask.shape[0]):
                if mask[action] == 0:
                    continue
                over = play(states[n], action, desk, move, reward)
                value = user[0] * reward[agent, 0] + user[1] * reward[agent, 1]
                if not over:
                    place = place_of(read_position(desk[1]), next_words)
                    behind = -np.inf
                    for i in range(next_starts[place], next_starts[place + 1]):
                        behind = max(behind, user[0] * next_points[i, 0] + user[1] * next_points[i, 1])
                    value += behind
                if value > best:
                    best = value
                    actions[n] = action

    name = f"{game.rules_key}.responses"
    return ReplyLoops(
        respond=driver(respond, f"{name}.respond"),
        scalar=driver(scalar, f"{name}.scalar"),
        choose=driver(choose, f"{name}.choose"),
    )
