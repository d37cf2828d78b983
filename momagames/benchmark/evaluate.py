"""What one run does: search for plans, or let policies play. It yields the rows of its result, one for each episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import kernels_of, side
from momagames.baselines.random import RandomPolicy
from momagames.benchmark.plan import Run
from momagames.contract import Game
from momagames.engine.playouts import KERNEL, RANDOM, Episodes, deal, play
from momagames.engine.policies import Member, play_kernels

Row = dict[str, Any]
# Purposes of random numbers: start positions, the lots that players draw, and training, which knows neither
STARTS, PLAYERS, TRAINING = 1, 2, 3
SETS = ("select", "report")


def rows(run: Run, facts: dict[str, Any], members: list[Member] | None = None) -> Iterator[Row]:
    """The rows of a run; `facts` takes up counts that belong to the run as a whole, and `members` the policies that play.

    Every row holds the canonical game, method, options, seed, version, episode, policy, return and length. A plan has its
    actions and the engine's steps made when it was found; a policy's episode has opponent, seat, set and start seed.
    """
    head = {
        "game": run.canonical,
        "method": run.method.name,
        "options": run.method.options,
        "seed": run.seed,
        "version": run.version,
    }
    for row in plan_rows(run, facts) if run.kind == "plans" else policy_rows(run, facts, members):
        yield {**head, **row}


def plan_rows(run: Run, facts: dict[str, Any]) -> Iterator[Row]:
    """One row for each plan that no other plan of this run dominates."""
    game = run.game.game()
    start = deal(game, np.array([run.seed], np.uint64))
    found = run.method.method().plan(game, start, run.budget or 0, run.seed)
    facts |= {"steps": found.steps, "complete": found.complete, **(found.facts or {})}
    facts["passed"] = [[one.found, *one.value.tolist()] for one in found.passed]
    for i, plan in enumerate(found.plans):
        yield {
            "episode": i,
            "policy": plan.label,
            "return": plan.value.tolist(),
            "length": len(plan.actions),
            "found": plan.found,
            "actions": list(plan.actions),
        }


def policy_rows(run: Run, facts: dict[str, Any], members: list[Member] | None = None) -> Iterator[Row]:
    """One row for each episode of each policy, opponent and seat.

    members    the policies; if there are none yet, those that the method offers, or finds in training, are put there

    Episode e has the same start and the same lots for every policy, opponent and seat, so that they are compared on equal
    terms. Episodes of the two sets differ.
    """
    game = run.game.game()
    others = [(one.label, one.member(game)) for one in run.opponents] or [("nobody", nobody(game))]
    members = [] if members is None else members
    if not members:
        members += _trained(run, game, [other for _, other in others], facts)
    select = run.select_episodes or 0
    seeds, words = luck(run, game)
    starts = deal(game, seeds)
    weights = {member.label: list(member.weights) for member in members if any(member.weights)}
    facts |= {"policies": len(members), "steps": facts.get("training_steps", 0), "weights": weights}
    for label, other in others:
        for seat in run.seats:
            done = play_from(game, tuple(members), other, game.agents.index(seat), starts, words)
            facts["steps"] += int(done.steps.sum())
            returns = done.returns[:, game.agents.index(seat)].tolist()
            for i, (value, length) in enumerate(zip(returns, done.lengths.tolist(), strict=True)):
                episode = i % len(seeds)
                yield {
                    "episode": episode,
                    "set": SETS[episode >= select],
                    "policy": members[i // len(seeds)].label,
                    "opponent": label,
                    "seat": seat,
                    "start": int(seeds[episode]),
                    "return": value,
                    "length": length,
                }


def _trained(run: Run, game: Game, others: list[Member], facts: dict[str, Any]) -> tuple[Member, ...]:
    method = run.method.method()
    seed = int(np.random.SeedSequence([run.seed, TRAINING]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    found = method.train(game, [game.agents.index(seat) for seat in run.seats], others, run.budget or 0, seed)
    if method.trains:
        facts |= {"training_steps": found.steps, **(found.facts or {})}
    return found.members


def luck(run: Run, game: Game) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """What is left to chance in the episodes of a run: seeds of the starts uint64[E], the players' words uint64[E, A]."""
    episodes = (run.select_episodes or 0) + (run.report_episodes or 0)
    seeds = np.random.SeedSequence([run.seed, STARTS]).generate_state(episodes, np.uint64)
    lots = np.random.SeedSequence([run.seed, PLAYERS]).generate_state(episodes * len(game.agents), np.uint64)
    return seeds.astype(np.uint64), lots.astype(np.uint64).reshape(-1, len(game.agents))


def nobody(game: Game) -> Member:
    """Who sits where nobody was asked to."""
    return Member("nobody", RANDOM, (0.0,) * len(game.objectives), RandomPolicy.compiled)


def by_kernels(members: tuple[Member, ...]) -> bool:
    """Whether these meet as kernels, and not by the rules that every game knows."""
    return any(member.rule == KERNEL for member in members)


def play_from(
    game: Game,
    members: tuple[Member, ...],
    other: Member,
    seat: int,
    starts: NDArray[Any],
    words: NDArray[np.uint64],
) -> Episodes:
    """Every member plays every episode from one seat, and the seats of its team mates; episodes are the inner loop."""
    count = len(members) * len(starts)
    ours = side(game, seat)
    everybody = (*members, other)
    if by_kernels(everybody):
        kernels = kernels_of(everybody)
        seats = np.full((count, len(game.agents)), len(members))
        seats[:, ours] = np.repeat(np.arange(len(members)), len(starts))[:, None]
        return play_kernels(game, np.tile(starts, len(members)), kernels, seats, np.tile(words, (len(members), 1)))
    rules = np.full((count, len(game.agents)), other.rule)
    weights = np.broadcast_to(other.weights, (*rules.shape, len(game.objectives))).copy()
    rules[:, ours] = np.repeat([m.rule for m in members], len(starts))[:, None]
    weights[:, ours] = np.repeat([m.weights for m in members], len(starts), axis=0)[:, None]
    return play(game, np.tile(starts, len(members)), rules, weights, np.tile(words, (len(members), 1)))
