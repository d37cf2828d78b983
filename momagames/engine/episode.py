"""One environment: a state, its observations and its rewards. The adapters put an API around it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Policy, State, first_legal_action, has_choice, read_integers, report_return, split_mask
from momagames.engine import loops
from momagames.engine.flat_rows import FlatRows
from momagames.engine.locks import add_lock
from momagames.engine.observation_pool import ObservationPool
from momagames.engine.positions import has_random_word, load_state
from momagames.errors import IllegalAction
from momagames.kernels.rng import draw_words

PASS = 0  # action of an agent without a legal action, see `Game.can_pass`
INTEGERS = frozenset({int, np.int64, np.int32, np.uint8, np.int8})  # types that need no further check


class Episode:
    """The state of one environment and its buffers, which every step overwrites (letters as in `engine.batch.Batch`).

    states        record[1]
    observations  uint8[V, B] and masks int8[V, M]: of the agent to move, or of every agent in simultaneous games
    reward        float32[A, K] of the last step
    totals        float32[A, K], rewards of each agent since its own last action
    returns       float64[A, K], rewards of each agent since the start
    pending       int64[S, P], the actions of the step
    mover         index of the agent to move (0 in simultaneous games)
    is_seeded     whether the random state is that of a seed or of a position
    log           None, or a list of the start position (dict form) of the episode followed by the actions of each step
                  (as `pending`), or the name of an agent that forfeits; a new list for each episode
    lock          held by environments for whole calls: several Python threads wait for each other
    """

    lock: threading.RLock

    def __init__(self, game: Game) -> None:
        self.game = game
        self.states = game.make_state()
        views = 1 if game.sequential else len(game.agents)
        shape = len(game.agents), len(game.objectives)
        self.observations = np.zeros((views, game.observation_bytes), np.uint8)
        self.masks = np.zeros((views, game.mask_size), np.int8)
        self.reward, self.totals, self.returns = np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape)
        self.pending = np.zeros((game.actors, len(game.actions)), np.int64)
        self.mover = 0
        self.log: list[Any] | None = None
        self.is_seeded = False
        self._set_derived_attributes()

    def _set_derived_attributes(self) -> None:
        """Set the attributes that are derived from the others and not pickled."""
        add_lock(self)
        game = self.game
        self._loops = loops.compile_episode_loops(game)
        self._play = self._loops.play
        self._arrays = (np.array(game.actions, np.int64), self.reward, self.totals, self.returns, self.observations, self.masks)
        self._fields = [list(game.observation_views(row).items()) for row in self.observations]
        self._pool = None if game.sequential else ObservationPool(game, len(self.observations))
        self._flat_rows: FlatRows | None = None
        self._sequential = game.sequential
        self._parts = game.actions
        self._shape, self._column = (len(game.actions),), self.pending[:, 0]
        self._simple = len(game.actions) == 1
        self._shapes = ((), (1,)) if self._simple else (self._shape, (1, *self._shape))  # of actions, also in a batch of one

    def __getstate__(self) -> dict[str, Any]:
        names = (
            "game", "states", "observations", "masks", "reward", "totals", "returns", "pending", "mover", "log", "is_seeded",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        states, blank = state["states"], state["game"].make_state()
        blank["rng"] = states["rng"]
        if not states["over"][0] and states.tobytes() != blank.tobytes():  # from a pickle, which may be damaged
            load_state(state["game"], states)
        self.__dict__.update(state)
        self._set_derived_attributes()

    def __deepcopy__(self, memo: dict[int, Any]) -> Episode:
        episode = Episode.__new__(Episode)
        episode.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__getstate__().items()})
        episode._set_derived_attributes()
        return episode

    @property
    def state(self) -> State:
        """The state record (a view: changes of it change the episode)."""
        return self.states[0]

    def copy_from(self, other: Episode) -> None:
        """Copy state, observations, rewards and returns from another episode of this game; the log stays."""
        for name in ("states", "observations", "masks", "reward", "totals", "returns", "pending"):
            getattr(self, name)[:] = getattr(other, name)
        self.mover, self.is_seeded = other.mover, other.is_seeded

    def reset(self, seed: int | None = None) -> None:
        """Generate a start position; without a seed the random stream continues, or is that of seed 0 (see `start`)."""
        if seed is not None:
            self.states["rng"] = np.uint64(seed % 2**64)
        self._observe(loops.START)
        self._clear_returns()
        self.is_seeded = True

    def load(self, given: Any, seed: int | None = None, keep_rng: bool = False) -> None:
        """Continue from a given position; an invalid one changes nothing.

        The random stream is that of the seed, else that of the position, else it continues. With keep_rng the position comes
        before the seed
        """
        states = load_state(self.game, given)
        has_word = (seed is None or keep_rng) and has_random_word(self.game, given)
        if not has_word:
            states["rng"] = self.states["rng"] if seed is None else np.uint64(seed % 2**64)
        self.states[:] = states
        self._observe()
        self._clear_returns()
        self.is_seeded = True

    def start(self, position: Any, seed: int | None = None, keep_rng: bool = False) -> None:
        """Start from a position, or from a generated one if it is None; see `load` and `reset`.

        A random stream that neither a seed nor a position has begun begins with a word from the operating system
        """
        if not self.is_seeded:
            self.states["rng"] = draw_words(1)
        if position is None:
            self.reset(seed)
        else:
            self.load(position, seed, keep_rng)

    def _clear_returns(self) -> None:
        for array in (self.reward, self.totals, self.returns, self.pending):
            array[:] = 0
        if self.log is not None:
            self.log = [self.game.codec.save(self.state)]

    def _observe(self, order: int = loops.OBSERVE) -> None:
        """Write the observations, with order START after generating a start position."""
        self.mover = self._play(order, self.states, self.pending, *self._arrays) // loops.MOVER

    def mask(self, agent: int) -> NDArray[np.int8]:
        """Return the action mask of an agent, int8[M] (a buffer: copy it, do not write to it)."""
        if self._sequential and agent != self.mover:
            return self._write_observation(agent)[1]
        mask: NDArray[np.int8] = self.masks[0 if self._sequential else agent]
        return mask

    def observe(self, agent: int) -> dict[str, NDArray[Any]]:
        """Return the observation of an agent by field, as copies."""
        return self.observe_with_mask(agent)[0]

    def observe_with_mask(self, agent: int) -> tuple[dict[str, NDArray[Any]], NDArray[np.int8]]:
        """Return `observe` and `mask` together."""
        if self._sequential and agent != self.mover:
            row, mask = self._write_observation(agent)
            return self.game.observation_views(row), mask
        fields = self._fields[0 if self._sequential else agent]
        return {name: field.copy("K") for name, field in fields}, self.mask(agent)

    def flatten_observations(self) -> NDArray[np.float32]:
        """Return the numbers of the observations of all agents of a simultaneous game one after the other, float32[V * F]."""
        if self._flat_rows is None:
            self._flat_rows = FlatRows(self.game, (field.name for field in self.game.fields))
        return self._flat_rows.flatten(self.observations).ravel()

    def _write_observation(self, agent: int) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Return the bytes of the observation uint8[B] and the mask int8[M] of an agent that is not to move."""
        row, mask = np.zeros(self.game.observation_bytes, np.uint8), np.zeros_like(self.masks[0])
        self._loops.observe(self.states, agent, row, mask)
        return row, mask

    def observe_all(self, masks: Iterable[Any]) -> list[dict[str, Any]]:
        """Return the observations of all agents of a simultaneous game, as copies: much faster than one by one.

        masks   the "action_mask" of each agent
        """
        assert self._pool is not None
        fields = self._pool.copy_fields(self.observations)
        return [{**row, "action_mask": mask} for row, mask in zip(fields, masks)]  # noqa: B905 - as long as each other

    def choose_action(self, agent: int, policy: Policy | None, rng: np.random.Generator) -> Any:
        """Return the action of a policy for an agent, or PASS if no action is legal (the policy may then be None)."""
        mask = self.mask(agent)
        if policy is None or not mask.any():
            return PASS
        report_return(policy, self.returns[agent])
        return policy(self.state, mask, rng)

    def is_legal(self, agent: int, action: Any) -> bool:
        """Return whether the rules allow an action of this agent now."""
        return self._read_legal(agent, action) is not None

    def _read_legal(self, agent: int, action: Any) -> Any:
        """Return a legal action as an integer, or as int64[P] of several parts; None for any other."""
        mask, allows_illegal = self.mask(agent), self.game.allows_illegal
        if self._simple and type(action) in INTEGERS:  # as usually
            return action if 0 <= action < self._parts[0] and (allows_illegal or mask[action]) else None
        parts = read_integers(action, len(self._parts))
        if parts is None or parts.shape not in self._shapes or (self._simple and isinstance(action, (list, tuple))):
            return None
        parts = parts.ravel()
        start = 0
        for part, size in zip(parts.tolist(), self._parts, strict=True):
            if not (0 <= part < size and (allows_illegal or mask[start + part])):
                return None
            start += size
        return int(parts[0]) if self._simple else parts

    def resolve_action(self, agent: int, action: Any) -> Any:
        """Return the action to play for a given one, or None if it is illegal.

        That is the action itself if it is legal. In simultaneous games an agent without a choice plays its only action,
        whatever was given.
        """
        legal = self._read_legal(agent, action)
        if legal is not None:
            return legal
        if self._sequential:
            return None
        if has_choice(self.masks[agent], self._parts):
            return None
        only = first_legal_action(self.masks[agent], self._parts)
        return only[0] if self._simple else only

    def illegal_action_error(self, agent: int, action: Any) -> IllegalAction:
        """Return the error for an illegal action, with the agent, the action and the nearest legal actions."""
        game, mask = self.game, self.mask(agent)
        given = action.tolist() if isinstance(action, np.ndarray) else action
        hint = ""
        count = prod(int(part.sum()) for part in split_mask(mask, self._parts))
        message = f"illegal action={given!r} of {game.agents[agent]}: expected one of {count} legal actions"
        message += count_actions(game, agent)
        if action is not None and type(action) is not int and read_integers(action, len(self._parts)) is None:
            hint = "an action is an integer" if self._simple else f"an action is {len(self._parts)} integers"
        elif self._simple and isinstance(action, (int, np.integer)):  # as np.timedelta64 is, too
            hint = game.human.legal_hint(self.state, int(action), mask)
        return IllegalAction(message + (f"; {hint}" if hint else ""))

    def step(self, actions: Any) -> int:
        """Apply legal actions: that of the agent to move, or one for each agent. Return the status of `EpisodeLoops.step`."""
        if self._simple and self._sequential:
            self.pending[0, 0] = actions
        elif actions is not self.pending:
            self.pending[:] = actions
        return self._run_step()

    def try_step(self, actions: list[Any]) -> int:
        """Apply the actions of all agents of a simultaneous game if each is an integer and legal.

        Returns the status of `step`; or -1 - the first agent that needs `resolve_action`, and nothing changes
        """
        if self._simple:
            if not INTEGERS.issuperset(map(type, actions)):
                return -1 - next(i for i, action in enumerate(actions) if type(action) not in INTEGERS)
            try:
                self._column[:] = actions
            except OverflowError:
                return -1 - next(i for i, action in enumerate(actions) if not 0 <= action < self._parts[0])
        else:
            for i, action in enumerate(actions):
                if type(action) is not np.ndarray or action.shape != self._shape or action.dtype.kind not in "iu":
                    return -1 - i
                self.pending[i] = action
        return self._run_step()

    def _run_step(self) -> int:
        status: int = self._play(loops.STEP, self.states, self.pending, *self._arrays)
        if status >= 0:
            self.mover = status // loops.MOVER
            if self.log is not None:
                self.log.append(self.pending.tolist())
        return status

    def forfeit(self, agent: int) -> None:
        """End the episode with `Game.forfeit_reward` of an agent."""
        reward = self.game.forfeit_reward(agent)
        self.states["over"] = 1
        self._observe()
        self.reward[:] = reward
        if self._sequential:
            self.totals[self.mover] = 0
        self.totals += reward
        self.returns += reward
        if self.log is not None:
            self.log.append(self.game.agents[agent])


def count_actions(game: Game, agent: int) -> str:
    """Return the end of a message, which says how many actions an agent has where the numbers differ between agents."""
    return f"; {game.agents[agent]} has the actions 0..{game.agent_actions[agent] - 1}" if game.agent_actions else ""


def random_legal(mask: NDArray[np.int8], parts: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Return a uniformly random legal action: an int, or int64[P] for several parts; PASS if none is legal."""
    chosen = [int(rng.choice(np.flatnonzero(part))) if part.any() else PASS for part in split_mask(mask, parts)]
    return chosen[0] if len(parts) == 1 else np.array(chosen, np.int64)
