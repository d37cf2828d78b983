# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The rules of a game as CUDA kernels (extra `cuda`): a thread for each environment of a batch.

They call the same kernels of the game as the loops for processors do, and states are the same records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momagames.contract import Game
from momagames.engine.loops import (
    Loop,
    cache_by_rules,
    make_action_sampler,
    make_legality_check,
    make_starter,
    make_view_observer,
)
from momagames.kernels.jit import view_as
from momagames.kernels.jit.cuda import GridKernel, align_record, compile_grid_kernel, compile_ptx, compile_row_kernel

WORD, INT64, FLOAT32, UINT32, FLAG = (np.dtype(name) for name in ("u8", "i8", "f4", "u4", "i1"))


@dataclass(frozen=True)
class CudaKernels:
    """CUDA kernels over the arrays of a `CudaBatch` of N environments.

    start    states[N], words uint64[N]: write start positions from generator words
    step     states[N], actions int64[N, S, P], rewards float32[N, A, K]: actions must be legal; a game that is over starts
             again
    observe  states[N], observations uint32[N, V, words], masks uint32[N, V, words]: the bytes of each, and bytes that mean
             nothing after them
    check    states[N], actions int64[N, S, P], masks int8[N, V, M], illegal int64[1]: set illegal[0] to an environment whose
             action is illegal, if there is one
    sample   states[N], actions int64[N, S, P], masks int8[N, V, M], words uint64[N]: write uniformly random legal actions
    """

    start: GridKernel
    step: GridKernel
    observe: GridKernel
    check: GridKernel
    sample: GridKernel


def count_words(game: Game) -> tuple[int, int]:
    """Return the length of an observation and of a mask in words of 4 bytes."""
    return -(-game.observation_bytes // 4), -(-game.mask_size // 4)


def compile_cuda_kernels(game: Game) -> CudaKernels:
    """Return the CUDA kernels for the rules and sizes of a game. Raises MissingExtra."""
    return _compile_kernels(game, game.observation_bytes, game.mask_size, game.actions)


@cache_by_rules
def _compile_kernels(game: Game, obs_bytes: int, mask_bytes: int, sizes: tuple[int, ...]) -> CudaKernels:
    observe_view, restart, step_state = make_view_observer(game), make_starter(game), game.kernels.step
    find_illegal_actor, sample_row = make_legality_check(game), make_action_sampler(game)
    parts = np.array(sizes, np.int64)

    def start(i, states, words):
        states[i]["rng"] = words[i]
        restart(states[i])

    def step(i, states, actions, rewards):
        if states[i]["over"]:
            restart(states[i])
            for agent in range(rewards.shape[1]):
                for k in range(rewards.shape[2]):
                    rewards[i, agent, k] = 0.0
        else:
            step_state(states[i], actions[i], rewards[i])

    def observe(i, view, views, states, obs, mask):
        observe_view(states[i], view, views, obs[:obs_bytes], view_as(mask, np.int8)[:mask_bytes])

    def check(i, states, actions, masks, illegal):
        if not states[i]["over"] and find_illegal_actor(states[i], actions[i], masks[i], parts) >= 0:
            illegal[0] = i

    def sample(i, states, actions, masks, words):
        words[i] = sample_row(states[i], masks[i], parts, words[i], actions[i])

    def compile_rows(body: Loop) -> GridKernel:
        return compile_row_kernel(body, *count_words(game))

    return CudaKernels(
        start=compile_grid_kernel(start),
        step=compile_grid_kernel(step),
        observe=compile_rows(observe),
        check=compile_grid_kernel(check),
        sample=compile_grid_kernel(sample),
    )


def compile_rules_to_ptx(game: Game, capability: tuple[int, int] = (8, 0)) -> dict[str, str]:
    """Return the PTX of all kernels for cards of a compute capability, by name; no card is needed.

    Raises    MissingExtra
    """
    states, actions, masks = (align_record(game.dtype), 1), (INT64, 3), (FLAG, 3)
    arrays = {
        "start": (states, (WORD, 1)),
        "step": (states, actions, (FLOAT32, 3)),
        "observe": (states, (UINT32, 3), (UINT32, 3)),
        "check": (states, actions, masks, (INT64, 1)),
        "sample": (states, actions, masks, (WORD, 1)),
    }
    kernels = compile_cuda_kernels(game)
    return {name: compile_ptx(getattr(kernels, name), types, capability) for name, types in arrays.items()}
