# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The tree: nodes by the actions that lead there, an arm for each action that somebody may take at a node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.search.nrpa_kernels import find
from momagames.contract import Game
from momagames.errors import InvalidParameter
from momagames.kernels.jit import kernel, routine
from momagames.kernels.rng import advance, below, lot, mix

NONE, FULL = -1, 2**29  # no arm; bytes that a tree may take
EMPTY, ROOT, ODD = np.uint64(0), np.uint64(1), np.uint64(1)
LN2 = 0.6931471805599453


class Tree(NamedTuple):
    """A search tree of N nodes with S bandits each: an actor's parts one after the other, actor by actor.

    keys      uint64[H], the nodes by a hash of the actions; 0 where there is none
    places    int32[H], which node it is
    first     int32[N, S], the arm of a bandit that was added last; NONE
    next      int32[R], the one that was added before; NONE
    action    int32[R], the action of an arm
    visits    int64[R], playouts through an arm
    sums      float64[R, G], what its agent got in them
    used      int64[2], nodes and arms that are in use
    path      int32[N, S + 1], the arms of the playout in hand, step by step, and who was to move
    low       float64[A, G], the least return of an agent in this search, and
    high      the greatest
    listed    int32[M], the arms that a bandit may take now
    front     int32[M], which of them nobody dominates
    bounds    float64[M, G], their upper confidence bounds
    """

    keys: NDArray[np.uint64]
    places: NDArray[np.int32]
    first: NDArray[np.int32]
    next: NDArray[np.int32]
    action: NDArray[np.int32]
    visits: NDArray[np.int64]
    sums: NDArray[np.float64]
    used: NDArray[np.int64]
    path: NDArray[np.int32]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    listed: NDArray[np.int32]
    front: NDArray[np.int32]
    bounds: NDArray[np.float64]


def arms_of(game: Game, nodes: int) -> int:
    """The most arms that so many nodes have."""
    return nodes * game.mask_size * game.actors


def check_size(name: str, game: Game, nodes: int, aims: int) -> None:
    """Raise InvalidParameter if the tree of a search does not fit into memory."""
    needed = arms_of(game, nodes) * (16 + 8 * aims)
    if needed > FULL:
        raise InvalidParameter(
            f"{name}: simulations={nodes} may need {needed >> 20:,} MiB for {game.id}; allowed: {FULL >> 20:,} MiB"
        )


def empty_tree(game: Game, nodes: int, aims: int) -> Tree:
    """Room for a tree; the system hands out memory only for what is written."""
    slots, arms, agents = game.actors * len(game.actions), arms_of(game, nodes), len(game.agents)
    places = 1 << (2 * nodes).bit_length()
    return Tree(
        keys=np.zeros(places, np.uint64),
        places=np.zeros(places, np.int32),
        first=np.zeros((nodes, slots), np.int32),
        next=np.zeros(arms, np.int32),
        action=np.zeros(arms, np.int32),
        visits=np.zeros(arms, np.int64),
        sums=np.zeros((arms, aims)),
        used=np.zeros(2, np.int64),
        path=np.zeros((nodes, slots + 1), np.int32),
        low=np.zeros((agents, aims)),
        high=np.zeros((agents, aims)),
        listed=np.zeros(game.mask_size, np.int32),
        front=np.zeros(game.mask_size, np.int32),
        bounds=np.zeros((game.mask_size, aims)),
    )


@kernel
def forget(tree):
    """A tree without nodes."""
    tree.keys[:] = EMPTY
    tree.used[:] = 0
    tree.low[:] = np.inf
    tree.high[:] = -np.inf


@kernel
def follow(key, number):
    """The hash of a sequence that goes on with this number; never 0."""
    return mix(advance(key ^ np.uint64(number))) | ODD


@kernel
def enter(tree, key):
    """The node of a key, and whether it is new."""
    place = find(tree.keys, key)
    if tree.keys[place] == key:
        return np.int64(tree.places[place]), False
    node = tree.used[0]
    tree.used[0] = node + 1
    tree.keys[place] = key
    tree.places[place] = node
    tree.first[node] = NONE
    return node, True


@kernel
def list_known(tree, node, slot):
    """List all arms of a bandit; returns how many."""
    count = 0
    arm = np.int64(tree.first[node, slot])
    while arm != NONE:
        tree.listed[count] = arm
        count += 1
        arm = np.int64(tree.next[arm])
    return count


@kernel
def list_legal(tree, node, slot, mask):
    """List the arms of a bandit whose actions are legal, int8[m], with a new arm for each that has none. Spoils the mask."""
    count = 0
    arm = np.int64(tree.first[node, slot])
    while arm != NONE:
        action = np.int64(tree.action[arm])
        if mask[action]:
            tree.listed[count] = arm
            count += 1
            mask[action] = 0
        arm = np.int64(tree.next[arm])
    for action in range(mask.shape[0]):
        if mask[action]:
            arm = tree.used[1]
            tree.used[1] = arm + 1
            tree.action[arm] = action
            tree.next[arm] = tree.first[node, slot]
            tree.first[node, slot] = arm
            tree.visits[arm] = 0
            tree.sums[arm] = 0.0
            tree.listed[count] = arm
            count += 1
    return count


@routine
def choose(tree, agent, count, exploration, word):
    """One of the first `count` (1 or more) listed arms, and the generator word."""
    total, fresh = 0, 0
    for i in range(count):
        visits = tree.visits[tree.listed[i]]
        total += visits
        if visits == 0:
            tree.front[fresh] = i
            fresh += 1
    if fresh == 0:
        fresh = rank(tree, agent, count, total, exploration)
    word = advance(word)
    return np.int64(tree.listed[tree.front[below(word, fresh)]]), word


@kernel
def rank(tree, agent, count, total, exploration):
    """Write which of the listed arms have bounds that nobody dominates to `front`; returns how many."""
    aims = tree.sums.shape[1]
    spread = logarithm(total) + logarithm(aims) / 4
    best = 0
    for i in range(count):
        arm = tree.listed[i]
        visits = tree.visits[arm]
        radius = exploration * np.sqrt(spread / visits)
        for g in range(aims):
            low, size = tree.low[agent, g], tree.high[agent, g] - tree.low[agent, g]
            share = (tree.sums[arm, g] / visits - low) / size if size > 0 else 0.0
            tree.bounds[i, g] = share + radius
        stay = 0
        beaten = False
        for j in range(best):
            other = tree.front[j]
            better, worse = False, False
            for g in range(aims):
                better |= tree.bounds[i, g] > tree.bounds[other, g]
                worse |= tree.bounds[i, g] < tree.bounds[other, g]
            if worse and not better:  # then it has beaten none of those before
                beaten = True
                break
            if worse or not better:
                tree.front[stay] = other
                stay += 1
        if not beaten:
            tree.front[stay] = i
            best = stay + 1
    return best


@kernel
def secure(tree, agent, count, wishes, exploration, word):
    """The listed arm with the best lower bound of its value, ties by lot, and the generator word.

    wishes    float64[G], weights of the aims
    """
    total, chosen, ties, best = 0, 0, 0, -np.inf
    for i in range(count):
        total += tree.visits[tree.listed[i]]
    spread = logarithm(total)
    for i in range(count):
        visits = tree.visits[tree.listed[i]]
        if visits > 0:
            radius = exploration * np.sqrt(spread / visits)
            value = 0.0
            for g in range(wishes.shape[0]):
                size = tree.high[agent, g] - tree.low[agent, g]
                value += wishes[g] * tree.sums[tree.listed[i], g] / visits - abs(wishes[g]) * size * radius
            taken, best, ties, word = lot(value, best, ties, word)
            if taken:
                chosen = np.int64(tree.listed[i])
    return chosen, word


@kernel
def logarithm(n):
    """The natural logarithm of a number of 1 or more (relative error 1e-9): the same to the bit on every machine."""
    x, doublings = np.float64(n), 0.0
    while x > 1.5:
        x *= 0.5
        doublings += 1.0
    z = (x - 1.0) / (x + 1.0)
    s = z * z
    return doublings * LN2 + 2.0 * z * (1.0 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11))))))
