"""Execution of one run: search for plans or evaluation of policies. Yields rows, one for each plan or episode."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import list_team
from momagames.baselines.random import RANDOM_POLICY
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark.plan import Run
from momagames.contract import Game
from momagames.engine.playouts import Episodes, generate_starts, play_episodes
from momagames.engine.policies import BatchPolicy, CompiledPolicy, has_kernel_policy, play_policies, policy_weights

Row = dict[str, Any]
# Independent random streams: start positions, actions of policies, training
STARTS, PLAYERS, TRAINING = 1, 2, 3
SETS = ("select", "report")


def evaluate_run(run: Run, facts: dict[str, Any], policies: list[BatchPolicy] | None = None) -> Iterator[Row]:
    """Yield the rows of a run. Counts of the whole run are added to `facts`, the evaluated policies to `policies`.

    Every row holds the canonical game, method, options, seed, version, episode, policy, return and length. A plan also has
    its actions and `step`, the number of environment steps taken when it was found. An episode has opponent, seat, set and
    start seed.
    """
    head = {
        "game": run.canonical,
        "method": run.method.name,
        "options": run.method.options,
        "seed": run.seed,
        "version": run.version,
    }
    for row in evaluate_plans(run, facts) if run.kind == "plans" else evaluate_policies(run, facts, policies):
        yield {**head, **row}


def evaluate_plans(run: Run, facts: dict[str, Any]) -> Iterator[Row]:
    """Yield one row for each non-dominated plan of the run."""
    game = run.game.make_game()
    start = generate_starts(game, np.array([run.seed], np.uint64))
    result = run.method.make_method(game).plan(game, start, run.budget or 0, run.seed)
    facts |= {"steps": result.steps, "complete": result.complete, **(result.info or {})}
    facts["dominated"] = [[one.step, *one.value.tolist()] for one in result.dominated]
    for i, plan in enumerate(result.plans):
        yield {
            "episode": i,
            "policy": plan.label,
            "return": plan.value.tolist(),
            "length": len(plan.actions),
            "step": plan.step,
            "actions": list(plan.actions),
        }


def evaluate_policies(run: Run, facts: dict[str, Any], policies: list[BatchPolicy] | None = None) -> Iterator[Row]:
    """Yield one row for each episode of each policy, opponent and seat.

    policies    if empty, filled with the policies that the method defines or trains

    Episode e has the same start position and random numbers for every policy, opponent and seat. The two sets have different
    episodes. Where a method has several episodes in each of E start positions, episode e is in that of number e modulo E.
    """
    game = run.game.make_game()
    others = [(one.label, one.make_policy(game)) for one in run.opponents] or [("none", make_default_opponent(game))]
    policies = [] if policies is None else policies
    select, count = run.select_episodes or 0, (run.select_episodes or 0) + (run.report_episodes or 0)
    if not policies:
        seeds, _ = make_episode_seeds(run, game)
        starts = None if run.plays is None else generate_starts(game, seeds[:select])
        policies += _train_policies(run, game, [other for _, other in others], facts, starts)
    seeds, words = make_episode_seeds(run, game, math.ceil((run.plays or 1) / len(policies)))
    starts = generate_starts(game, seeds)
    weights = {policy.label: list(policy.weights) for policy in policies if any(policy.weights)}
    facts |= {"policies": len(policies), "steps": facts.get("training_steps", 0), "weights": weights}
    for label, other in others:
        for seat in run.seats:
            done = play_from_starts(game, tuple(policies), other, game.agents.index(seat), starts, words)
            facts["steps"] += int(done.steps.sum())
            returns = done.returns[:, game.agents.index(seat)].tolist()
            for i, (value, length) in enumerate(zip(returns, done.lengths.tolist(), strict=True)):
                episode = i % len(seeds)
                yield {
                    "episode": episode,
                    "set": SETS[episode % count >= select],
                    "policy": policies[i // len(seeds)].label,
                    "opponent": label,
                    "seat": seat,
                    "start": int(seeds[episode]),
                    "return": value,
                    "length": length,
                }


def _train_policies(
    run: Run, game: Game, others: list[BatchPolicy], facts: dict[str, Any], starts: NDArray[Any] | None
) -> tuple[BatchPolicy, ...]:
    method = run.method.make_method(game)
    seed = int(np.random.SeedSequence([run.seed, TRAINING]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    learning_agents = [game.agents.index(seat) for seat in run.seats]
    result = method.train(TrainingSetup([game], run.budget or 0, seed, learning_agents, others, starts=starts))
    if method.trains:
        facts |= {"training_steps": result.steps, **(result.info or {})}
    return result.policies


def make_episode_seeds(run: Run, game: Game, plays: int = 1) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the randomness of the episodes of a run: seeds of start positions uint64[E], words of policies uint64[E, A].

    plays    episodes of each policy in each start position: one in each of them first, then a second one in each

    With training instances, the seeds of the report episodes are drawn first, so that they do not depend on their number.
    """
    episodes = (run.select_episodes or 0) + (run.report_episodes or 0)
    own = run.seed if run.episode_set is None else int.from_bytes(run.episode_set.encode(), "big")
    seeds = np.random.SeedSequence([own, STARTS]).generate_state(episodes, np.uint64)
    if run.plays is not None:
        seeds = np.roll(seeds, run.select_episodes or 0)
    episodes *= plays
    words = np.random.SeedSequence([run.seed, PLAYERS]).generate_state(episodes * len(game.agents), np.uint64)
    return np.tile(seeds.astype(np.uint64), plays), words.astype(np.uint64).reshape(-1, len(game.agents))


def make_default_opponent(game: Game) -> CompiledPolicy:
    """Return the policy of the other agents in a run without opponents: random actions."""
    return replace(RANDOM_POLICY, label="none")


def play_from_starts(
    game: Game,
    policies: tuple[BatchPolicy, ...],
    opponent: BatchPolicy,
    seat: int,
    starts: NDArray[Any],
    words: NDArray[np.uint64],
) -> Episodes:
    """Play every episode with every policy at one seat and the seats of its team mates; episodes are the inner loop."""
    seats = np.full((len(policies) * len(starts), len(game.agents)), len(policies))
    seats[:, list_team(game, seat)] = np.repeat(np.arange(len(policies)), len(starts))[:, None]
    states, words = np.tile(starts, len(policies)), np.tile(words, (len(policies), 1))
    seated = (*policies, opponent)
    if has_kernel_policy(seated):
        return play_policies(game, states, seated, seats, words)
    rules = np.array([policy.rule for policy in seated])
    return play_episodes(game, states, rules[seats], policy_weights(game, seated)[seats], words)
