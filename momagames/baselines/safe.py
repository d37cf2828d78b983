# mypy: allow-untyped-defs, allow-untyped-calls
"""Filtered policies "safe:NAME": a policy that chooses among the actions that its game declares safe."""

from __future__ import annotations

import functools
from functools import partial
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.masks import fill_forced_action, has_choice, sample_legal
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_loops import ignore_scratch
from momagames.engine.policy_sources import PolicyFactory, PolicySource, make_batch_policy
from momagames.errors import InvalidParameter, check_range
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance

MAX_CAUTION = 2


@functools.lru_cache(maxsize=1024)
def make_safe_source(label: str, inner_name: str, source: PolicySource) -> PolicyFactory:
    """Return the source of a filtered policy.

    label         its name
    inner_name    name of the policy that it filters, and its source
    """
    return PolicyFactory(partial(_make_safe_policy, label, inner_name, source))


def _make_safe_policy(
    label: str, inner_name: str, source: PolicySource, game: Game, caution: int = MAX_CAUTION
) -> CompiledPolicy:
    """Return a policy that sees a mask without unsafe actions, and plays a random safe action instead of an unsafe one.

    caution    1 or 2, see `contract.LearningSupport.clear_unsafe_actions`
    Raises     UnknownId; InvalidParameter if the game declares no safe actions, or the policy is not compiled
    """
    clear = game.learning.clear_unsafe_actions
    if clear is None:
        raise InvalidParameter(f"{label}: {game.id} does not declare safe actions: expected {inner_name!r}")
    check_range(f"{label}: caution", caution, 1, MAX_CAUTION, whole=True)
    inner = make_batch_policy(inner_name, source, game)
    if not isinstance(inner, CompiledPolicy):
        raise InvalidParameter(f"{label}: {inner_name!r} is Python: expected a compiled policy")
    choose = inner.act if inner.scratch else ignore_scratch(inner.act)

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        safe, level, inner_scratch = scratch
        for place in range(mask.shape[0]):
            safe[place] = mask[place]
        clear(state, agent, level[0], safe)
        if has_choice(safe, parts):
            word = choose(state, agent, safe, parts, memory, inner_scratch, word, action)
        else:
            fill_forced_action(safe, parts, action)
        if safe[action[0]] == 0:
            word = advance(word)
            action[0] = sample_legal(safe[: parts[0]], word)
        return word

    def make_scratch(game: Game) -> tuple[Any, ...]:
        return np.zeros(game.mask_size, np.int8), np.array([caution]), inner.make_scratch(game)

    text = label if caution == MAX_CAUTION else f"{label}(caution={caution})"
    return CompiledPolicy(f"safe.{inner.name}", act, inner.memory, (game.rules_key,), inner.initial_memory, make_scratch, text)
