"""N environments of one game on a CUDA card (extra `cuda`)."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.batch import Views
from momagames.engine.cuda_kernels import compile_cuda_kernels, count_words
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, check_choice, check_range
from momagames.kernels.jit.cuda import align_record, import_cuda
from momagames.kernels.rng import random_words


class CudaBatch:
    """N states of one game with their observations, masks and rewards, all in the memory of a CUDA card.

    N environments, A agents, K objectives, V views (1: the agent to move; A: every agent), B bytes of an observation,
    M length of an action mask, S actors and P parts of an action (see `contract.Kernels`).

    observations   uint8[N, V, B]; `Game.observation_views` says which bytes are which field
    masks          int8[N, V, M]
    rewards        float32[N, A, K] of the last step
    actions        int64[N, S, P] of the last step
    over           uint8[N], whether the episode ended in the last step
    to_move        int32[N], the agent to move

    The arrays have the CUDA array interface, so that `torch.as_tensor(batch.observations, device="cuda")` and CuPy share their
    memory; the next step overwrites them. An episode that is over starts again in the next step, which ignores its action and
    has reward 0, like `next_step` of `Batch`.

    Raises    MissingExtra without numba-cuda; InvalidParameter without a card
    """

    def __init__(self, game: Game, num_envs: int, views: Views = "mover") -> None:
        check_range("num_envs", num_envs, 1, whole=True)
        check_choice("views", views, get_args(Views))
        self._cuda = import_cuda()
        if not self._cuda.is_available():
            raise InvalidParameter("CudaBatch needs a CUDA card and its driver, and none was found: use momagames.make_vec")
        self.game, self.num_envs = game, num_envs
        self._kernels = compile_cuda_kernels(game)
        views_count = 1 if game.sequential and views == "mover" else len(game.agents)
        obs_words, mask_words = count_words(game)
        self._states = self._upload(np.repeat(game.blank_state, num_envs).view(align_record(game.dtype)))
        self._observations = self._upload(np.zeros((num_envs, views_count, obs_words), np.uint32))
        self._masks = self._upload(np.zeros((num_envs, views_count, mask_words), np.uint32))
        self.observations = self._observations.view(np.uint8)[:, :, : game.observation_bytes]
        self.masks = self._masks.view(np.int8)[:, :, : game.mask_size]
        self.rewards = self._upload(np.zeros((num_envs, len(game.agents), len(game.objectives)), np.float32))
        self.actions = self._upload(np.zeros((num_envs, game.actors, len(game.actions)), np.int64))
        self.over, self.to_move = self._view_field("over"), self._view_field("to_move")
        self._illegal = self._upload(np.full(1, -1))
        self._words = self._upload(random_words(0, num_envs))
        self._started = False

    def _upload(self, array: NDArray[Any]) -> Any:
        return self._cuda.to_device(array)

    def _view_field(self, name: str) -> Any:
        """Return a field of the states as an array that shares their memory."""
        kind, offset = self.game.dtype.fields[name][:2]  # type: ignore[index]
        return self._states.view(kind).reshape(self.num_envs, -1)[:, offset // kind.itemsize]

    def reset(self, seed: int) -> None:
        """Start every environment i as a single environment with seed + i, and the generators of `step_randomly`."""
        self._kernels.start(self._states, self._upload(np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed % 2**64)))
        self._words = self._upload(random_words(seed, self.num_envs))
        self._started = True
        self._observe()

    def load(self, states: NDArray[Any]) -> None:
        """Copy states to the card, record[N]; they must be valid, see `engine.positions.restore_states`."""
        self._states.copy_to_device(np.ascontiguousarray(states).view(self._states.dtype))
        self._started = True
        self._observe()

    def states(self) -> NDArray[Any]:
        """Return a copy of the states, record[N], in the memory of the processor."""
        return np.asarray(self._states.copy_to_host()).view(self.game.dtype)

    def step(self, actions: Any) -> None:
        """Step every environment.

        actions   integers of shape [N, S, P] or without its axes of length 1, on the card or not

        Raises    IllegalAction; then no environment has changed
        """
        self._check_started()
        self.actions.copy_to_device(self._check_shape(actions))
        self._kernels.check(self._states, self.actions, self.masks, self._illegal)
        env = int(self._illegal.copy_to_host()[0])
        if env >= 0:
            self._illegal.copy_to_device(np.full(1, -1))
            raise IllegalAction(f"illegal action {self.actions[env].copy_to_host().tolist()} in environment {env}")
        self._kernels.step(self._states, self.actions, self.rewards)
        self._observe()

    def step_randomly(self) -> None:
        """Step every environment with uniformly random legal actions, which are in `actions` afterwards."""
        self._check_started()
        self._kernels.sample(self._states, self.actions, self.masks, self._words)
        self._kernels.step(self._states, self.actions, self.rewards)
        self._observe()

    def _check_started(self) -> None:
        if not self._started:
            raise InvalidCall("step before reset: call reset(seed) first")

    def _check_shape(self, actions: Any) -> Any:
        """Return actions of the shape and type of `actions`, on the card if they are there."""
        on_card = hasattr(actions, "__cuda_array_interface__")
        array: Any = self._cuda.as_cuda_array(actions) if on_card else np.asarray(actions)
        is_valid = array.dtype == np.int64 and array.is_c_contiguous() if on_card else array.dtype.kind in "iu"
        if not is_valid or array.size != self.actions.size or array.shape[:1] != (self.num_envs,):
            expected = "contiguous int64" if on_card else "integers"
            raise IllegalAction(
                f"invalid actions of shape {array.shape} of {array.dtype}: expected {expected} of shape "
                f"{[n for n in self.actions.shape if n != 1] or [1]}"
            )
        return array.reshape(self.actions.shape) if on_card else array.astype(np.int64).reshape(self.actions.shape)

    def _observe(self) -> None:
        self._kernels.observe(self._states, self._observations, self._masks)
