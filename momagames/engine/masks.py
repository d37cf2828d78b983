# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels on action masks, int8[M]: the parts of a MultiDiscrete action one after the other (see `contract.actions`)."""

from __future__ import annotations

import numpy as np

from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, value_mask64
from momagames.kernels.rng import advance, below

ONE, ONE_BYTE = np.uint64(1), np.uint8(1)


@kernel
def sample_legal(mask, word):
    """Return a uniformly random legal action of a Discrete mask, from a generator word; 0 if there is none."""
    size = mask.shape[0]
    if size < 64:
        return sample_legal_small(mask, word)
    legal = 0
    for start in range(0, size, 64):
        legal += bit_count(read_mask_word(mask, start))
    if legal == 0:
        return 0
    rank = below(word, legal)
    start = 0
    bits = read_mask_word(mask, start)
    here = bit_count(bits)
    while rank >= here:
        rank -= here
        start += 64
        bits = read_mask_word(mask, start)
        here = bit_count(bits)
    for _ in range(rank):
        bits &= bits - ONE  # clear the lowest bit
    return start + bit_count((bits & (~bits + ONE)) - ONE)


@kernel
def sample_legal_small(mask, word):
    """Return the same as `sample_legal` for fewer than 64 actions."""
    legal = 0
    for i in range(mask.shape[0]):
        legal += np.int64(mask[i])
    if legal == 0:
        return 0
    rank = below(word, legal)
    i = 0
    while rank > 0 or mask[np.uint64(i)] == 0:
        rank -= np.int64(mask[np.uint64(i)])
        i += 1
    return i


@kernel
def sample_parts(mask, parts, word, action):
    """Write a uniformly random legal value of each part of an action; return the advanced generator word."""
    start = 0
    for part in range(parts.shape[0]):
        word = advance(word)
        action[part] = sample_legal(mask[start : start + parts[part]], word)
        start += parts[part]
    return word


@kernel
def fill_next_legal(mask, parts, action):
    """Replace each part of an action by the first legal value at or after it, cyclically; 0 for a part without one."""
    start = 0
    for part in range(parts.shape[0]):
        values, given = mask[start : start + parts[part]], action[part]
        found = find_legal(values, given) if 0 <= given < parts[part] else -1
        if found < 0:
            found = find_legal(values, 0)
        action[part] = max(found, 0)
        start += parts[part]


@kernel
def find_legal(mask, first):
    """Return the first legal action of a Discrete mask from `first` on, or -1."""
    size = mask.shape[0]
    if size < 64:
        for value in range(first, size):
            if mask[value]:
                return value
        return -1
    for start in range(first, size, 64):
        bits = read_mask_word(mask, start)
        if bits:
            return start + bit_count((bits & (~bits + ONE)) - ONE)
    return -1


@kernel
def read_mask_word(mask, start):
    """Return the entries of the mask from `start` on as bits, up to 64. The mask has at least 64 entries."""
    place = min(start, mask.shape[0] - 64)
    return value_mask64(mask, place, ONE_BYTE, ONE_BYTE) >> np.uint64(start - place)


@kernel
def has_choice(mask, parts):
    """Return whether a mask has more than one legal action in some part."""
    start = 0
    for part in range(parts.shape[0]):
        legal = 0
        for place in range(start, start + parts[part]):
            legal += np.int64(mask[place])
        if legal > 1:
            return True
        start += parts[part]
    return False


@kernel
def fill_forced_action(mask, parts, action):
    """Write the action of a mask with at most one legal action in each part; 0 for a part without one."""
    start = 0
    for part in range(parts.shape[0]):
        action[part] = 0
        for choice in range(parts[part]):
            if mask[start + choice]:
                action[part] = choice
        start += parts[part]


@kernel
def list_actions(mask, actions):
    """List the legal actions in order, or action 0, a pass, if there is none; return their number. actions int64[M + 1]."""
    count = 0
    for a in range(mask.shape[0]):
        actions[count] = a
        count += np.int64(mask[a])
    if count == 0:
        actions[0] = 0
        count = 1
    return count


@kernel
def find_mask_row(state, masks, actor, sequential):
    """Return the row of masks, int8[V, M], with the actions of an actor: that of the agent to move where agents take turns."""
    return np.int64(state["to_move"]) if sequential and masks.shape[0] > 1 else actor
