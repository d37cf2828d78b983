"""Generation of proven fronts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines.exact import Front, exact_front
from momagames.baselines.exact import clairvoyant_front as solve_clairvoyant
from momagames.baselines.front_solvers import SearchLimits, check_no_checkpoint, find_front_solver
from momagames.baselines.strategies import encode_actions
from momagames.benchmark.choices import GameChoice, Opponent
from momagames.benchmark.store.provenance import collect_env_info
from momagames.contract import Game
from momagames.contract.agents import find_agent
from momagames.engine.episode import Episode
from momagames.engine.playouts import GREEDY, RANDOM
from momagames.errors import InvalidParameter
from momagames.fronts.front_content import Method, Point
from momagames.fronts.game_front import (
    EQUILIBRIUM_CLAIMS,
    PLAN_CLAIMS,
    Claim,
    GameFront,
    Start,
    list_columns,
    list_subjects,
    state_claim,
)


def returns_front(choice: GameChoice, start: int | dict[str, Any], limits: SearchLimits, command: str = "") -> GameFront:
    """Return the proven front of the returns of a single-agent game, or of a team whose game has a solver of them.

    Errors as in `exact_front` and `FrontSolver.solve`.

    start      seed of the start position, or a position as a dict
    command    the command that generates the front, for its provenance
    """
    game = choice.make_game()
    start_position = make_start(game, start)
    if "returns" in game.solvers.fronts:
        solved = find_front_solver(game, "returns").solve(game, start_position.position, 0, None, limits)
        plans = [list(one) for one in solved.strategies]
        found = Front(solved.values, plans, solved.states, solved.bytes, solved.seconds, solved.method)
        return _plan_front("returns", choice, game, start_position, found, limits, command)
    found = exact_front(game, start_position.position, **limits.options, progress=limits.progress, checkpoint=limits.checkpoint)
    return _plan_front("returns", choice, game, start_position, found, limits, command)


def clairvoyant_front(choice: GameChoice, start: int | dict[str, Any], limits: SearchLimits, command: str = "") -> GameFront:
    """Return the proven front of a single-agent game with all random draws known in advance; otherwise as `returns_front`."""
    game = choice.make_game()
    start_position = make_start(game, start)
    check_no_checkpoint(limits.checkpoint, "the claim clairvoyant")
    found = solve_clairvoyant(game, start_position.position, **limits.options, progress=limits.progress)
    return _plan_front("clairvoyant", choice, game, start_position, found, limits, command)


def _plan_front(
    claim: Claim, choice: GameChoice, game: Game, start: Start, found: Front, limits: SearchLimits, command: str
) -> GameFront:
    """Return a proven front with a sequence of actions for each point."""
    points = [
        Point(value=tuple(value), actions=tuple(actions))
        for value, actions in zip(found.points.tolist(), found.witnesses, strict=True)
    ]
    method = Method(name=found.search, options=limits.options, states=found.states, bytes=found.bytes, seconds=found.seconds)
    return _make_proven_front(claim, choice, game, start, 0, None, points, method, command)


def guaranteed_front(
    choice: GameChoice, start: int | dict[str, Any], agent: str | int, limits: SearchLimits, command: str = ""
) -> GameFront:
    """Return the proven front of the vectors that an agent can guarantee; errors as in `FrontSolver.solve`."""
    return _strategy_front("guaranteed", choice, start, agent, None, limits, command)


def response_front(
    choice: GameChoice,
    start: int | dict[str, Any],
    agent: str | int,
    opponent: Opponent,
    limits: SearchLimits,
    command: str = "",
) -> GameFront:
    """Return the proven best responses of an agent to `random` or `greedy`; errors as in `FrontSolver.solve`."""
    return _strategy_front("response", choice, start, agent, opponent, limits, command)


def equilibrium_front(
    choice: GameChoice, start: int | dict[str, Any], limits: SearchLimits, command: str = "", *, subgame_perfect: bool = False
) -> GameFront:
    """Return the proven returns of the Pareto-Nash equilibria of a game of two agents; errors as in `FrontSolver.solve`.

    subgame_perfect    only those of the subgame perfect equilibria
    """
    claim: Claim = "subgame-perfect" if subgame_perfect else "equilibrium"
    return _strategy_front(claim, choice, start, choice.make_game().agents[0], None, limits, command)


def _strategy_front(
    claim: Claim,
    choice: GameChoice,
    start: int | dict[str, Any],
    agent: str | int,
    opponent: Opponent | None,
    limits: SearchLimits,
    command: str,
) -> GameFront:
    """Return a proven front of the game's solver with a strategy for each point."""
    game = choice.make_game()
    start_position, seat = make_start(game, start), find_agent(game, agent)
    solver = find_front_solver(game, claim)
    weights = find_reply_weights(game, opponent) if opponent else None
    found = solver.solve(game, start_position.position, seat, weights, limits)
    strategies = [encode_actions(list(actions)) for actions in found.strategies]
    replies: list[str | None] = [encode_actions(list(actions)) for actions in found.opponent_strategies]
    points = [
        Point(value=tuple(value), strategy=strategy, opponent_strategy=reply)
        for value, strategy, reply in zip(found.values.tolist(), strategies, replies or [None] * len(strategies), strict=True)
    ]
    method = Method(name=found.method, options=limits.options, states=found.states, bytes=found.bytes, seconds=found.seconds)
    return _make_proven_front(claim, choice, game, start_position, seat, opponent, points, method, command)


def find_reply_weights(game: Game, opponent: Opponent) -> NDArray[np.float64]:
    """Return the weights of a greedy opponent, float64[K]; all zero: it is random. InvalidParameter for others."""
    policy = opponent.make_policy(game)
    if policy.rule == RANDOM:
        return np.zeros(len(game.objectives))
    if policy.rule == GREEDY:
        return np.array(policy.weights, np.float64)
    raise InvalidParameter(f"invalid opponent={opponent.label!r}: expected 'random' or 'greedy' for best responses")


def _make_proven_front(
    claim: Claim,
    choice: GameChoice,
    game: Game,
    start: Start,
    seat: int,
    opponent: Opponent | None,
    points: list[Point],
    method: Method,
    command: str,
) -> GameFront:
    """Return a front file with its points in ascending order."""
    agent = list_subjects(game, claim)[0 if claim in (*PLAN_CLAIMS, *EQUILIBRIUM_CLAIMS) else seat]
    return GameFront(
        kind="proven",
        claim=claim,
        statement=state_claim("proven", claim, agent, opponent),
        game=choice.embed_files(),
        canonical=registry.format_id(game.id, game.params),
        start=start,
        agent=agent,
        opponent=opponent,
        objectives=list_columns(game, claim),
        points=tuple(sorted(points, key=lambda point: point.value)),
        method=method,
        runs=(),
        provenance=collect_provenance(command),
    )


def make_start(game: Game, start: int | dict[str, Any]) -> Start:
    """Return the start of a seed or of a position; InvalidState for an invalid position."""
    episode = Episode(game)
    if isinstance(start, int):
        episode.reset(start)
        return Start(seed=start, position=game.codec.save(episode.state))
    episode.load(start)
    return Start(seed=None, position=game.codec.save(episode.state))


def collect_provenance(command: str) -> dict[str, Any]:
    """Return the provenance of a front file."""
    return {"command": command, "date": time.strftime("%Y-%m-%d", time.gmtime()), **collect_env_info()}
