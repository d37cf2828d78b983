"""The loops around policies that are kernels; see `momagames.engine.policies` for what they promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import has_choice, sample_legal
from momagames.kernels.jit import driver, kernel
from momagames.kernels.rng import advance

_loops: dict[tuple[str, str], Callable[..., None]] = {}


def loop(game: Game, name: str, act: Callable[..., Any], plain: bool = True) -> Callable[..., None]:
    """The compiled loop that lets a policy play games of these rules; `name` tells the policies apart.

    plain    whether `act` takes no scratch
    """
    key = (game.rules_key, name)
    if key not in _loops:
        _loops[key] = _make_loop(game, name, _without_scratch(act) if plain else act)
    return _loops[key]


def _without_scratch(act: Callable[..., Any]) -> Callable[..., Any]:
    @kernel
    def decide(state, agent, mask, parts, memory, scratch, word, action):
        return act(state, agent, mask, parts, memory, word, action)

    return decide


def _make_loop(game: Game, name: str, decide: Callable[..., Any]) -> Callable[..., None]:
    sequential = game.sequential

    def act(states, masks, plays, lengths, memories, blanks, scratch, words, parts, actions):
        for i in range(states.shape[0]):
            if states[i]["over"]:
                continue
            if lengths[i] == 0:
                for agent in range(plays.shape[1]):
                    if plays[i, agent]:
                        memories[i, agent] = blanks[i if blanks.shape[0] > 1 else 0]
            for actor in range(actions.shape[1]):
                agent = np.int64(states[i]["to_move"]) if sequential else actor
                if plays[i, agent]:
                    mask = masks[i, agent if masks.shape[1] > 1 else 0]
                    if has_choice(mask, parts):
                        words[i, agent] = decide(
                            states[i], agent, mask, parts, memories[i, agent], scratch, words[i, agent], actions[i, actor]
                        )
                    else:
                        first_legal(mask, parts, actions[i, actor])

    return driver(act, f"{game.rules_key}.policy.{name}")


@kernel
def first_legal(mask, parts, action):
    """The first legal action of each part (0 where there is none): the only one of somebody who has no choice."""
    start = 0
    for part in range(parts.shape[0]):
        action[part] = 0
        for value in range(parts[part] - 1, -1, -1):
            if mask[start + value]:
                action[part] = value
        start += parts[part]


@kernel
def random_act(state, agent, mask, parts, memory, word, action):
    """The policy "random": a legal value of each part, uniformly."""
    start = 0
    for part in range(parts.shape[0]):
        word = advance(word)
        action[part] = sample_legal(mask[start : start + parts[part]], word)
        start += parts[part]
    return word
