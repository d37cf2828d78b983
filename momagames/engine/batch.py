"""N games at once: preallocated arrays around the compiled loops, no Python for each environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine import loops
from momagames.engine.workers import Workers
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, check_choice, check_range
from momagames.kernels.record import CUT_OFF

Autoreset = Literal["next_step", "same_step", "disabled"]
Views = Literal["mover", "all"]
MODES: dict[str, int] = {"next_step": loops.NEXT_STEP, "same_step": loops.SAME_STEP, "disabled": loops.DISABLED}


class Batch:
    """N states of one game, what is seen of them, and what the last step paid.

    N environments, A agents, K objectives, V views (1: the agent to move; A: every agent), B bytes of an observation,
    M length of an action mask, S actors and P parts of an action (see `contract.Kernels`).

    states         record[N]
    observations   uint8[N, V, B]; `fields()` shows them field by field
    masks          int8[N, V, M]
    rewards        float32[N, A, K] of the last step
    terminated     bool[N, A];  truncated bool[N, A]
    to_move        int32[N], the agent to move
    lengths        int32[N], steps of the running episodes; 0: nothing has been played since a deal or a load
    finished       bool[N]: an episode ended in the last step, and then
    returns        float64[N, A, K] and final_lengths int32[N] belong to it
    final_observations, final_masks   what was seen at its end (same_step only; elsewhere they have no rows)

    All arrays are made once and written again by each step.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        threads: int = 1,
        autoreset: Autoreset = "next_step",
        views: Views = "mover",
    ) -> None:
        check_range("num_envs", num_envs, 1, whole=True)
        check_range("threads", threads, 1, whole=True)
        check_choice("autoreset", autoreset, MODES)
        check_choice("views", views, get_args(Views))
        self.game, self.num_envs, self.threads, self.mode = game, num_envs, threads, MODES[autoreset]
        self._loops = loops.compile_batch_loops(game)
        n, agents, goals = num_envs, len(game.agents), len(game.objectives)
        seen = 1 if game.sequential and views == "mover" else agents
        self.states = np.zeros(n, game.dtype)
        self.states[:] = game.blank_state
        self.observations = np.zeros((n, seen, game.observation_bytes), np.uint8)
        self.masks = np.zeros((n, seen, game.mask_size), np.int8)
        self.rewards = np.zeros((n, agents, goals), np.float32)
        self.terminated = np.zeros((n, agents), np.bool_)
        self.truncated = np.zeros((n, agents), np.bool_)
        self.to_move = np.zeros(n, np.int32)
        self.finished = np.zeros(n, np.bool_)
        self.returns = np.zeros((n, agents, goals))
        self.final_lengths = np.zeros(n, np.int32)
        kept = n if self.mode == loops.SAME_STEP else 0
        self.final_observations = np.zeros((kept, seen, game.observation_bytes), np.uint8)
        self.final_masks = np.zeros((kept, seen, game.mask_size), np.int8)
        self._ended = np.zeros(n, np.bool_)
        self._sums = np.zeros((n, agents, goals))
        self.lengths = np.zeros(n, np.int32)
        self._parts = np.array(game.actions, np.int64)
        self._actions = np.zeros((n, game.actors, len(game.actions)), np.int64)
        self._forfeits = np.full(n, -1, np.int32)
        self._worst = np.stack([game.forfeit_reward(i) for i in range(agents)])
        self._dealt = False
        self._workers = Workers(self._loops.share_step, num_envs, threads, self.step_arguments(self._actions)) if threads > 1 else None

    def seed(self, seed: int) -> None:
        """Environment i goes on as the single environment with seed + i would."""
        self.states["rng"] = np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed % 2**64)

    def select_envs(self, chosen: Any) -> NDArray[np.bool_]:
        """Which environments are meant, as bool[N]; or InvalidParameter."""
        array = np.asarray(chosen)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_:
            raise InvalidParameter(f"the reset mask has shape {array.shape} of {array.dtype}; needed: bool[{self.num_envs}]")
        return array

    def reset(self, chosen: NDArray[np.bool_] | None = None) -> None:
        """Deal new games, in the chosen environments or in all of them."""
        chosen = np.ones(self.num_envs, np.bool_) if chosen is None else self.select_envs(chosen)
        self._loops.generate(self.states, chosen, self.observations, self.masks)
        self._clear(chosen)
        self._dealt = True

    def load(self, states: NDArray[Any], chosen: NDArray[np.bool_] | None = None) -> None:
        """Go on from these states, record[N], in the chosen environments or in all of them; copies them."""
        chosen = np.ones(self.num_envs, np.bool_) if chosen is None else self.select_envs(chosen)
        self.states[chosen] = states[chosen]
        self._loops.observe(self.states, self.observations, self.masks)
        self._clear(chosen)
        over, cut = self.states["over"] != 0, self.states["truncated"]
        gone = self.states["gone"][:, : len(self.game.agents)] != 0
        self._ended[chosen] = over[chosen]
        self.terminated[chosen] = (gone | (over & (cut != CUT_OFF))[:, None])[chosen]
        self.truncated[chosen] = (~gone & (over & (cut != 0))[:, None])[chosen]
        self._dealt = True

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that the next step depends on, as it is."""
        return {
            "states": self.states, "observations": self.observations, "masks": self.masks, "to_move": self.to_move,
            "lengths": self.lengths, "sums": self._sums, "ended": self._ended, "finished": self.finished,
        }  # fmt: skip

    def load_state_dict(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the batch of whom this was kept, which is of the same game, size and mode."""
        for name, own in self.state_dict().items():
            own[:] = kept[name]
        self._dealt = True

    def _clear(self, chosen: NDArray[np.bool_]) -> None:
        for array in (self.rewards, self.terminated, self.truncated, self._sums, self.lengths, self._ended):
            array[chosen] = 0
        self.to_move[:] = self.states["to_move"]
        self.finished[:] = False

    def _check_started(self) -> None:
        if not self._dealt:
            raise InvalidCall("step() before reset(): call reset(seed=...) first")

    def actions(self, actions: Any) -> NDArray[np.int64]:
        """Actions as int64[N, S, P], checked for shape and type only."""
        self._check_started()
        array = np.asarray(actions)
        if array.dtype.kind not in "iu" or array.size != self._actions.size or array.shape[:1] != (self.num_envs,):
            raise IllegalAction(
                f"actions have shape {array.shape} of {array.dtype}; needed: whole numbers of shape "
                f"{[n for n in self._actions.shape if n != 1] or [1]}"
            )
        self._actions[:] = array.reshape(self._actions.shape)
        return self._actions

    @property
    def last_actions(self) -> NDArray[np.int64]:
        """The actions of the last step, int64[N, S, P] (the buffer that `actions` and `choose` fill)."""
        return self._actions

    def find_illegal(self, actions: NDArray[np.int64], start: int = 0) -> int:
        """The first environment from `start` on whose action is illegal, or -1. Ended environments are not looked at."""
        return int(self._loops.find_illegal(start, self.states, actions, self.masks, self._parts, self._ended))

    def find_offender(self, actions: NDArray[np.int64], env: int) -> int:
        """The first actor of this environment whose action is illegal, or -1."""
        return int(self._loops.find_offender(self.states, actions, self.masks, self._parts, env))

    def forfeit(self, env: int, agent: int) -> None:
        """In the next step this agent gives up its game: nothing is played, `Game.forfeit_reward` is paid. The first counts."""
        if self._forfeits[env] < 0:
            self._forfeits[env] = agent

    def step(self, actions: NDArray[np.int64]) -> None:
        """One step of every environment. `actions` int64[N, S, P] have been checked."""
        self._check_started()
        if self._workers:
            if actions is not self._actions:
                self._actions[:] = actions
            self._workers.run()
        else:
            self._loops.step(0, self.num_envs, *self.step_arguments(actions))
        self._forfeits[:] = -1

    def step_arguments(self, actions: NDArray[np.int64]) -> tuple[Any, ...]:
        """The arguments of the compiled step, from `mode` on; see `engine.loops`."""
        return (
            self.mode, self.states, actions, self.observations, self.masks, self.rewards, self.terminated, self.truncated,
            self.to_move, self._ended, self._sums, self.lengths, self.returns, self.final_lengths, self.finished,
            self.final_observations, self.final_masks, self._forfeits, self._worst,
        )  # fmt: skip

    def sample_actions(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Uniformly random legal actions, int64[N, S, P]; `words` uint64[N] are the generators, which move on."""
        self._loops.sample_actions(self.masks, words, self._actions, self._parts, self.states)
        return self._actions

    def fields(self, rows: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """Views of `observations` (or of a buffer like it), field by field."""
        return self.game.observation_views(rows)
