"""One game of a match at one table: seats that are taken by policies of any kind, Python ones against the clock."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from momagames.contract import Game, Policy, begin_game
from momagames.engine.episode import Episode


class Seat:
    """A seat that a built-in policy has taken.

    late   how many of its moves came too late
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.late = 0

    def begin(self) -> None:
        """A game begins."""
        begin_game(self._policy)

    def move(self, play: Episode, agent: int, rng: np.random.Generator) -> Any:
        """Its action, or None if it is late."""
        return self._policy(play.state, play.mask(agent), rng)

    def leave(self) -> None:
        """The game is over."""


class PythonSeat(Seat):
    """A seat taken by a Python function (observation, mask, generator) -> action, which sees what the agent sees and no more.

    limit   milliseconds that it has for a move, or None
    """

    def __init__(self, function: Callable[..., Any], limit: float | None) -> None:
        super().__init__(function)
        self._clock = None if limit is None else Clock(limit / 1000)

    def move(self, play: Episode, agent: int, rng: np.random.Generator) -> Any:
        fields = play.observe(agent)
        seen = next(iter(fields.values())) if len(fields) == 1 else fields
        mask = play.mask(agent).copy()
        if self._clock is None:
            return self._policy(seen, mask, rng)
        answer = self._clock.ask(lambda: self._policy(seen, mask, rng))
        self.late += answer is None
        return answer

    def leave(self) -> None:
        if self._clock is not None:
            self._clock.stop()


class Clock:
    """Asks questions in a thread of its own and waits no longer than `limit` seconds for the answer.

    A late answer is thrown away. The thread of somebody who never answers stays behind, and ends with the program.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._questions: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._waiting = False  # for an answer to an earlier question
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            try:
                self._answers.put((question(), None))
            except BaseException as error:
                self._answers.put((None, error))

    def ask(self, question: Callable[[], Any]) -> Any:
        """The answer; None if it comes too late, or if there is still no answer to an earlier question."""
        until = time.monotonic() + self._limit
        if self._waiting and not self._heard(until)[0]:
            return None
        self._questions.put(question)
        self._waiting = True
        return self._heard(until)[1]

    def _heard(self, until: float) -> tuple[bool, Any]:
        """Wait for an answer; whether it came, and the answer. What went wrong in the other thread is raised here."""
        try:
            answer, error = self._answers.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return False, None
        self._waiting = False
        if error is not None:
            raise error
        return True, answer

    def stop(self) -> None:
        """No more questions."""
        self._questions.put(None)


def play_one(game: Game, seats: Sequence[Seat], deal: int, luck: Sequence[np.random.Generator]) -> tuple[Episode, int]:
    """Play a game to its end, a seat for each agent. Returns it, and its steps. IllegalAction if somebody breaks the rules."""
    play = Episode(game)
    play.reset(deal)
    for seat in seats:
        seat.begin()
    cuts = np.cumsum(game.actions)[:-1]
    steps = 0
    try:
        while not play.state["over"]:
            actions = play.pending
            for agent in [play.mover] if game.sequential else range(len(seats)):
                parts = np.split(play.mask(agent), cuts)
                row = 0 if game.sequential else agent
                actions[row] = [int(part.argmax()) for part in parts]  # the first legal one
                if any(part.sum() > (0 if game.sequential else 1) for part in parts):
                    action = seats[agent].move(play, agent, luck[agent])
                    if action is not None:
                        if not play.is_legal(agent, action):
                            raise play.illegal_action_error(agent, action)
                        actions[row] = action
            play.step(actions[0, 0] if game.sequential and len(game.actions) == 1 else actions)
            steps += 1
    finally:
        for seat in seats:
            seat.leave()
    return play, steps
