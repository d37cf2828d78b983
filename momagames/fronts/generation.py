"""Computes proven fronts and puts them into the form of a file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines.base import seat_of
from momagames.baselines.exact import Checkpoint, Front, Progress, exact_front
from momagames.baselines.exact import clairvoyant_front as solve_clairvoyant
from momagames.baselines.front_solvers import find_front_solver
from momagames.baselines.strategies import pack
from momagames.benchmark.plan import GameChoice, Opponent
from momagames.benchmark.store.provenance import provenance
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.engine.playouts import GREEDY, RANDOM
from momagames.errors import InvalidParameter
from momagames.fronts.front_file import STATEMENTS, Claim, FrontFile, Method, Point, Start


@dataclass(frozen=True)
class Effort:
    """What a computation may take, and whom it tells.

    progress     called several times a second with (positions solved, bytes used)
    checkpoint   for the claim "returns": solved positions are kept there, and taken up again
    """

    max_states: int
    max_bytes: int
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    @property
    def limits(self) -> dict[str, Any]:
        return {"max_states": self.max_states, "max_bytes": self.max_bytes}


def returns_front(choice: GameChoice, start: int | dict[str, Any], effort: Effort, command: str = "") -> FrontFile:
    """The proven front of the returns of a game of one agent; errors as in `exact_front`.

    start      the seed of a deal, or a position in dict form
    command    that made it, for the file
    """
    game = choice.game()
    begin = started(game, start)
    found = exact_front(game, begin.position, **effort.limits, progress=effort.progress, checkpoint=effort.checkpoint)
    return _played("returns", choice, game, begin, found, effort, command)


def clairvoyant_front(choice: GameChoice, start: int | dict[str, Any], effort: Effort, command: str = "") -> FrontFile:
    """The proven front of one deal of a game that may draw during play, its draws known beforehand; otherwise as
    `returns_front`."""
    game = choice.game()
    begin = started(game, start)
    check_no_checkpoint(effort.checkpoint, "foreseen")
    found = solve_clairvoyant(game, begin.position, **effort.limits, progress=effort.progress)
    return _played("foreseen", choice, game, begin, found, effort, command)


def _played(
    claim: Claim, choice: GameChoice, game: Game, begin: Start, found: Front, effort: Effort, command: str
) -> FrontFile:
    """A front whose witnesses are whole games."""
    points = [
        Point(value=tuple(value), actions=tuple(actions))
        for value, actions in zip(found.points.tolist(), found.witnesses, strict=True)
    ]
    method = Method(name=found.search, options=effort.limits, states=found.states, bytes=found.bytes, seconds=found.seconds)
    return proven(claim, choice, game, begin, 0, None, points, method, command)


def guaranteed_front(
    choice: GameChoice, start: int | dict[str, Any], agent: str, effort: Effort, command: str = ""
) -> FrontFile:
    """The proven front of what an agent can guarantee, for games with a solver; errors as in `FrontSolver.solve`."""
    return _solved("guaranteed", choice, start, agent, None, effort, command)


def response_front(
    choice: GameChoice, start: int | dict[str, Any], agent: str, opponent: Opponent, effort: Effort, command: str = ""
) -> FrontFile:
    """The proven best responses of an agent to `random` or `greedy`, for games with a solver; errors as in
    `FrontSolver.solve`."""
    return _solved("response", choice, start, agent, opponent, effort, command)


def _solved(
    claim: Claim,
    choice: GameChoice,
    start: int | dict[str, Any],
    agent: str,
    opponent: Opponent | None,
    effort: Effort,
    command: str,
) -> FrontFile:
    """A front that a solver of the game finds, with a strategy for each point."""
    game = choice.game()
    begin, seat = started(game, start), seat_of(game, agent)
    check_no_checkpoint(effort.checkpoint, claim)
    solver = find_front_solver(game, claim)
    weights = reply_weights(game, opponent) if opponent else None
    found = solver.solve(game, begin.position, seat, weights, **effort.limits, progress=effort.progress)
    points = [
        Point(value=tuple(value), strategy=pack(list(actions)))
        for value, actions in zip(found.values.tolist(), found.strategies, strict=True)
    ]
    method = Method(name=solver.method, options=effort.limits, states=found.states, bytes=found.bytes, seconds=found.seconds)
    return proven(claim, choice, game, begin, seat, opponent, points, method, command)


def reply_weights(game: Game, opponent: Opponent) -> NDArray[np.float64]:
    """Return the weights of a greedy opponent, float64[K]; all zero: it is random. InvalidParameter for others."""
    policy = opponent.policy(game)
    if policy.rule == RANDOM:
        return np.zeros(len(game.objectives))
    if policy.rule == GREEDY:
        return np.array(policy.weights, np.float64)
    raise InvalidParameter(f"opponent {opponent.label!r}: best responses are known to 'random' and 'greedy' alone")


def proven(
    claim: Claim,
    choice: GameChoice,
    game: Game,
    begin: Start,
    seat: int,
    opponent: Opponent | None,
    points: list[Point],
    method: Method,
    command: str,
) -> FrontFile:
    """The content of a file; points in ascending order."""
    return FrontFile(
        kind="proven",
        claim=claim,
        statement=STATEMENTS[claim].format(agent=game.agents[seat], opponent=opponent.label if opponent else ""),
        game=choice,
        canonical=registry.format_id(game.id, game.params),
        start=begin,
        agent=game.agents[seat],
        opponent=opponent,
        objectives=tuple(goal.name for goal in game.objectives),
        points=tuple(sorted(points, key=lambda point: point.value)),
        method=method,
        runs=(),
        made=made(command),
    )


def started(game: Game, start: int | dict[str, Any]) -> Start:
    """A start by seed, or by position (checked: InvalidState)."""
    one = Episode(game)
    if isinstance(start, int):
        one.reset(start)
        return Start(seed=start, position=game.codec.save(one.state))
    one.load(start)
    return Start(seed=None, position=game.codec.save(one.state))


def check_no_checkpoint(checkpoint: Checkpoint | None, claim: Claim) -> None:
    if checkpoint is not None:
        raise InvalidParameter(f"checkpoint={str(Path(checkpoint.path))!r}: a search for the claim {claim!r} keeps none")


def made(command: str) -> dict[str, Any]:
    """Where a file comes from."""
    return {"command": command, "date": time.strftime("%Y-%m-%d", time.gmtime()), **provenance()}
