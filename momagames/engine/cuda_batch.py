"""N environments of one game on a CUDA card (extra `cuda`)."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, read_integers
from momagames.engine.batch import Views, invalid_actions_error
from momagames.engine.cuda_kernels import compile_cuda_kernels, count_words
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, check_choice, check_range
from momagames.kernels.jit.cuda import align_record, import_cuda
from momagames.kernels.rng import draw_words, random_words


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
        self.game, self.num_envs, self._views = game, num_envs, views
        self._started = False
        self._words: Any = None  # of `step_randomly`
        shape = num_envs, len(game.agents), len(game.objectives)
        self._make_arrays(
            np.repeat(game.blank_state, num_envs), np.zeros(shape, np.float32),
            np.zeros((num_envs, game.actors, len(game.actions)), np.int64),
        )  # fmt: skip

    def _make_arrays(self, states: NDArray[Any], rewards: NDArray[np.float32], actions: NDArray[np.int64]) -> None:
        """Set the arrays on the card, with these contents."""
        game = self.game
        self._kernels = compile_cuda_kernels(game)
        shape = self.num_envs, 1 if game.sequential and self._views == "mover" else len(game.agents)
        obs_words, mask_words = count_words(game)
        self._states = self._upload(states.view(align_record(game.dtype)))
        self._observations = self._upload(np.zeros((*shape, obs_words), np.uint32))
        self._masks = self._upload(np.zeros((*shape, mask_words), np.uint32))
        self.observations = self._observations.view(np.uint8)[:, :, : game.observation_bytes]
        self.masks = self._masks.view(np.int8)[:, :, : game.mask_size]
        self.rewards, self.actions = self._upload(rewards), self._upload(actions)
        self.over, self.to_move = self._view_field("over"), self._view_field("to_move")
        self._illegal = self._upload(np.full(1, -1))

    def __getstate__(self) -> dict[str, Any]:
        arrays = self.states(), self.rewards.copy_to_host(), self.actions.copy_to_host()
        words = None if self._words is None else self._words.copy_to_host()
        return {
            "game": self.game, "num_envs": self.num_envs, "_views": self._views, "_started": self._started, "_words": words,
            "arrays": arrays,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays, words = state.pop("arrays"), state.pop("_words")
        self.__dict__.update(state)
        self._cuda = import_cuda()
        self._words = None if words is None else self._upload(words)
        self._make_arrays(*arrays)
        if self._started:
            self._observe()

    def _upload(self, array: NDArray[Any]) -> Any:
        return self._cuda.to_device(array)

    def _view_field(self, name: str) -> Any:
        """Return a field of the states as an array that shares their memory."""
        kind, offset = self.game.dtype.fields[name][:2]  # type: ignore[index]
        return self._states.view(kind).reshape(self.num_envs, -1)[:, offset // kind.itemsize]

    def reset(self, seed: int | None = None) -> None:
        """Start every environment i as a single environment with seed + i, and the generators of `step_randomly`.

        Without a seed both continue, and begin with entropy from the operating system
        """
        if seed is not None:
            words = np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed % 2**64)
            self._words = self._upload(random_words(seed, self.num_envs))
        else:
            words = self.states()["rng"].copy() if self._started else draw_words(self.num_envs)
            self._draw_missing_words()
        self._kernels.start(self._states, self._upload(words))
        self._started = True
        self._observe()

    def _draw_missing_words(self) -> None:
        if self._words is None:
            self._words = self._upload(draw_words(self.num_envs))

    def load(self, states: NDArray[Any]) -> None:
        """Copy states to the card, record[N]; they must be valid, see `engine.positions.restore_states`."""
        self._states.copy_to_device(np.ascontiguousarray(states).view(self._states.dtype))
        self._draw_missing_words()
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
        if not hasattr(actions, "__cuda_array_interface__"):
            integers = read_integers(actions, self.actions.size)
            if integers is None or integers.shape[:1] != (self.num_envs,):
                raise invalid_actions_error(actions, self.actions.shape)
            return integers.astype(np.int64).reshape(self.actions.shape)
        array: Any = self._cuda.as_cuda_array(actions)
        is_valid = array.dtype == np.int64 and array.is_c_contiguous()
        if not is_valid or array.size != self.actions.size or array.shape[:1] != (self.num_envs,):
            raise invalid_actions_error(array, self.actions.shape, "contiguous int64")
        return array.reshape(self.actions.shape)

    def _observe(self) -> None:
        self._kernels.observe(self._states, self._observations, self._masks)
