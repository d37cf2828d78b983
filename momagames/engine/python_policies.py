"""Python policies in batches: one move at a time, or the moves of all their seats at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from momagames.contract import (
    Game,
    Policy,
    end_policy_episode,
    first_legal_action,
    has_choice,
    read_integers,
    report_return,
    reset_policy,
)
from momagames.engine.batch import Batch
from momagames.engine.loops import cache_by_rules
from momagames.engine.playouts import KERNEL
from momagames.errors import IllegalAction
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import draw_uniforms


class Choices(NamedTuple):
    """Decisions of n seats at once.

    seats      int64[n], their numbers
    fields     name -> [n, ...], the observation of each
    masks      int8[n, M], their legal actions, more than one each
    returns    float64[n, K], their rewards since the start of the episode
    draws      float64[n], a random number in [0, 1) for each
    """

    seats: NDArray[np.int64]
    fields: Mapping[str, NDArray[Any]]
    masks: NDArray[np.int8]
    returns: NDArray[np.float64]
    draws: NDArray[np.float64]


class BatchPlayer(Protocol):
    """Plays a number of seats of games with one action part. An action may depend on its own row and memory alone."""

    def reset(self, seats: NDArray[np.int64]) -> None:
        """Start a new episode at these seats."""

    def __call__(self, choices: Choices) -> NDArray[np.int64]:
        """Return the actions, int64[n]."""


@dataclass(frozen=True)
class PythonPolicy:
    """A Python policy that can be seated: `make(game, agent)` returns a new `contract.Policy` for one agent of one environment.

    `SeatedPolicies` seeds a new generator from the generator word of the agent for each action.

    weights, arrays    as of `CompiledPolicy`
    make_batch         (game, seats) -> the same policy for a number of seats at once, which is faster; None: there is none
    """

    label: str
    make: Callable[[Game, int | None], Policy]
    weights: tuple[float, ...] = ()
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict, compare=False)
    make_batch: Callable[[Game, int], BatchPlayer] | None = field(default=None, compare=False)
    rule: ClassVar[int] = KERNEL
    looks_ahead: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of a rule in stored results."""
        return self.label

    def seat(self, batch: Batch, seats: NDArray[np.bool_], words: NDArray[np.uint64]) -> PythonSeats | BatchSeats:
        """Return the policy at its seats bool[N, A] in a batch, with the generator words uint64[N, A]."""
        return (BatchSeats if self.make_batch else PythonSeats)(batch, self, seats, words)


class PythonSeats:
    """The seats of one Python policy in a batch, an instance for each."""

    def __init__(self, batch: Batch, policy: PythonPolicy, seats: NDArray[np.bool_], words: NDArray[np.uint64]) -> None:
        self._batch, self._words = batch, words
        self._envs = np.flatnonzero(seats.any(axis=1))  # where it plays: many policies may share the batch
        self._policies = {
            i: {agent: policy.make(batch.game, agent) for agent in np.flatnonzero(seats[i]).tolist()}
            for i in self._envs.tolist()
        }

    def act(self, out: NDArray[np.int64]) -> None:
        """Write the actions into int64[N, S, P]."""
        batch, game = self._batch, self._batch.game
        for i in self._envs[batch.states["over"][self._envs] == 0].tolist():
            state, policies = batch.states[i], self._policies[i]
            if batch.lengths[i] == 0:
                for policy in policies.values():
                    reset_policy(policy)
            for actor in range(game.actors):
                agent = int(state["to_move"]) if game.sequential else actor
                if agent in policies:
                    mask = batch.masks[i, agent if batch.masks.shape[1] > 1 else 0].copy()
                    out[i, actor] = first_legal_action(mask, game.actions)
                    if has_choice(mask, game.actions):
                        report_return(policies[agent], batch.running_returns[i, agent])
                        action = policies[agent](state.copy(), mask, self._next_generator(i, agent))
                        out[i, actor] = _read_action(game, agent, action)

    def end_episodes(self) -> None:
        """Report the final states of finished episodes to their policies."""
        for i in self._envs[self._batch.states["over"][self._envs] != 0].tolist():
            for policy in self._policies[i].values():
                end_policy_episode(policy, self._batch.states[i])

    def _next_generator(self, i: int, agent: int) -> np.random.Generator:
        rng = np.random.Generator(np.random.PCG64(int(self._words[i, agent])))
        self._words[i, agent] = rng.integers(2**64, dtype=np.uint64)
        return rng


class BatchSeats:
    """The seats of one Python policy in a batch, which a `BatchPlayer` plays."""

    def __init__(self, batch: Batch, policy: PythonPolicy, seats: NDArray[np.bool_], words: NDArray[np.uint64]) -> None:
        assert policy.make_batch
        self._batch, self._words = batch, words
        self._numbers = np.where(seats, np.cumsum(seats).reshape(seats.shape) - 1, -1)
        self._player = policy.make_batch(batch.game, int(seats.sum()))
        self._observe = compile_seat_observer(batch.game)

    def act(self, out: NDArray[np.int64]) -> None:
        """Write the actions into int64[N, S, 1]."""
        batch, game = self._batch, self._batch.game
        is_running = batch.states["over"] == 0
        started = self._numbers[is_running & (batch.lengths == 0)]
        if (started >= 0).any():
            self._player.reset(started[started >= 0])
        for actor in range(game.actors):
            agents = batch.states["to_move"].astype(np.int64) if game.sequential else np.full(len(out), actor)
            envs = np.flatnonzero(is_running & (self._numbers[np.arange(len(out)), agents] >= 0))
            masks = batch.masks[envs, agents[envs] if batch.masks.shape[1] > 1 else 0]
            out[envs, actor, 0] = masks.argmax(axis=1)
            is_open = np.count_nonzero(masks, axis=1) > 1
            if is_open.any():
                envs = envs[is_open]
                out[envs, actor, 0] = self._player(self._read_choices(envs, agents[envs], masks[is_open]))

    def _read_choices(self, envs: NDArray[np.int64], agents: NDArray[np.int64], masks: NDArray[np.int8]) -> Choices:
        batch, rows = self._batch, np.zeros((len(envs), self._batch.game.observation_bytes), np.uint8)
        self._observe(batch.states, envs, agents, rows)
        words, draws = draw_uniforms(self._words[envs, agents])
        self._words[envs, agents] = words
        fields = batch.game.observation_views(rows)
        return Choices(self._numbers[envs, agents], fields, masks, batch.running_returns[envs, agents], draws)

    def end_episodes(self) -> None:
        """Nothing: a `BatchPlayer` learns of an episode's end when the next one starts."""


@cache_by_rules
def compile_seat_observer(game: Game) -> Callable[..., None]:
    """Return a function (states[N], envs int64[n], agents int64[n], rows uint8[n, B]) that writes observations."""
    observe: Any = game.kernels.observe

    def observe_seats(states: Any, envs: Any, agents: Any, rows: Any) -> None:
        for i in range(envs.shape[0]):
            observe(states[envs[i]], agents[i], rows[i])

    return compile_entry_point(observe_seats, f"{game.rules_key}.observe_seats")


def _read_action(game: Game, agent: int, action: Any) -> Any:
    """Return the action of a Python policy as integers, as environments read actions; IllegalAction for anything else."""
    count = len(game.actions)
    parts = read_integers(action, count)
    if parts is None or (count == 1 and isinstance(action, (list, tuple))):
        expected = "an integer" if count == 1 else f"{count} integers"
        raise IllegalAction(f"illegal action={action!r:.60} of {game.agents[agent]}: expected {expected}")
    return parts.ravel()
