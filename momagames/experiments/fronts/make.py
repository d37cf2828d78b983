"""Computes proven fronts and puts them into the form of a file."""

from __future__ import annotations

import time
from typing import Any

from momagames import registry
from momagames.baselines.exact import Checkpoint, Progress, pareto_front
from momagames.contract import Game
from momagames.engine.play import Play
from momagames.experiments.fronts.format import STATEMENTS, FrontFile, Method, Point, Start
from momagames.experiments.plan import GameChoice
from momagames.experiments.results.provenance import provenance


def returns_front(
    choice: GameChoice,
    start: int | dict[str, Any],
    *,
    max_states: int,
    max_bytes: int,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    command: str = "",
) -> FrontFile:
    """The proven front of the returns of a game of one agent; limits, progress and errors as in `pareto_front`.

    start      the seed of a deal, or a position in dict form
    command    that made it, for the file
    """
    game = choice.game()
    begin = started(game, start)
    found = pareto_front(
        game, begin.position, max_states=max_states, max_bytes=max_bytes, progress=progress, checkpoint=checkpoint
    )
    points = tuple(
        Point(value=tuple(value), actions=tuple(actions))
        for value, actions in zip(found.points.tolist(), found.witnesses, strict=True)
    )
    method = Method(
        name="exact",
        options={"max_states": max_states, "max_bytes": max_bytes},
        states=found.states,
        bytes=found.bytes,
        seconds=found.seconds,
    )
    return FrontFile(
        kind="proven",
        claim="returns",
        statement=STATEMENTS["returns"].format(agent=game.agents[0]),
        game=choice,
        canonical=registry.spelled(game.id, game.params),
        start=begin,
        agent=game.agents[0],
        opponent=None,
        objectives=tuple(goal.name for goal in game.objectives),
        points=points,
        method=method,
        runs=(),
        made=made(command),
    )


def started(game: Game, start: int | dict[str, Any]) -> Start:
    """A start by seed, or by position (checked: BadState)."""
    one = Play(game)
    if isinstance(start, int):
        one.deal(start)
        return Start(seed=start, position=game.save(one.state))
    one.load(start)
    return Start(seed=None, position=game.save(one.state))


def made(command: str) -> dict[str, Any]:
    """Where a file comes from."""
    return {"command": command, "date": time.strftime("%Y-%m-%d", time.gmtime()), **provenance()}
