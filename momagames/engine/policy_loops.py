# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled loops that let policies act in a batch; see `momagames.engine.policies`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.masks import fill_forced_action, has_choice, sample_parts
from momagames.kernels.jit import compile_entry_point, kernel

_loops: dict[tuple[str, str], Callable[..., None]] = {}


def policy_loop(game: Game, name: str, act: Callable[..., Any], has_scratch: bool) -> Callable[..., None]:
    """Return the compiled loop of a policy for games of these rules, made once for each name.

    has_scratch    whether `act` takes scratch arrays
    """
    key = (game.rules_key, name)
    if key not in _loops:
        _loops[key] = _make_loop(game, name, act if has_scratch else ignore_scratch(act))
    return _loops[key]


def ignore_scratch(act: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel of a policy without scratch arrays in the form of one with them."""

    @kernel
    def decide(state, agent, mask, parts, memory, scratch, word, action):
        return act(state, agent, mask, parts, memory, word, action)

    return decide


def _make_loop(game: Game, name: str, decide: Callable[..., Any]) -> Callable[..., None]:
    sequential = game.sequential

    def act(states, masks, seats, lengths, memories, initial, scratch, words, parts, actions):
        for i in range(states.shape[0]):
            if states[i]["over"]:
                continue
            if lengths[i] == 0:
                for agent in range(seats.shape[1]):
                    if seats[i, agent]:
                        memories[i, agent] = initial[seats[i, agent] - 1]
            for actor in range(actions.shape[1]):
                agent = np.int64(states[i]["to_move"]) if sequential else actor
                if seats[i, agent]:
                    mask = masks[i, agent if masks.shape[1] > 1 else 0]
                    if has_choice(mask, parts):
                        words[i, agent] = decide(
                            states[i], agent, mask, parts, memories[i, agent], scratch, words[i, agent], actions[i, actor]
                        )
                    else:
                        fill_forced_action(mask, parts, actions[i, actor])

    return compile_entry_point(act, f"{game.rules_key}.policy.{name}")


@kernel
def random_act(state, agent, mask, parts, memory, word, action):
    """Choose a legal value of each part, uniformly at random."""
    return sample_parts(mask, parts, word, action)
