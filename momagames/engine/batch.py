"""N environments of one game: preallocated arrays around the compiled loops, no Python code for each environment."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, read_integers, read_numbers
from momagames.engine import loops
from momagames.engine.locks import add_lock
from momagames.engine.workers import Workers
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, check_choice, check_range
from momagames.kernels.record import CUT_OFF
from momagames.kernels.rng import draw_words

Autoreset = Literal["next_step", "same_step", "disabled"]
Views = Literal["mover", "all"]
NO_LIMIT = 2**62
MODES: dict[str, int] = {"next_step": loops.NEXT_STEP, "same_step": loops.SAME_STEP, "disabled": loops.DISABLED}


class Batch:
    """N states of one game with their observations, masks and rewards.

    N environments, A agents, K objectives, V views (1: the agent to move; A: every agent), B bytes of an observation,
    M length of an action mask, S actors and P parts of an action (see `contract.Kernels`).

    states         record[N]
    observations   uint8[N, V, B]; `fields()` gives views by field
    masks          int8[N, V, M]
    rewards        float32[N, A, K] of the last step
    terminated     bool[N, A];  truncated bool[N, A]
    to_move        int32[N], the agent to move
    max_steps      truncate episodes after this number of steps
    lengths        int32[N], steps of the running episodes; 0 after `reset` and `load`
    finished       bool[N], whether an episode ended in the last step
    returns        float64[N, A, K] and final_lengths int32[N] of the episodes that ended
    final_observations, final_masks   those at the end of these episodes (same_step only; otherwise without rows)
    lock           held while states change, and by vector environments for whole steps: several Python threads wait for each
                   other

    All arrays are allocated once and overwritten by each step.
    """

    lock: threading.RLock

    def __init__(
        self,
        game: Game,
        num_envs: int,
        threads: int = 1,
        autoreset: Autoreset = "next_step",
        views: Views = "mover",
        max_steps: int | None = None,
    ) -> None:
        check_range("num_envs", num_envs, 1, whole=True)
        check_range("threads", threads, 1, whole=True)
        check_choice("autoreset", autoreset, MODES)
        check_choice("views", views, get_args(Views))
        num_envs, threads = int(num_envs), int(threads)  # small integers of NumPy overflow
        self.game, self.num_envs, self.threads, self.mode = game, num_envs, threads, MODES[autoreset]
        self.max_steps = NO_LIMIT if max_steps is None else max_steps
        self._loops = loops.compile_batch_loops(game)
        n, agents, objectives = num_envs, len(game.agents), len(game.objectives)
        views_count = 1 if game.sequential and views == "mover" else agents
        self.states = np.zeros(n, game.dtype)
        self.states[:] = game.blank_state
        self.observations = np.zeros((n, views_count, game.observation_bytes), np.uint8)
        self.masks = np.zeros((n, views_count, game.mask_size), np.int8)
        self.rewards = np.zeros((n, agents, objectives), np.float32)
        self.terminated = np.zeros((n, agents), np.bool_)
        self.truncated = np.zeros((n, agents), np.bool_)
        self.to_move = np.zeros(n, np.int32)
        self.finished = np.zeros(n, np.bool_)
        self.returns = np.zeros((n, agents, objectives))
        self.final_lengths = np.zeros(n, np.int32)
        final = n if self.mode == loops.SAME_STEP else 0
        self.final_observations = np.zeros((final, views_count, game.observation_bytes), np.uint8)
        self.final_masks = np.zeros((final, views_count, game.mask_size), np.int8)
        self._ended = np.zeros(n, np.bool_)
        self._sums = np.zeros((n, agents, objectives))
        self.lengths = np.zeros(n, np.int32)
        self._parts = np.array(game.actions, np.int64)
        self._actions = np.zeros((n, game.actors, len(game.actions)), np.int64)
        self._orders = np.full(n, loops.STEP, np.int32)
        self._worst = np.stack([game.forfeit_reward(i) for i in range(agents)])
        self._no_words = np.zeros(0, np.uint64)
        self._started = False
        self._is_seeded = np.zeros(n, np.bool_)
        self._set_up_threads()

    def _set_up_threads(self) -> None:
        """Set what a copy does not share: worker threads and lock."""
        add_lock(self)
        self._workers = self._make_workers()

    def _make_workers(self) -> Workers | None:
        """Return the worker threads over the arrays of this batch, or None for a single thread."""
        if self.threads == 1:
            return None
        return Workers(self._loops.step_shared, self.num_envs, self.threads, self.step_arguments(self._actions))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_loops", "_workers", "lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loops = loops.compile_batch_loops(self.game)
        self._set_up_threads()

    def close(self) -> None:
        """End the worker threads. Later steps run on the calling thread alone."""
        if self._workers:
            self._workers.close()

    def seed(self, seed: int | Sequence[int | None], chosen: NDArray[np.bool_] | None = None) -> None:
        """Give environment i, of the chosen ones or of all, the random state of a single environment with seed + i.

        seed    or a seed for each environment; the random stream of one with None continues
        """
        chosen = np.ones(self.num_envs, np.bool_) if chosen is None else self.select_envs(chosen)
        if isinstance(seed, Sequence):
            chosen = chosen & np.array([one is not None for one in seed])
            words = np.array([(one or 0) % 2**64 for one in seed], np.uint64)
        else:
            words = np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed % 2**64)
        self.states["rng"][chosen] = words[chosen]
        self._is_seeded[chosen] = True

    def seed_from_system(self) -> None:
        """Draw the random states of environments that have none, neither from a seed nor from a state, from the system."""
        unseeded = np.flatnonzero(~self._is_seeded)
        self.states["rng"][unseeded] = draw_words(len(unseeded))
        self._is_seeded[:] = True

    def select_envs(self, chosen: Any) -> NDArray[np.bool_]:
        """Return a selection of environments as bool[N]; InvalidParameter for another shape or type."""
        try:
            array = np.asarray(chosen)
        except ValueError:  # lists of different lengths
            array = np.empty(0)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_:
            raise InvalidParameter(
                f"invalid reset_mask of shape {array.shape} of {array.dtype}: expected bool[{self.num_envs}]"
            )
        return array

    def reset(self, chosen: NDArray[np.bool_] | None = None) -> None:
        """Generate start positions in the chosen environments, or in all; random streams continue."""
        chosen = np.ones(self.num_envs, np.bool_) if chosen is None else self.select_envs(chosen)
        with self.lock:
            self.seed_from_system()
            self._run(self._actions, np.where(chosen, loops.START, loops.SKIP))
            self._clear(chosen)
            self._started = True

    def load(self, states: NDArray[Any], chosen: NDArray[np.bool_] | None = None) -> None:
        """Copy these states, record[N], into the chosen environments, or into all."""
        chosen = np.ones(self.num_envs, np.bool_) if chosen is None else self.select_envs(chosen)
        with self.lock:
            self.states[chosen] = states[chosen]
            self._is_seeded[chosen] = True
            self._run(self._actions, loops.OBSERVE)
            self._clear(chosen)
            over, cut = self.states["over"] != 0, self.states["truncated"]
            gone = self.states["gone"][:, : len(self.game.agents)] != 0
            self._ended[chosen] = over[chosen]
            self.terminated[chosen] = (gone | (over & (cut != CUT_OFF))[:, None])[chosen]
            self.truncated[chosen] = (~gone & (over & (cut != 0))[:, None])[chosen]
            self._started = True

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the next step depends on (no copies)."""
        return {
            "states": self.states, "lengths": self.lengths, "sums": self._sums, "ended": self._ended, "finished": self.finished,
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays of `state_dict` of a batch of the same game, size and mode, and observe the states.

        The states must be valid, see `engine.positions.restore_states`.
        """
        with self.lock:
            for name, own in self.state_dict().items():
                own[:] = state[name]
            self._is_seeded[:] = True
            self._run(self._actions, loops.OBSERVE)
            self._started = True

    def _clear(self, chosen: NDArray[np.bool_]) -> None:
        for array in (self.rewards, self.terminated, self.truncated, self._sums, self.lengths, self._ended):
            array[chosen] = 0
        self.finished[:] = False

    def check_started(self, call: str = "step()") -> None:
        """Raise InvalidCall before the first reset."""
        if not self._started:
            raise InvalidCall(f"{call} before reset(): call reset(seed=...) first")

    def actions(self, actions: Any) -> NDArray[np.int64]:
        """Return actions as int64[N, S, P]; shape and type are checked, legality is not."""
        self.check_started()
        array = read_integers(actions, self._actions.size)
        if array is None or array.shape[:1] != (self.num_envs,):
            raise invalid_actions_error(actions, self._actions.shape)
        self._actions[:] = array.reshape(self._actions.shape)
        return self._actions

    @property
    def running_returns(self) -> NDArray[np.float64]:
        """The returns of the running episodes so far, float64[N, A, K] (a buffer)."""
        return self._sums

    @property
    def last_actions(self) -> NDArray[np.int64]:
        """The actions of the last step, int64[N, S, P] (the buffer that `actions` and `sample_actions` fill)."""
        return self._actions

    def find_illegal_env(self, actions: NDArray[np.int64], start: int = 0) -> int:
        """Return the first environment from `start` on with an illegal action, or -1; ended environments are skipped."""
        return int(self._loops.find_illegal_env(start, self.states, actions, self.masks, self._parts, self._ended))

    def find_illegal_actor(self, actions: NDArray[np.int64], env: int) -> int:
        """Return the first actor of this environment with an illegal action, or -1."""
        return int(self._loops.find_illegal_actor(self.states, actions, self.masks, self._parts, env))

    def replace_illegal(self, actions: NDArray[np.int64], words: NDArray[np.uint64] | None = None) -> None:
        """Replace illegal actions by the next legal ones, part by part and cyclically (0 where there is none).

        words    uint64[N], generators: random legal actions instead
        """
        is_random = words is not None
        words = self._no_words if words is None else words
        self._loops.replace_illegal(self.states, actions, self.masks, self._parts, self._ended, is_random, words)

    def forfeit(self, env: int, agent: int) -> None:
        """Let an agent forfeit its episode in the next step, with `Game.forfeit_reward`; the first forfeit counts."""
        if self._orders[env] < 0:
            self._orders[env] = agent

    def step(self, actions: NDArray[np.int64]) -> None:
        """Step every environment. The caller has checked the actions, int64[N, S, P]."""
        self.check_started()
        with self.lock:
            self._run(actions)

    def _run(self, actions: NDArray[np.int64], orders: Any = None) -> None:
        """Run the compiled loop with these orders (see `engine.loops`), or with steps and the forfeits so far."""
        if orders is not None:
            self._orders[:] = orders
        if self._workers:
            if actions is not self._actions:
                self._actions[:] = actions
            self._workers.run()
        else:
            self._loops.step(0, self.num_envs, *self.step_arguments(actions))
        self._orders[:] = loops.STEP

    def step_arguments(self, actions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return the arguments of the compiled step, from `mode` on; see `engine.loops`."""
        return (
            self.mode, self.max_steps, self.states, actions, self.observations, self.masks, self.rewards, self.terminated,
            self.truncated, self.to_move, self._ended, self._sums, self.lengths, self.returns, self.final_lengths,
            self.finished, self.final_observations, self.final_masks, self._orders, self._worst,
        )  # fmt: skip

    def sample_actions(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return uniformly random legal actions, int64[N, S, P]; advances the generators `words`, uint64[N]."""
        with self.lock:
            self._loops.sample_actions(self.masks, words, self._actions, self._parts, self.states)
        return self._actions

    def fields(self, rows: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """Return views of `observations` (or of a buffer like it) by field."""
        return self.game.observation_views(rows)


def invalid_actions_error(given: Any, shape: tuple[int, ...], expected: str = "integers") -> IllegalAction:
    """Return the error for actions of the environments that are not integers of this shape."""
    array = given if hasattr(given, "dtype") else read_numbers(given)
    if array is not None:
        found = f"of shape {array.shape} of {array.dtype}"
    elif isinstance(given, (list, tuple)):  # ragged, or of other values
        found = f"{given!r:.60}"
    else:
        found = f"of type {type(given).__name__}"
    return IllegalAction(f"invalid actions {found}: expected {expected} of shape {[n for n in shape if n != 1] or [1]}")
