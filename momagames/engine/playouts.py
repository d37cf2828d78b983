# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops over whole episodes of random and greedy agents, without Python between two moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.loops import cache_by_rules, make_random_choice, make_starter
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, mix, update_best

NO_LIMIT = 2**62
OPTIMISM = 0.1  # factor of the optimistic heuristic beside the other one
# Rules of compiled policies; GREEDY + i is greedy with ESTIMATES[i]
RANDOM, KERNEL, GREEDY = 0, 1, 2
Estimate = Literal["none", "present", "optimistic", "both"]
ESTIMATES: tuple[Estimate, ...] = get_args(Estimate)
# factors of the heuristics `present` and `optimistic` in the value of a position
ESTIMATE_FACTORS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, OPTIMISM]])


@dataclass(frozen=True)
class Episodes:
    """Outcome of N episodes.

    states    record[N], the final positions
    returns   float64[N, A, K]
    lengths   int64[N], steps of each episode
    steps     int64[N], environment steps: those of the episode, and those of lookahead
    moves     int32[N, T], the actions (-1 after the end); T is 0 without `keep_moves`. Where all agents move at once, or an
              action has several parts: int32[N, T, S, P]
    """

    states: NDArray[Any]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    steps: NDArray[np.int64]
    moves: NDArray[np.int32]


def generate_starts(game: Game, seeds: NDArray[np.uint64]) -> NDArray[Any]:
    """Return start positions record[N]; that of seed s is the position after reset(seed=s)."""
    states = np.zeros(len(seeds), game.dtype)
    states[:] = game.blank_state
    states["rng"] = seeds
    _compile_generation(game)(states)
    return states


def play_episodes(
    game: Game,
    states: NDArray[Any],
    rules: NDArray[np.int64],
    weights: NDArray[np.float64],
    words: NDArray[np.uint64],
    keep_moves: bool = False,
) -> Episodes:
    """Play from `states`, record[N], to the end; they are copied.

    The episodes are those of `policies.play_policies` up to the first position that leaves a player no choice: the rules draw
    there, and kernels are not called.

    rules     int64[N, A]: RANDOM, or GREEDY plus the number of an estimate, for each agent
    weights   float64[N, A, K], for GREEDY
    words     uint64[N, A], the generators of the players; copied
    """
    n, states, words = len(states), states.copy(), words.copy()
    returns = np.zeros((n, len(game.agents), len(game.objectives)))
    lengths, steps = np.zeros(n, np.int64), np.zeros(n, np.int64)
    moves = np.full((n, game.max_episode_steps if keep_moves else 0), -1, np.int32)
    compile_playouts(game, bool((rules > GREEDY).any()))(
        states, rules, weights, words, NO_LIMIT, np.array(game.actions, np.int64), np.zeros(2, game.dtype),
        np.zeros(game.mask_size, np.int8), *make_step_buffers(game), returns, lengths, steps, moves,
    )  # fmt: skip
    return Episodes(states, returns, lengths, steps, moves)


def make_step_buffers(game: Game) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return scratch arrays for a step: actions int64[S, P] and reward float32[A, K]."""
    return (
        np.zeros((game.actors, len(game.actions)), np.int64),
        np.zeros((len(game.agents), len(game.objectives)), np.float32),
    )


def can_look_ahead(game: Game) -> bool:
    """Return whether GREEDY can play: agents take turns, and an action is one number."""
    return game.sequential and len(game.actions) == 1


def supports_lookahead(game: Game) -> bool:
    """Return whether a policy may try its actions on a copy of the state: besides that, nothing is hidden from the agent."""
    return can_look_ahead(game) and game.information == "perfect"


def _make_greedy(game: Game, has_estimate: bool) -> Callable[..., Any]:
    """Return a kernel that chooses the action of the highest weighted reward, plus estimate of the position after it."""
    step, draws = game.kernels.step, game.chance == "step"
    estimate_position = _make_estimate(game) if has_estimate else _estimate_nothing

    @kernel
    def choose_greedy(state, agent, mask, weights, factors, word, trial, actions, reward):
        """Return the action (ties broken at random), the generator word and the steps tried."""
        best, action, ties, tried = -np.inf, 0, 0, 0
        if draws:  # those to come are unknown to the agent
            word = advance(word)
        rng = mix(word) if draws else state["rng"]
        for a in range(mask.shape[0]):
            if mask[a]:
                trial[0] = state
                trial[0]["rng"] = rng
                actions[0, 0] = a
                step(trial[0], actions, reward)
                tried += 1
                value = 0.0
                for k in range(weights.shape[0]):
                    value += weights[k] * reward[agent, k]
                value += estimate_position(trial, weights, factors, reward[agent])
                is_best, best, ties, word = update_best(value, best, ties, word)
                if is_best:
                    action = a
        return action, word, tried

    @kernel
    def choose_none(state, agent, mask, weights, factors, word, trial, actions, reward):
        return 0, word, 0

    return choose_greedy if can_look_ahead(game) else choose_none


@kernel
def _estimate_nothing(trial, weights, factors, out):
    return 0.0


def _make_estimate(game: Game) -> Callable[..., Any]:
    present, optimistic = game.search.present or zero_estimate, game.search.optimistic or zero_estimate

    @kernel
    def estimate_position(trial, weights, factors, out):
        """Return the weighted heuristics of the position trial[0]; trial[1] and out, float[K], are buffers."""
        value = 0.0
        if trial[0]["over"]:
            return value
        for heuristic in range(2):
            if factors[heuristic] != 0.0:
                trial[1] = trial[0]
                if heuristic == 0:
                    present(trial[1], out)
                else:
                    optimistic(trial[1], out)
                for k in range(weights.shape[0]):
                    value += factors[heuristic] * weights[k] * out[k]
        return value

    return estimate_position


@kernel
def zero_estimate(state, out):
    """Write zeros: the estimate of games without one."""
    out[:] = 0.0


@cache_by_rules
def _compile_generation(game: Game) -> Callable[..., None]:
    start_episode = make_starter(game)

    def start_all(states):
        for i in range(states.shape[0]):
            start_episode(states[i])

    return compile_entry_point(start_all, f"{game.rules_key}.start_all")


@cache_by_rules
def compile_playouts(game: Game, has_estimate: bool) -> Callable[..., None]:
    """Compile the loop over episodes of random and greedy agents; `has_estimate`: greedy ones may have an estimate."""
    legal, step, sequential = game.kernels.legal, game.kernels.step, game.sequential
    choose_greedy, choose_randomly = _make_greedy(game, has_estimate), make_random_choice(game)
    needs_mask = game.kernels.sample_action is None

    def play_all(states, rules, weights, words, limit, parts, trial, mask, actions, reward, returns, lengths, steps, moves):
        for i in range(states.shape[0]):
            state = states[i]
            while state["over"] == 0 and lengths[i] < limit:
                for actor in range(actions.shape[0]):
                    agent = np.int64(state["to_move"]) if sequential else actor
                    rule = rules[i, agent]
                    if needs_mask or rule >= GREEDY:
                        legal(state, agent, mask)
                    if rule >= GREEDY:
                        action, words[i, agent], tried = choose_greedy(
                            state, agent, mask, weights[i, agent], ESTIMATE_FACTORS[rule - GREEDY], words[i, agent], trial,
                            actions, reward,
                        )  # fmt: skip
                        actions[actor, 0] = action
                        steps[i] += tried if tried > 1 else 0  # without a choice there is nothing to look for
                    else:
                        words[i, agent] = choose_randomly(state, agent, mask, parts, words[i, agent], actions[actor])
                step(state, actions, reward)
                if lengths[i] < moves.shape[1]:
                    moves[i, lengths[i]] = actions[0, 0]
                lengths[i] += 1
                steps[i] += 1
                for agent in range(reward.shape[0]):
                    for k in range(reward.shape[1]):
                        returns[i, agent, k] += reward[agent, k]

    return compile_entry_point(play_all, f"{game.rules_key}.play_all{'.estimating' if has_estimate else ''}")


@cache_by_rules
def make_greedy_kernel(game: Game, has_estimate: bool) -> Callable[..., Any]:
    """GREEDY as the kernel of a policy, see `policies.CompiledPolicy`.

    Scratch: weights float64[K], factors float64[2] of ESTIMATE_FACTORS, trial record[2], actions, reward
    """
    choose_greedy = _make_greedy(game, has_estimate)

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        weights, factors, trial, actions, reward = scratch
        action[0], word, tried = choose_greedy(state, agent, mask, weights, factors, word, trial, actions, reward)
        memory["lookahead_steps"] += tried
        return word

    return act
