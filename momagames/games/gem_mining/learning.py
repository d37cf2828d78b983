# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What learners get of MO-GemMining: the gems of each mine, and difference rewards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momagames.contract import RewardFactor, RewardFactors
from momagames.games.gem_mining.rules import find_chance
from momagames.kernels.jit import kernel


@kernel
def count_gems(state, mine, kind):
    """Return the gems of a type that a mine has yielded, or their expected number."""
    if state["sampled"]:
        return np.float64((np.int64(state["gems"][mine]) >> kind) & 1)
    return find_chance(state, mine, kind, np.int64(state["arrived"][mine])) if state["arrived"][mine] else 0.0


@kernel
def write_gems(state, out):
    """Write the gems of each mine."""
    for mine in range(out.shape[0]):
        for kind in range(out.shape[1]):
            out[mine, kind] = count_gems(state, mine, kind)


@kernel
def write_differences(state, actions, out):
    """Write the gems of the mine of each village minus those without its workers.

    A gem that was drawn would have been drawn with the smaller chance, too, with the probability of the ratio of both.
    """
    for agent in range(out.shape[0]):
        mine, workers = np.int64(state["mine"][agent]), np.int64(state["workers"][agent])
        arrived = np.int64(state["arrived"][mine])
        for kind in range(out.shape[1]):
            chance = find_chance(state, mine, kind, arrived) if arrived else 0.0
            without = find_chance(state, mine, kind, arrived - workers) if arrived > workers else 0.0
            share = 1.0 - without / chance if chance > 0.0 else 0.0
            out[agent, kind] = count_gems(state, mine, kind) * share


def make_factors(reach: Sequence[int], mines: int) -> RewardFactors:
    """Return the local rewards: the gems of each mine, which depend on who comes."""
    factors = []
    for mine in range(mines):
        villages = [i for i in range(max(0, mine - max(reach) + 1), min(mine + 1, len(reach))) if mine < i + reach[i]]
        classes = tuple(tuple(int(i + action == mine) for action in range(reach[i])) for i in villages)
        factors.append(RewardFactor(tuple(villages), classes))
    return RewardFactors(factors=tuple(factors), write=write_gems)
