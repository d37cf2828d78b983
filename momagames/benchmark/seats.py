"""One game of a match: seats for policies of any kind, with a time limit for Python."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from momagames.contract import (
    Game,
    Policy,
    State,
    end_policy_episode,
    first_legal_action,
    has_choice,
    report_return,
    reset_policy,
)
from momagames.engine.episode import Episode
from momagames.errors import IllegalAction

LATE = object()  # in place of an action


class Seat:
    """An agent index of one game, and the policy that plays it.

    limit   milliseconds for a move, or None
    name    of the player, for messages
    """

    def __init__(self, policy: Policy, limit: float | None = None, name: str = "") -> None:
        self._policy, self._late, self.name = policy, 0, name
        self._clock = None if limit is None else TimedCaller(limit / 1000)

    def reset(self) -> None:
        """Start a new episode."""
        reset_policy(self._policy)

    def move(self, episode: Episode, agent: int, rng: np.random.Generator) -> Any:
        """Return its action, or LATE."""
        state, mask = episode.state.copy(), episode.mask(agent).copy()
        report_return(self._policy, episode.returns[agent])
        if self._clock is None:
            return self._policy(state, mask, rng)
        answer = self._clock.call(lambda: self._policy(state, mask, rng))
        self._late += answer is LATE
        return answer

    @property
    def late(self) -> int:
        """Number of moves that came too late, by the clock of the seat or of the policy itself, whichever counts more."""
        return max(self._late, int(getattr(self._policy, "num_late", 0)))

    def end_episode(self, state: State) -> None:
        """Report the final state record."""
        end_policy_episode(self._policy, state)

    def close(self) -> None:
        """Stop the clock."""
        if self._clock is not None:
            self._clock.stop()


class TimedCaller:
    """Calls functions in a thread of its own and waits at most `limit` seconds for the result.

    A late result is discarded. The thread of a call that never returns ends with the program.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._waiting = False  # for the result of an earlier call
        threading.Thread(target=self._run_calls, daemon=True).start()

    def _run_calls(self) -> None:
        while (function := self._calls.get()) is not None:
            try:
                self._answers.put((function(), None))
            except BaseException as error:
                self._answers.put((None, error))

    def call(self, function: Callable[[], Any]) -> Any:
        """Return the result; LATE if it is late, or if an earlier call has not returned yet."""
        until = time.monotonic() + self._limit
        if self._waiting and self._wait(until) is LATE:
            return LATE
        self._calls.put(function)
        self._waiting = True
        return self._wait(until)

    def _wait(self, until: float) -> Any:
        """Wait for a result and return it, or LATE. Errors of the other thread are raised here."""
        try:
            answer, error = self._answers.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return LATE
        self._waiting = False
        if error is not None:
            raise error
        return answer

    def stop(self) -> None:
        """End the thread."""
        self._calls.put(None)


def play_game(game: Game, seats: Sequence[Seat], seed: int, rngs: Sequence[np.random.Generator]) -> tuple[Episode, int]:
    """Play a game to its end, a seat for each agent. Return it and its steps. Raises IllegalAction."""
    episode = Episode(game)
    episode.reset(seed)
    for seat in seats:
        seat.reset()
    steps = 0
    try:
        while not episode.state["over"]:
            actions = episode.pending
            for agent in [episode.mover] if game.sequential else range(len(seats)):
                mask = episode.mask(agent)
                row = 0 if game.sequential else agent
                actions[row] = first_legal_action(mask, game.actions)
                if mask.any() if game.sequential else has_choice(mask, game.actions):
                    action = seats[agent].move(episode, agent, rngs[agent])
                    if action is not LATE:
                        if not episode.is_legal(agent, action):
                            error = episode.illegal_action_error(agent, action)
                            raise IllegalAction(f"{seats[agent].name}: {error}") if seats[agent].name else error
                        actions[row] = action
            episode.step(actions[0, 0] if game.sequential and len(game.actions) == 1 else actions)
            steps += 1
        for seat in seats:
            seat.end_episode(episode.state)
    finally:
        for seat in seats:
            seat.close()
    return episode, steps
