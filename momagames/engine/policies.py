"""Policies as kernels: at the seats of a batch without Python between two moves, and one by one through every door.

A policy is a kernel that sees the state, the agent that it plays and what it remembers, and writes an action. Whoever
plays through it: `Players` fills the actions of a batch, `CompiledPolicy` is the same kernel as a `contract.Policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, State
from momagames.engine.batch import Batch
from momagames.engine.playouts import KERNEL, Episodes
from momagames.engine.policy_loops import loop
from momagames.errors import InvalidParameter, one_of
from momagames.kernels.rng import random_words

NOTHING = np.dtype([("nothing", "u1")])  # the memory of who forgets at once
NOBODY = -1  # a seat that somebody else plays


@dataclass(frozen=True)
class Compiled:
    """A policy as a kernel.

    name     by which it is known, one for each kernel
    act      (state, agent, mask, parts, memory, word, action) -> word. It reads the state as far as the agent may see it,
             the mask int8[M] and the sizes of its parts int64[P]; it draws from the generator word and returns that as it
             is then; it writes to `memory` and to the action int64[P]. It is not asked where the mask leaves no choice
    memory   dtype of what it remembers during a game
    rules    `Game.rules_key` of the games that it plays; empty: all
    begins   fields of its memory, and what they hold when a game begins; all others are zero. Policies of one name may differ
             in it. A field "looked" counts the steps of the engine that it makes to look ahead
    scratch  game -> arrays that `act` gets between memory and word, or None: what it was told, and room to work in. They are
             made once for all the games of a batch, so that an action must not depend on what the last one left there.
             Policies of one name may differ in what they hold
    """

    name: str
    act: Callable[..., Any]
    memory: np.dtype[Any] = NOTHING
    rules: tuple[str, ...] = ()
    begins: tuple[tuple[str, int | tuple[float, ...]], ...] = ()
    scratch: Callable[[Game], tuple[Any, ...]] | None = None

    def blank(self) -> NDArray[Any]:
        """Its memory when a game begins, record[1]."""
        memory = np.zeros(1, self.memory)
        for name, value in self.begins:
            memory[name] = value
        return memory

    def room(self, game: Game) -> tuple[Any, ...]:
        """Its scratch."""
        return self.scratch(game) if self.scratch else ()

    def loop(self, game: Game) -> Callable[..., None]:
        """The compiled loop around it, see `player_loops`."""
        return loop(game, self.name, self.act, plain=self.scratch is None)

    def check(self, game: Game) -> None:
        """InvalidParameter if it cannot play this game."""
        if self.rules and game.rules_key not in self.rules:
            raise InvalidParameter(f"{self.name} only plays games with the rules of {one_of(self.rules)}; {game.id} has others")


@dataclass(frozen=True)
class Member:
    """One policy, in the form that the compiled episodes understand.

    rule       RANDOM, GREEDY or KERNEL
    weights    one for each objective (read by GREEDY alone)
    kernel     what KERNEL plays; see `momagames.engine.policies`
    arrays     of a policy that was trained: what it has learned, as it is stored; see `Method.restore`
    """

    label: str
    rule: int
    weights: tuple[float, ...]
    kernel: Compiled | None = None
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict, compare=False)


class Players:
    """Compiled policies at seats of a batch.

    batch      they read its states and masks
    policies   who plays
    seats      int[N, A] or int[A]: which of the policies plays an agent; NOBODY (-1) for agents that others play
    seed       of their luck, a number or a generator word for each agent, uint64[N, A]; what it means for an environment
               does not depend on the size of the batch
    begun      memories of the first policy when a game begins, a record for each environment: many policies of one kind side
               by side. None: as it says itself
    """

    def __init__(
        self,
        batch: Batch,
        policies: Sequence[Compiled],
        seats: Any,
        seed: int | NDArray[np.uint64] = 0,
        begun: NDArray[Any] | None = None,
    ) -> None:
        game, agents = batch.game, len(batch.game.agents)
        for one in policies:
            one.check(game)
        places = np.asarray(seats)
        if places.dtype.kind not in "iu" or places.shape not in ((agents,), (batch.num_envs, agents)):
            raise InvalidParameter(
                f"seats have shape {places.shape} of {places.dtype}; needed: whole numbers of shape [{agents}] or "
                f"[{batch.num_envs}, {agents}]"
            )
        if ((places < NOBODY) | (places >= len(policies))).any():
            raise InvalidParameter(f"seats name policies {NOBODY}..{places.max()}; allowed: {NOBODY}..{len(policies) - 1}")
        self._batch = batch
        places = np.broadcast_to(places, (batch.num_envs, agents))
        self._plays = [(places == i).astype(np.uint8) for i in range(len(policies))]
        self._memories = [np.zeros((batch.num_envs, agents), one.memory) for one in policies]
        self._blanks = [one.blank() for one in policies]
        if begun is not None:
            self._blanks[0] = begun
        self._loops = [one.loop(game) for one in policies]
        self._rooms = [one.room(game) for one in policies]
        words = np.array(seed, np.uint64) if isinstance(seed, np.ndarray) else random_words(seed, batch.num_envs * agents)
        if words.size != batch.num_envs * agents:
            raise InvalidParameter(f"seed has shape {words.shape}; needed: a number, or uint64[{batch.num_envs}, {agents}]")
        self._words = words.reshape(batch.num_envs, agents)
        self._parts = np.array(game.actions, np.int64)

    def act(self, actions: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Write the actions of these players, and of nobody else, into int64[N, S, P]; by default `batch.played`.

        Where a game has just begun, they have forgotten everything. Actions of games that are over are left alone.
        """
        batch = self._batch
        out = batch.last_actions if actions is None else actions
        own = zip(self._loops, self._plays, self._memories, self._blanks, self._rooms, strict=True)
        for run, plays, memories, blank, room in own:
            run(batch.states, batch.masks, plays, batch.lengths, memories, blank, room, self._words, self._parts, out)
        return out

    def looked(self) -> NDArray[np.int64]:
        """Steps of the engine that these players made to look ahead, int64[N], in the games that are on or just over."""
        found = np.zeros(self._batch.num_envs, np.int64)
        for memories in self._memories:
            if "looked" in (memories.dtype.names or ()):
                found += memories["looked"].sum(axis=1)
        return found

    def kept(self) -> list[NDArray[Any]]:
        """All that the next actions depend on besides the batch, as it is: the generator words, and what each remembers."""
        return [self._words, *self._memories]

    def take_up(self, kept: Sequence[NDArray[Any]]) -> None:
        """Go on as those of whom this was kept, who are of the same kinds."""
        for own, given in zip(self.kept(), kept, strict=True):
            own[:] = given


def play_kernels(
    game: Game,
    states: NDArray[Any],
    policies: Sequence[Compiled],
    seats: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> Episodes:
    """Play on from `states`, record[N], to the end, a policy at each seat; see `Players` for seats and words.

    Like `rollouts.play`, without the moves
    """
    batch = Batch(game, len(states), autoreset="disabled")
    batch.load(states)
    players = Players(batch, policies, seats, words)
    while not batch.states["over"].all():
        batch.step(players.act())
    lengths = batch.final_lengths.astype(np.int64)
    return Episodes(batch.states, batch.returns, lengths, lengths + players.looked(), np.zeros((len(states), 0), np.int32))


class CompiledPolicy:
    """A compiled policy as a `contract.Policy` that plays one agent of one environment. A subclass says which: `compiled`.

    agent    its index; needed where all move at once. It remembers until `begin()` says that a new game begins
    """

    compiled: ClassVar[Compiled]

    @classmethod
    def member(cls, game: Game, **options: Any) -> Member:
        """The policy with these options as a member of a method."""
        kernel = cls(game, 0, **options).compiled
        return Member(kernel.name, KERNEL, (0.0,) * len(game.objectives), kernel)

    def __init__(self, game: Game, agent: int | None = None) -> None:
        policy = self.compiled
        policy.check(game)
        if agent is None and not game.sequential:
            raise InvalidParameter(
                f"{policy.name} must know which agent of {game.id} it plays: policy(..., agent=0), for example"
            )
        if agent is not None and not 0 <= agent < len(game.agents):
            raise InvalidParameter(f"{policy.name}: invalid agent={agent!r}: expected 0..{len(game.agents) - 1}")
        self.game, self.agent = game, agent
        agents = len(game.agents)
        self._states = np.zeros(1, game.dtype)
        self._masks = np.zeros((1, 1 if game.sequential else agents, game.mask_size), np.int8)
        self._plays, self._begun = np.zeros((1, agents), np.uint8), np.zeros(1, np.int32)
        self._plays[0, slice(None) if agent is None else agent] = 1
        self._memory, self._blank = np.zeros((1, agents), policy.memory), policy.blank()
        self._room = policy.room(game)
        self._words = np.zeros((1, agents), np.uint64)
        self._parts = np.array(game.actions, np.int64)
        self._actions = np.zeros((1, game.actors, len(game.actions)), np.int64)

    def begin(self) -> None:
        """A new game begins."""
        self._begun[0] = 0

    def remembered(self) -> tuple[int, NDArray[Any]]:
        """A copy of what it remembers, for `recall`."""
        return int(self._begun[0]), self._memory.copy()

    def recall(self, memory: tuple[int, NDArray[Any]]) -> None:
        """Remember what it did when `remembered` gave this."""
        self._begun[0], self._memory[:] = memory

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        self._states[0] = state
        row = 0 if self.game.sequential or self.agent is None else self.agent
        self._masks[0, row] = mask
        self._words[:] = rng.integers(2**64, dtype=np.uint64)
        self.compiled.loop(self.game)(
            self._states, self._masks, self._plays, self._begun, self._memory, self._blank, self._room, self._words,
            self._parts, self._actions,
        )  # fmt: skip
        self._begun[0] = 1
        action = self._actions[0, row]
        return int(action[0]) if len(action) == 1 else action.copy()
