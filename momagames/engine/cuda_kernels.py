# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The rules of a game as CUDA kernels (extra `cuda`): a thread for each environment of a batch.

They call the same kernels of the game as the loops for processors do. States are the same records, one after the other, so
that neighboring threads do not read neighboring memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import Loop, cache_by_rules, make_observer, make_starter
from momagames.kernels.jit.cuda import compile_grid_kernel, compile_ptx

KERNELS = ("start", "step", "observe")
WORD, INT64, FLOAT32, BYTE, FLAG = (np.dtype(name) for name in ("u8", "i8", "f4", "u1", "i1"))


@dataclass(frozen=True)
class CudaKernels:
    """CUDA kernels, called as `kernel[blocks, threads](...)` with arrays on the card; N environments.

    start    states[N], words uint64[N]: write start positions from generator words
    step     states[N], actions int64[N, actors, parts], rewards float32[N, agents, objectives]; actions must be legal
    observe  states[N], observations uint8[N, views, bytes], masks int8[N, views, size]
    """

    start: Any
    step: Any
    observe: Any


@cache_by_rules
def compile_cuda_kernels(game: Game) -> CudaKernels:
    """Return the CUDA kernels for the rules of a game. Raises MissingExtra."""
    return CudaKernels(**{name: compile_grid_kernel(body) for name, body in _make_bodies(game).items()})


def compile_rules_to_ptx(game: Game, capability: tuple[int, int] = (8, 0), names: Sequence[str] = KERNELS) -> dict[str, str]:
    """Return the PTX of these kernels for cards of a compute capability, by name; no card is needed.

    Raises    MissingExtra
    """
    states = (game.dtype, 1)
    arrays = {
        "start": (states, (WORD, 1)),
        "step": (states, (INT64, 3), (FLOAT32, 3)),
        "observe": (states, (BYTE, 3), (FLAG, 3)),
    }
    bodies = _make_bodies(game)
    return {name: compile_ptx(bodies[name], arrays[name], capability) for name in names}


def _make_bodies(game: Game) -> dict[str, Loop]:
    step_state, start_episode, observe_rows = game.kernels.step, make_starter(game), make_observer(game)

    def start(i, states, words):
        states[i]["rng"] = words[i]
        start_episode(states[i])

    def step(i, states, actions, rewards):
        step_state(states[i], actions[i], rewards[i])

    def observe(i, states, observations, masks):
        observe_rows(states[i], observations[i], masks[i])

    return {"start": start, "step": step, "observe": observe}
