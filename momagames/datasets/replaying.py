"""Episodes from their actions: observations, masks and rewards are computed again by the compiled rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.datasets.shards import Shard
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidFile

MAX_BYTES = 64 << 20  # of the arrays of a block
MAX_EPISODES = 1024  # of a block


@dataclass(frozen=True)
class Block:
    """Some episodes of a file of data, played side by side: N episodes of up to T steps, with V views.

    V is 1 where agents move in turn: the agent to move. It is the number of agents where all move at once.

    first           index of its first episode in the file
    lengths         int64[N]
    observations    uint8[T + 1, N, V, B], what the agents see before each step and at the end
    masks           int8[T + 1, N, V, M], legal actions
    agents          int64[T + 1, N, V], the agent of a view
    actions         int64[T, N, S, P]
    rewards         float32[T, N, A, K]
    terminated, truncated    bool[T, N, A], after each step
    states          record[T, N] before each step, or None

    Rows after the end of an episode repeat its end, with zero rewards.
    """

    first: int
    lengths: NDArray[np.int64]
    observations: NDArray[np.uint8]
    masks: NDArray[np.int8]
    agents: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    states: NDArray[Any] | None


def replay_shard(game: Game, shard: Shard, place: str, with_states: bool = False) -> Iterator[Block]:
    """Yield the episodes of a file of data in blocks of limited size.

    Raises InvalidFile, with the episode, if an action is illegal or the episode differs from the stored one
    """
    ends = np.cumsum(shard.lengths, dtype=np.int64)
    views = 1 if game.sequential else len(game.agents)
    step_bytes = views * (game.observation_bytes + game.mask_size) + game.dtype.itemsize * with_states
    size = max(1, min(MAX_EPISODES, MAX_BYTES // (step_bytes * (int(shard.lengths.max(initial=0)) + 1))))
    for first in range(0, len(shard), size):
        lengths = shard.lengths[first : first + size].astype(np.int64)
        steps = np.arange(lengths.max(initial=0))
        rows = (ends[first : first + size] - lengths)[:, None] + steps
        is_played = steps < lengths[:, None]
        actions = shard.actions[np.where(is_played, rows, 0)] * is_played[..., None, None]
        yield _replay(game, shard, place, first, lengths, actions.astype(np.int64).swapaxes(0, 1).copy(), with_states)


def _replay(
    game: Game, shard: Shard, place: str, first: int, lengths: NDArray[np.int64], actions: NDArray[np.int64], with_states: bool
) -> Block:
    """Play actions int64[T, N, S, P]."""
    chosen, steps, count = slice(first, first + len(lengths)), len(actions), len(lengths)
    batch = Batch(game, count, autoreset="disabled")
    batch.load(generate_starts(game, shard.seeds[chosen]))
    views = batch.masks.shape[1]
    block = Block(
        first,
        lengths,
        np.empty((steps + 1, *batch.observations.shape), np.uint8),
        np.empty((steps + 1, *batch.masks.shape), np.int8),
        np.broadcast_to(np.arange(views), (steps + 1, count, views)).copy(),
        actions,
        np.zeros((steps, *batch.rewards.shape), np.float32),
        np.empty((steps, *batch.terminated.shape), np.bool_),
        np.empty((steps, *batch.terminated.shape), np.bool_),
        np.empty((steps, count), game.dtype) if with_states else None,
    )
    for t in range(steps + 1):
        block.observations[t], block.masks[t] = batch.observations, batch.masks
        if game.sequential:
            block.agents[t, :, 0] = batch.to_move
        is_over = batch.states["over"] != 0
        if not np.array_equal(is_over, lengths <= t):
            _reject(place, first + int((is_over != (lengths <= t)).argmax()), f"ends at another step than {t}")
        if t == steps:
            break
        if block.states is not None:
            block.states[t] = batch.states
        if (env := batch.find_illegal_env(batch.actions(actions[t]))) >= 0:
            _reject(place, first + env, f"step {t}: an illegal action")
        batch.step(batch.last_actions)
        block.rewards[t] = batch.rewards
        block.terminated[t], block.truncated[t] = batch.terminated, batch.truncated
    differs = (batch.returns != shard.returns[chosen]).any(axis=(1, 2))
    if differs.any():
        _reject(place, first + int(differs.argmax()), "other returns than the stored ones")
    return block


def _reject(place: str, episode: int, problem: str) -> None:
    raise InvalidFile(f"{place}: episode {episode} of the file: {problem}; the data are damaged, or of other rules")
