"""Verification of front files: the engine replays every witness and compares its returns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import Plan
from momagames.baselines.equilibria import evaluate_equilibrium
from momagames.baselines.exact import clairvoyant_front, pareto_front
from momagames.baselines.exact.backward_induction import DECIMALS, backward_induction_front
from momagames.baselines.exact.branch_and_bound import BRANCH_AND_BOUND
from momagames.baselines.front_solvers import SearchLimits, compare_points, find_front_solver
from momagames.baselines.strategies import StoredStrategy, make_reply_model, walk
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.engine.playouts import NO_LIMIT
from momagames.errors import InvalidFile, InvalidParameter, MomagamesError
from momagames.fronts.environment_front import EnvironmentFront, prove_environment_front, verify_environment_front
from momagames.fronts.front_content import Point
from momagames.fronts.game_front import ALL, EQUILIBRIUM_CLAIMS, PLAN_CLAIMS, Claim, GameFront, hash_position
from momagames.fronts.generation import find_reply_weights

TOLERANCE = 1e-12  # of expected returns, which are sums of many products; other returns are exact
MAX_LAYERED_STATES, LAYER_BYTES = 200_000, 8 << 30  # of the second derivation of a front of returns, by plies
MIN_BYTES = 1 << 28  # memory limit of a proof, which the first tables of a small front need


def verify(front: GameFront | EnvironmentFront) -> None:
    """Replay the witness of every point and check that no point dominates another; check certificates.

    Raises     InvalidFile with the key or the point that is wrong
    """
    if isinstance(front, EnvironmentFront):
        verify_environment_front(front)
        return
    start = _load_start(front, front.make_game())
    _check_order(front)
    for number, point in enumerate(front.points):
        try:
            value = _replay(front, start, point)
        except (InvalidFile, InvalidParameter) as error:
            raise InvalidFile(f"point {number}: {error}") from None
        if not np.allclose(value, point.value, rtol=0, atol=TOLERANCE if front.claim == "response" else 0):
            raise InvalidFile(f"point {number}: invalid value={list(point.value)}: expected {value.tolist()} from its witness")


def explain_missing_start(front: GameFront | EnvironmentFront) -> str | None:
    """Return why the start position of a front that does not hold it cannot be generated here; None if it can."""
    if isinstance(front, GameFront) and front.start.position is None:
        try:
            front.make_game()
        except InvalidFile as error:
            return str(error)
    return None


def _load_start(front: GameFront, game: Game) -> Episode:
    """Return an episode at the start position; InvalidFile unless the seed generates it."""
    start = Episode(game)
    if front.start.seed is not None:
        start.reset(front.start.seed)
    generated = game.codec.save(start.state)
    if front.start.position is None:
        if hash_position(generated) != front.start.sha256:
            raise InvalidFile(f"start: seed {front.start.seed} generates a position with another sha256 than start.sha256")
        return start
    try:
        start.load(front.start.position)
    except MomagamesError as error:
        raise InvalidFile(f"start.position: {error}") from None
    if front.start.seed is not None and generated != front.start.position:
        raise InvalidFile(f"start: seed {front.start.seed} generates another position than start.position")
    return start


def _check_order(front: GameFront) -> None:
    values = front.values
    if front.claim in EQUILIBRIUM_CLAIMS:  # one may dominate another
        if len(np.unique(values, axis=0)) < len(values):
            raise InvalidFile("a point is equal to another one")
        return
    for number in np.flatnonzero(~is_nondominated(values)):
        other = next(i for i, v in enumerate(values) if i != number and (v >= values[number]).all())
        raise InvalidFile(f"point {number}: {values[number].tolist()} is dominated by, or equal to, point {other}")


def _replay(front: GameFront, start: Episode, point: Point) -> NDArray[np.float64]:
    """Return the return of the witness of a point, float64[K]."""
    game = start.game
    needs_actions = front.claim in PLAN_CLAIMS
    if (point.actions is not None) != needs_actions:
        witness = "actions" if needs_actions else "a strategy"
        raise InvalidFile(f"invalid witness: expected {witness} for claim {front.claim!r}")
    if (point.opponent_strategy is not None) != (front.claim in EQUILIBRIUM_CLAIMS):
        raise InvalidFile("invalid opponent_strategy: expected one for equilibria, and for no other claim")
    if point.actions is not None:
        return replay_actions(start, point.actions)
    if point.opponent_strategy is not None:
        return evaluate_equilibrium(game, start.states, (point.strategy or "", point.opponent_strategy))
    strategy = StoredStrategy(point.strategy or "")
    likely = make_reply_model(game, find_reply_weights(game, front.opponent)) if front.opponent else None
    walked = walk(game, start.states, game.agents.index(front.agent), strategy, likely)
    strategy.check_exhausted()
    return walked.worst if front.claim == "guaranteed" else walked.expected


def replay_actions(start: Episode, actions: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the first agent's return, float64[K], of an episode that continues a copy of `start`. Raises InvalidFile.

    Every action must be legal, and the episode must end with the last one. Where all agents act at once, each step takes an
    action of each.
    """
    episode, actors = Episode(start.game), start.game.actors
    episode.copy_from(start)
    if len(actions) % actors:
        raise InvalidFile(f"{len(actions)} actions: expected one of each of {actors} agents in each step")
    for ply in range(0, len(actions), actors):
        if episode.state["over"]:
            raise InvalidFile(f"the game is over after {ply} of {len(actions)} actions")
        step = actions[ply : ply + actors]
        for i, action in enumerate(step):
            if not episode.is_legal(episode.mover if start.game.sequential else i, action):
                raise InvalidFile(f"action {ply + i}, {action}, is not legal")
        episode.step(step[0] if start.game.sequential else np.array(step)[:, None])
    if not episode.state["over"]:
        raise InvalidFile(f"the game is not over after {len(actions)} actions")
    value: NDArray[np.float64] = episode.returns[0].copy()
    return value


# ---------------------------------------------------------------------------------------------------------------- proof


def prove(front: GameFront | EnvironmentFront) -> None:
    """Derive a proven front again; InvalidFile if the points differ. Best-known fronts are skipped."""
    if isinstance(front, EnvironmentFront):
        prove_environment_front(front)
    elif front.kind == "proven":
        PROOFS[front.claim](front)


def _prove_returns(front: GameFront) -> None:
    """Derive a front of returns by backward induction, and by plies for few states.

    For branch and bound, show that no reachable position can improve on the points. A game with a solver of its own has a
    proof of its own.
    """
    game, limits = front.make_game(), _limits(front)
    if front.claim in game.solvers.fronts:
        _prove_by_solver(front)
        return
    assert front.method is not None
    if front.method.name == BRANCH_AND_BOUND:
        known = [Plan(point.actions or (), np.array(point.value), 0) for point in front.points]
        plies = clairvoyant_front(game, front.position, max_states=NO_LIMIT, max_bytes=LAYER_BYTES, known=known)
        compare_points(front.values, front.values, plies.points)
        return
    compare_points(front.values, front.values, pareto_front(game, front.position, **limits.options).points)
    if limits.max_states <= MAX_LAYERED_STATES:
        plies = clairvoyant_front(game, front.position, max_states=NO_LIMIT, max_bytes=LAYER_BYTES)
        compare_points(front.values, front.values, plies.points)


def _prove_clairvoyant(front: GameFront) -> None:
    """Derive a clairvoyant front by plies, and by backward induction."""
    game, limits = front.make_game(), _limits(front)
    compare_points(front.values, front.values, clairvoyant_front(game, front.position, **limits.options).points)
    inducted = backward_induction_front(game, front.position, max_states=limits.max_states)
    compare_points(front.values, np.round(front.values, DECIMALS), inducted)


def _prove_by_solver(front: GameFront) -> None:
    """Prove a front by the solver of the game, see `FrontSolver.prove`."""
    game = front.make_game()
    weights = find_reply_weights(game, front.opponent) if front.opponent else None
    agent = 0 if front.agent == ALL else game.agents.index(front.agent)
    solver = find_front_solver(game, front.claim)
    solver.prove(game, front.position, agent, weights, front.values, _limits(front))


PROOFS: dict[Claim, Callable[[GameFront], None]] = {
    "returns": _prove_returns,
    "clairvoyant": _prove_clairvoyant,
    "guaranteed": _prove_by_solver,
    "response": _prove_by_solver,
    "equilibrium": _prove_by_solver,
    "subgame-perfect": _prove_by_solver,
}


def _limits(front: GameFront) -> SearchLimits:
    assert front.method is not None
    return SearchLimits(front.method.states, max(front.method.bytes, MIN_BYTES))
