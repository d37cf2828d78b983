# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""One playout: selection, expansion, simulation with random actions or a value by trained tables, and backpropagation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.mcts.tree import (
    NONE,
    ROOT,
    get_or_add_node,
    hash_child,
    list_arms,
    list_legal_arms,
    select_arm,
    select_secure_arm,
)
from momagames.baselines.ntuple.leaf_values import LeafValues, make_leaf_values, make_value_kernel
from momagames.baselines.search.nrpa_kernels import exponential
from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead, make_trial
from momagames.engine.loops import cache_by_rules, get_pruner, make_distinct_legal, make_random_choice
from momagames.errors import InvalidParameter, check_range, invalid_value
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.rng import advance, mix

MAX_COUNT, MAX_EXPLORATION, MAX_TEMPERATURE = 1_000_000, 1000.0, 1000.0


@dataclass(frozen=True)
class UctOptions:
    """Options of a search.

    simulations   playouts before each move, 1 or more
    exploration   factor of the confidence radius sqrt((ln n + ln(G) / 4) / visits), 0..1000
    horizon       maximum number of steps of a playout, 1 or more
    value         "champion", or the path of a checkpoint of `ntuple`: its values of the moves of a new node instead of random
                  playouts; empty: none
    prior_temperature   temperature of the softmax of these values that is the prior of the moves, in units of the weighted
                  return, 0..1000; 0: no prior
    """

    simulations: int
    exploration: float
    horizon: int
    value: str = ""
    prior_temperature: float = 0.0

    def check(self, name: str) -> None:
        """Raise InvalidParameter for options out of range."""
        check_range(f"{name}: simulations", self.simulations, 1, MAX_COUNT, whole=True)
        check_range(f"{name}: horizon", self.horizon, 1, MAX_COUNT, whole=True)
        check_range(f"{name}: exploration", self.exploration, 0, MAX_EXPLORATION)
        check_range(f"{name}: prior_temperature", self.prior_temperature, 0, MAX_TEMPERATURE)
        if self.prior_temperature and not self.value:
            raise InvalidParameter(
                invalid_value(f"{name}: prior_temperature", self.prior_temperature, "0 without a value, from which priors come")
            )


class Workspace(NamedTuple):
    """Options and scratch arrays of a search.

    criteria          float64[G, K], weights of the objectives for each criterion
    criterion_weights float64[G], weights of the criteria in the final move selection
    exploration       float64[1]
    temperature       float64[1], of the priors
    simulations       int64[1]
    horizon           int64[1]
    deterministic     bool[1], whether the game has no chance during play
    parts             int64[P], sizes of the components of an action
    root              record[1]
    trial             see `Trial`: the position of the playout, and one after it that tables value
    returns           float64[A, K] of the current playout
    line              int32[T], its first actions
    values            trained tables for the values of leaves, or ()
    """

    criteria: NDArray[np.float64]
    criterion_weights: NDArray[np.float64]
    exploration: NDArray[np.float64]
    temperature: NDArray[np.float64]
    simulations: NDArray[np.int64]
    horizon: NDArray[np.int64]
    deterministic: NDArray[np.bool_]
    parts: NDArray[np.int64]
    root: NDArray[Any]
    trial: Trial
    returns: NDArray[np.float64]
    line: NDArray[np.int32]
    values: LeafValues | tuple[()]


def make_workspace(
    game: Game,
    criteria: NDArray[np.float64],
    criterion_weights: NDArray[np.float64],
    options: UctOptions,
    line_capacity: int = 0,
) -> Workspace:
    """Allocate the workspace of a search; `line_capacity` is the number of actions that `line` holds."""
    return Workspace(
        criteria,
        criterion_weights,
        np.array([options.exploration], np.float64),
        np.array([options.prior_temperature], np.float64),
        np.array([options.simulations], np.int64),
        np.array([options.horizon], np.int64),
        np.array([game.chance != "step"]),
        np.array(game.actions, np.int64),
        np.zeros(1, game.dtype),
        make_trial(game),
        np.zeros((len(game.agents), len(game.objectives))),
        np.zeros(line_capacity, np.int32),
        make_leaf_values(game, options.value, criterion_weights @ criteria),
    )


@cache_by_rules
def make_playout(game: Game, valued: bool = False) -> Callable[..., Any]:
    """Compile a playout for this game's rules; `valued`: the tables of the workspace value the moves of a new node."""
    rate_arms = make_rating_kernel(game) if valued else rate_no_arms
    legal, step, sequential = game.kernels.legal, game.kernels.step, game.sequential
    prune = get_pruner(game)
    choose_randomly, needs_mask = make_random_choice(game), game.kernels.sample_action is None

    @noinline_kernel
    def simulate(tree, workspace, limit, word):
        """Run a playout from `root` of at most `limit` steps; return its number of steps and the generator word.

        The returns are backpropagated only if the playout reached the end of the game, a valued leaf, or the horizon.
        """
        trial, parts = workspace.trial, workspace.parts
        state, mask, actions, reward = trial.states[0], trial.mask, trial.actions, trial.reward
        trial.states[0] = workspace.root[0]
        word = advance(word)
        state["rng"] = mix(word)
        workspace.returns[:] = 0.0
        key, node, depth, steps, in_tree, is_valued = ROOT, 0, 0, 0, True, False
        max_steps = min(limit, workspace.horizon[0])
        while state["over"] == 0 and steps < max_steps and not is_valued:
            is_new = False
            if in_tree:
                node, is_new = get_or_add_node(tree, key)
                tree.path[depth, tree.first.shape[1]] = state["to_move"]
                if is_new:
                    rated = rate_arms(tree, node, workspace)
                    if rated > 0:
                        steps += rated
                        is_valued = True
                        continue
            for actor in range(actions.shape[0]):
                agent = np.int64(state["to_move"]) if sequential else actor
                slot = actor * parts.shape[0]
                has_arms = in_tree and workspace.deterministic[0] and tree.first[node, slot] != NONE
                if not has_arms and (in_tree or needs_mask):
                    legal(state, agent, mask)
                    if in_tree and sequential:
                        prune(state, mask)
                if not in_tree:
                    word = choose_randomly(state, agent, mask, parts, word, actions[actor])
                    continue
                start = 0
                for part in range(parts.shape[0]):
                    part_mask = mask[start : start + parts[part]]
                    bandit = slot + part
                    count = list_arms(tree, node, bandit) if has_arms else list_legal_arms(tree, node, bandit, part_mask)
                    arm = np.int64(NONE)
                    actions[actor, part] = 0
                    if count > 0:
                        arm, word = select_arm(tree, agent, count, workspace.exploration[0], word)
                        actions[actor, part] = tree.action[arm]
                    tree.path[depth, bandit] = arm
                    start += parts[part]
            if in_tree:
                depth += 1
                for actor in range(actions.shape[0]):
                    for part in range(parts.shape[0]):
                        key = hash_child(key, actions[actor, part])
            if steps < workspace.line.shape[0]:
                workspace.line[steps] = actions[0, 0]
            step(state, actions, reward)
            steps += 1
            for a in range(reward.shape[0]):
                for k in range(reward.shape[1]):
                    workspace.returns[a, k] += reward[a, k]
            if in_tree:
                key = hash_child(key, np.int64(state["to_move"]))
                in_tree = not is_new
        if state["over"] or is_valued or steps == workspace.horizon[0]:
            backpropagate(tree, workspace, depth, sequential)
        return steps, word

    return simulate


def make_rating_kernel(game: Game) -> Callable[..., Any]:
    """Return the kernel that adds the moves of a new node as arms, each as if visited once with the value of its tables.

    The playout ends there, with the returns of the best one. It returns their number.
    """
    play_copy, write_legal, add_values = make_lookahead(game).play_copy, make_distinct_legal(game), make_value_kernel(game)

    @noinline_kernel
    def rate_arms(tree, node, workspace):
        trial, values = workspace.trial, workspace.values
        state, after = trial.states[0], trial.states[1]
        agent = np.int64(state["to_move"])
        write_legal(state, trial.mask)
        count, best, returns = list_legal_arms(tree, node, 0, trial.mask), -np.inf, values.returns
        for i in range(count):
            arm = tree.candidates[i]
            play_copy(state, tree.action[arm], trial.states, 1, trial)
            for a in range(returns.shape[0]):
                for k in range(returns.shape[1]):
                    returns[a, k] = workspace.returns[a, k] + trial.reward[a, k]
            if after["over"] == 0:
                add_values(after, agent, values, returns)
            update_range(tree, workspace.criteria, returns)
            tree.visits[arm], total = 1, 0.0
            for g in range(workspace.criteria.shape[0]):
                tree.sums[arm, g] = scalarize_return(workspace.criteria, returns, agent, g)
                total += workspace.criterion_weights[g] * tree.sums[arm, g]
            if total > best:
                best = total
                copy_returns(returns, values.best)
        copy_returns(values.best, workspace.returns)
        if tree.priors.shape[0] > 0:
            write_priors(tree, workspace, count, best)
        return count

    return rate_arms


@kernel
def write_priors(tree, workspace, count, best):
    """Write the softmax of the values of the first `count` candidates, each visited once, the best of which is given."""
    total = 0.0
    for i in range(count):
        arm = tree.candidates[i]
        value = 0.0
        for g in range(workspace.criteria.shape[0]):
            value += workspace.criterion_weights[g] * tree.sums[arm, g]
        tree.priors[arm] = exponential((value - best) / workspace.temperature[0])
        total += tree.priors[arm]
    for i in range(count):
        tree.priors[tree.candidates[i]] /= total


@kernel
def copy_returns(source, out):
    for a in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[a, k] = source[a, k]


@kernel
def rate_no_arms(tree, node, workspace):
    return 0


@kernel
def update_range(tree, criteria, returns):
    """Extend the smallest and the largest return of each agent."""
    for agent in range(returns.shape[0]):
        for g in range(criteria.shape[0]):
            value = scalarize_return(criteria, returns, agent, g)
            tree.low[agent, g] = min(tree.low[agent, g], value)
            tree.high[agent, g] = max(tree.high[agent, g], value)


@noinline_kernel
def backpropagate(tree, workspace, depth, sequential):
    """Add the agents' returns to the arms on the path."""
    slots, parts = tree.first.shape[1], workspace.parts.shape[0]
    update_range(tree, workspace.criteria, workspace.returns)
    for ply in range(depth):
        for slot in range(slots):
            arm = np.int64(tree.path[ply, slot])
            if arm != NONE:
                agent = np.int64(tree.path[ply, slots]) if sequential else slot // parts
                tree.visits[arm] += 1
                for g in range(workspace.criteria.shape[0]):
                    tree.sums[arm, g] += scalarize_return(workspace.criteria, workspace.returns, agent, g)


@kernel
def scalarize_return(criteria, returns, agent, g):
    """Return the value of an agent's return for criterion g."""
    value = 0.0
    for k in range(returns.shape[1]):
        value += criteria[g, k] * returns[agent, k]
    return value


@noinline_kernel
def select_action(tree, workspace, agent, row, part, word):
    """Return the secure child of the root's bandit of an agent (actor `row`) and part, and the generator word.

    The secure child is the action with the best lower confidence bound of its value; 0 if no action was legal.
    """
    count = list_arms(tree, 0, row * workspace.parts.shape[0] + part)
    arm, word = select_secure_arm(tree, agent, count, workspace.criterion_weights, workspace.exploration[0], word)
    return np.int64(tree.action[arm]) if count > 0 else 0, word
