# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Search tree: nodes identified by action sequences, with an arm for each action of an agent at a node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.search.nrpa_kernels import find_slot
from momagames.contract import Game
from momagames.errors import InvalidParameter
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.rng import advance, below, mix, update_best

NONE, MAX_BYTES = -1, 2**29  # no arm; largest memory of a tree
EMPTY_KEY, ROOT, ODD = np.uint64(0), np.uint64(1), np.uint64(1)
LN2 = 0.6931471805599453


class Tree(NamedTuple):
    """Search tree of N nodes with S bandits each: one per component of an action, actor by actor.

    keys        uint64[H], hash table of the nodes by action sequence; 0 in an empty slot
    node_ids    int32[H], the node of a key
    first       int32[N, S], the arm of a bandit that was added last, or NONE
    next        int32[R], the arm that was added before, or NONE
    action      int32[R], the action of an arm
    visits      int64[R], playouts through an arm
    sums        float64[R, G], sums of its agent's returns over these playouts, for each criterion
    priors      float64[R], the prior probability of an arm; float64[0] in a search without priors
    used        int64[2], the numbers of nodes and arms
    path        int32[N, S + 1], the arms of the current playout at each step, and the agent to move
    low, high   float64[A, G], the smallest and the largest return of an agent in this search
    candidates  int32[M], the arms that a bandit may select
    front       int32[M], indices of the candidates with non-dominated bounds
    bounds      float64[M, G], upper confidence bounds of the candidates
    """

    keys: NDArray[np.uint64]
    node_ids: NDArray[np.int32]
    first: NDArray[np.int32]
    next: NDArray[np.int32]
    action: NDArray[np.int32]
    visits: NDArray[np.int64]
    sums: NDArray[np.float64]
    priors: NDArray[np.float64]
    used: NDArray[np.int64]
    path: NDArray[np.int32]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    candidates: NDArray[np.int32]
    front: NDArray[np.int32]
    bounds: NDArray[np.float64]


def max_arms(game: Game, nodes: int) -> int:
    """Return the largest number of arms of that many nodes."""
    return nodes * game.mask_size * game.actors


def check_size(name: str, game: Game, nodes: int, num_criteria: int, has_priors: bool = False) -> None:
    """Raise InvalidParameter if the tree of a search exceeds the memory limit."""
    needed = max_arms(game, nodes) * (16 + 8 * (num_criteria + has_priors))
    if needed > MAX_BYTES:
        raise InvalidParameter(
            f"{name}: invalid simulations={nodes}: expected a tree of at most {MAX_BYTES >> 20:,} MiB for {game.id}, "
            f"not {needed >> 20:,} MiB"
        )


def make_tree(game: Game, nodes: int, num_criteria: int, has_priors: bool = False) -> Tree:
    """Allocate a tree; the system allocates only the pages that are written."""
    slots, arms, agents = game.actors * len(game.actions), max_arms(game, nodes), len(game.agents)
    node_ids = 1 << (2 * nodes).bit_length()
    return Tree(
        keys=np.zeros(node_ids, np.uint64),
        node_ids=np.zeros(node_ids, np.int32),
        first=np.zeros((nodes, slots), np.int32),
        next=np.zeros(arms, np.int32),
        action=np.zeros(arms, np.int32),
        visits=np.zeros(arms, np.int64),
        sums=np.zeros((arms, num_criteria)),
        priors=np.zeros(arms if has_priors else 0),
        used=np.zeros(2, np.int64),
        path=np.zeros((nodes, slots + 1), np.int32),
        low=np.zeros((agents, num_criteria)),
        high=np.zeros((agents, num_criteria)),
        candidates=np.zeros(game.mask_size, np.int32),
        front=np.zeros(game.mask_size, np.int32),
        bounds=np.zeros((game.mask_size, num_criteria)),
    )


@kernel
def reset_tree(tree):
    """Remove all nodes."""
    tree.keys[:] = EMPTY_KEY
    tree.used[:] = 0
    tree.low[:] = np.inf
    tree.high[:] = -np.inf


@kernel
def hash_child(key, number):
    """Return the hash of a sequence extended by a number; never 0."""
    return mix(advance(key ^ np.uint64(number))) | ODD


@kernel
def get_or_add_node(tree, key):
    """Return the node of a key, and whether it is new."""
    slot = find_slot(tree.keys, key)
    if tree.keys[slot] == key:
        return np.int64(tree.node_ids[slot]), False
    node = tree.used[0]
    tree.used[0] = node + 1
    tree.keys[slot] = key
    tree.node_ids[slot] = node
    tree.first[node] = NONE
    return node, True


@kernel
def list_arms(tree, node, slot):
    """List all arms of a bandit; return their number."""
    count = 0
    arm = np.int64(tree.first[node, slot])
    while arm != NONE:
        tree.candidates[count] = arm
        count += 1
        arm = np.int64(tree.next[arm])
    return count


@kernel
def list_legal_arms(tree, node, slot, mask):
    """List the arms of a bandit's legal actions, int8[m], adding missing ones; return their number. Overwrites the mask."""
    count = 0
    arm = np.int64(tree.first[node, slot])
    while arm != NONE:
        action = np.int64(tree.action[arm])
        if mask[action]:
            tree.candidates[count] = arm
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
            tree.candidates[count] = arm
            count += 1
    return count


@noinline_kernel
def select_arm(tree, agent, count, exploration, word):
    """Select one of the first `count` (1 or more) candidates: an untried arm, else one with non-dominated upper confidence
    bounds, ties broken at random. Returns it and the generator word."""
    total, num_choices = 0, 0
    for i in range(count):
        visits = tree.visits[tree.candidates[i]]
        total += visits
        if visits == 0:
            tree.front[num_choices] = i
            num_choices += 1
    if num_choices == 0:
        num_choices = select_front(tree, agent, count, total, exploration)
    word = advance(word)
    return np.int64(tree.candidates[tree.front[below(word, num_choices)]]), word


@kernel
def select_front(tree, agent, count, total, exploration):
    """Write the candidates with non-dominated upper confidence bounds to `front`; return their number.

    With priors the radius of the bounds is that of PUCT.
    """
    num_criteria, has_priors, root = tree.sums.shape[1], tree.priors.shape[0] > 0, np.sqrt(total)
    spread = natural_log(total) + natural_log(num_criteria) / 4
    front_size = 0
    for i in range(count):
        arm = tree.candidates[i]
        visits = tree.visits[arm]
        radius = exploration * (tree.priors[arm] * root / (1 + visits) if has_priors else np.sqrt(spread / visits))
        for g in range(num_criteria):
            low, size = tree.low[agent, g], tree.high[agent, g] - tree.low[agent, g]
            mean = (tree.sums[arm, g] / visits - low) / size if size > 0 else 0.0
            tree.bounds[i, g] = mean + radius
        count = 0
        is_dominated = False
        for j in range(front_size):
            other = tree.front[j]
            better, worse = False, False
            for g in range(num_criteria):
                better |= tree.bounds[i, g] > tree.bounds[other, g]
                worse |= tree.bounds[i, g] < tree.bounds[other, g]
            if worse and not better:  # then it dominates none of the earlier ones
                is_dominated = True
                break
            if worse or not better:
                tree.front[count] = other
                count += 1
        if not is_dominated:
            tree.front[count] = i
            front_size = count + 1
    return front_size


@kernel
def select_secure_arm(tree, agent, count, criterion_weights, exploration, word):
    """Return the candidate with the best lower confidence bound of its value, ties broken at random, and the generator word.

    criterion_weights    float64[G]
    """
    total, chosen, ties, best = 0, 0, 0, -np.inf
    for i in range(count):
        total += tree.visits[tree.candidates[i]]
    spread = natural_log(total)
    for i in range(count):
        visits = tree.visits[tree.candidates[i]]
        if visits > 0:
            radius = exploration * np.sqrt(spread / visits)
            value = 0.0
            for g in range(criterion_weights.shape[0]):
                size = tree.high[agent, g] - tree.low[agent, g]
                weight = criterion_weights[g]
                value += weight * tree.sums[tree.candidates[i], g] / visits - abs(weight) * size * radius
            is_best, best, ties, word = update_best(value, best, ties, word)
            if is_best:
                chosen = np.int64(tree.candidates[i])
    return chosen, word


@kernel
def natural_log(n):
    """Return the natural logarithm of a number of 1 or more (relative error 1e-9), identical on every machine."""
    x, doublings = np.float64(n), 0.0
    while x > 1.5:
        x *= 0.5
        doublings += 1.0
    z = (x - 1.0) / (x + 1.0)
    s = z * z
    return doublings * LN2 + 2.0 * z * (1.0 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11))))))
