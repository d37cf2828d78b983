"""Checks what a front file says: every witness is played again by the engine, and its returns are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import Plan
from momagames.baselines.exact import clairvoyant_front, pareto_front
from momagames.baselines.exact.backward_induction import DECIMALS, backward_induction_front
from momagames.baselines.exact.branch_and_bound import BRANCH_AND_BOUND
from momagames.baselines.front_solvers import compare_points, find_front_solver
from momagames.baselines.strategies import Stored, reply_probabilities, walk
from momagames.contract import Game
from momagames.engine.episode import Episode, load_state
from momagames.engine.playouts import FOREVER
from momagames.errors import InvalidFile, InvalidParameter, MomagamesError
from momagames.fronts.front_file import PLAYED, Claim, FrontFile, Point
from momagames.fronts.generation import reply_weights

ROUNDING = 1e-12  # of expected returns, which are sums of many products; other returns are exact
FEW_STATES, LAYER_BYTES = 200_000, 8 << 30  # for the second way to a front of returns, ply after ply
LEAST_BYTES = 1 << 28  # that a proof may take; no search for a small front is refused for its first tables


def verify(front: FrontFile) -> None:
    """Play the witness of every point and compare; see that no point dominates another.

    Raises InvalidFile, which names the entry or the point, what was expected and what came out
    """
    game = front.board()
    start = _start(front, game)
    _check_order(front)
    for number, point in enumerate(front.points):
        try:
            value = _play(front, game, start, point)
        except (InvalidFile, InvalidParameter) as error:
            raise InvalidFile(f"point {number}: {error}") from None
        if not np.allclose(value, point.value, rtol=0, atol=ROUNDING if front.claim == "response" else 0):
            raise InvalidFile(f"point {number}: its witness gets {value.tolist()}; the file says {list(point.value)}")


def _start(front: FrontFile, game: Game) -> NDArray[Any]:
    """The start position, record[1]; a seed must still deal it."""
    try:
        start = load_state(game, front.start.position)
    except MomagamesError as error:
        raise InvalidFile(f"start.position: {error}") from None
    if front.start.seed is not None:
        one = Episode(game)
        one.reset(front.start.seed)
        if game.codec.save(one.state) != front.start.position:
            raise InvalidFile(f"start: the seed {front.start.seed} deals another position than the one in the file")
    return start


def _check_order(front: FrontFile) -> None:
    values = front.values
    for number in np.flatnonzero(~is_nondominated(values)):
        other = next(i for i, v in enumerate(values) if i != number and (v >= values[number]).all())
        raise InvalidFile(f"point {number}: {values[number].tolist()} is dominated by, or equal to, point {other}")


def _play(front: FrontFile, game: Game, start: NDArray[Any], point: Point) -> NDArray[np.float64]:
    """What the witness of a point gets, float64[K]."""
    played = front.claim in PLAYED
    if (point.actions is not None) != played:
        raise InvalidFile(f"the claim {front.claim!r} needs {'actions' if played else 'a strategy'} as witness")
    if point.actions is not None:
        return _play_actions(game, start, point.actions)
    strategy = Stored(point.strategy or "")
    likely = reply_probabilities(game, reply_weights(game, front.opponent)) if front.opponent else None
    walked = walk(game, start, game.agents.index(front.agent), strategy, likely)
    strategy.check_done()
    return walked.worst if front.claim == "guaranteed" else walked.expected


def _play_actions(game: Game, start: NDArray[Any], actions: tuple[int, ...]) -> NDArray[np.float64]:
    """The first agent's returns of a whole game."""
    one = Episode(game)
    one.load(start[0])
    for ply, action in enumerate(actions):
        if one.state["over"]:
            raise InvalidFile(f"the game is over after {ply} of {len(actions)} actions")
        if not one.is_legal(one.mover, action):
            raise InvalidFile(f"action {ply}, {action}, is not legal")
        one.step(action)
    if not one.state["over"]:
        raise InvalidFile(f"the game goes on after its {len(actions)} actions")
    value: NDArray[np.float64] = one.returns[0].copy()
    return value


# ------------------------------------------------------------------------------------------------------------ once more


def prove(front: FrontFile) -> None:
    """Derive a proven front again and compare; InvalidFile if the points differ. A best-known one has nothing to be proven."""
    if front.kind == "proven":
        PROOFS[front.claim](front)


def _prove_returns(front: FrontFile) -> None:
    """From the end back, with keys of positions; and from the start on, if that does not take too much memory. What was
    found by branch and bound: that no way is left which could beat the points, in any position that can come up."""
    game, limits = front.board(), _limits(front)
    assert front.method is not None
    if front.method.name == BRANCH_AND_BOUND:
        known = [Plan(point.actions or (), np.array(point.value), 0) for point in front.points]
        plies = clairvoyant_front(game, front.start.position, max_states=FOREVER, max_bytes=LAYER_BYTES, known=known)
        compare_points(front.values, front.values, plies.points)
        return
    compare_points(front.values, front.values, pareto_front(game, front.start.position, **limits).points)
    if limits["max_states"] <= FEW_STATES:
        plies = clairvoyant_front(game, front.start.position, max_states=FOREVER, max_bytes=LAYER_BYTES)
        compare_points(front.values, front.values, plies.points)


def _prove_foreseen(front: FrontFile) -> None:
    """From the start on, and from the end back."""
    game, limits = front.board(), _limits(front)
    compare_points(front.values, front.values, clairvoyant_front(game, front.start.position, **limits).points)
    plainly = backward_induction_front(game, front.start.position, max_states=limits["max_states"])
    compare_points(front.values, np.round(front.values, DECIMALS), plainly)


def _prove_solved(front: FrontFile) -> None:
    """By the solver of the game, see `FrontSolver.prove`."""
    game = front.board()
    weights = reply_weights(game, front.opponent) if front.opponent else None
    agent, solver = game.agents.index(front.agent), find_front_solver(game, front.claim)
    solver.prove(game, front.start.position, agent, weights, front.values, **_limits(front))


PROOFS: dict[Claim, Callable[[FrontFile], None]] = {
    "returns": _prove_returns,
    "foreseen": _prove_foreseen,
    "guaranteed": _prove_solved,
    "response": _prove_solved,
}


def _limits(front: FrontFile) -> dict[str, Any]:
    assert front.method is not None
    return {"max_states": front.method.states, "max_bytes": max(front.method.bytes, LEAST_BYTES)}
