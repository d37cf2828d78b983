# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops over whole episodes of random and greedy agents, without Python between two moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.lookahead import Trial, can_look_ahead, make_heuristic, make_lookahead, make_trial, weigh
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
        states, rules, weights, words, NO_LIMIT, np.array(game.actions, np.int64), make_trial(game), returns, lengths, steps,
        moves,
    )  # fmt: skip
    return Episodes(states, returns, lengths, steps, moves)


def _make_greedy(game: Game, has_estimate: bool) -> Callable[..., Any]:
    """Return a kernel that chooses the action of the highest weighted reward, plus estimate of the position after it."""
    try_action, draws = make_lookahead(game).try_action, game.chance == "step"
    estimate_position = _make_estimate(game) if has_estimate else _estimate_nothing

    @kernel
    def choose_greedy(state, agent, mask, weights, factors, word, trial):
        """Return the action (ties broken at random), and the generator word; `trial.steps` are those of this choice."""
        best, action, ties = -np.inf, 0, 0
        trial.steps[0] = 0
        if draws:  # those to come are unknown to the agent
            word = advance(word)
        rng = mix(word) if draws else state["rng"]
        for a in range(mask.shape[0]):
            if mask[a]:
                try_action(state, a, rng, trial)
                value = weigh(weights, trial.reward, agent)
                value += estimate_position(weights, factors, trial, trial.reward[agent])
                is_best, best, ties, word = update_best(value, best, ties, word)
                if is_best:
                    action = a
        return action, word

    @kernel
    def choose_none(state, agent, mask, weights, factors, word, trial):
        return 0, word

    return choose_greedy if can_look_ahead(game) else choose_none


@kernel
def _estimate_nothing(weights, factors, trial, out):
    return 0.0


def _make_estimate(game: Game) -> Callable[..., Any]:
    write_present, write_optimistic = make_heuristic(game.search.present), make_heuristic(game.search.optimistic)

    @kernel
    def estimate_position(weights, factors, trial, out):
        """Return the weighted heuristics of the position that was tried; out, float[K], is a buffer."""
        value = 0.0
        if trial.states[0]["over"]:
            return value
        for heuristic in range(2):
            if factors[heuristic] != 0.0:
                if heuristic == 0:
                    write_present(trial.states[0], trial, out)
                else:
                    write_optimistic(trial.states[0], trial, out)
                for k in range(weights.shape[0]):
                    value += factors[heuristic] * weights[k] * out[k]
        return value

    return estimate_position


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

    def play_all(states, rules, weights, words, limit, parts, trial, returns, lengths, steps, moves):
        mask, actions, reward = trial.mask, trial.actions, trial.reward
        for i in range(states.shape[0]):
            state = states[i]
            while state["over"] == 0 and lengths[i] < limit:
                for actor in range(actions.shape[0]):
                    agent = np.int64(state["to_move"]) if sequential else actor
                    rule = rules[i, agent]
                    if needs_mask or rule >= GREEDY:
                        legal(state, agent, mask)
                    if rule >= GREEDY:
                        action, words[i, agent] = choose_greedy(
                            state, agent, mask, weights[i, agent], ESTIMATE_FACTORS[rule - GREEDY], words[i, agent], trial
                        )
                        actions[actor, 0] = action
                        steps[i] += trial.steps[0] if trial.steps[0] > 1 else 0  # without a choice there is nothing to look for
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

    Scratch: weights float64[K], factors float64[2] of ESTIMATE_FACTORS, and the arrays of `Trial`
    """
    choose_greedy = _make_greedy(game, has_estimate)

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        weights, factors, trial = scratch[0], scratch[1], Trial(*scratch[2:])
        action[0], word = choose_greedy(state, agent, mask, weights, factors, word, trial)
        memory["lookahead_steps"] += trial.steps[0]
        return word

    return act
