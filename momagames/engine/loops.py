# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The compiled loops: compiled once for each set of rules, shared by every environment API.

`compile_episode_loops` serves one environment (AEC, Parallel, Gymnasium), `compile_batch_loops` many (vector API, search,
rollouts). Both call the same kernels of the game.

A kernel is compiled again for each place that calls it. Therefore one loop starts, steps and observes, and calls each kernel in
one place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from momagames.contract import Game
from momagames.engine.masks import fill_forced_action, fill_next_legal, find_mask_row, has_choice, sample_parts
from momagames.engine.worker_kernels import compile_shared_loop
from momagames.kernels.jit import compile_entry_point, kernel, noinline_kernel
from momagames.kernels.record import CUT_OFF
from momagames.kernels.rng import advance

NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2  # autoreset modes
# What a loop does with a state; in a batch also 0, 1, ...: the number of the agent that forfeits the episode in this step
STEP, START, OBSERVE, SKIP = -1, -2, -3, -4

OVER, TERMINATED, TRUNCATED, AGENT_LEFT, MOVER = 1, 2, 4, 8, 16  # bits of the status that `EpisodeLoops.step` returns

Loop = Callable[..., Any]
T = TypeVar("T")
P = ParamSpec("P")


def cache_by_rules(make: Callable[Concatenate[Game, P], T]) -> Callable[Concatenate[Game, P], T]:
    """Cache compiled loops and their parts by `Game.rules_key` and the other arguments; parameters are part of the states."""
    cache: dict[tuple[Any, ...], T] = {}

    @functools.wraps(make)
    def get_loops(game: Game, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = game.rules_key, args, *kwargs.items()
        if key not in cache:
            cache[key] = make(game, *args, **kwargs)
        return cache[key]

    return get_loops


@kernel
def reset_header(state):
    """Clear the header of a state before `generate`; its random state continues."""
    state["to_move"] = 0
    state["ply"] = 0
    state["over"] = 0
    state["truncated"] = 0
    state["gone"][:] = 0


@kernel
def episode_status(state):
    """Return the end of an episode in the bits OVER, TERMINATED and TRUNCATED; 0 before the end."""
    if not state["over"]:
        return 0
    cut = np.int64(state["truncated"])
    return OVER + (cut != CUT_OFF) * TERMINATED + (cut != 0) * TRUNCATED


@dataclass(frozen=True)
class EpisodeLoops:
    """Loops of one environment; each works on `states[0]`.

    generate(states)                                  write a start position
    observe(states, agent, obs, mask)                 write the observation of `agent`, uint8[B], and its mask, int8[M]
    play(order, states, actions, parts, reward, totals, returns, obs, masks)
                                                      STEP, START or neither (OBSERVE); then write the observation and the
                                                      mask of the agent to move (one row), or of every agent (a row each). A
                                                      step adds the reward to `returns` and to `totals`, which restart for
                                                      the agents that acted. Returns OVER | TERMINATED | TRUNCATED |
                                                      AGENT_LEFT, and the agent to move times MOVER; or -1 - actor if an
                                                      action is illegal, and changes nothing
    """

    generate: Loop
    observe: Loop
    play: Loop


@dataclass(frozen=True)
class BatchLoops:
    """Loops of a batch; see `momagames.engine.batch.Batch` for the arrays."""

    find_illegal_env: Loop
    find_illegal_actor: Loop
    replace_illegal: Loop
    step: Loop
    step_shared: Loop
    sample_actions: Loop


@cache_by_rules
def make_starter(game: Game) -> Loop:
    generate = game.kernels.generate

    @noinline_kernel
    def start_episode(state):
        """Write a start position."""
        reset_header(state)
        generate(state)

    return start_episode


@kernel
def _keep_all_actions(state, mask):
    """Keep every action."""


def get_pruner(game: Game) -> Loop:
    """Return the kernel `SearchSupport.prune_equivalent_actions`, or one that keeps every action."""
    return game.search.prune_equivalent_actions or _keep_all_actions


@cache_by_rules
def make_distinct_legal(game: Game) -> Loop:
    legal, prune = game.kernels.legal, get_pruner(game)

    @kernel
    def write_distinct_legal(state, mask):
        """Write the mask of the agent to move, without actions that are equivalent to a remaining one."""
        legal(state, np.int64(state["to_move"]), mask)
        prune(state, mask)

    return write_distinct_legal


@cache_by_rules
def make_mask_writer(game: Game) -> Loop:
    legal = game.kernels.legal

    @kernel
    def write_mask(state, agent, mask):
        """Write the mask of an agent; if a limit ended the episode, that of the position, for learners that bootstrap."""
        is_cut = state["over"] != 0 and state["truncated"] == CUT_OFF
        if is_cut:
            state["over"] = 0
        legal(state, agent, mask)
        if is_cut:
            state["over"] = 1

    return write_mask


@cache_by_rules
def make_view_observer(game: Game) -> Loop:
    write_mask, observe, sequential = make_mask_writer(game), game.kernels.observe, game.sequential

    @kernel
    def observe_view(state, view, views, obs, mask):
        """Write observation and mask of the agent to move if there is one view, else of the agent of this number."""
        agent = np.int64(state["to_move"]) if sequential and views == 1 else view
        write_mask(state, agent, mask)
        observe(state, agent, obs)

    return observe_view


@cache_by_rules
def make_observer(game: Game) -> Loop:
    observe_view = make_view_observer(game)

    @kernel
    def observe_rows(state, obs, masks):
        """Write observation and mask of every view."""
        for v in range(obs.shape[0]):
            observe_view(state, v, obs.shape[0], obs[v], masks[v])

    return observe_rows


@cache_by_rules
def make_random_choice(game: Game) -> Loop:
    """Return a kernel (state, agent, mask, parts, word, action) -> word that writes a uniformly random legal action.

    It reads the mask only if the game has no `sample_action`. It returns the advanced generator word.
    """
    sample_action = game.kernels.sample_action

    @kernel
    def sample_from_mask(state, agent, mask, parts, word, action):
        return sample_parts(mask, parts, word, action)

    @kernel
    def sample_directly(state, agent, mask, parts, word, action):
        word = advance(word)
        action[0] = sample_action(state, agent, word)
        return word

    return sample_directly if sample_action else sample_from_mask


@cache_by_rules
def make_action_sampler(game: Game) -> Loop:
    sequential = game.sequential

    @kernel
    def sample_actions(state, masks, parts, word, actions):
        """Write uniformly random legal actions of all actors; return the advanced generator word."""
        for actor in range(actions.shape[0]):
            row = find_mask_row(state, masks, actor, sequential)
            word = sample_parts(masks[row], parts, word, actions[actor])
        return word

    return sample_actions


@cache_by_rules
def make_legality_test(game: Game) -> Loop:
    sequential, allows_illegal = game.sequential, game.allows_illegal

    @kernel
    def is_illegal(state, action, masks, parts, actor):
        """Return whether the action of an actor is illegal.

        In simultaneous games the action of an agent without a choice is replaced by its only action.
        """
        mask = masks[find_mask_row(state, masks, actor, sequential)]
        start, illegal = 0, False
        for part in range(parts.shape[0]):
            size = parts[part]
            illegal |= action[part] < 0 or action[part] >= size or (not allows_illegal and mask[start + action[part]] == 0)
            start += size
        if illegal and not sequential and not has_choice(mask, parts):
            fill_forced_action(mask, parts, action)
            return False
        return illegal

    return is_illegal


@cache_by_rules
def make_legality_check(game: Game) -> Loop:
    is_illegal = make_legality_test(game)

    @kernel
    def find_illegal_actor(state, actions, masks, parts):
        for actor in range(actions.shape[0]):
            if is_illegal(state, actions[actor], masks, parts, actor):
                return actor
        return -1

    return find_illegal_actor


@cache_by_rules
def compile_episode_loops(game: Game) -> EpisodeLoops:
    """Return the loops of one environment for the rules of a game."""
    write_mask, step_state, observe_state = make_mask_writer(game), game.kernels.step, game.kernels.observe
    start_episode, observe_rows, sequential = make_starter(game), make_observer(game), game.sequential
    find_illegal_actor = make_legality_check(game)

    def generate(states):
        start_episode(states[0])

    def observe(states, agent, obs, mask):
        write_mask(states[0], agent, mask)
        observe_state(states[0], agent, obs)

    def play(order, states, actions, parts, reward, totals, returns, obs, masks):
        state = states[0]
        mover = np.int64(state["to_move"])
        if order == STEP:
            actor = find_illegal_actor(state, actions, masks, parts)
            if actor >= 0:
                return -1 - actor
            step_state(state, actions, reward)
        elif order == START:
            start_episode(state)
        observe_rows(state, obs, masks)
        gone = 0
        for agent in range(reward.shape[0]):
            gone |= np.int64(state["gone"][agent])
            for k in range(reward.shape[1] if order == STEP else 0):
                before = totals[agent, k] if sequential and agent != mover else np.float32(0.0)
                totals[agent, k] = before + reward[agent, k]
                returns[agent, k] += reward[agent, k]
        return episode_status(state) + gone * AGENT_LEFT + np.int64(state["to_move"]) * MOVER

    name = game.rules_key
    return EpisodeLoops(  # under the GIL: another thread cannot change the state between the check of an action and its step
        generate=compile_entry_point(generate, f"{name}.generate", nogil=False),
        observe=compile_entry_point(observe, f"{name}.observe", nogil=False),
        play=compile_entry_point(play, f"{name}.play", nogil=False),
    )


@cache_by_rules
def compile_batch_loops(game: Game) -> BatchLoops:
    """Return the loops of a batch for the rules of a game."""
    step_state, start_episode, observe_rows = game.kernels.step, make_starter(game), make_observer(game)
    find_illegal_row, sample_row = make_legality_check(game), make_action_sampler(game)
    is_illegal, choose_randomly, sequential = make_legality_test(game), make_random_choice(game), game.sequential

    @kernel
    def copy_rewards(source, target):
        for agent in range(source.shape[0]):
            for k in range(source.shape[1]):
                target[agent, k] = source[agent, k]

    def find_illegal_env(first, states, actions, masks, parts, skip):
        """Return the first environment from `first` on with an illegal action, or -1."""
        for i in range(first, states.shape[0]):
            if not skip[i] and find_illegal_row(states[i], actions[i], masks[i], parts) >= 0:
                return i
        return -1

    def find_illegal_actor(states, actions, masks, parts, env):
        """Return the first actor of an environment with an illegal action, or -1."""
        return find_illegal_row(states[env], actions[env], masks[env], parts)

    def replace_illegal(states, actions, masks, parts, skip, is_random, words):
        """Replace illegal actions by random legal ones, drawn from a generator word for each environment, or by the next."""
        for i in range(states.shape[0]):
            if skip[i]:
                continue
            for actor in range(actions.shape[1]):
                if not is_illegal(states[i], actions[i, actor], masks[i], parts, actor):
                    continue
                mask = masks[i, find_mask_row(states[i], masks[i], actor, sequential)]
                if is_random:
                    agent = np.int64(states[i]["to_move"]) if sequential else actor
                    words[i] = choose_randomly(states[i], agent, mask, parts, words[i], actions[i, actor])
                else:
                    fill_next_legal(mask, parts, actions[i, actor])

    def step(
        low, high, mode, max_steps, states, actions, obs, masks, rewards, terminated, truncated, to_move,
        ended, sums, lengths, returns, final_lengths, finished, final_obs, final_masks, orders, worst,
    ):  # fmt: skip
        for i in range(low, high):
            state, order, is_last = states[i], orders[i], False
            if order == SKIP:
                continue
            if order == START:
                start_episode(state)
            elif order != OBSERVE:
                finished[i] = False
                if ended[i]:
                    rewards[i] = 0
                    if mode == DISABLED:
                        continue
                    start_episode(state)
                    ended[i] = False
                else:
                    if order == STEP:
                        step_state(state, actions[i], rewards[i])
                    else:
                        state["over"] = 1
                        copy_rewards(worst[order], rewards[i])
                    lengths[i] += 1
                    for agent in range(rewards.shape[1]):
                        for k in range(rewards.shape[2]):
                            sums[i, agent, k] += rewards[i, agent, k]
                status = episode_status(state)
                if not status and lengths[i] == max_steps:  # the position stays one of a running game
                    status = OVER | TRUNCATED
                for agent in range(rewards.shape[1]):
                    has_left = state["gone"][agent] != 0
                    terminated[i, agent] = has_left or status & TERMINATED != 0
                    truncated[i, agent] = status & TRUNCATED != 0 and not has_left
                if status & OVER != 0:
                    finished[i] = True
                    final_lengths[i] = lengths[i]
                    lengths[i] = 0
                    copy_rewards(sums[i], returns[i])
                    sums[i] = 0
                    is_last = mode == SAME_STEP
                    ended[i] = not is_last
            while True:  # first the last observation of an episode; a loop, so that the kernels are compiled in one place
                row, mask = (final_obs[i], final_masks[i]) if is_last else (obs[i], masks[i])
                observe_rows(state, row, mask)
                if not is_last:
                    break
                start_episode(state)
                is_last = False
            to_move[i] = state["to_move"]

    name = game.rules_key
    step_rows = compile_entry_point(step, f"{name}.batch.step")

    def sample_actions(masks, words, actions, parts, states):
        """Write uniformly random legal actions, drawn from a generator word for each environment."""
        for i in range(actions.shape[0]):
            words[i] = sample_row(states[i], masks[i], parts, words[i], actions[i])

    return BatchLoops(
        find_illegal_env=compile_entry_point(find_illegal_env, f"{name}.batch.find_illegal_env"),
        find_illegal_actor=compile_entry_point(find_illegal_actor, f"{name}.batch.find_illegal_actor"),
        replace_illegal=compile_entry_point(replace_illegal, f"{name}.batch.replace_illegal"),
        step=step_rows,
        step_shared=compile_shared_loop(step_rows, f"{name}.batch.step_shared"),
        sample_actions=compile_entry_point(sample_actions, f"{name}.batch.sample_actions"),
    )
