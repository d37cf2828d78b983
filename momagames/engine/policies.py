"""Policies in batches: compiled ones without Python between two moves, and Python ones (`python_policies`).

A `CompiledPolicy` is a kernel that reads the state, the mask and its memory of the agent that it plays, and writes an action.
`SeatedPolicies` fills the actions of a batch; `AgentPolicy` is the same kernel as a `contract.Policy` for one agent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Policy, State
from momagames.engine.batch import Batch
from momagames.engine.playouts import KERNEL, Episodes
from momagames.engine.policy_loops import policy_loop
from momagames.engine.python_policies import PythonPolicy
from momagames.engine.threads import Job, run_jobs
from momagames.errors import IllegalAction, InvalidParameter, invalid_value, one_of
from momagames.kernels.rng import random_words

NO_MEMORY = np.dtype([("nothing", "u1")])
LOOKAHEAD_MEMORY = np.dtype([("lookahead_steps", "i8")])  # of a policy that tries actions on copies of the state
UNSEATED = -1  # an agent that none of these policies plays
SHARED_FROM = 1e-3  # seconds: calls that take less are as fast on one thread, and leave the others to other processes
MEASURED_EVERY = 64  # calls: one of them is measured on one thread


@dataclass(frozen=True, eq=False)
class CompiledPolicy:
    """A policy as a kernel.

    name             of the kernel: policies of one name share compiled code
    act              (state, agent, mask, parts, memory, word, action) -> word. It reads the state as far as the agent may see
                     it, the mask int8[M] and the sizes of its parts int64[P]; it draws from the generator word and returns the
                     advanced word; it writes to `memory` and to the action int64[P]. It is not called where the mask leaves no
                     choice
    memory           dtype of its memory during an episode. A policy that makes environment steps to look ahead counts them
                     in a field "lookahead_steps" (LOOKAHEAD_MEMORY has no other field)
    rules            `Game.rules_key` of the games that it plays; empty: all
    initial_memory   fields of its memory and their values at the start of an episode; all others are zero. Policies of one
                     name may differ in it
    scratch          game -> arrays that `act` gets between memory and word, or None: parameters, and buffers. They are made
                     once for all environments of a batch, so that an action must not depend on what the last one left there.
                     Policies of one name may differ in their contents
    label            of the policy in results; by default its name
    rule, weights    RANDOM or GREEDY, with a weight for each objective, for policies that `playouts.play_episodes` supports;
                     else KERNEL
    arrays           of a trained policy: its parameters, as they are stored; see `Method.restore`
    agent_policy     (game, agent) -> the policy for one agent, where this is not the kernel itself
    recipe           () -> an equal policy: how to unpickle one whose kernels belong to no module
    """

    name: str
    act: Callable[..., Any]
    memory: np.dtype[Any] = NO_MEMORY
    rules: tuple[str, ...] = ()
    initial_memory: tuple[tuple[str, float | tuple[float, ...]], ...] = ()
    scratch: Callable[[Game], tuple[Any, ...]] | None = None
    label: str = ""
    rule: int = KERNEL
    weights: tuple[float, ...] = ()
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict, compare=False)
    agent_policy: Callable[[Game, int | None], Policy] | None = None
    recipe: Callable[[], CompiledPolicy] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        vars(self)["label"] = self.label or self.name

    @property
    def looks_ahead(self) -> bool:
        """Whether it tries moves on copies of the state."""
        return _counts_lookahead(self.memory)

    def __deepcopy__(self, memo: Any) -> CompiledPolicy:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (self.recipe, ()) if self.recipe else super().__reduce_ex__(protocol)

    @property
    def kind(self) -> Any:
        """Key that is equal for policies that differ in their initial memories only."""
        return self.name, self.act, self.scratch, self.memory

    def make_memory(self) -> NDArray[Any]:
        """Return its memory at the start of an episode, record[1]."""
        memory = np.zeros(1, self.memory)
        for name, value in self.initial_memory:
            memory[name] = value
        return memory

    def make_scratch(self, game: Game) -> tuple[Any, ...]:
        """Return its scratch arrays for a game."""
        return self.scratch(game) if self.scratch else ()

    def make_loop(self, game: Game) -> Callable[..., None]:
        """Return the compiled loop around it, see `policy_loops`."""
        return policy_loop(game, self.name, self.act, has_scratch=self.scratch is not None)

    def check(self, game: Game) -> None:
        """Raise InvalidParameter if it cannot play this game."""
        if self.rules and game.rules_key not in self.rules:
            raise InvalidParameter(f"{self.name} only plays games with the rules of {one_of(self.rules)}; {game.id} has others")


BatchPolicy = CompiledPolicy | PythonPolicy


def _counts_lookahead(memory: np.dtype[Any]) -> bool:
    return "lookahead_steps" in (memory.names or ())


class _CompiledSeats:
    """The seats of compiled policies that differ in their initial memories alone, in a batch.

    seats      int32[N, A]: 0, or 1 plus the index of the initial memory of the policy that plays an agent
    initial    record[n], memories at the start of an episode
    threads    parts of the environments, with as many seats each, that can act at the same time
    """

    def __init__(
        self,
        batch: Batch,
        policy: CompiledPolicy,
        seats: NDArray[np.int32],
        initial: NDArray[Any],
        words: NDArray[np.uint64],
        threads: int,
    ) -> None:
        self._batch, self._seats, self._initial, self._words = batch, seats, initial, words
        self.memories = np.zeros(seats.shape, policy.memory)
        self._loop = policy.make_loop(batch.game)
        before = np.cumsum((seats > 0).sum(axis=1))  # seats up to each environment
        marks = np.searchsorted(before, before[-1] * np.arange(threads) / threads, side="right").tolist()
        marks.append(int(np.searchsorted(before, before[-1])) + 1)  # after the last seat; the first mark is at the first one
        self._shares = [(slice(*ends), policy.make_scratch(batch.game)) for ends in pairwise(marks) if ends[0] < ends[1]]
        self._parts = np.array(batch.game.actions, np.int64)

    def make_jobs(self, out: NDArray[np.int64]) -> list[Job]:
        """Return jobs that write the actions, see `threads.run_jobs`."""
        return [partial(self._act, envs, scratch, out) for envs, scratch in self._shares]

    def _act(self, envs: slice, scratch: tuple[Any, ...], out: NDArray[np.int64]) -> None:
        batch = self._batch
        self._loop(
            batch.states[envs], batch.masks[envs], self._seats[envs], batch.lengths[envs], self.memories[envs], self._initial,
            scratch, self._words[envs], self._parts, out[envs],
        )  # fmt: skip


class SeatedPolicies:
    """Policies at seats of a batch.

    batch               they read its states and masks
    policies            the policies that play
    seats               int[N, A] or int[A]: the index of the policy that plays an agent; UNSEATED (-1) for other agents
    seed                of their random draws: a number, or a generator word for each agent, uint64[N, A]; the draws of an
                        environment do not depend on the size of the batch
    initial_memories    memories of the first policy at the start of an episode, a record for each environment: many policies
                        of one kind side by side. None: its own
    threads             number of threads that let compiled policies act; their scratch arrays must not be shared with others
    """

    def __init__(
        self,
        batch: Batch,
        policies: Sequence[BatchPolicy],
        seats: Any,
        seed: int | NDArray[np.uint64] = 0,
        initial_memories: NDArray[Any] | None = None,
        threads: int = 1,
    ) -> None:
        shape = batch.num_envs, len(batch.game.agents)
        indices = _check_seats(np.asarray(seats), shape, len(policies))
        words = np.array(seed, np.uint64) if isinstance(seed, np.ndarray) else random_words(seed, shape[0] * shape[1])
        if words.size != shape[0] * shape[1]:
            raise InvalidParameter(f"invalid seed of shape {words.shape}: expected a number, or uint64{list(shape)}")
        self._batch, self._words, self._threads = batch, words.reshape(shape), threads
        self._calls, self._is_shared = 0, False
        kinds: dict[Any, dict[int, CompiledPolicy]] = {}
        self._python = []
        for i, policy in enumerate(policies):
            if isinstance(policy, PythonPolicy):
                self._python.append(policy.seat(batch, indices == i, self._words))
            else:
                kinds.setdefault(policy.kind, {})[i] = policy
        self._compiled = [self._seat(members, indices, initial_memories) for members in kinds.values()]

    def _seat(
        self, policies: Mapping[int, CompiledPolicy], indices: NDArray[Any], initial_memories: NDArray[Any] | None
    ) -> _CompiledSeats:
        """Return the seats of policies of one kind, by index."""
        seats, initial, count = np.zeros(indices.shape, np.int32), [], 0
        for i, policy in policies.items():
            policy.check(self._batch.game)
            rows = initial_memories if i == 0 and initial_memories is not None else policy.make_memory()
            seats = np.where(indices == i, np.arange(count + 1, count + len(rows) + 1, dtype=np.int32)[:, None], seats)
            initial.append(rows)
            count += len(rows)
        return _CompiledSeats(self._batch, policy, seats, np.concatenate(initial), self._words, self._threads)

    def act(self, actions: NDArray[np.int64] | None = None, meanwhile: Job | None = None) -> NDArray[np.int64]:
        """Write the actions of the seated agents, and of no other, into int64[N, S, P]; by default `batch.last_actions`.

        At the start of an episode the memories are reset. Actions of episodes that are over stay as they are.

        meanwhile    what the calling thread does first while other threads, if there are any, let policies act
        """
        out = self._batch.last_actions if actions is None else actions
        with self._batch.lock:
            self._act(out, [meanwhile] if meanwhile else [])
        return out

    def _act(self, out: NDArray[np.int64], own: list[Job]) -> None:
        """Write the actions; `own` is what the calling thread does first."""
        for one in self._python:
            one.act(out)
        jobs = [job for seats in self._compiled for job in seats.make_jobs(out)]
        if self._threads > 1 and self._calls % MEASURED_EVERY == 0:
            run_jobs(own, 1)
            started = time.perf_counter()
            run_jobs(jobs, 1)
            self._is_shared = time.perf_counter() - started > SHARED_FROM
        else:
            run_jobs([*own, *jobs], self._threads if self._is_shared else 1)
        self._calls += 1

    def end_episodes(self) -> None:
        """Report the final states to Python policies that read them; for batches without autoreset, after the last step."""
        for seats in self._python:
            seats.end_episodes()

    def lookahead_steps(self, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the environment steps made to look ahead in the current or last episode of each environment, int64[N].

        chosen    bool[N, A], the agents whose steps count; all by default
        """
        steps = np.zeros(self._words.shape, np.int64)
        for seats in self._compiled:
            if _counts_lookahead(seats.memories.dtype):
                steps += seats.memories["lookahead_steps"]
        return np.asarray(steps.sum(axis=1, where=True if chosen is None else chosen))

    def state_dict(self) -> list[NDArray[Any]]:
        """Return views of all that the next actions depend on besides the batch: generator words, then memories by kind.

        The memory of Python policies is not part of it.
        """
        return [self._words, *(seats.memories for seats in self._compiled)]

    def load_state_dict(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Take over the state of policies of the same kinds."""
        for own, given in zip(self.state_dict(), arrays, strict=True):
            own[:] = given


def _check_seats(seats: NDArray[Any], shape: tuple[int, int], count: int) -> NDArray[Any]:
    """Return seats as int[N, A], or raise InvalidParameter."""
    if seats.dtype.kind not in "iu" or seats.shape not in (shape, shape[1:]):
        raise InvalidParameter(
            f"invalid seats of shape {seats.shape} and dtype {seats.dtype}: expected integers of shape [{shape[1]}] or "
            f"{list(shape)}"
        )
    if ((seats < UNSEATED) | (seats >= count)).any():
        raise InvalidParameter(f"invalid seats {seats.min()}..{seats.max()}: expected {UNSEATED}..{count - 1}")
    return np.broadcast_to(seats, shape)


def policy_weights(game: Game, policies: Sequence[BatchPolicy]) -> NDArray[np.float64]:
    """Return the weights of policies for `playouts.play_episodes`, float64[n, K]; zeros for one without."""
    return np.array([policy.weights or (0.0,) * len(game.objectives) for policy in policies])


def has_kernel_policy(policies: Sequence[BatchPolicy]) -> bool:
    """Return whether one of these policies is a kernel, not a rule of `playouts.play_episodes`."""
    return any(policy.rule == KERNEL for policy in policies)


def play_policies(
    game: Game,
    states: NDArray[Any],
    policies: Sequence[BatchPolicy],
    seats: NDArray[np.int64],
    words: NDArray[np.uint64],
    initial_memories: NDArray[Any] | None = None,
    keep_moves: bool = False,
    threads: int = 1,
) -> Episodes:
    """Play from `states`, record[N], to the end, with a policy at each seat; see `SeatedPolicies` for the other arguments.

    Like `playouts.play_episodes`. Moves are int32[N, T, S, P] unless the game is sequential with discrete actions. Raises
    IllegalAction if a Python policy returns one
    """
    batch = Batch(game, len(states), autoreset="disabled")
    batch.load(states)
    seated = SeatedPolicies(batch, policies, seats, words, initial_memories, threads)
    moves: list[NDArray[np.int32]] = []
    has_python = any(isinstance(policy, PythonPolicy) for policy in policies)
    while not batch.states["over"].all():
        actions = seated.act()
        if has_python:
            _check_actions(batch, actions)
        if keep_moves:
            moves.append(np.where((batch.states["over"] == 0)[:, None, None], actions, -1).astype(np.int32))
        batch.step(actions)
    seated.end_episodes()
    lengths = batch.final_lengths.astype(np.int64)
    steps = lengths + seated.lookahead_steps()
    played = np.stack(moves, axis=1) if moves else np.zeros((len(states), 0, *batch.last_actions.shape[1:]), np.int32)
    if played.shape[2:] == (1, 1):
        played = played[:, :, 0, 0]
    return Episodes(batch.states, batch.returns, lengths, steps, played)


def _check_actions(batch: Batch, actions: NDArray[np.int64]) -> None:
    """Raise IllegalAction if an environment has an illegal action."""
    if (env := batch.find_illegal_env(actions)) >= 0:
        actor = batch.find_illegal_actor(actions, env)
        agent = batch.game.agents[int(batch.states["to_move"][env]) if batch.game.sequential else actor]
        given = actions[env, actor].tolist()
        text = given[0] if len(given) == 1 else given
        raise IllegalAction(f"illegal action={text} of {agent} in episode {env}: expected an action of its mask")


def check_agent(game: Game, agent: int | None) -> None:
    """Raise InvalidParameter unless `agent` is the index of an agent, or None in a sequential game."""
    if agent is None and not game.sequential:
        raise InvalidParameter(f"{game.id}: the argument agent is missing: all agents move at once; pass agent=0, for example")
    is_index = isinstance(agent, (int, np.integer)) and not isinstance(agent, bool)
    if agent is not None and not (is_index and 0 <= agent < len(game.agents)):
        raise InvalidParameter(invalid_value(f"{game.id}: agent", agent, f"0..{len(game.agents) - 1}"))


class AgentPolicy:
    """A compiled policy as a `contract.Policy` for one agent of one environment.

    agent    its index; needed where all agents move at once. Its memory lasts until `reset()`
    """

    def __init__(self, policy: CompiledPolicy, game: Game, agent: int | None = None) -> None:
        policy.check(game)
        check_agent(game, agent)
        self.policy, self.game, self.agent = policy, game, agent
        agents = len(game.agents)
        self._states = np.zeros(1, game.dtype)
        self._masks = np.zeros((1, game.actors, game.mask_size), np.int8)
        self._seats, self._lengths = np.zeros((1, agents), np.int32), np.zeros(1, np.int32)
        self._seats[0, slice(None) if agent is None else agent] = 1
        self._memory, self._initial = np.zeros((1, agents), policy.memory), policy.make_memory()
        self._scratch = policy.make_scratch(game)
        self._words = np.zeros((1, agents), np.uint64)
        self._parts = np.array(game.actions, np.int64)
        self._actions = np.zeros((1, game.actors, len(game.actions)), np.int64)

    def reset(self) -> None:
        """Start a new episode."""
        self._lengths[0] = 0

    def get_state(self) -> tuple[int, NDArray[Any]]:
        """Return a copy of its memory."""
        return int(self._lengths[0]), self._memory.copy()

    def set_state(self, state: tuple[int, NDArray[Any]]) -> None:
        """Restore its memory from `get_state`."""
        self._lengths[0], self._memory[:] = state

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        self._states[0] = state
        row = 0 if self.game.sequential or self.agent is None else self.agent
        self._masks[0, row] = mask
        self._words[:] = rng.integers(2**64, dtype=np.uint64)
        self.policy.make_loop(self.game)(
            self._states, self._masks, self._seats, self._lengths, self._memory, self._initial, self._scratch, self._words,
            self._parts, self._actions,
        )  # fmt: skip
        self._lengths[0] = 1
        action = self._actions[0, row]
        return int(action[0]) if len(action) == 1 else action.copy()
