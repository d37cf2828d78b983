"""Exact results of MO-Beach by counts of agents: fronts of a team, and the game of where to be in the end."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.front_solvers import Floats, SearchLimits, SolvedFront, check_no_checkpoint, compare_points
from momagames.baselines.symmetric import CrowdingGame, SymmetricGame
from momagames.contract import Game, State
from momagames.engine.episode import Episode
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.beach.rules import STAY

Counts = NDArray[np.int64]
ENUMERATED = 1_000_000  # tables of counts that a proof compares one by one
ROUNDING = 1e-6  # relative, of float32 rewards whose sums have another order


def rate_crowds(state: State, crowds: Counts) -> Floats:
    """Return capacity and mixture of sections, float64[..., 2], from their agents by type, int64[..., k] (§5)."""
    total = crowds.sum(axis=-1)
    capacity = total * np.exp(-total / int(state["capacity"]))
    return np.stack([capacity, crowds.min(axis=-1) / np.maximum(total, 1)], axis=-1)


def count_start(state: State) -> Counts:
    """Return the agents of each section by type, int64[S, k]."""
    counts: Counts = state["share"][: int(state["sections"]), : int(state["types"])].astype(np.int64)
    return counts


def make_team_game(state: State) -> CrowdingGame:
    """Return the choice of the last sections by a team, whose types are the classes."""
    agents = tuple(count_start(state).sum(axis=0).tolist())

    def rate(crowds: Counts) -> Floats:
        return np.repeat(rate_crowds(state, crowds)[:, None], len(agents), axis=1)

    return CrowdingGame(agents, int(state["sections"]), rate)


def find_bounds(start: Counts, steps: int) -> tuple[Counts, Counts]:
    """Return the least and the most agents of each type in the first sections after so many steps, int64[S, k] twice.

    An allocation within these bounds is reachable: agents of a type that go to it in their order need no more steps.
    """
    sections, steps = len(start), min(steps, len(start))
    together = np.cumsum(start, axis=0)
    none, everyone = np.zeros((steps, start.shape[1]), np.int64), np.repeat(together[-1:], steps, axis=0)
    padded = np.concatenate([none, together, everyone])
    return padded[:sections], padded[2 * steps :]


def plan_moves(state: State, counts: Counts) -> Counts:
    """Return actions that lead to a table of counts int64[k, S], int64[steps, A]: agents of a type stay in their order."""
    agents, steps = int(state["agents"]), int(state["steps"]) - int(state["ply"])
    sections, kinds = state["section"][:agents].astype(np.int64), state["type"][:agents]
    targets = np.zeros(agents, np.int64)
    for kind, row in enumerate(counts):
        own = np.flatnonzero(kinds == kind)
        targets[own[np.argsort(sections[own], kind="stable")]] = np.repeat(np.arange(len(row)), row)
    moves = np.zeros((steps, agents), np.int64)
    for step in range(steps):
        moves[step] = STAY + np.sign(targets - sections)
        sections += np.sign(targets - sections)
    return moves


class TeamFront:
    """Solver of the returns that a team can attain."""

    def solve(self, game: Game, start: Any, agent: int, opponent: Floats | None, limits: SearchLimits) -> SolvedFront:
        """See `CrowdingGame.find_front`; the strategies are joint actions, step by step."""
        check_no_checkpoint(limits.checkpoint, "a front by counts, which takes seconds")
        began, states = time.perf_counter(), load_state(game, start)
        tables, solved, nbytes = _solve_by_sections(states[0], limits.max_bytes)
        if solved > limits.max_states:
            raise TooLarge(f"{solved:,} states; expected at most max_states={limits.max_states:,}")
        plans = [plan_moves(states[0], counts) for counts in tables]
        values = np.array([_play(game, start, moves) for moves in plans])
        best = np.flatnonzero(is_nondominated(values))
        strategies = [plans[i].ravel().tolist() for i in best]
        return SolvedFront("counts by section", values[best], strategies, solved, nbytes, time.perf_counter() - began)

    def prove(self, game: Game, start: Any, agent: int, opponent: Floats | None, values: Floats, limits: SearchLimits) -> None:
        """Derive the front by the enumeration of all tables, for more than a million of them from the last section on."""
        state = load_state(game, start)[0]
        full = make_team_game(state).expand()
        if full.count_tables() <= ENUMERATED:
            tables = _enumerate(state, full)
        else:
            tables, _, _ = _solve_by_sections(state, limits.max_bytes, turned=True)
        found = np.array([_play(game, start, plan_moves(state, counts)) for counts in tables])
        near = np.isclose(found[:, None], values, rtol=ROUNDING, atol=0).all(axis=2)
        snapped = np.where(near.any(axis=1)[:, None], values[near.argmax(axis=1)], found)
        compare_points(values, values, snapped[is_nondominated(snapped)])


def _solve_by_sections(state: State, max_bytes: int, turned: bool = False) -> tuple[Counts, int, int]:
    """Return a table of counts for each point, int64[n, k, S], and the number of states and bytes of the search."""
    start, sections = count_start(state), int(state["sections"])
    order = slice(None, None, -1 if turned else 1)

    def rate_section(crowds: Counts) -> Floats:
        worth: Floats = rate_crowds(state, crowds) / np.array([1, sections])
        return worth

    bounds = find_bounds(start[order], int(state["steps"]) - int(state["ply"]))
    front = make_team_game(state).find_front(rate_section, bounds, max_bytes)
    return front.counts[:, :, order], front.states, front.bytes


def _enumerate(state: State, full: SymmetricGame) -> Counts:
    """Return the reachable tables of counts whose points no other one dominates."""
    low, high = find_bounds(count_start(state), int(state["steps"]) - int(state["ply"]))
    values, found = np.zeros((0, 2)), np.zeros((0, *full.options.shape), np.int64)
    for block in full.iterate_tables(ENUMERATED):
        crowds = block.transpose(0, 2, 1)
        together = np.cumsum(crowds, axis=1)
        reached = ((together >= low) & (together <= high)).all(axis=(1, 2))
        points = rate_crowds(state, crowds[reached]).sum(axis=1) / np.array([1, int(state["sections"])])
        values, found = np.concatenate([values, points]), np.concatenate([found, block[reached]])
        best = is_nondominated(values)
        values, found = values[best], found[best]
    return found


def _play(game: Game, start: Any, moves: Counts) -> Floats:
    """Return the returns of the first agent, float64[K]."""
    episode = Episode(game)
    episode.load(start)
    for actions in moves:
        episode.step(actions[:, None])
    value: Floats = episode.returns[0].copy()
    return value


def count_agents(game: Game, start: Any) -> SymmetricGame | CrowdingGame:
    """Return the game by counts in which agents choose the section where they are in the end, each for its own points.

    Classes are types, where every section is in reach of all agents, and otherwise types and sections of agents.
    Raises    InvalidParameter for a team
    """
    state = load_state(game, start)[0]
    if state["team"]:
        raise InvalidParameter(f"{game.id}: the agents of a team have one reward; equilibria need reward_mode='individual'")
    agents, steps = count_start(state), int(state["steps"]) - int(state["ply"])
    sections, types = agents.shape
    names = tuple(f"section {section}" for section in range(sections))
    if steps >= sections - 1:
        whole = make_team_game(state)
        return CrowdingGame(whole.agents, sections, whole.rate, tuple(f"type {kind}" for kind in range(types)), names)
    kinds, places = np.nonzero(agents.T)
    options = abs(np.arange(sections) - places[:, None]) <= steps
    sums = (kinds == np.arange(types)[:, None]).astype(np.int64)  # of classes by type

    def rate(tables: Counts) -> Floats:
        payoffs = rate_crowds(state, np.einsum("kc,ncm->nmk", sums, tables))
        return np.repeat(payoffs[:, None], len(kinds), axis=1)

    classes = tuple(f"type {kind} from section {place}" for kind, place in zip(kinds, places, strict=True))
    return SymmetricGame(tuple(agents[places, kinds].tolist()), options, rate, classes, names)


TEAM_FRONT = TeamFront()
