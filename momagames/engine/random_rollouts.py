# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Random playouts with the policy inside the compiled loop: for Monte-Carlo estimates and measurements of throughput."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine import loops
from momagames.engine.batch import Batch
from momagames.engine.threads import run_in_parts
from momagames.errors import InvalidParameter, InvalidState, check_range
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import random_words

NO_LIMIT = 2**62


def random_rollouts(
    game: Game,
    states: NDArray[Any],
    seed: int | NDArray[np.uint64] = 0,
    max_steps: int | None = None,
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Play each state to its end with uniformly random legal actions of every agent.

    states      record[N], not modified. Several rows may be the same position: random events of the game depend on the random
                state of the record, the choices of the policy on `seed`
    seed        a number, or the generator words of the policy, uint64[N] (not modified): the result of a row depends only on
                its state and its word, not on N or `threads`
    max_steps   largest number of steps (default: no limit)
    Returns     float64[N, A, K], the returns of A agents in K objectives, and int32[N], the numbers of steps; both 0 for a
                finished game
    Raises      InvalidState, InvalidParameter
    """
    if not isinstance(states, np.ndarray) or states.dtype != game.dtype or states.ndim != 1:
        raise InvalidState(
            f"{game.id}: rollouts start from an array of state records, record[N]; given: {type(states).__name__}"
        )
    check_range("max_steps", 1 if max_steps is None else max_steps, 1)
    check_range("threads", threads, 1)
    n = len(states)
    words = np.array(seed, np.uint64) if isinstance(seed, np.ndarray) else random_words(seed, n)
    if words.shape != (n,):
        raise InvalidParameter(f"seed has shape {words.shape}; needed: a number, or one generator word for each of {n} states")
    returns, lengths = np.zeros((n, len(game.agents), len(game.objectives))), np.zeros(n, np.int32)
    limit = NO_LIMIT if max_steps is None else max_steps
    states, parts, play = np.ascontiguousarray(states), np.array(game.actions, np.int64), _make_rollout_loop(game)

    def play_rows(low: int, high: int) -> None:
        scratch = (
            np.zeros(1, game.dtype), np.zeros(game.mask_size, np.int8), np.zeros((game.actors, len(parts)), np.int64),
            np.zeros(returns.shape[1:], np.float32),
        )  # fmt: skip
        play(low, high, states, words, limit, parts, returns, lengths, *scratch)

    run_in_parts(play_rows, n, threads, smallest=1)  # a row is a whole game
    return returns, lengths


def random_steps(batch: Batch, words: NDArray[np.uint64], steps: int) -> None:
    """Repeat `batch.step(batch.sample_actions(words))` in one call, `steps` times, on one thread.

    words   uint64[N], the generator words of the policy, which advance
    """
    if steps > 0:
        with batch.lock:
            batch.step(batch.sample_actions(words))  # raises InvalidCall before `reset`
            _make_step_loop(batch.game)(
                steps - 1, words, np.array(batch.game.actions, np.int64), *batch.step_arguments(batch.last_actions)
            )


@loops.cache_by_rules
def _make_rollout_loop(game: Game) -> Callable[..., None]:
    choose_randomly, needs_mask = loops.make_random_choice(game), game.kernels.sample_action is None
    legal, step, sequential = game.kernels.legal, game.kernels.step, game.sequential

    def roll_out(low, high, states, words, limit, parts, returns, lengths, scratch, mask, actions, reward):
        for i in range(low, high):
            scratch[0] = states[i]
            state = scratch[0]
            word = words[i]
            length = 0
            while state["over"] == 0 and length < limit:
                for actor in range(actions.shape[0]):
                    agent = np.int64(state["to_move"]) if sequential else actor
                    if needs_mask:
                        legal(state, agent, mask)
                    word = choose_randomly(state, agent, mask, parts, word, actions[actor])
                step(state, actions, reward)
                for agent in range(reward.shape[0]):
                    for k in range(reward.shape[1]):
                        returns[i, agent, k] += reward[agent, k]
                length += 1
            lengths[i] = length

    return compile_entry_point(roll_out, f"{game.rules_key}.rollout")


@loops.cache_by_rules
def _make_step_loop(game: Game) -> Callable[..., None]:
    batch_loops = loops.compile_batch_loops(game)
    sample_actions, step = batch_loops.sample_actions, batch_loops.step

    def step_many(
        steps, words, parts, mode, max_steps, states, actions, obs, masks, rewards, terminated, truncated, to_move,
        ended, sums, lengths, returns, final_lengths, finished, final_obs, final_masks, orders, worst,
    ):  # fmt: skip
        for _ in range(steps):
            sample_actions(masks, words, actions, parts, states)
            step(
                0, states.shape[0], mode, max_steps, states, actions, obs, masks, rewards, terminated, truncated, to_move,
                ended, sums, lengths, returns, final_lengths, finished, final_obs, final_masks, orders, worst,
            )  # fmt: skip

    return compile_entry_point(step_many, f"{game.rules_key}.batch.step_many")
