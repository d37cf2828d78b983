# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""One playout: down the tree, on by lot, and what it brought back up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.mcts.tree import (
    NONE,
    ROOT,
    choose,
    enter,
    follow,
    list_known,
    list_legal,
    secure,
)
from momagames.contract import Game
from momagames.engine.loops import keep_all, once_for_rules, pick
from momagames.engine.playouts import buffers
from momagames.errors import check_range
from momagames.kernels.jit import kernel, routine
from momagames.kernels.rng import advance, mix

MOST, WIDEST = 1_000_000, 1000.0


@dataclass(frozen=True)
class UctOptions:
    """How a search goes about it.

    simulations   playouts before each move, 1 or more
    exploration   factor of the confidence radius sqrt((ln n + ln(G) / 4) / visits), 0..1000
    horizon       steps after which a playout is cut off, 1 or more
    """

    simulations: int
    exploration: float
    horizon: int

    def check(self, name: str) -> None:
        """Raise InvalidParameter for options that are not possible."""
        check_range(f"{name}: simulations", self.simulations, 1, MOST, whole=True)
        check_range(f"{name}: horizon", self.horizon, 1, MOST, whole=True)
        check_range(f"{name}: exploration", self.exploration, 0, WIDEST)


class Tools(NamedTuple):
    """What a search was told, and working space.

    aims          float64[G, K], weights of the objectives
    wishes        float64[G], weights of the aims, for the decision
    exploration   float64[1]
    simulations   int64[1]
    horizon       int64[1]
    certain       bool[1], whether nothing is left to chance during play
    parts         int64[P], sizes of the parts of an action
    root, trial   record[1]
    mask          int8[M]
    actions       int64[S, P]
    reward        float32[A, K]
    returns       float64[A, K] of the playout in hand
    line          int32[T], its actions as far as there is room
    """

    aims: NDArray[np.float64]
    wishes: NDArray[np.float64]
    exploration: NDArray[np.float64]
    simulations: NDArray[np.int64]
    horizon: NDArray[np.int64]
    certain: NDArray[np.bool_]
    parts: NDArray[np.int64]
    root: NDArray[Any]
    trial: NDArray[Any]
    mask: NDArray[np.int8]
    actions: NDArray[np.int64]
    reward: NDArray[np.float32]
    returns: NDArray[np.float64]
    line: NDArray[np.int32]


def tools(game: Game, aims: NDArray[np.float64], wishes: NDArray[np.float64], effort: UctOptions, room: int = 0) -> Tools:
    """The tools of a search; `room` for so many actions of a line."""
    return Tools(
        aims,
        wishes,
        np.array([effort.exploration], np.float64),
        np.array([effort.simulations], np.int64),
        np.array([effort.horizon], np.int64),
        np.array([game.chance != "step"]),
        np.array(game.actions, np.int64),
        np.zeros(1, game.dtype),
        np.zeros(1, game.dtype),
        np.zeros(game.mask_size, np.int8),
        *buffers(game),
        np.zeros((len(game.agents), len(game.objectives))),
        np.zeros(room, np.int32),
    )


@once_for_rules
def playout(game: Game) -> Callable[..., Any]:
    """The compiled playout for this game's rules."""
    legal, step, sequential = game.kernels.legal, game.kernels.step, game.sequential
    thin = game.search.prune_equivalent_actions or keep_all

    @routine
    def play(tree, tools, limit, word):
        """A playout from `root` of at most `limit` steps; returns how many it took and the generator word.

        It is brought back up the tree only if the game came to its end, or the horizon.
        """
        state, actions, parts = tools.trial[0], tools.actions, tools.parts
        tools.trial[0] = tools.root[0]
        word = advance(word)
        state["rng"] = mix(word)
        tools.returns[:] = 0.0
        key, node, depth, steps, inside = ROOT, 0, 0, 0, True
        stop = min(limit, tools.horizon[0])
        while state["over"] == 0 and steps < stop:
            fresh = False
            if inside:
                node, fresh = enter(tree, key)
                tree.path[depth, tree.first.shape[1]] = state["to_move"]
            for actor in range(actions.shape[0]):
                agent = np.int64(state["to_move"]) if sequential else actor
                slot = actor * parts.shape[0]
                known = inside and tools.certain[0] and tree.first[node, slot] != NONE
                if not known:
                    legal(state, agent, tools.mask)
                    if inside and sequential:
                        thin(state, tools.mask)
                start = 0
                for part in range(parts.shape[0]):
                    here = tools.mask[start : start + parts[part]]
                    if inside:
                        count = list_known(tree, node, slot + part) if known else list_legal(tree, node, slot + part, here)
                        arm = np.int64(NONE)
                        actions[actor, part] = 0
                        if count > 0:
                            arm, word = choose(tree, agent, count, tools.exploration[0], word)
                            actions[actor, part] = tree.action[arm]
                        tree.path[depth, slot + part] = arm
                    else:
                        word = advance(word)
                        actions[actor, part] = pick(here, word)
                    start += parts[part]
            if inside:
                depth += 1
                for actor in range(actions.shape[0]):
                    for part in range(parts.shape[0]):
                        key = follow(key, actions[actor, part])
            if steps < tools.line.shape[0]:
                tools.line[steps] = actions[0, 0]
            step(state, actions, tools.reward)
            steps += 1
            for a in range(tools.reward.shape[0]):
                for k in range(tools.reward.shape[1]):
                    tools.returns[a, k] += tools.reward[a, k]
            if inside:
                key = follow(key, np.int64(state["to_move"]))
                inside = not fresh
        if state["over"] or steps == tools.horizon[0]:
            bring_up(tree, tools, depth, sequential)
        return steps, word

    return play


@routine
def bring_up(tree, tools, depth, sequential):
    """Add what the agents got to the arms on the path."""
    slots, parts = tree.first.shape[1], tools.parts.shape[0]
    for agent in range(tools.returns.shape[0]):
        for g in range(tools.aims.shape[0]):
            value = aim(tools, agent, g)
            tree.low[agent, g] = min(tree.low[agent, g], value)
            tree.high[agent, g] = max(tree.high[agent, g], value)
    for ply in range(depth):
        for slot in range(slots):
            arm = np.int64(tree.path[ply, slot])
            if arm != NONE:
                agent = np.int64(tree.path[ply, slots]) if sequential else slot // parts
                tree.visits[arm] += 1
                for g in range(tools.aims.shape[0]):
                    tree.sums[arm, g] += aim(tools, agent, g)


@kernel
def aim(tools, agent, g):
    """What an agent got of an aim in the playout in hand."""
    value = 0.0
    for k in range(tools.returns.shape[1]):
        value += tools.aims[g, k] * tools.returns[agent, k]
    return value


@routine
def decide(tree, tools, agent, row, part, word):
    """The action of the root's bandit of this agent (actor `row`) and part, by the best lower confidence bound of its value
    (the "secure child"), and the generator word. 0 if nothing was legal."""
    count = list_known(tree, 0, row * tools.parts.shape[0] + part)
    arm, word = secure(tree, agent, count, tools.wishes, tools.exploration[0], word)
    return np.int64(tree.action[arm]) if count > 0 else 0, word
